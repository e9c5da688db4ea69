//! The recurrent matrix U for the products of the backward pass: `∂h = ∂u U`.
//!
//! With few sentences left, a product with the rows of a matrix is about twice as fast as one with its columns; so U is
//! transposed once a pass where enough steps have few sentences.

use ndarray::{ArrayView2, ArrayViewMut2};
use rayon::prelude::*;
use senv_core::{
    Result,
    arrays::{Float, matmul_into},
};

use super::{Steps, view};
use crate::rows::zeros;

/// The most sentences for which the transposed U is faster.
const FEW: usize = 64;

/// The fewest steps with so few sentences that pay for the transposition.
const STEPS: usize = 4;

/// U, or some of its rows.
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

    /// `out = d U`, or `out += d U` with `beta` 1.
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

/// `u` transposed, in tiles that fit into the cache; `None` if `u` is not row-major and contiguous.
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
