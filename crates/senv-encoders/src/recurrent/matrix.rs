//! The recurrent matrix U for the products of the backward pass: `∂h = ∂u U`.
//!
//! With few sentences left, a product with the rows of a matrix is about twice as fast as one with its columns. So U is
//! transposed once per pass if enough steps have few sentences.

use ndarray::{ArrayView2, ArrayViewMut2};
use rayon::prelude::*;
use senv_core::{
    Result,
    arrays::{Float, matmul_into},
};

use super::{Steps, view};
use crate::rows::zeros;

/// The maximum number of sentences for which the transposed U is faster.
const FEW: usize = 64;

/// The minimum number of such steps that pays for the transposition.
const STEPS: usize = 4;

/// U, or several of its rows.
pub(crate) struct Recurrent<'a, F> {
    u: ArrayView2<'a, F>,
    transposed: Option<Vec<F>>,
}

impl<'a, F: Float> Recurrent<'a, F> {
    pub(crate) fn new(u: ArrayView2<'a, F>, steps: &Steps) -> Result<Self> {
        let few = (0..steps.len()).filter(|&t| (2..=FEW).contains(&steps.active(t))).count();
        let transposed = if few >= STEPS && !u.is_empty() { transposed(u)? } else { None };
        Ok(Self { u, transposed })
    }

    /// Computes `out = d U`, or `out += d U` if `beta` is 1.
    pub(crate) fn times(&self, d: ArrayView2<'_, F>, beta: F, out: ArrayViewMut2<'_, F>) -> Result<()> {
        let (rows, columns) = self.u.dim();
        match &self.transposed {
            Some(transposed) if d.nrows() <= FEW => {
                matmul_into(F::one(), d, view(transposed, columns, rows).reversed_axes(), beta, out)
            }
            _ => matmul_into(F::one(), d, self.u, beta, out),
        }
    }
}

/// `u` transposed, in tiles that fit in the cache; `None` if `u` is not row-major and contiguous.
fn transposed<F: Float>(u: ArrayView2<'_, F>) -> Result<Option<Vec<F>>> {
    const TILE: usize = 16;
    let (rows, columns) = u.dim();
    let Some(values) = u.as_slice() else { return Ok(None) };
    let mut out = zeros(columns, rows)?;
    out.par_chunks_mut(TILE * rows).enumerate().for_each(|(tile, out)| {
        let first = tile * TILE;
        for i in (0..rows).step_by(TILE) {
            for (j, out) in out.chunks_exact_mut(rows).enumerate() {
                for (k, x) in out[i..rows.min(i + TILE)].iter_mut().enumerate() {
                    *x = values[(i + k) * columns + first + j];
                }
            }
        }
    });
    Ok(Some(out))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::matrix_of;
    use ndarray::{Array2, s};

    #[test]
    fn a_product_is_the_sum_of_rows_whether_the_matrix_was_transposed_or_not() {
        let u = matrix_of::<f64>(50, 37, 1);
        let long = [3; 9];
        for (lengths, is_transposed) in [(&long[..], true), (&[3; 3], false), (&[1; 9], false), (&[9; 2], true)] {
            let steps = Steps::new(lengths.iter().copied()).unwrap();
            for first in [0, 20] {
                let part = u.slice(s![first.., ..]);
                let matrix = Recurrent::new(part, &steps).unwrap();
                assert_eq!(matrix.transposed.is_some(), is_transposed && lengths[0] >= STEPS, "{lengths:?}");
                for n in [1, 3, FEW, FEW + 1] {
                    let d = matrix_of::<f64>(n, part.nrows(), 2);
                    for beta in [0.0, 1.0] {
                        let mut out = Array2::from_elem((n, 37), 0.5);
                        matrix.times(d.view(), beta, out.view_mut()).unwrap();
                        for ((i, j), got) in out.indexed_iter() {
                            let sum: f64 = (0..part.nrows()).map(|k| d[(i, k)] * part[(k, j)]).sum();
                            assert!((got - (0.5 * beta + sum)).abs() < 1e-12, "{lengths:?} {first} {n} {i} {j}");
                        }
                    }
                }
            }
        }
    }
}
