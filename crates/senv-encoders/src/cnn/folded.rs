//! Words and filters folded into one table: a sentence then costs about as much as an average.
//!
//! Linear: the table holds Q of `cnn-folded`, and a second one what corrects the first and last words. Tanh: it holds P of
//! `cnn-sum-pooling`, all words times all filters.

use ndarray::{Array2, ArrayView2, ArrayViewMut2, ShapeBuilder};
use senv_core::{Error, Float, Parameters, Result, Rows, Table, TokenId, kernels, matmul_into};

use super::{Activation, SumPooledCnn, direct, folded_edges::Edge, projected::fill_cells};
use crate::encoder::check_size;

/// A trained [`SumPooledCnn`] and all its word vectors, multiplied out for encoding.
///
/// The tables take `4 * n_words * columns` bytes ([`Folded::n_bytes`]) beside the word vectors, which are no longer needed
/// for encoding: linear, `Σ n_filters * (1 + 2 (width - 1))` columns, of which a sentence reads the first `Σ n_filters` of
/// each word and the rest of a few at its ends; tanh, `Σ n_filters * width`. For windows of 1, 2 and 3 words with 100
/// filters each these are 900 and 600. Worth it where many sentences are encoded; for a few,
/// [`SumPooledCnn::encode_into`] needs no table.
///
/// ```
/// use senv_core::{Table, TokenId, stream};
/// use senv_encoders::{Activation, Encoder, Folded, Padding, SumPooledCnn, Window};
/// let table = Table::from_vec(2, 3, vec![0.1, 0.2, 0.3, -0.4, 0.5, 0.6])?;
/// let windows = vec![Window { width: 2, n_filters: 2 }];
/// let cnn = SumPooledCnn::new(3, windows, Activation::Linear, Padding::PerFilter)?;
/// let parameters = cnn.init(&mut stream(7, "filters", &[]))?;
/// let folded = Folded::new(&cnn, &parameters, &table)?;
/// let (mut scratch, mut fast, mut plain) = (Vec::new(), [0.0; 2], [0.0; 2]);
/// let sentence = [TokenId(0), TokenId(1), TokenId(0)];
/// folded.encode_into(&sentence, &mut scratch, &mut fast)?;
/// cnn.encode_into(&parameters, &table, &sentence, &mut scratch, &mut plain)?;
/// assert!(fast.iter().zip(plain).all(|(f, p)| (f - p).abs() < 1e-6));
/// # Ok::<(), senv_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Folded {
    cnn: SumPooledCnn,
    /// Biases in the order of the sentence vector.
    bias: Vec<f32>,
    /// Q or P of each word.
    words: Table,
    /// L and R of each word; no columns for tanh.
    corrections: Table,
    edges: Vec<Edge>,
}

/// `table filtersᵀ` as a table, on the threads of the present rayon pool.
fn product(table: &Table, filters: &Array2<f32>) -> Result<Table> {
    let (n_rows, n_columns) = (table.n_rows(), filters.nrows());
    let too_large = |_| Error::TooLarge { rows: n_rows, dim: n_columns };
    let mut out = Table::zeros(n_rows, n_columns)?;
    if n_columns == 0 {
        return Ok(out);
    }
    let stride = out.stride();
    let words = ArrayView2::from_shape((n_rows, table.dim()).strides((table.stride(), 1)), table.values());
    let result = ArrayViewMut2::from_shape((n_rows, n_columns).strides((stride, 1)), out.values_mut());
    matmul_into(1.0, words.map_err(too_large)?, filters.t(), 0.0, result.map_err(too_large)?)?;
    Ok(out)
}

impl Folded {
    /// Multiplies all words by all filters, on the threads of the present rayon pool.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] if parameters or words do not fit the encoder; [`Error::TooLarge`] if the tables do not
    /// fit into memory.
    pub fn new(cnn: &SumPooledCnn, parameters: &Parameters<f32>, words: &Table) -> Result<Self> {
        cnn.check_parameters(parameters)?;
        check_size("word vectors, in columns,", cnn.dim, words.dim())?;
        let bias = cnn.blocks.iter().flat_map(|block| parameters[block.filter + 1].values()).copied().collect();
        let (filters, edges) = match cnn.activation {
            Activation::Linear => (cnn.summed_filters(parameters), cnn.edges()),
            Activation::Tanh => (cnn.stacked_filters(parameters), Vec::new()),
        };
        let corrections = product(words, &cnn.edge_filters(parameters, &edges))?;
        Ok(Self { cnn: cnn.clone(), bias, words: product(words, &filters)?, corrections, edges })
    }

    /// Numbers in a sentence vector.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.bias.len()
    }

    /// Words in the table.
    #[must_use]
    pub fn n_words(&self) -> usize {
        self.words.n_rows()
    }

    /// Memory of the tables, in bytes.
    #[must_use]
    pub fn n_bytes(&self) -> usize {
        4 * (self.words.values().len() + self.corrections.values().len())
    }

    /// The vector of one sentence into `out`: the numbers of [`forward`](crate::Encoder::forward), up to rounding (1e-5 of
    /// the largest). A sentence without words gives zeros. Nothing is allocated once `scratch` has grown.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] if `out` is not [`Folded::dim`] numbers long, or there is no row for a token.
    pub fn encode_into(&self, tokens: &[TokenId], scratch: &mut Vec<f32>, out: &mut [f32]) -> Result<()> {
        check_size("sentence vector", self.dim(), out.len())?;
        direct::check_tokens(tokens, self.n_words())?;
        match self.cnn.activation {
            Activation::Linear => self.add_up(tokens, out),
            Activation::Tanh => self.convolve(tokens, scratch, out),
        }
        Ok(())
    }

    /// (F2) of `cnn-folded`.
    fn add_up(&self, tokens: &[TokenId], out: &mut [f32]) {
        kernels::sum_rows(self.words.values(), self.words.stride(), bytemuck::cast_slice(tokens), 1.0, out);
        let n = tokens.len();
        for edge in &self.edges {
            // A position behind the last word is padding.
            if let Some(token) =
                n.checked_sub(1).and_then(|_| tokens.get(edge.position(self.cnn.padded(n, &edge.block))))
            {
                let corrections = &self.corrections.row(token.index())[edge.column..][..edge.block.n_filters];
                kernels::add(corrections, &mut out[edge.block.columns()]);
            }
        }
        for block in &self.cnn.blocks {
            let n_positions = self.cnn.n_positions(n, block) as f32;
            kernels::axpy(n_positions, &self.bias[block.columns()], &mut out[block.columns()]);
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
