//! The optimizer of a word table, with sparse and dense updates.
//!
//! A word table is large, and a batch uses few of its rows. The *sparse* (lazy) update changes only these: the moments
//! of the other rows neither decay nor change them. The *dense* update is the exact one of the papers. It changes every
//! row at every step, by its moments, by the L2 penalty toward its initial value, and by its gradient if it has one.

use ndarray::ArrayView2;

use super::{
    rows::{RowRange, check_rows},
    rule::{UpdateRule, check_rate, moments_mut},
};
use senv_base::{Error, Result, TokenId};
use senv_kernels::{Float, Table};

/// L2 regularization toward the initial values w₀ of a table: the penalty ½ strength |w − w₀|², with gradient strength
/// (w − w₀).
#[derive(Debug, Clone, Copy)]
pub struct L2Penalty<'a> {
    /// w₀, with the same shape as the table.
    pub initial: &'a Table,
    /// The factor of the penalty; 0 for none.
    pub strength: f32,
}

/// The optimizer of a table, with its state.
#[derive(Debug, Clone)]
pub struct TableOptimizer {
    rule: UpdateRule,
    moments: Vec<Table>,
    n_steps: u64,
}

impl TableOptimizer {
    /// The optimizer before its first step, for a table of this shape.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] if a hyperparameter is out of range; [`Error::TooLarge`] if memory runs out.
    pub fn new(rule: UpdateRule, table: &Table) -> Result<Self> {
        let n = rule.check()?.n_moments();
        let moments: Result<Vec<Table>> = (0..n).map(|_| Table::zeros(table.n_rows(), table.dim())).collect();
        Ok(Self { rule, moments: moments?, n_steps: 0 })
    }

    /// The optimizer with a saved state, for example from a checkpoint.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] if the update rule has a different number of moments.
    pub fn from_parts(rule: UpdateRule, moments: Vec<Table>, n_steps: u64) -> Result<Self> {
        let expected = rule.check()?.n_moments();
        if moments.len() != expected {
            return Err(Error::ShapeMismatch { what: "moments of a table", expected, got: moments.len() });
        }
        Ok(Self { rule, moments, n_steps })
    }

    /// The moments, each with the shape of the table.
    #[must_use]
    pub fn moments(&self) -> &[Table] {
        &self.moments
    }

    /// The number of steps so far.
    #[must_use]
    pub fn n_steps(&self) -> u64 {
        self.n_steps
    }

    /// The sparse update: takes one step of the rows of `tokens` (ascending, without repetition) with `d_rows`, shape
    /// `(n_tokens, dim)`. All other rows stay unchanged.
    ///
    /// Runs on the threads of the current rayon pool; bit-identical at any number of threads.
    ///
    /// # Errors
    /// The errors of [`TableOptimizer::update_all`].
    pub fn update_rows(
        &mut self,
        lr: f64,
        table: &mut Table,
        tokens: &[TokenId],
        d_rows: ArrayView2<'_, f32>,
        penalty: Option<L2Penalty<'_>>,
    ) -> Result<()> {
        self.update(lr, table, tokens, d_rows, penalty, false)
    }

    /// The dense update: takes one step of every row. `d_rows` contains the gradients of the rows of `tokens`; all
    /// other gradients are zero.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] if `lr` is negative or not finite or the tokens do not ascend;
    /// [`Error::ShapeMismatch`] if a shape is not that of the table the state was created for. Then nothing is changed.
    pub fn update_all(
        &mut self,
        lr: f64,
        table: &mut Table,
        tokens: &[TokenId],
        d_rows: ArrayView2<'_, f32>,
        penalty: Option<L2Penalty<'_>>,
    ) -> Result<()> {
        self.update(lr, table, tokens, d_rows, penalty, true)
    }

    fn update(
        &mut self,
        lr: f64,
        table: &mut Table,
        tokens: &[TokenId],
        d_rows: ArrayView2<'_, f32>,
        penalty: Option<L2Penalty<'_>>,
        every_row: bool,
    ) -> Result<()> {
        check_rate(lr)?;
        self.check_shapes(table, tokens, d_rows, penalty)?;
        self.n_steps = self.n_steps.saturating_add(1);
        let step = self.rule.check()?.at::<f32>(self.n_steps, lr);
        let penalty = penalty.filter(|penalty| penalty.strength != 0.0);
        let (dim, n_rows) = (table.dim(), table.n_rows());
        let d_rows = d_rows.as_standard_layout();
        let d_rows = d_rows.as_slice().unwrap_or(&[]);
        let [m, v] = moments_mut(&mut self.moments).map(|moment| moment.map(with_stride).unwrap_or_default());
        let x = with_stride(table);
        let rows = RowRange { first: 0, n_rows, parts: [x, m, v], tokens, d_rows };
        rows.split(dim, every_row, &|row, scratch, x, d_x, m, v| {
            if let Some(L2Penalty { initial, strength }) = penalty {
                scratch.copy_from_slice(x);
                f32::axpy(-1.0, senv_base::Rows::row(initial, row), scratch);
                f32::scale(strength, scratch);
                if !d_x.is_empty() {
                    f32::add_to(d_x, scratch);
                }
                step.apply(x, scratch, [m, v]);
            } else if d_x.is_empty() {
                scratch.fill(0.0);
                step.apply(x, scratch, [m, v]);
            } else {
                step.apply(x, d_x, [m, v]);
            }
        });
        Ok(())
    }

    fn check_shapes(
        &self,
        table: &Table,
        tokens: &[TokenId],
        d_rows: ArrayView2<'_, f32>,
        penalty: Option<L2Penalty<'_>>,
    ) -> Result<()> {
        let shape = (table.n_rows(), table.dim());
        let others = self.moments.iter().chain(penalty.as_ref().map(|penalty| penalty.initial));
        for other in others {
            for (expected, got) in [(shape.0, other.n_rows()), (shape.1, other.dim())] {
                if expected != got {
                    return Err(Error::ShapeMismatch { what: "table of an update", expected, got });
                }
            }
        }
        for (expected, got) in [(tokens.len(), d_rows.nrows()), (shape.1, d_rows.ncols())] {
            if expected != got {
                return Err(Error::ShapeMismatch { what: "gradient of rows", expected, got });
            }
        }
        check_rows(tokens, shape.0)
    }
}

/// The values of a table, and their stride.
fn with_stride(table: &mut Table) -> (&mut [f32], usize) {
    let stride = table.stride();
    (table.values_mut(), stride)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Parameters,
        optim::{AdaDeltaParams, AdaGradParams, AdamParams, ParametersOptimizer},
        rng::stream,
    };
    use rand::RngExt;
    use senv_base::Rows;

    fn numbers(n: usize, seed: u64) -> Vec<f32> {
        let mut rng = stream(seed, "table tests", &[]);
        (0..n).map(|_| rng.random_range(-1.0..1.0)).collect()
    }

    const RULES: fn() -> [UpdateRule; 4] = || {
        [
            UpdateRule::Sgd,
            UpdateRule::AdaGrad(AdaGradParams::default()),
            UpdateRule::AdaDelta(AdaDeltaParams::default()),
            UpdateRule::Adam(AdamParams::default()),
        ]
    };

    /// 700 rows of 19 values after six steps on some rows, with this number of threads.
    fn trained(rule: UpdateRule, every_row: bool, penalty: f32, threads: usize) -> Vec<Vec<f32>> {
        let mut table = Table::zeros(700, 19).unwrap();
        (0..700).for_each(|row| table.row_mut(row).copy_from_slice(&numbers(19, row as u64)));
        let initial = table.clone();
        let mut optimizer = TableOptimizer::new(rule, &table).unwrap();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        for step in 0..6 {
            let tokens: Vec<TokenId> = (step..700).step_by(step as usize + 1).map(TokenId).collect();
            let d_rows =
                ndarray::Array2::from_shape_vec((tokens.len(), 19), numbers(tokens.len() * 19, 9000 + u64::from(step)));
            let penalty = Some(L2Penalty { initial: &initial, strength: penalty });
            let d_rows = d_rows.unwrap();
            pool.install(|| {
                if every_row {
                    optimizer.update_all(0.01, &mut table, &tokens, d_rows.view(), penalty)
                } else {
                    optimizer.update_rows(0.01, &mut table, &tokens, d_rows.view(), penalty)
                }
            })
            .unwrap();
        }
        assert_eq!(optimizer.n_steps(), 6);
        table.iter().map(<[f32]>::to_vec).collect()
    }

    #[test]
    fn threads_do_not_change_a_bit() {
        for rule in RULES() {
            for every_row in [false, true] {
                let one = trained(rule, every_row, 0.1, 1);
                assert!(one == trained(rule, every_row, 0.1, 2) && one == trained(rule, every_row, 0.1, 5));
            }
        }
    }

    /// Row `row` as the optimizer for arrays updates it: one array, a gradient of zero in steps without the row.
    fn as_array(rule: UpdateRule, row: u32, every_row: bool, penalty: f32) -> Vec<f32> {
        let mut x = Parameters::new();
        let initial = numbers(19, u64::from(row));
        x.push("row", [1, 19], initial.clone()).unwrap();
        let mut optimizer = ParametersOptimizer::new(rule, &x).unwrap();
        for step in 0..6 {
            let place = (step..700).step_by(step as usize + 1).position(|token| token == row);
            let n = (step..700).step_by(step as usize + 1).count();
            let mut d_x = x.zeros_like();
            for (i, d) in d_x[0].values_mut().iter_mut().enumerate() {
                *d = penalty * (x[0].values()[i] - initial[i]);
                if let Some(place) = place {
                    *d += numbers(n * 19, 9000 + u64::from(step))[place * 19 + i];
                }
            }
            // In steps without the row, the sparse update only advances the bias correction.
            let before = (x.clone(), optimizer.clone());
            optimizer.update(0.01, &mut x, &d_x).unwrap();
            if place.is_none() && !every_row {
                x = before.0;
                let n_steps = optimizer.n_steps();
                optimizer = before.1;
                optimizer.skip_to(n_steps);
            }
        }
        x[0].values().to_vec()
    }

    #[test]
    fn a_row_moves_as_an_array_of_its_own() {
        for rule in RULES() {
            for every_row in [false, true] {
                for penalty in [0.0, 0.3] {
                    let table = trained(rule, every_row, penalty, 2);
                    for row in [0, 1, 2, 5, 120, 359, 699] {
                        let expected = as_array(rule, row, every_row, penalty);
                        for (got, expected) in table[row as usize].iter().zip(&expected) {
                            assert!((got - expected).abs() < 1e-6, "{rule:?} {every_row} row {row}: {got} {expected}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn gradients_that_do_not_fit_change_nothing() {
        let mut table = Table::zeros(3, 2).unwrap();
        let mut optimizer = TableOptimizer::new(UpdateRule::default(), &table).unwrap();
        let d = ndarray::Array2::<f32>::ones((2, 2));
        for tokens in [[1, 1], [2, 1], [1, 3]] {
            let tokens = tokens.map(TokenId);
            assert!(optimizer.update_rows(0.1, &mut table, &tokens, d.view(), None).is_err());
        }
        assert!(optimizer.update_rows(f64::NAN, &mut table, &[0, 1].map(TokenId), d.view(), None).is_err());
        assert!(optimizer.update_rows(0.1, &mut table, &[TokenId(0)], d.view(), None).is_err());
        let other = Table::zeros(4, 2).unwrap();
        let penalty = Some(L2Penalty { initial: &other, strength: 0.1 });
        assert!(optimizer.update_all(0.1, &mut table, &[0, 1].map(TokenId), d.view(), penalty).is_err());
        assert_eq!((table.row(0), optimizer.n_steps()), (&[0.0, 0.0][..], 0));
        assert!(TableOptimizer::from_parts(UpdateRule::Sgd, vec![other], 3).is_err());
    }
}
