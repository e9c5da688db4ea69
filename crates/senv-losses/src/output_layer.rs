//! An output layer over the vocabulary, computed in blocks. The logits of several rows are computed, replaced by loss
//! and gradient, and dropped, so those of the whole batch are never in memory at the same time.
//!
//! Equation: `output-layer`
//!
//! ```text
//! (F1)  a = H Oᵀ + o                                  H: shape (n, dim), O: (n_words, dim), o: (1, n_words)
//! (B1)  ∂H = ∂a O,   ∂O += ∂aᵀ H,   ∂o += Σ ∂a        ∂a from the loss of a row
//! ```

use std::ops::Range;

use ndarray::{Array2, ArrayView2, ArrayViewMut2, s};
use rayon::prelude::*;
use senv_core::{
    arrays::{Float, Parameters, matmul_into},
    hyperparameters::named_values,
};

use crate::error::{Error, Result, check_size};

/// The default maximum number of logits in a block: 32 MiB of f32.
///
/// A larger block needs fewer passes over the gradient of the output matrix, a smaller one stays in the cache.
pub const DEFAULT_BLOCK: usize = 1 << 23;

/// The minimum number of values per thread.
const A_THREAD: usize = 1 << 14;

/// Columns that a thread sums together.
const COLUMNS: usize = 1024;

/// Whether the losses of the examples of a batch are summed or averaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub enum Reduction {
    /// Their sum, as in the release of Skip-thoughts.
    Sum,
    /// Their mean, as in P-thought; the default.
    #[default]
    Mean,
}

named_values!(Reduction { Sum = "sum": "Their sum, as in the released code", Mean = "mean": "Their mean" });

impl Reduction {
    /// The factor of the loss of each of `n` examples.
    ///
    /// # Errors
    /// [`Error::EmptyBatch`] without examples.
    pub(crate) fn factor(self, n: usize) -> Result<f64> {
        match self {
            _ if n == 0 => Err(Error::EmptyBatch),
            Self::Sum => Ok(1.0),
            Self::Mean => Ok(1.0 / n as f64),
        }
    }
}

/// Returns an error unless there is one target per row, each below `n_words`.
pub(crate) fn check_targets(targets: &[u32], n: usize, n_words: usize) -> Result<()> {
    check_size("targets of a batch", n, targets.len())?;
    match targets.iter().position(|&target| target as usize >= n_words) {
        Some(example) => Err(Error::TargetOutOfRange { example, target: targets[example], n_targets: n_words }),
        None => Ok(()),
    }
}

/// The matrix at index `place`, the bias after it, and the maximum number of logits in a block.
pub(crate) struct OutputLayer<'a, F> {
    place: usize,
    w: ArrayView2<'a, F>,
    b: &'a [F],
    block: usize,
}

impl<'a, F: Float> OutputLayer<'a, F> {
    pub(crate) fn new(parameters: &'a Parameters<F>, place: usize, block: usize) -> Self {
        Self { place, w: parameters[place].view(), b: parameters[place + 1].values(), block }
    }

    /// Calls `row` with the index and logits of every row of `hidden`; `row` replaces the logits by their gradient and
    /// returns a loss. Then calls `each` with the indices and gradients of every block. Returns the losses.
    fn blocks(
        &self,
        hidden: ArrayView2<'_, F>,
        row: impl Fn(usize, &mut [F]) -> f64 + Sync,
        mut each: impl FnMut(Range<usize>, ArrayViewMut2<'_, F>) -> Result<()>,
    ) -> Result<Vec<f64>> {
        let (n, width) = (hidden.nrows(), self.w.nrows());
        check_size("hidden state", self.w.ncols(), hidden.ncols())?;
        let n_blocks = n.div_ceil((self.block / width.max(1)).max(1)).max(1);
        let height = n.div_ceil(n_blocks);
        let len = height.checked_mul(width).ok_or(senv_core::Error::TooLarge { rows: height, dim: width })?;
        let mut numbers = vec![F::zero(); len];
        let mut losses = Vec::with_capacity(n);
        for first in (0..n).step_by(height.max(1)) {
            let places = first..n.min(first + height);
            let numbers = &mut numbers[..places.len() * width];
            let h = hidden.slice(s![places.clone(), ..]);
            matmul_into(F::one(), h, self.w.t(), F::zero(), as_matrix(numbers, width))?; // (F1)
            let rows = numbers.par_chunks_mut(width.max(1)).with_min_len(A_THREAD.div_ceil(width.max(1)));
            let block_losses: Vec<f64> = rows
                .enumerate()
                .map(|(i, logits)| {
                    F::add_to(self.b, logits);
                    row(first + i, logits)
                })
                .collect();
            losses.extend(block_losses);
            each(places, as_matrix(numbers, width))?;
        }
        Ok(losses)
    }

    /// The losses that `row` computes from the logits of every row; the overwritten logits are dropped.
    pub(crate) fn losses(
        &self,
        hidden: ArrayView2<'_, F>,
        row: impl Fn(usize, &mut [F]) -> f64 + Sync,
    ) -> Result<Vec<f64>> {
        self.blocks(hidden, row, |_, _| Ok(()))
    }

    /// The result of `row`, which overwrites the logits of every row, shape `(n, n_words)`; for decoders, which need
    /// few rows.
    pub(crate) fn map(&self, hidden: ArrayView2<'_, F>, row: impl Fn(&mut [F]) + Sync) -> Result<Array2<F>> {
        let mut out = Array2::zeros((hidden.nrows(), self.w.nrows()));
        let row = |_: usize, logits: &mut [F]| {
            row(logits);
            0.0
        };
        self.blocks(hidden, row, |places, block| {
            out.slice_mut(s![places, ..]).assign(&block);
            Ok(())
        })?;
        Ok(out)
    }

    /// The sum of the losses and the gradient of `hidden`; `row` replaces logits by their gradient and returns a loss.
    /// The gradients of matrix and bias are added to `d_parameters`, at the same indices.
    pub(crate) fn loss_and_gradients(
        &self,
        hidden: ArrayView2<'_, F>,
        row: impl Fn(usize, &mut [F]) -> f64 + Sync,
        d_parameters: &mut Parameters<F>,
    ) -> Result<(f64, Array2<F>)> {
        let mut d_hidden = Array2::zeros(hidden.raw_dim());
        let losses = self.blocks(hidden, row, |places, d| {
            let h = hidden.slice(s![places.clone(), ..]);
            matmul_into(F::one(), d.view(), self.w, F::zero(), d_hidden.slice_mut(s![places, ..]))?; // (B1)
            matmul_into(F::one(), d.t(), h, F::one(), d_parameters[self.place].view_mut())?;
            add_column_sums(d.view(), d_parameters[self.place + 1].values_mut());
            Ok(())
        })?;
        Ok((losses.iter().sum(), d_hidden))
    }
}

/// Rows of `width` values.
fn as_matrix<F: Float>(numbers: &mut [F], width: usize) -> ArrayViewMut2<'_, F> {
    let height = numbers.len().checked_div(width).unwrap_or(0);
    ArrayViewMut2::from_shape((height, width), numbers).unwrap_or_else(|_| unreachable!("whole rows"))
}

/// Adds the rows of `d` to `out`; threads divide the columns.
fn add_column_sums<F: Float>(d: ArrayView2<'_, F>, out: &mut [F]) {
    out.par_chunks_mut(COLUMNS).enumerate().for_each(|(chunk, out)| {
        let first = chunk * COLUMNS;
        for row in d.rows() {
            let row = row.to_slice().unwrap_or_else(|| unreachable!("made in row order"));
            F::add_to(&row[first..][..out.len()], out);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::matrix;

    #[test]
    fn blocks_are_as_even_as_can_be_and_hold_no_more_logits_than_were_said() {
        let mut parameters = Parameters::<f32>::new();
        parameters.push_zeros("w", [7, 3]).unwrap();
        parameters.push_zeros("b", [1, 7]).unwrap();
        let hidden = matrix::<f32>(10, 3, 1);
        let blocks = |block| {
            let mut blocks = Vec::new();
            let layer = OutputLayer::new(&parameters, 0, block);
            let each = |places: Range<usize>, logits: ArrayViewMut2<'_, f32>| {
                assert_eq!(logits.dim(), (places.len(), 7));
                blocks.push(places);
                Ok(())
            };
            let losses = layer.blocks(hidden.view(), |i, _| i as f64, each).unwrap();
            assert!(losses.into_iter().eq((0..10).map(f64::from)));
            blocks
        };
        assert_eq!(blocks(35), [0..5, 5..10]); // Five rows of seven logits.
        assert_eq!(blocks(34), [0..4, 4..8, 8..10]); // Four rows.
        assert_eq!(blocks(1).len(), 10, "one row at least");
        assert_eq!(blocks(DEFAULT_BLOCK), vec![0..10]);
        assert_eq!(DEFAULT_BLOCK * size_of::<f32>(), 32 << 20);
    }
}
