//! An estimate of the second derivatives of logistic regressions that differ only in their examples.
//!
//! Equation: `shared-curvature`
//!
//! ```text
//! M = I' + C Σ_i d_i x_i x_iᵀ = R Rᵀ        d_i: mean of p (1 − p) over outputs and regressions; I': 0 for b
//! ```
//!
//! Each diagonal block of the matrix of second derivatives (of one output with itself) has this form with the
//! regression's own p. The blocks of the folds of a cross-validation are close to each other, so one M serves all
//! folds. A few steps of `l-bfgs` from M⁻¹ replace about a hundred without it. With many features, computing R would
//! take longer than the steps that it saves, so M is diagonal.

use ndarray::{Array2, Axis};
use rayon::prelude::*;
use senv_core::{
    arrays::{Float, matmul_into},
    kernels,
};

use super::Examples;
use crate::error::Result;

/// Number of columns (features and intercept) above which M is diagonal.
const MAX_DENSE: usize = 2_048;
/// Number of examples multiplied at a time.
const BLOCK: usize = 2_048;

/// M⁻¹ for one output.
pub(super) enum Preconditioner {
    /// R, row by row. f32 is precise enough for a step with M⁻¹.
    Dense(Array2<f32>),
    Diagonal(Vec<f64>),
}

impl Preconditioner {
    /// Computes M for this C and the weights d of the examples.
    pub(super) fn new<F: Float, E: Examples>(examples: &E, curvatures: &[f64], c: f64) -> Result<Self> {
        let f = examples.n_features();
        if f + 1 > MAX_DENSE {
            return Ok(Self::Diagonal(diagonal::<F, E>(examples, curvatures, c)));
        }
        let mut m = gram::<F, E>(examples, curvatures)?;
        m.mapv_inplace(|x| c * x);
        m.diag_mut().iter_mut().take(f).for_each(|x| *x += 1.0);
        // Covers rounding of f32 sums, and an intercept without curvature if all examples are certain.
        let floor = 1e-6 * m.diag().iter().copied().fold(0.0, f64::max);
        m.diag_mut().iter_mut().for_each(|x| *x += floor);
        Ok(if cholesky(&mut m) {
            Self::Dense(m.mapv(|x| x as f32))
        } else {
            Self::Diagonal(diagonal::<F, E>(examples, curvatures, c))
        })
    }

    /// Overwrites a vector of one or more outputs with M⁻¹ times it.
    pub(super) fn apply(&self, v: &mut [f64]) {
        match self {
            Self::Diagonal(m) => {
                v.chunks_exact_mut(m.len()).for_each(|v| v.iter_mut().zip(m).for_each(|(v, m)| *v /= m));
            }
            Self::Dense(r) => v.chunks_exact_mut(r.nrows()).for_each(|v| {
                let mut x: Vec<f32> = v.iter().map(|&x| x as f32).collect();
                solve(r, &mut x);
                v.iter_mut().zip(x).for_each(|(v, x)| *v = f64::from(x));
            }),
        }
    }
}

/// Computes Σ_i d_i x_i x_iᵀ with a 1 appended to each x.
fn gram<F: Float, E: Examples>(examples: &E, curvatures: &[f64]) -> Result<Array2<f64>> {
    let (n, f) = (examples.len(), examples.n_features());
    let (mut sum, mut part) = (Array2::zeros((f + 1, f + 1)), Array2::<F>::zeros((f + 1, f + 1)));
    let mut x = Array2::<F>::zeros((BLOCK.min(n), f + 1));
    for start in (0..n).step_by(BLOCK) {
        let rows = BLOCK.min(n - start);
        for (i, mut row) in x.rows_mut().into_iter().take(rows).enumerate() {
            let Some(row) = row.as_slice_mut() else { continue };
            examples.write(start + i, &mut row[..f]);
            row[f] = F::one();
            F::scale(F::of(curvatures[start + i].sqrt()), row);
        }
        let x = x.slice_axis(Axis(0), (..rows).into());
        matmul_into(F::one(), x.t(), x, F::zero(), part.view_mut())?;
        sum.zip_mut_with(&part, |sum, x| *sum += x.wide());
    }
    Ok(sum)
}

/// Computes the diagonal of M. The entry for b is never 0.
fn diagonal<F: Float, E: Examples>(examples: &E, curvatures: &[f64], c: f64) -> Vec<f64> {
    let f = examples.n_features();
    let (mut x, mut sum) = (vec![F::zero(); f], vec![1.0; f + 1]);
    sum[f] = f64::MIN_POSITIVE;
    for (i, &d) in curvatures.iter().enumerate() {
        examples.write(i, &mut x);
        sum.iter_mut().zip(&x).for_each(|(sum, x)| *sum += c * d * x.wide() * x.wide());
        sum[f] += c * d;
    }
    sum
}

/// Number of columns of R that are computed at a time, for all rows in parallel.
const COLUMNS: usize = 32;

/// Overwrites the lower triangle of a symmetric matrix with R. Returns false if it is not positive definite.
fn cholesky(m: &mut Array2<f64>) -> bool {
    let n = m.nrows();
    let Some(values) = m.as_slice_mut() else { return false };
    for start in (0..n).step_by(COLUMNS) {
        let end = n.min(start + COLUMNS);
        let (done, below) = values.split_at_mut(end * n);
        for i in start..end {
            let (above, row) = done.split_at_mut(i * n);
            eliminate(above, row, start..i, n);
            let pivot = row[i] - f64::dot(&row[..i], &row[..i]);
            if !(pivot.is_finite() && pivot > 0.0) {
                return false;
            }
            row[i] = pivot.sqrt();
        }
        below.par_chunks_exact_mut(n).with_min_len(COLUMNS).for_each(|row| eliminate(done, row, start..end, n));
    }
    true
}

/// Computes some columns of a row of R from the rows of R above it.
fn eliminate(above: &[f64], row: &mut [f64], columns: std::ops::Range<usize>, n: usize) {
    for j in columns {
        let other = &above[j * n..j * n + j + 1];
        row[j] = (row[j] - f64::dot(&row[..j], &other[..j])) / other[j];
    }
}

/// Solves R Rᵀ x = v in place.
fn solve(r: &Array2<f32>, x: &mut [f32]) {
    let n = r.nrows();
    let values = r.as_slice().unwrap_or_default();
    for i in 0..n {
        let row = &values[i * n..];
        x[i] = (x[i] - kernels::dot(&row[..i], &x[..i])) / row[i];
    }
    for i in (0..n).rev() {
        let row = &values[i * n..];
        x[i] /= row[i];
        let c = -x[i];
        kernels::axpy(c, &row[..i], &mut x[..i]);
    }
}

#[cfg(test)]
mod tests {
    use super::{super::tests::circle, *};

    #[test]
    fn the_preconditioner_solves_with_the_weighted_gram_matrix() {
        let examples = circle(40);
        let curvatures: Vec<f64> = (0..40).map(|i| 0.01 * (i % 7) as f64).collect();
        let m = Preconditioner::new::<f64, _>(&examples, &curvatures, 3.0).unwrap();
        let expected = [0.4, -1.0, 2.0];
        let mut v = [0.4, -1.0, 0.0];
        let mut x = [1.0; 3];
        for (i, &d) in curvatures.iter().enumerate() {
            examples.write(i, &mut x[..2]);
            let product: f64 = x.iter().zip(&expected).map(|(x, e)| x * e).sum();
            v.iter_mut().zip(&x).for_each(|(v, x)| *v += 3.0 * d * x * product);
        }
        let mut twice = [v, v].concat();
        m.apply(&mut twice);
        for (got, expected) in twice.iter().zip(expected.iter().cycle()) {
            assert!((got - expected).abs() < 1e-4, "{twice:?}");
        }
        let Preconditioner::Diagonal(of_diagonal) =
            Preconditioner::Diagonal(diagonal::<f64, _>(&examples, &curvatures, 3.0))
        else {
            return;
        };
        let gram = gram::<f64, _>(&examples, &curvatures).unwrap();
        assert!((of_diagonal[1] - 1.0 - 3.0 * gram[(1, 1)]).abs() < 1e-12);
        assert!((of_diagonal[2] - 3.0 * gram[(2, 2)]).abs() < 1e-12);
    }

    #[test]
    fn factors_of_any_size_multiply_to_the_matrix_on_any_number_of_threads() {
        for n in [1, COLUMNS - 1, COLUMNS, COLUMNS + 1, 3 * COLUMNS + 5] {
            let a = Array2::from_shape_fn((n, n), |(i, j)| ((7 * i + 13 * j) % 11) as f64 - 5.0);
            let mut m = a.dot(&a.t());
            m.diag_mut().iter_mut().for_each(|x| *x += 1.0);
            let (whole, mut alone) = (m.clone(), m.clone());
            let pool = |n_threads| rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
            assert!(pool(4).install(|| cholesky(&mut m)) && pool(1).install(|| cholesky(&mut alone)));
            assert_eq!(m, alone);
            let r = Array2::from_shape_fn((n, n), |(i, j)| if j <= i { m[(i, j)] } else { 0.0 });
            let error = (r.dot(&r.t()) - &whole).mapv(f64::abs).fold(0.0, |a: f64, &b| a.max(b));
            assert!(error <= 1e-12 * whole[(0, 0)].max(1.0) * n as f64, "{n}: {error}");
            // A later row equals an earlier one, in another block.
            if n > COLUMNS + 1 {
                let mut singular = whole;
                let row = singular.row(n - 2).to_owned();
                singular.row_mut(n - 1).assign(&row);
                singular.column_mut(n - 1).assign(&row);
                singular[(n - 1, n - 1)] = row[n - 2] - 1.0;
                assert!(!cholesky(&mut singular));
            }
        }
    }

    #[test]
    fn a_matrix_that_is_not_positive_definite_is_refused() {
        assert!(!cholesky(&mut ndarray::array![[1.0, 2.0], [2.0, 1.0]]));
        assert!(!cholesky(&mut ndarray::array![[f64::NAN]]));
        let mut m = ndarray::array![[4.0, 2.0], [2.0, 5.0]];
        assert!(cholesky(&mut m));
        assert_eq!((m[(0, 0)], m[(1, 0)], m[(1, 1)]), (2.0, 1.0, 2.0));
    }
}
