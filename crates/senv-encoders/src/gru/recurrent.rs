//! U as the backward pass multiplies with it: `∂h = ∂u U`.
//!
//! With few sentences left, a product with the rows of a matrix is about twice as fast as one with its columns; so U is
//! turned once a pass where enough steps are like that.

use ndarray::{ArrayView2, ArrayViewMut2};
use rayon::prelude::*;
use senv_core::{Float, Result, matmul_into};

use super::{Steps, view};
use crate::rows::zeros;

/// Sentences up to which U is better read on its side.
const FEW: usize = 64;

/// Steps with so few sentences from which on turning pays.
const STEPS: usize = 4;

/// U, or some of its rows.
pub(super) struct Recurrent<'a, F> {
    u: ArrayView2<'a, F>,
    turned: Option<Vec<F>>,
}

impl<'a, F: Float> Recurrent<'a, F> {
    pub(super) fn new(u: ArrayView2<'a, F>, steps: &Steps) -> Result<Self> {
        let few = (0..steps.len()).filter(|&t| (2..=FEW).contains(&steps.active(t))).count();
        let turned = if few >= STEPS && !u.is_empty() { turned(u)? } else { None };
        Ok(Self { u, turned })
    }

    /// `out = d U`, or `out += d U` with `beta` 1.
    pub(super) fn times(&self, d: ArrayView2<'_, F>, beta: F, out: ArrayViewMut2<'_, F>) -> Result<()> {
        let (rows, columns) = self.u.dim();
        match &self.turned {
            Some(turned) if d.nrows() <= FEW => {
                matmul_into(F::one(), d, view(turned, columns, rows).reversed_axes(), beta, out)
            }
            _ => matmul_into(F::one(), d, self.u, beta, out),
        }
    }
}

/// `u` on its side, in tiles that fit into the cache; none if its rows do not lie one after another.
fn turned<F: Float>(u: ArrayView2<'_, F>) -> Result<Option<Vec<F>>> {
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
