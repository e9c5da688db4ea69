//! The linear convolution in collapsed form: sums of words first, then one small product.
//!
//! Equation: `cnn-collapsed`
//!
//! ```text
//! (F1)  S_j = Σ_{i=0..N} x_{i+j}                        j = 0 .. h;  x: shape (d,), 0 beyond the sentence
//! (F2)  c_k = Σ_j W_k[j]·S_j + N b_k                    = Σ_i (Σ_j W_k[j]·x_{i+j} + b_k)
//! (B2)  ∂L/∂W_k[j] += g_k S_j      ∂L/∂b_k += N g_k     ∂L/∂S_j = Σ_k g_k W_k[j]      g = ∂L/∂c
//! (B1)  ∂L/∂x_t += Σ_{j: 0 ≤ t−j < N} ∂L/∂S_j
//! ```
//!
//! A word at least h − 1 words from both ends is in every S_j. Such words are summed once for all windows, and share
//! the gradient Σ_j ∂L/∂S_j. So for k filters a sentence of n words costs n d + k h d multiplications and additions
//! instead of n k h d.
//!
//! Saved: all S_j of the batch, shape `(n_sentences, Σ h * d)`.

use ndarray::{Array2, ArrayView2, ArrayViewMut2, s};
use rayon::prelude::*;
use senv_core::{
    Result,
    arrays::{Float, Parameters, TokenBatch, matmul_into},
};

use super::SumPooledCnn;
use crate::{
    encoder::check_size,
    rows::{AT_A_TIME, add_by_rows, flat, matrix, row, zeros},
};

impl SumPooledCnn {
    /// In a sentence of `n` words, the positions that every window covers at every offset.
    pub(super) fn interior(&self, n: usize) -> std::ops::Range<usize> {
        let edge = self.longest - 1;
        if n > 2 * edge { edge..n - edge } else { n..n }
    }

    /// Writes (F1) for a sentence of `n` words to `sums`, with a row of d values for each offset of each window.
    /// `interior` is a buffer of d values.
    pub(super) fn fill_sums<'w, F: Float>(
        &self,
        n: usize,
        word: impl Fn(usize) -> &'w [F],
        interior: &mut [F],
        sums: &mut [F],
    ) {
        let inside = self.interior(n);
        interior.fill(F::zero());
        inside.clone().for_each(|t| F::add_to(word(t), interior));
        for block in &self.blocks {
            let n_positions = self.n_positions(n, block);
            for j in 0..block.width {
                let sum = &mut sums[(block.offset + j) * self.dim..][..self.dim];
                sum.copy_from_slice(interior);
                // The sum covers words j to j + N; the interior is already included.
                let end = (j + n_positions).min(n);
                if inside.is_empty() {
                    (j..end).for_each(|t| F::add_to(word(t), sum));
                } else {
                    (j..inside.start).chain(inside.end..end).for_each(|t| F::add_to(word(t), sum));
                }
            }
        }
    }

    pub(super) fn forward_collapsed<F: Float>(
        &self,
        parameters: &Parameters<F>,
        batch: &TokenBatch,
        words: ArrayView2<'_, F>,
    ) -> Result<(Array2<F>, Array2<F>)> {
        let (dim, n_sums, out_dim) = (self.dim, self.n_offsets() * self.dim, self.out_dim());
        let words = words.as_standard_layout();
        let words = flat(&words);
        let (mut sums, mut out) = (zeros(batch.len(), n_sums)?, zeros(batch.len(), out_dim)?);
        let sums_and_out = sums.par_chunks_mut(AT_A_TIME * n_sums).zip(out.par_chunks_mut(AT_A_TIME * out_dim));
        sums_and_out.enumerate().for_each(|(chunk, (sums, out))| {
            let mut interior = vec![F::zero(); dim];
            for (i, (sums, out)) in sums.chunks_exact_mut(n_sums).zip(out.chunks_exact_mut(out_dim)).enumerate() {
                let sentence = batch.sentence(chunk * AT_A_TIME + i);
                let n = sentence.len();
                self.fill_sums(n, |t| row(words, dim, sentence[t] as usize), &mut interior, sums); // (F1)
                for block in &self.blocks {
                    let n_positions = F::of(self.n_positions(n, block) as f64);
                    F::axpy(n_positions, parameters[block.filter + 1].values(), &mut out[block.columns()]); // (F2)
                }
            }
        });
        let (sums, mut out) = (matrix(batch.len(), n_sums, sums)?, matrix(batch.len(), out_dim, out)?);
        for block in &self.blocks {
            let sums = sums.slice(s![.., block.offset * dim..(block.offset + block.width) * dim]);
            let out = out.slice_mut(s![.., block.columns()]);
            matmul_into(F::one(), sums, parameters[block.filter].view().t(), F::one(), out)?; // (F2)
        }
        Ok((out, sums))
    }

    pub(super) fn backward_collapsed<F: Float>(
        &self,
        parameters: &Parameters<F>,
        batch: &TokenBatch,
        sums: &Array2<F>,
        d_out: ArrayView2<'_, F>,
        d_words: Option<ArrayViewMut2<'_, F>>,
        d_parameters: &mut Parameters<F>,
    ) -> Result<()> {
        let (dim, n_sums) = (self.dim, self.n_offsets() * self.dim);
        check_size("sentences of saved state", batch.len(), sums.nrows())?;
        check_size("columns of saved state", n_sums, sums.ncols())?;
        let rows = if d_words.is_some() { batch.len() } else { 0 };
        let mut d_sums = matrix(rows, n_sums, zeros(rows, n_sums)?)?;
        for block in &self.blocks {
            let g = d_out.slice(s![.., block.columns()]);
            let columns = s![.., block.offset * dim..(block.offset + block.width) * dim];
            matmul_into(F::one(), g.t(), sums.slice(columns), F::one(), d_parameters[block.filter].view_mut())?; // (B2)
            if d_words.is_some() {
                matmul_into(F::one(), g, parameters[block.filter].view(), F::zero(), d_sums.slice_mut(columns))?; // (B2)
            }
            let d_bias = d_parameters[block.filter + 1].values_mut();
            for (i, g) in g.rows().into_iter().enumerate() {
                let n_positions = F::of(self.n_positions(batch.sentence(i).len(), block) as f64);
                d_bias.iter_mut().zip(g).for_each(|(d, &g)| *d += n_positions * g); // (B2)
            }
        }
        let Some(d_words) = d_words else { return Ok(()) };
        let d_sums = d_sums.into_raw_vec_and_offset().0;
        // The gradient of every interior word of each sentence.
        let mut interior = zeros(batch.len(), dim)?;
        let chunks = interior.par_chunks_mut(AT_A_TIME * dim).zip(d_sums.par_chunks(AT_A_TIME * n_sums));
        chunks.for_each(|(interior, d_sums)| {
            for (interior, d_sums) in interior.chunks_exact_mut(dim).zip(d_sums.chunks_exact(n_sums)) {
                d_sums.chunks_exact(dim).for_each(|d_sum| F::add_to(d_sum, interior));
            }
        });
        add_by_rows(d_words, |d_words| {
            d_words.par_chunks_mut(AT_A_TIME * dim).enumerate().for_each(|(chunk, d_words)| {
                for (i, d_word) in d_words.chunks_exact_mut(dim).enumerate() {
                    for place in batch.occurrences(chunk * AT_A_TIME + i) {
                        let (sentence, t) = (place.sentence as usize, place.position as usize);
                        let n = batch.sentence(sentence).len();
                        if self.interior(n).contains(&t) {
                            F::add_to(row(&interior, dim, sentence), d_word); // (B1)
                            continue;
                        }
                        let d_sums = row(&d_sums, n_sums, sentence);
                        for block in &self.blocks {
                            for j in block.offsets_of(t, self.n_positions(n, block)) {
                                F::add_to(row(d_sums, dim, block.offset + j), d_word); // (B1)
                            }
                        }
                    }
                }
            });
        })
    }
}
