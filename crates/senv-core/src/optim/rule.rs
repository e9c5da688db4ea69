//! The update rules as one choice, and what they remember of dense parameters.

use serde::{Deserialize, Serialize};

use super::{AdaGrad, AdaGradParams, Adam, AdamParams, AdamStep};
use crate::{Float, Parameters, Result};

/// Which rule, with its hyperparameters.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Rule {
    /// `x −= lr g`.
    Sgd,
    /// [`AdaGrad`].
    AdaGrad(AdaGradParams),
    /// [`Adam`].
    Adam(AdamParams),
}

impl Default for Rule {
    /// Adam as in its paper.
    fn default() -> Self {
        Self::Adam(AdamParams::default())
    }
}

/// A rule with checked hyperparameters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Checked {
    Sgd,
    AdaGrad(AdaGrad),
    Adam(Adam),
}

impl Rule {
    pub(super) fn check(self) -> Result<Checked> {
        Ok(match self {
            Self::Sgd => Checked::Sgd,
            Self::AdaGrad(params) => Checked::AdaGrad(params.check()?),
            Self::Adam(params) => Checked::Adam(params.check()?),
        })
    }
}

impl Checked {
    /// Moments a number: the square sums of AdaGrad, the two moments of Adam.
    pub(super) fn n_moments(self) -> usize {
        match self {
            Self::Sgd => 0,
            Self::AdaGrad(_) => 1,
            Self::Adam(_) => 2,
        }
    }

    pub(super) fn at<F: Float>(self, t: u64, lr: f64) -> Move<F> {
        match self {
            Self::Sgd => Move::Sgd(F::of(-lr)),
            Self::AdaGrad(rule) => Move::AdaGrad(rule, F::of(lr)),
            Self::Adam(rule) => Move::Adam(rule.step(t, lr)),
        }
    }
}

/// One step of a rule.
#[derive(Clone, Copy)]
pub(super) enum Move<F> {
    Sgd(F),
    AdaGrad(AdaGrad, F),
    Adam(AdamStep<F>),
}

impl<F: Float> Move<F> {
    /// Moves `x`; the slices of moments the rule has not are empty.
    #[inline]
    pub(super) fn apply(&self, x: &mut [F], d_x: &[F], [m, v]: [&mut [F]; 2]) {
        match self {
            Self::Sgd(c) => F::axpy(*c, d_x, x),
            Self::AdaGrad(rule, lr) => rule.apply(*lr, x, d_x, m),
            Self::Adam(step) => F::adam(step, x, d_x, m, v),
        }
    }
}

/// Refuses a rate that is not finite or below 0.
pub(super) fn check_rate(lr: f64) -> Result<()> {
    super::check(lr.is_finite() && lr >= 0.0, "lr", "finite and not negative", lr)
}

/// Parameters that a rule moves together, and what it remembers of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "F: Float")]
pub struct ParametersOptimizer<F> {
    rule: Rule,
    moments: Vec<Parameters<F>>,
    n_steps: u64,
}

/// Numbers that one thread updates at a time.
const CHUNK: usize = 1 << 14;

impl<F: Float> ParametersOptimizer<F> {
    /// The state before the first step.
    ///
    /// # Errors
    /// [`crate::Error::InvalidParameter`] if a hyperparameter of the rule is out of range.
    pub fn new(rule: Rule, parameters: &Parameters<F>) -> Result<Self> {
        let n = rule.check()?.n_moments();
        Ok(Self { rule, moments: vec![parameters.zeros_like(); n], n_steps: 0 })
    }

    /// Steps taken so far.
    #[must_use]
    pub fn n_steps(&self) -> u64 {
        self.n_steps
    }

    /// One step against `gradient`, on the threads of the present rayon pool, with the same bits at any number.
    ///
    /// # Errors
    /// [`crate::Error::InvalidParameter`] if `lr` is negative or not finite, [`crate::Error::ShapeMismatch`] if the tensors are not
    /// those the state was made for; nothing is changed then.
    pub fn update(&mut self, lr: f64, parameters: &mut Parameters<F>, gradient: &Parameters<F>) -> Result<()> {
        check_rate(lr)?;
        gradient.expect_form_of(parameters)?;
        self.moments.iter().try_for_each(|moment| moment.expect_form_of(parameters))?;
        self.n_steps += 1;
        let step = self.rule.check()?.at::<F>(self.n_steps, lr);
        let n_first = self.moments.len().min(1);
        let (first, second) = self.moments.split_at_mut(n_first);
        let (mut first, mut second) = (first.first_mut(), second.first_mut());
        for (i, (x, d_x)) in parameters.iter_mut().zip(gradient.iter()).enumerate() {
            let x = x.values_mut();
            let m = first.as_mut().map_or(&mut [][..], |m| m[i].values_mut());
            let v = second.as_mut().map_or(&mut [][..], |v| v[i].values_mut());
            halve(x, d_x.values(), m, v, &|x, d_x, m, v| step.apply(x, d_x, [m, v]));
        }
        Ok(())
    }
}

#[cfg(test)]
impl<F> ParametersOptimizer<F> {
    /// As if steps without this array had been taken.
    pub(super) fn skip_to(&mut self, n_steps: u64) {
        self.n_steps = n_steps;
    }
}

/// Works on chunks of an array and its moments (which may be empty) on all threads.
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
