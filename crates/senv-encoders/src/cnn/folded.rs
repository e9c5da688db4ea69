//! Words and filters folded into one table, so encoding a sentence costs about as much as averaging it.
//!
//! The linear encoder has a table of Q of `cnn-folded`, and a second one with corrections for the first and last words.
//! With tanh there is a table of P of `cnn-sum-pooling`, the products of all words with all filters.

use ndarray::{Array2, ArrayView2, ArrayViewMut2, ShapeBuilder};
use rayon::prelude::*;
use senv_core::{
    Error, Result, RowId, Rows, Table, TokenId,
    arrays::{Float, Parameters, matmul_into},
    kernels,
};

use super::{Activation, SumPooledCnn, direct, folded_edges::Edges, projected::fill_cells};
use crate::encoder::check_size;

/// A trained [`SumPooledCnn`] with precomputed products of all word vectors and filters, for encoding.
///
/// The tables take [`FoldedCnn::n_bytes`] in addition to the word vectors, which encoding no longer needs. With tanh
/// each word has `Σ n_filters * width` values. A linear encoder has `Σ n_filters` values per word. For each of the `2
/// (longest - 1)` positions at the ends of a sentence, it also has values for the filters of all windows wider than a
/// word. For windows of 1, 2 and 3 words with 100 filters each, that is 4.5 kB (linear, padded to whole cache lines)
/// and 2.4 kB (tanh) per word. This pays when encoding many sentences; for a few, [`SumPooledCnn::encode_into`] needs
/// no table.
///
/// ```
/// use senv_core::{Table, TokenId, rng::stream};
/// use senv_encoders::{Activation, Encoder, FoldedCnn, Padding, SumPooledCnn, Window};
/// let table = Table::from_vec(2, 3, vec![0.1, 0.2, 0.3, -0.4, 0.5, 0.6])?;
/// let windows = vec![Window { width: 2, n_filters: 2 }];
/// let cnn = SumPooledCnn::new(3, windows, Activation::Linear, Padding::PerFilter)?;
/// let parameters = cnn.init(&mut stream(7, "filters", &[]))?;
/// let folded = FoldedCnn::new(&cnn, &parameters, &table)?;
/// let (mut scratch, mut fast, mut plain) = (Vec::new(), [0.0; 2], [0.0; 2]);
/// let sentence = [TokenId(0), TokenId(1), TokenId(0)];
/// folded.encode_into(&sentence, &mut scratch, &mut fast)?;
/// cnn.encode_into(&parameters, &table, &sentence, &mut scratch, &mut plain)?;
/// assert!(fast.iter().zip(plain).all(|(f, p)| (f - p).abs() < 1e-6));
/// # Ok::<(), senv_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct FoldedCnn {
    cnn: SumPooledCnn,
    /// Biases, in sentence vector order.
    bias: Vec<f32>,
    /// Q or P of each word.
    words: Table,
    /// L and R of each word; without rows for tanh.
    corrections: Table,
    edges: Edges,
}

/// Writes `words filtersᵀ + bias` to `out`, which has a row of at least `filters.nrows()` values per word.
fn fill(words: &Table, filters: &Array2<f32>, bias: &[f32], stride: usize, out: &mut [f32]) -> Result<()> {
    let (n_rows, n_columns) = (words.n_rows(), filters.nrows());
    if n_rows == 0 || n_columns == 0 {
        return Ok(());
    }
    let too_large = |_| Error::TooLarge { rows: n_rows, dim: n_columns };
    out.par_chunks_mut(64 * stride).for_each(|rows| {
        rows.chunks_exact_mut(stride).for_each(|row| row[..n_columns].copy_from_slice(bias));
    });
    let words = ArrayView2::from_shape((n_rows, words.dim()).strides((words.stride(), 1)), words.values());
    let out = ArrayViewMut2::from_shape((n_rows, n_columns).strides((stride, 1)), out);
    matmul_into(1.0, words.map_err(too_large)?, filters.t(), 1.0, out.map_err(too_large)?)
}

impl FoldedCnn {
    /// Multiplies all words by all filters, on the threads of the current rayon pool.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] if parameters or words do not match the encoder; [`Error::TooLarge`] if the tables do
    /// not fit in memory.
    pub fn new(cnn: &SumPooledCnn, parameters: &Parameters<f32>, words: &Table) -> Result<Self> {
        cnn.check_parameters(parameters)?;
        check_size("columns of word vectors", cnn.dim, words.dim())?;
        let bias: Vec<f32> =
            cnn.blocks.iter().flat_map(|block| parameters[block.filter + 1].values()).copied().collect();
        let (n_words, edges) = (words.n_rows(), Edges::new(cnn));
        if cnn.activation == Activation::Tanh {
            let filters = cnn.stacked_filters(parameters);
            let mut projections = Table::zeros(n_words, filters.nrows())?;
            let stride = projections.stride();
            fill(words, &filters, &vec![0.0; filters.nrows()], stride, projections.values_mut())?;
            return Ok(Self { cnn: cnn.clone(), bias, words: projections, corrections: Table::zeros(0, 1)?, edges });
        }
        let mut sums = Table::zeros(n_words, bias.len())?;
        let stride = sums.stride();
        fill(words, &cnn.summed_filters(parameters), &bias, stride, sums.values_mut())?;
        // Row indices have 32 bits.
        let too_large = Error::TooLarge { rows: n_words, dim: edges.n_places().saturating_mul(edges.width()) };
        let n_rows = n_words.checked_mul(edges.n_places()).filter(|&n| u32::try_from(n).is_ok()).ok_or(too_large)?;
        let mut corrections = Table::zeros(n_rows, edges.width())?;
        let (filters, biases) = edges.filters(cnn, parameters, corrections.stride());
        fill(words, &filters, &biases, filters.nrows(), corrections.values_mut())?;
        Ok(Self { cnn: cnn.clone(), bias, words: sums, corrections, edges })
    }

    /// The sentence dimension.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.bias.len()
    }

    /// The number of words in the table.
    #[must_use]
    pub fn n_words(&self) -> usize {
        self.words.n_rows()
    }

    /// The memory used by the tables, in bytes.
    #[must_use]
    pub fn n_bytes(&self) -> usize {
        4 * (self.words.values().len() + self.corrections.values().len())
    }

    /// Encodes one sentence into `out`. The values are those of [`forward`](crate::Encoder::forward), up to rounding
    /// (1e-5 of the largest). A sentence without words gives zeros. Nothing is allocated once `scratch` has grown.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] if `out` does not have [`FoldedCnn::dim`] values, or a token has no row.
    pub fn encode_into(&self, tokens: &[TokenId], scratch: &mut Vec<f32>, out: &mut [f32]) -> Result<()> {
        check_size("sentence vector", self.dim(), out.len())?;
        direct::check_tokens(tokens, self.n_words())?;
        match self.cnn.activation {
            Activation::Linear => self.add_up(tokens, scratch, out),
            Activation::Tanh => self.convolve(tokens, scratch, out),
        }
        Ok(())
    }

    /// (F2) of `cnn-folded`.
    fn add_up(&self, tokens: &[TokenId], scratch: &mut Vec<f32>, out: &mut [f32]) {
        kernels::sum_rows(self.words.values(), self.words.stride(), bytemuck::cast_slice(tokens), 1.0, out);
        let (n, width, n_places) = (tokens.len(), self.edges.width(), self.edges.n_places());
        let row = |t: usize, place| RowId(tokens[t].0 * n_places as u32 + place as u32);
        if n < self.cnn.longest {
            return self.add_up_padded(tokens, out);
        }
        let (sum, rows) = direct::room(scratch, width + n_places).split_at_mut(width);
        let rows: &mut [RowId] = bytemuck::cast_slice_mut(rows);
        rows.iter_mut().zip(self.edges.places(n)).for_each(|(to, (t, place))| *to = row(t, place));
        kernels::sum_rows(self.corrections.values(), self.corrections.stride(), rows, 1.0, sum);
        for (block, columns) in self.edges.blocks() {
            kernels::add(&sum[columns], &mut out[block.columns()]);
        }
    }

    /// Adds the corrections, for each window, of a sentence shorter than the widest window.
    fn add_up_padded(&self, tokens: &[TokenId], out: &mut [f32]) {
        let n = tokens.len();
        if n == 0 {
            return;
        }
        for (block, columns) in self.edges.blocks() {
            let out = &mut out[block.columns()];
            for (t, place) in self.edges.places_of(block, self.cnn.padded(n, block)) {
                // A position after the last word is padding.
                if let Some(token) = tokens.get(t) {
                    let row = self.corrections.row(token.index() * self.edges.n_places() + place);
                    kernels::add(&row[columns.clone()], out);
                }
            }
        }
        for block in &self.cnn.blocks {
            // Each word added one bias, and each of the first words subtracted one.
            let counted = n - n.min(block.width - 1);
            let missing = self.cnn.n_positions(n, block) - counted;
            kernels::axpy(missing as f32, &self.bias[block.columns()], &mut out[block.columns()]);
        }
    }

    /// (F2) and (F3) of `cnn-sum-pooling`.
    fn convolve(&self, tokens: &[TokenId], scratch: &mut Vec<f32>, out: &mut [f32]) {
        out.fill(0.0);
        let n = tokens.len();
        for block in &self.cnn.blocks {
            let cells = direct::room(scratch, self.cnn.n_positions(n, block) * block.n_filters);
            let projection = |t: usize| self.words.row(tokens[t].index());
            fill_cells(block, n, &self.bias[block.columns()], projection, cells);
            f32::tanh_in_place(cells);
            let out = &mut out[block.columns()];
            cells.chunks_exact(block.n_filters).for_each(|cell| kernels::add(cell, out));
        }
    }
}
