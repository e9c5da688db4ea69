//! The products of a cell's inputs, for all steps at once.
//!
//! ```text
//! P = X Wᵀ + b                    X: input rows, each once however often it is read
//! ∂P_x = Σ ∂a over the places that read x
//! ∂A_s = Σ ∂a over the words of sentence s      A: what the context adds
//! ```
//!
//! One thread sums over the positions of a word in a fixed order.

use ndarray::ArrayView2;
use rayon::prelude::*;
use senv_core::{
    Error, Result,
    arrays::{Float, matmul_into},
};

use super::{CellInput, ROWS, Steps, steps::InverseIndex, view_mut};
use crate::rows::{AT_A_TIME, zeros};

/// P, with a row for the zero vector at the end.
pub(crate) fn project<F: Float>(input: ArrayView2<'_, F>, bias: &[F], cell_input: &CellInput<'_, F>) -> Result<Vec<F>> {
    let (n_rows, width) = (cell_input.rows.nrows(), bias.len());
    let mut projections = Vec::new();
    let too_large = || Error::TooLarge { rows: n_rows, dim: width };
    let len = n_rows.checked_add(1).and_then(|n| n.checked_mul(width)).ok_or_else(too_large)?;
    projections.try_reserve_exact(len).map_err(|_| too_large())?;
    (0..=n_rows).for_each(|_| projections.extend_from_slice(bias));
    let out = view_mut(&mut projections[..n_rows * width], n_rows, width);
    matmul_into(F::one(), cell_input.rows, input.t(), F::one(), out)?;
    Ok(projections)
}

/// ∂P, with the row of the zero vector at the end; `add_to(i, out)` adds ∂a of packed row `i`.
pub(crate) fn projection_gradients<F: Float>(
    cell_input: &CellInput<'_, F>,
    width: usize,
    add_to: impl Fn(usize, &mut [F]) + Sync,
) -> Result<Vec<F>> {
    let n_rows = cell_input.rows.nrows();
    let mut projections = zeros(n_rows + 1, width)?;
    let inverse = cell_input.index.map(|index| InverseIndex::of(index, n_rows + 1));
    projections.par_chunks_mut(AT_A_TIME * width).enumerate().for_each(|(chunk, projections)| {
        for (i, out) in projections.chunks_exact_mut(width).enumerate() {
            let i = chunk * AT_A_TIME + i;
            match &inverse {
                Some(inverse) => inverse.of_row(i).iter().for_each(|&at| add_to(at as usize, out)),
                None if i < n_rows => add_to(i, out),
                None => {}
            }
        }
    });
    Ok(projections)
}

/// ∂A in sorted order; `add_to(i, out)` adds ∂a of packed row `i`.
pub(crate) fn sentence_sums<F: Float>(
    steps: &Steps,
    width: usize,
    add_to: impl Fn(usize, &mut [F]) + Sync,
) -> Result<Vec<F>> {
    let mut sums = zeros(steps.n_sentences(), width)?;
    sums.par_chunks_exact_mut(width).with_min_len(ROWS).enumerate().for_each(|(i, sum)| {
        (0..steps.len()).take_while(|&t| i < steps.active(t)).for_each(|t| add_to(steps.start(t) + i, sum));
    });
    Ok(sums)
}
