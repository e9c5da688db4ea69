//! Encodes one sentence at a time with trained weights, directly from the word table and the filters.
//!
//! The computations are those of `cnn-collapsed` and of the definition, with one product per window.
//! [`FoldedCnn`](super::FoldedCnn) is faster if its memory is worthwhile.

use ndarray::{ArrayView2, ArrayViewMut2, ShapeBuilder};
use senv_core::{
    Error, Result, Rows, Table, TokenId,
    arrays::{Float, Parameters, matmul_into},
    kernels,
};

use super::{Activation, SumPooledCnn};
use crate::encoder::check_size;

/// At least `n` values of scratch memory, with unspecified contents.
pub(super) fn room(scratch: &mut Vec<f32>, n: usize) -> &mut [f32] {
    if scratch.len() < n {
        scratch.resize(n, 0.0);
    }
    &mut scratch[..n]
}

/// Returns an error if a token has no row.
pub(super) fn check_tokens(tokens: &[TokenId], n_rows: usize) -> Result<()> {
    match tokens.iter().map(|token| token.index()).max() {
        Some(highest) if highest >= n_rows => {
            Err(Error::ShapeMismatch { what: "rows of the word table", expected: highest + 1, got: n_rows })
        }
        _ => Ok(()),
    }
}

impl SumPooledCnn {
    /// Encodes one sentence into `out`. The values are those of [`forward`](crate::Encoder::forward), up to rounding.
    ///
    /// | name | meaning | shape |
    /// | --- | --- | --- |
    /// | `words` | vectors of all tokens | `(n_tokens, d)` |
    /// | `tokens` | the sentence | `(n,)` |
    /// | `scratch` | buffer, reused between sentences | |
    /// | `out` | the sentence vector | `(dim,)` |
    ///
    /// The linear encoder allocates nothing once `scratch` has grown.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] if the shapes do not match, or the table has no row for a token.
    pub fn encode_into(
        &self,
        parameters: &Parameters<f32>,
        words: &Table,
        tokens: &[TokenId],
        scratch: &mut Vec<f32>,
        out: &mut [f32],
    ) -> Result<()> {
        self.check_parameters(parameters)?;
        check_size("columns of word vectors", self.dim, words.dim())?;
        check_size("sentence vector", self.out_dim(), out.len())?;
        check_tokens(tokens, words.n_rows())?;
        match self.activation {
            Activation::Linear => {
                self.encode_collapsed(parameters, words, tokens, scratch, out);
                Ok(())
            }
            Activation::Tanh => self.encode_windows(parameters, words, tokens, scratch, out),
        }
    }

    fn encode_collapsed(
        &self,
        parameters: &Parameters<f32>,
        words: &Table,
        tokens: &[TokenId],
        scratch: &mut Vec<f32>,
        out: &mut [f32],
    ) {
        let (dim, n) = (self.dim, tokens.len());
        let (interior, sums) = room(scratch, (1 + self.n_offsets()) * dim).split_at_mut(dim);
        self.fill_sums(n, |t| words.row(tokens[t].index()), interior, sums);
        for block in &self.blocks {
            let sums = &sums[block.offset * dim..][..block.width * dim];
            let (filter, bias) = (parameters[block.filter].values(), parameters[block.filter + 1].values());
            let n_positions = self.n_positions(n, block) as f32;
            for ((out, filter), bias) in
                out[block.columns()].iter_mut().zip(filter.chunks_exact(block.width * dim)).zip(bias)
            {
                *out = kernels::dot(filter, sums) + n_positions * bias;
            }
        }
    }

    fn encode_windows(
        &self,
        parameters: &Parameters<f32>,
        words: &Table,
        tokens: &[TokenId],
        scratch: &mut Vec<f32>,
        out: &mut [f32],
    ) -> Result<()> {
        let (dim, n) = (self.dim, tokens.len());
        out.fill(0.0);
        let n_cells = self.blocks.iter().map(|block| self.n_positions(n, block) * block.n_filters).max();
        let (text, cells) =
            room(scratch, n.max(self.longest) * dim + n_cells.unwrap_or(0)).split_at_mut(n.max(self.longest) * dim);
        for (t, word) in text.chunks_exact_mut(dim).enumerate() {
            match tokens.get(t) {
                Some(token) => word.copy_from_slice(words.row(token.index())),
                None => word.fill(0.0),
            }
        }
        let does_not_fit = |_| Error::TooLarge { rows: n, dim };
        for block in &self.blocks {
            let n_positions = self.n_positions(n, block);
            let cells = &mut cells[..n_positions * block.n_filters];
            let bias = parameters[block.filter + 1].values();
            cells.chunks_exact_mut(block.n_filters).for_each(|cell| cell.copy_from_slice(bias));
            // Windows overlap: each begins one word after the previous one.
            let shape = (n_positions, block.width * dim).strides((dim, 1));
            let windows = ArrayView2::from_shape(shape, text).map_err(does_not_fit)?;
            let shape = (n_positions, block.n_filters);
            let activations = ArrayViewMut2::from_shape(shape, &mut *cells).map_err(does_not_fit)?;
            matmul_into(1.0, windows, parameters[block.filter].view().t(), 1.0, activations)?;
            f32::tanh_in_place(cells);
            let out = &mut out[block.columns()];
            cells.chunks_exact(block.n_filters).for_each(|cell| kernels::add(cell, out));
        }
        Ok(())
    }
}
