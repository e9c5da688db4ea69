//! The choice of the optimizer, and the optimizer state of dense parameters.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{
    AdaDelta, AdaDeltaParams, AdaGrad, AdaGradParams, Adam, AdamParams, AdamStep, CustomRule, CustomUpdate, custom,
    rows::{RowRange, check_rows},
};
use crate::Parameters;
use senv_base::{Error, Result, TokenId};
use senv_kernels::Float;

/// The optimizer, with its hyperparameters.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum UpdateRule {
    /// `x −= lr g`.
    Sgd,
    /// [`AdaGrad`].
    AdaGrad(AdaGradParams),
    /// [`AdaDelta`].
    AdaDelta(AdaDeltaParams),
    /// [`Adam`].
    Adam(AdamParams),
    /// A custom rule; see [`UpdateRule::custom`].
    Custom(CustomRule),
}

impl Default for UpdateRule {
    /// Adam as in its paper.
    fn default() -> Self {
        Self::Adam(AdamParams::default())
    }
}

/// An update rule with checked hyperparameters.
#[derive(Debug, Clone, Copy)]
pub(super) enum CheckedRule {
    Sgd,
    AdaGrad(AdaGrad),
    AdaDelta(AdaDelta),
    Adam(Adam),
    Custom(&'static dyn CustomUpdate),
}

impl UpdateRule {
    /// Creates a custom update rule. Settings of models and checkpoints store its name, which refers to `rule` as long
    /// as the program runs. Models trained with it open without it; training requires it. A second call with a value of
    /// the same type changes nothing and returns the first rule, so include settings of a rule in its name.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use senv_core::{arrays::Parameters, optim::{CustomUpdate, ParametersOptimizer, UpdateRule}};
    ///
    /// /// Steps of one length, against the sign of the gradient.
    /// #[derive(Debug)]
    /// struct Sign;
    ///
    /// impl CustomUpdate for Sign {
    ///     fn update(&self, _: u64, lr: f64, x: &mut [f32], d_x: &[f32], _: [&mut [f32]; 2]) {
    ///         x.iter_mut().zip(d_x).for_each(|(x, d)| *x -= lr as f32 * d.signum());
    ///     }
    /// }
    ///
    /// let mut parameters = Parameters::<f32>::new();
    /// parameters.push("w", [1, 2], vec![1.0, 1.0])?;
    /// let mut gradient = Parameters::new();
    /// gradient.push("w", [1, 2], vec![7.0, -0.1])?;
    /// let mut optimizer = ParametersOptimizer::new(UpdateRule::custom("sign", Arc::new(Sign))?, &parameters)?;
    /// optimizer.update(0.25, &mut parameters, &gradient)?;
    /// assert_eq!(parameters[0].values(), [0.75, 1.25]);
    /// # Ok::<(), senv_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::BadName`] unless the name has 1 to 64 ASCII letters, digits, hyphens, underscores and dots.
    /// [`Error::NameTaken`] for the name of another rule, or of a rule of a different type; [`Error::InvalidParameter`]
    /// for more than two moments.
    pub fn custom(name: &str, rule: Arc<dyn CustomUpdate>) -> Result<Self> {
        CustomRule::enter(name, rule).map(Self::Custom)
    }

    /// The rule that [`UpdateRule::custom`] registered under this name.
    pub(crate) fn entered(name: &str) -> Option<Self> {
        CustomRule::entered(name).map(Self::Custom)
    }

    pub(super) fn check(self) -> Result<CheckedRule> {
        Ok(match self {
            Self::Sgd => CheckedRule::Sgd,
            Self::AdaGrad(params) => CheckedRule::AdaGrad(params.check()?),
            Self::AdaDelta(params) => CheckedRule::AdaDelta(params.check()?),
            Self::Adam(params) => CheckedRule::Adam(params.check()?),
            Self::Custom(rule) => CheckedRule::Custom(rule.check()?),
        })
    }
}

impl CheckedRule {
    /// The number of moments per parameter: the squared sums of AdaGrad, the two means of AdaDelta, the two moments of
    /// Adam.
    pub(super) fn n_moments(self) -> usize {
        match self {
            Self::Sgd => 0,
            Self::AdaGrad(_) => 1,
            Self::AdaDelta(_) | Self::Adam(_) => 2,
            Self::Custom(rule) => rule.n_moments(),
        }
    }

    pub(super) fn at<F: Float>(self, t: u64, lr: f64) -> UpdateStep<F> {
        match self {
            Self::Sgd => UpdateStep::Sgd(F::of(-lr)),
            Self::AdaGrad(rule) => UpdateStep::AdaGrad(rule, F::of(lr)),
            Self::AdaDelta(rule) => UpdateStep::AdaDelta(rule, F::of(lr)),
            Self::Adam(rule) => UpdateStep::Adam(rule.step(t, lr)),
            Self::Custom(rule) => UpdateStep::Custom { rule, t, lr },
        }
    }
}

/// One step of an update rule.
#[derive(Clone, Copy)]
pub(super) enum UpdateStep<F> {
    Sgd(F),
    AdaGrad(AdaGrad, F),
    AdaDelta(AdaDelta, F),
    Adam(AdamStep<F>),
    Custom { rule: &'static dyn CustomUpdate, t: u64, lr: f64 },
}

impl<F: Float> UpdateStep<F> {
    /// Updates `x`; the slices of moments that the rule lacks are empty.
    #[inline]
    pub(super) fn apply(&self, x: &mut [F], d_x: &[F], [m, v]: [&mut [F]; 2]) {
        match self {
            Self::Sgd(c) => F::axpy(*c, d_x, x),
            Self::AdaGrad(rule, lr) => rule.apply(*lr, x, d_x, m),
            Self::AdaDelta(rule, lr) => rule.apply(*lr, x, d_x, m, v),
            Self::Adam(step) => F::adam(step, x, d_x, m, v),
            Self::Custom { rule, t, lr } => custom::apply(*rule, *t, *lr, x, d_x, [m, v]),
        }
    }
}

/// Returns an error unless the learning rate is finite and not negative.
pub(super) fn check_rate(lr: f64) -> Result<()> {
    super::check(lr.is_finite() && lr >= 0.0, "lr", "finite and not negative", lr)
}

/// The optimizer of dense parameters, with its state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "F: Float")]
pub struct ParametersOptimizer<F> {
    rule: UpdateRule,
    moments: Vec<Parameters<F>>,
    n_steps: u64,
}

/// The number of values that a thread updates at a time.
const CHUNK: usize = 1 << 14;

impl<F: Float> ParametersOptimizer<F> {
    /// The optimizer before its first step.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`](senv_base::Error::InvalidParameter) if a hyperparameter of the rule is out of range;
    /// [`Error::TooLarge`](senv_base::Error::TooLarge) if its moments do not fit in memory.
    pub fn new(rule: UpdateRule, parameters: &Parameters<F>) -> Result<Self> {
        let n = rule.check()?.n_moments();
        let moments = (0..n).map(|_| parameters.try_zeros_like()).collect::<Result<_>>()?;
        Ok(Self { rule, moments, n_steps: 0 })
    }

    /// The number of steps so far.
    #[must_use]
    pub fn n_steps(&self) -> u64 {
        self.n_steps
    }

    /// Whether this is a state of `rule` for parameters of these names and shapes; one read from a file might not be.
    #[must_use]
    pub fn fits(&self, rule: UpdateRule, parameters: &Parameters<F>) -> bool {
        let is_of_form = |moment: &Parameters<F>| moment.expect_form_of(parameters).is_ok();
        let n_moments = rule.check().map(CheckedRule::n_moments);
        self.rule == rule && n_moments.ok() == Some(self.moments.len()) && self.moments.iter().all(is_of_form)
    }

    /// Takes one step with `gradient`, on the threads of the current rayon pool. Bit-identical at any number of
    /// threads.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`](senv_base::Error::InvalidParameter) if `lr` is negative or not finite;
    /// [`Error::ShapeMismatch`](senv_base::Error::ShapeMismatch) if the tensors are not those the state was created
    /// for. Then nothing is changed.
    pub fn update(&mut self, lr: f64, parameters: &mut Parameters<F>, gradient: &Parameters<F>) -> Result<()> {
        check_rate(lr)?;
        gradient.expect_form_of(parameters)?;
        self.moments.iter().try_for_each(|moment| moment.expect_form_of(parameters))?;
        self.n_steps = self.n_steps.saturating_add(1);
        let step = self.rule.check()?.at::<F>(self.n_steps, lr);
        let [mut first, mut second] = moments_mut(&mut self.moments);
        for (i, (x, d_x)) in parameters.iter_mut().zip(gradient.iter()).enumerate() {
            let x = x.values_mut();
            let m = first.as_mut().map_or(&mut [][..], |m| m[i].values_mut());
            let v = second.as_mut().map_or(&mut [][..], |v| v[i].values_mut());
            halve(x, d_x.values(), m, v, &|x, d_x, m, v| step.apply(x, d_x, [m, v]));
        }
        Ok(())
    }

    /// The sparse update, for an output layer. Every tensor has as many rows as the first one (one per word); a bias
    /// has one value per row. Takes one step of `rows` (ascending, without repetition) with `gradient`, which contains
    /// the gradients of these rows of each tensor, back to back. All other rows and their moments stay unchanged.
    ///
    /// ```
    /// use senv_core::{TokenId, arrays::Parameters, optim::{ParametersOptimizer, UpdateRule}};
    /// let mut output = Parameters::<f32>::new();
    /// output.push("w", [3, 2], vec![1.0; 6])?;
    /// output.push("b", [1, 3], vec![0.0; 3])?;
    /// let mut optimizer = ParametersOptimizer::new(UpdateRule::Sgd, &output)?;
    /// optimizer.update_rows(0.1, &mut output, &[TokenId(1)], &[&[5.0, -5.0], &[1.0]])?;
    /// assert_eq!((output[0].values(), output[1].values()), (&[1.0, 1.0, 0.5, 1.5, 1.0, 1.0][..], &[0.0, -0.1, 0.0][..]));
    /// # Ok::<(), senv_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::InvalidParameter`](senv_base::Error::InvalidParameter) if `lr` is negative or not finite or the rows do
    /// not ascend; [`Error::ShapeMismatch`](senv_base::Error::ShapeMismatch) if the tensors are not those the state was
    /// created for or lack these rows. Then nothing is changed.
    pub fn update_rows(
        &mut self,
        lr: f64,
        parameters: &mut Parameters<F>,
        rows: &[TokenId],
        gradient: &[&[F]],
    ) -> Result<()> {
        check_rate(lr)?;
        self.moments.iter().try_for_each(|moment| moment.expect_form_of(parameters))?;
        let expect = |what, expected, got| {
            if expected == got { Ok(()) } else { Err(Error::ShapeMismatch { what, expected, got }) }
        };
        expect("gradients of rows", parameters.len(), gradient.len())?;
        let n_rows = parameters.iter().next().map_or(0, |tensor| tensor.shape()[0]);
        check_rows(rows, n_rows)?;
        for (x, d_rows) in parameters.iter().zip(gradient) {
            let width = x.values().len() / n_rows.max(1);
            expect("values of a tensor of rows", width * n_rows, x.values().len())?;
            expect("values of a gradient of rows", width * rows.len(), d_rows.len())?;
        }
        self.n_steps = self.n_steps.saturating_add(1);
        let step = self.rule.check()?.at::<F>(self.n_steps, lr);
        let [mut first, mut second] = moments_mut(&mut self.moments);
        for (i, (x, d_rows)) in parameters.iter_mut().zip(gradient).enumerate() {
            let width = x.values().len() / n_rows.max(1);
            let m = first.as_mut().map_or(&mut [][..], |m| m[i].values_mut());
            let v = second.as_mut().map_or(&mut [][..], |v| v[i].values_mut());
            let parts = [x.values_mut(), m, v].map(|numbers| (numbers, width));
            let rows = RowRange { first: 0, n_rows, parts, tokens: rows, d_rows };
            rows.split(width, false, &|_, _, x, d_x, m, v| step.apply(x, d_x, [m, v]));
        }
        Ok(())
    }
}

/// The first and the second moment, if the optimizer has them.
pub(super) fn moments_mut<T>(moments: &mut [T]) -> [Option<&mut T>; 2] {
    let mut moments = moments.iter_mut();
    [moments.next(), moments.next()]
}

#[cfg(test)]
impl<F> ParametersOptimizer<F> {
    /// Counts steps that were taken without this array.
    pub(super) fn skip_to(&mut self, n_steps: u64) {
        self.n_steps = n_steps;
    }
}

/// Processes chunks of an array and its moments (which may be empty) on all threads.
fn halve<F: Float>(
    x: &mut [F],
    d_x: &[F],
    m: &mut [F],
    v: &mut [F],
    work: &(impl Fn(&mut [F], &[F], &mut [F], &mut [F]) + Sync),
) {
    if x.len() <= CHUNK {
        return work(x, d_x, m, v);
    }
    let middle = (x.len() / 2).next_multiple_of(16);
    let (x0, x1) = x.split_at_mut(middle);
    let (d0, d1) = d_x.split_at(middle);
    let (m0, m1) = m.split_at_mut(middle.min(m.len()));
    let (v0, v1) = v.split_at_mut(middle.min(v.len()));
    rayon::join(|| halve(x0, d0, m0, v0, work), || halve(x1, d1, m1, v1, work));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::optim::TableOptimizer;
    use ndarray::ArrayView2;
    use senv_base::Rows;
    use senv_kernels::Table;

    #[test]
    fn rows_of_an_output_move_as_those_of_a_table_at_any_number_of_threads() {
        let (n, dim) = (500, 7);
        let number = |i: usize, k: u64| ((i as u64 * 2_654_435_761 + k * 97) % 1009) as f32 / 500.0 - 1.0;
        let adadelta = UpdateRule::AdaDelta(AdaDeltaParams::default());
        let adagrad = UpdateRule::AdaGrad(AdaGradParams::default());
        for rule in [UpdateRule::Sgd, adagrad, adadelta, UpdateRule::default()] {
            let matrix: Vec<f32> = (0..n * dim).map(|i| number(i, 1)).collect();
            let bias: Vec<f32> = (0..n).map(|i| number(i, 2)).collect();
            let steps = || {
                (0..5u64).map(|step| {
                    let rows: Vec<TokenId> = (step as u32..n as u32).step_by(1 + step as usize).map(TokenId).collect();
                    let d_w: Vec<f32> = (0..rows.len() * dim).map(|i| number(i, 10 + step)).collect();
                    let d_b: Vec<f32> = (0..rows.len()).map(|i| number(i, 20 + step)).collect();
                    (rows, d_w, d_b)
                })
            };
            let trained = |threads| {
                let mut output = Parameters::new();
                output.push("w", [n, dim], matrix.clone()).unwrap();
                output.push("b", [1, n], bias.clone()).unwrap();
                let mut optimizer = ParametersOptimizer::new(rule, &output).unwrap();
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                for (rows, d_w, d_b) in steps() {
                    pool.install(|| optimizer.update_rows(0.01, &mut output, &rows, &[&d_w, &d_b])).unwrap();
                }
                assert_eq!(optimizer.n_steps(), 5);
                output
            };
            let output = trained(1);
            assert!([2, 5].iter().all(|&threads| trained(threads) == output));
            for (place, width, start) in [(0, dim, &matrix), (1, 1, &bias)] {
                let mut table = Table::from_vec(n, width, start.clone()).unwrap();
                let mut optimizer = TableOptimizer::new(rule, &table).unwrap();
                for (rows, d_w, d_b) in steps() {
                    let d = ArrayView2::from_shape((rows.len(), width), if place == 0 { &d_w } else { &d_b }).unwrap();
                    optimizer.update_rows(0.01, &mut table, &rows, d, None).unwrap();
                }
                for i in 0..n {
                    assert_eq!(table.row(i), &output[place].values()[i * width..][..width], "{rule:?} {place} {i}");
                }
            }
        }
    }

    #[test]
    fn rows_that_do_not_fit_change_nothing() {
        let mut output = Parameters::<f32>::new();
        output.push("w", [3, 2], vec![1.0; 6]).unwrap();
        output.push("b", [1, 3], vec![0.0; 3]).unwrap();
        let mut optimizer = ParametersOptimizer::new(UpdateRule::default(), &output).unwrap();
        let before = (output.clone(), optimizer.clone());
        let (w, b) = ([1.0; 4], [1.0; 2]);
        for rows in [[1, 1], [2, 1], [1, 3]] {
            assert!(optimizer.update_rows(0.1, &mut output, &rows.map(TokenId), &[&w, &b]).is_err());
        }
        let rows = [0, 2].map(TokenId);
        for gradient in [&[&w[..]][..], &[&w[..3], &b], &[&w, &b[..1]]] {
            assert!(optimizer.update_rows(0.1, &mut output, &rows, gradient).is_err());
        }
        assert!(optimizer.update_rows(f64::NAN, &mut output, &rows, &[&w, &b]).is_err());
        assert!(before == (output.clone(), optimizer.clone()));
        output.push("more", [1, 4], vec![0.0; 4]).unwrap();
        let mut odd = ParametersOptimizer::new(UpdateRule::default(), &output).unwrap();
        assert!(odd.update_rows(0.1, &mut output, &rows, &[&w, &b, &b]).is_err(), "no row for every word");
        optimizer.update_rows(0.1, &mut before.0.clone(), &rows, &[&w, &b]).unwrap();
    }
}
