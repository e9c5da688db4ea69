//! The convolution with tanh: each distinct word is multiplied once by all filters.
//!
//! Equation: `cnn-sum-pooling`
//!
//! ```text
//! (F1)  P_u[j] = W[j] x_u                               one product for all distinct words u, filters and offsets j
//! (F2)  a_i = Σ_j P_{u(i+j)}[j] + b                     i = 0 .. N;  u(t): the word at position t, 0 beyond the sentence
//! (F3)  c = Σ_i tanh a_i
//! (B3)  D_i = g (1 − tanh² a_i)                         g = ∂L/∂c;   ∂L/∂b += Σ_i D_i
//! (B2)  G_u[j] = Σ_{(s,t): word u} D_{t−j}              over all its occurrences, where 0 ≤ t − j < N
//! (B1)  ∂L/∂x_u += Σ_j W[j]ᵀ G_u[j]                     ∂L/∂W[j] += Σ_u G_u[j] x_uᵀ
//! ```
//!
//! The products are computed once per distinct word instead of once per position: U Σ h k d operations for U words and
//! k filters over h words each. One thread sums G for each distinct word in a fixed order.
//!
//! The pass saves 1 − tanh² a_i for all windows, so nothing is recomputed, and its sum over i for the biases. P and G,
//! shape `(U, Σ h k)` each, exist only during one pass.

use ndarray::{Array2, ArrayView2, ArrayViewMut2, s};
use rayon::prelude::*;
use senv_core::{
    Error, Result,
    arrays::{Float, Parameters, TokenBatch, matmul, matmul_into},
};

use super::{Block, SumPooledCnn};
use crate::{
    encoder::check_size,
    rows::{AT_A_TIME, flat, matrix, row, zeros},
};

/// The derivatives of all activations of a batch.
#[derive(Debug, Clone)]
pub(super) struct Slopes<F> {
    /// Ordered by sentence, window and position: n_filters values each.
    slopes: Vec<F>,
    /// The start of each sentence, then the end of the last.
    starts: Vec<usize>,
    /// Their sums over positions, shape `(n_sentences, out_dim)`.
    sums: Vec<F>,
}

/// Writes (F2) for one window in a sentence of `n` words to `cells`, with a row of n_filters values per position.
/// `projection` returns P of the word at a position.
pub(super) fn fill_cells<'p, F: Float>(
    block: &Block,
    n: usize,
    bias: &[F],
    projection: impl Fn(usize) -> &'p [F],
    cells: &mut [F],
) {
    for (i, cell) in cells.chunks_exact_mut(block.n_filters).enumerate() {
        cell.copy_from_slice(bias);
        for j in 0..block.width.min(n - i.min(n)) {
            F::add_to(&projection(i + j)[block.projection + j * block.n_filters..][..block.n_filters], cell);
        }
    }
}

impl SumPooledCnn {
    /// The number of activations in a sentence of `n` words.
    fn n_cells(&self, n: usize) -> usize {
        self.blocks.iter().map(|block| self.n_positions(n, block) * block.n_filters).sum()
    }

    fn starts(&self, batch: &TokenBatch) -> Vec<usize> {
        let mut end = 0;
        let ends = (0..batch.len()).map(|i| {
            end += self.n_cells(batch.sentence(i).len());
            end
        });
        std::iter::once(0).chain(ends).collect()
    }

    pub(super) fn forward_projected<F: Float>(
        &self,
        parameters: &Parameters<F>,
        batch: &TokenBatch,
        words: ArrayView2<'_, F>,
    ) -> Result<(Array2<F>, Slopes<F>)> {
        let (out_dim, width) = (self.out_dim(), self.projection_dim());
        let projections = matmul(words, self.stacked_filters(parameters).t())?.into_raw_vec_and_offset().0; // (F1)
        let starts = self.starts(batch);
        let mut slopes = zeros(starts[batch.len()], 1)?;
        let (mut out, mut sums) = (zeros(batch.len(), out_dim)?, zeros(batch.len(), out_dim)?);
        let mut sentences = Vec::with_capacity(batch.len());
        let mut rest = &mut slopes[..];
        for ((ends, out), sums) in
            starts.windows(2).zip(out.chunks_exact_mut(out_dim)).zip(sums.chunks_exact_mut(out_dim))
        {
            let (cells, behind) = rest.split_at_mut(ends[1] - ends[0]);
            sentences.push((cells, out, sums));
            rest = behind;
        }
        let of_word = |u: u32| row(&projections, width, u as usize);
        sentences.par_iter_mut().with_min_len(8).enumerate().for_each(|(i, (cells, out, sums))| {
            let sentence = batch.sentence(i);
            let mut rest = &mut cells[..];
            for block in &self.blocks {
                let n_cells = self.n_positions(sentence.len(), block) * block.n_filters;
                let (cells, behind) = rest.split_at_mut(n_cells);
                let bias = parameters[block.filter + 1].values();
                fill_cells(block, sentence.len(), bias, |t| of_word(sentence[t]), cells); // (F2)
                F::tanh_in_place(cells);
                let (out, sums) = (&mut out[block.columns()], &mut sums[block.columns()]);
                for cell in cells.chunks_exact_mut(block.n_filters) {
                    F::add_to(cell, out); // (F3)
                    cell.iter_mut().for_each(|x| *x = F::one() - *x * *x); // (B3)
                    F::add_to(cell, sums);
                }
                rest = behind;
            }
        });
        drop(sentences);
        Ok((matrix(batch.len(), out_dim, out)?, Slopes { slopes, starts, sums }))
    }

    #[allow(clippy::too_many_arguments)]
    pub(super) fn backward_projected<F: Float>(
        &self,
        parameters: &Parameters<F>,
        batch: &TokenBatch,
        words: ArrayView2<'_, F>,
        saved: &Slopes<F>,
        d_out: ArrayView2<'_, F>,
        d_words: Option<ArrayViewMut2<'_, F>>,
        d_parameters: &mut Parameters<F>,
    ) -> Result<()> {
        let (out_dim, width, n_distinct) = (self.out_dim(), self.projection_dim(), batch.distinct().len());
        check_size("sentences of saved state", batch.len() + 1, saved.starts.len())?;
        if saved.starts != self.starts(batch) {
            let got = "one of sentences with other lengths".into();
            return Err(Error::InvalidParameter { name: "saved state", requirement: "that of this batch", got });
        }
        let d_out = d_out.as_standard_layout();
        let d_out = flat(&d_out);
        for block in &self.blocks {
            let d_bias = d_parameters[block.filter + 1].values_mut();
            for i in 0..batch.len() {
                let (g, slopes) = (row(d_out, out_dim, i), row(&saved.sums, out_dim, i));
                add_product(&g[block.columns()], &slopes[block.columns()], d_bias); // (B3)
            }
        }
        let mut d_projections = zeros(n_distinct, width)?;
        d_projections.par_chunks_mut(AT_A_TIME * width).enumerate().for_each(|(chunk, d_projections)| {
            for (i, d_projection) in d_projections.chunks_exact_mut(width).enumerate() {
                for place in batch.occurrences(chunk * AT_A_TIME + i) {
                    let (sentence, t) = (place.sentence as usize, place.position as usize);
                    let (g, n) = (row(d_out, out_dim, sentence), batch.sentence(sentence).len());
                    let mut start = saved.starts[sentence];
                    for block in &self.blocks {
                        let (g, n_positions) = (&g[block.columns()], self.n_positions(n, block));
                        for j in block.offsets_of(t, n_positions) {
                            let slopes = &saved.slopes[start + (t - j) * block.n_filters..][..block.n_filters];
                            let first = block.projection + j * block.n_filters;
                            add_product(g, slopes, &mut d_projection[first..][..block.n_filters]); // (B3) (B2)
                        }
                        start += n_positions * block.n_filters;
                    }
                }
            }
        });
        let d_projections = matrix(n_distinct, width, d_projections)?;
        let stacked = self.stacked_filters(parameters);
        if let Some(d_words) = d_words {
            matmul_into(F::one(), d_projections.view(), stacked.view(), F::one(), d_words)?; // (B1)
        }
        let d_stacked = matmul(d_projections.t(), words)?; // (B1)
        for block in &self.blocks {
            let mut d_filter = d_parameters[block.filter].view_mut();
            for j in 0..block.width {
                let first = block.projection + j * block.n_filters;
                let mut columns = d_filter.slice_mut(s![.., j * self.dim..(j + 1) * self.dim]);
                columns += &d_stacked.slice(s![first..first + block.n_filters, ..]);
            }
        }
        Ok(())
    }
}

/// `y += a b`, elementwise.
fn add_product<F: Float>(a: &[F], b: &[F], y: &mut [F]) {
    y.iter_mut().zip(a).zip(b).for_each(|((y, &a), &b)| *y += a * b);
}
