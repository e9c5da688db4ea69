//! Convolution: filters over windows of words, summed over the sentence.
//!
//! Two implementations compute the same encoder; the activation decides which. Without an activation, the sum over
//! windows moves inside the product (`collapsed.rs`). With tanh, each distinct word is multiplied once by all filters
//! (`projected.rs`). Both are tested against the definition, which takes one product per window of words.

mod collapsed;
mod direct;
mod folded;
mod folded_edges;
mod projected;
#[cfg(test)]
mod reference;
#[cfg(test)]
mod tests;

use ndarray::{Array2, ArrayView2, ArrayViewMut2, s};
use senv_core::{
    Error, Result,
    arrays::{Float, Parameters, TokenBatch},
    hyperparameters::named_values,
    init,
    rng::Stream,
};
use serde::{Deserialize, Serialize};

pub use folded::FoldedCnn;

use crate::encoder::{Encoder, check_gradients, check_size, check_words};

/// Filters over windows of one width.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// The width of the window in words, at least 1.
    pub width: usize,
    /// The number of filters, at least 1; each gives one value of the sentence vector.
    pub n_filters: usize,
}

/// The activation f, applied to the result of a filter before the sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Activation {
    /// The identity. Word order then matters only for the `width - 1` words at each end of the sentence.
    #[default]
    Linear,
    /// The hyperbolic tangent.
    Tanh,
}

named_values!(Activation {
    Linear = "linear": "None: word order then has almost no effect",
    Tanh = "tanh": "Hyperbolic tangent",
});

/// Padding of a sentence shorter than a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Padding {
    /// Zero vectors on the right, for each width only as many as one window needs. The paper says "padded when
    /// necessary". In this interpretation the bias counts only once per window.
    #[default]
    PerFilter,
    /// Zero vectors on the right up to the widest window, for all widths.
    WholeSentence,
}

named_values!(Padding {
    PerFilter = "per-filter": "As much as each window needs",
    WholeSentence = "whole-sentence": "As much as the widest window needs, for all windows",
});

/// A convolution with sum pooling, the encoder of CSE.
///
/// ```text
/// c_k = Σ_{i=0..N} f(Σ_{j=0..h} W_k[j]·x_{i+j} + b_k)      N = n − h + 1 windows of h words in n, after padding
/// ```
///
/// The sentence vector concatenates the blocks of all windows, in the order given. Each window has two parameters, in
/// this order and counted from 1. The first is `filter1`, shape `(n_filters, width * d)`, with W_k\[j\] in columns `j *
/// d` to `(j + 1) * d` of row k. The second is `bias1`, shape `(1, n_filters)`. Filters are initialized by Glorot and
/// Bengio, with fan-in `width * d` and fan-out `n_filters`; biases are 0.
///
/// ```
/// use ndarray::array;
/// use senv_core::{TokenId, arrays::{Parameters, TokenBatch}};
/// use senv_encoders::{Activation, Encoder, Padding, SumPooledCnn, Window};
/// // One filter over two words of one dimension: 2 x_i + 3 x_{i+1} + 0.5.
/// let windows = vec![Window { width: 2, n_filters: 1 }];
/// let cnn = SumPooledCnn::new(1, windows, Activation::Linear, Padding::PerFilter)?;
/// let mut parameters = Parameters::new();
/// parameters.push("filter1", [1, 2], vec![2.0, 3.0])?;
/// parameters.push("bias1", [1, 1], vec![0.5])?;
/// let mut batch = TokenBatch::new();
/// batch.assign([&[TokenId(0), TokenId(1), TokenId(1)][..], &[TokenId(0)], &[]])?;
/// let (out, _) = cnn.forward(&parameters, &batch, array![[1.0], [10.0]].view())?;
/// // (2 + 30 + 0.5) + (20 + 30 + 0.5); the single word of the second is padded on the right: 2 + 0 + 0.5.
/// assert_eq!(out, array![[83.0], [2.5], [0.0]]);
/// # Ok::<(), senv_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct SumPooledCnn {
    dim: usize,
    windows: Vec<Window>,
    activation: Activation,
    padding: Padding,
    blocks: Vec<Block>,
    /// The widest window.
    longest: usize,
}

/// The columns of a window in vectors and parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Block {
    width: usize,
    n_filters: usize,
    /// Index of the filter among the parameters; the bias follows it.
    filter: usize,
    /// First column in the sentence vector.
    column: usize,
    /// First column in a word's projection: n_filters for offset 0, then for offset 1, ...
    projection: usize,
    /// The number of offsets of earlier windows; each has one vector in the collapsed form.
    offset: usize,
}

impl Block {
    /// Its columns in the sentence vector.
    fn columns(&self) -> std::ops::Range<usize> {
        self.column..self.column + self.n_filters
    }

    /// The offsets j at which one of `n_positions` windows covers the word at position `t`.
    fn offsets_of(&self, t: usize, n_positions: usize) -> std::ops::Range<usize> {
        (t + 1).saturating_sub(n_positions)..self.width.min(t + 1)
    }
}

impl SumPooledCnn {
    /// Creates an encoder for word vectors of dimension `dim`. The published one has dimension 300 and windows of 1, 2
    /// and 3 words with 100 linear filters each.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `dim`, the number of windows, and every width and number of filters are above
    /// 0; [`Error::TooLarge`] if the parameters do not fit in memory.
    pub fn new(dim: usize, windows: Vec<Window>, activation: Activation, padding: Padding) -> Result<Self> {
        let above_zero = |name, value: usize| match value {
            0 => Err(Error::InvalidParameter { name, requirement: "above 0", got: "0".into() }),
            _ => Ok(()),
        };
        above_zero("dim", dim)?;
        above_zero("number of windows", windows.len())?;
        let mut blocks = Vec::with_capacity(windows.len());
        let mut next = Block { width: 0, n_filters: 0, filter: 0, column: 0, projection: 0, offset: 0 };
        for &Window { width, n_filters } in &windows {
            above_zero("width of a window", width)?;
            above_zero("filters of a window", n_filters)?;
            let too_large = || Error::TooLarge { rows: n_filters, dim: width.saturating_mul(dim) };
            let block = Block { width, n_filters, ..next };
            let projection = width.checked_mul(n_filters).and_then(|n| n.checked_add(next.projection));
            next = Block {
                filter: next.filter + 2,
                column: next.column.checked_add(n_filters).ok_or_else(too_large)?,
                projection: projection.ok_or_else(too_large)?,
                offset: next.offset.checked_add(width).ok_or_else(too_large)?,
                ..block
            };
            next.projection.checked_mul(dim).ok_or_else(too_large)?;
            blocks.push(block);
        }
        let longest = windows.iter().map(|window| window.width).max().unwrap_or(0);
        Ok(Self { dim, windows, activation, padding, blocks, longest })
    }

    /// The word dimension.
    #[must_use]
    pub fn word_dim(&self) -> usize {
        self.dim
    }

    /// The windows, in the order of their blocks.
    #[must_use]
    pub fn windows(&self) -> &[Window] {
        &self.windows
    }

    /// The activation.
    #[must_use]
    pub fn activation(&self) -> Activation {
        self.activation
    }

    /// The padding of short sentences.
    #[must_use]
    pub fn padding(&self) -> Padding {
        self.padding
    }

    /// The sentence dimension.
    fn out_dim(&self) -> usize {
        self.blocks.iter().map(|block| block.n_filters).sum()
    }

    /// The number of products of a word with all filters at all offsets.
    fn projection_dim(&self) -> usize {
        self.blocks.iter().map(|block| block.width * block.n_filters).sum()
    }

    /// The total number of offsets of all windows.
    fn n_offsets(&self) -> usize {
        self.blocks.iter().map(|block| block.width).sum()
    }

    /// The number of words that this window sees in a sentence of `n` words, including padding.
    fn padded(&self, n: usize, block: &Block) -> usize {
        match self.padding {
            _ if n == 0 => 0,
            Padding::PerFilter => n.max(block.width),
            Padding::WholeSentence => n.max(self.longest),
        }
    }

    /// N, the number of windows in a sentence of `n` words.
    fn n_positions(&self, n: usize, block: &Block) -> usize {
        (self.padded(n, block) + 1).saturating_sub(block.width)
    }

    /// Checks names and shapes of the parameters.
    fn check_parameters<F: Float>(&self, parameters: &Parameters<F>) -> Result<()> {
        check_size("tensors of the encoder", 2 * self.blocks.len(), parameters.len())?;
        for block in &self.blocks {
            let [rows, columns] = parameters[block.filter].shape();
            check_size("rows of filters of a window", block.n_filters, rows)?;
            check_size("columns of filters of a window", block.width * self.dim, columns)?;
            let [rows, columns] = parameters[block.filter + 1].shape();
            check_size("rows of biases of a window", 1, rows)?;
            check_size("columns of biases of a window", block.n_filters, columns)?;
        }
        Ok(())
    }

    /// The number of parameter values, as a float to avoid overflow.
    #[must_use]
    pub fn n_values(&self) -> f64 {
        let values = |block: &Block| block.n_filters as f64 * (block.width as f64 * self.dim as f64 + 1.0);
        self.blocks.iter().map(values).sum()
    }

    /// All filters as one matrix, with one row per value of a word's projection, shape `(projection, d)`.
    fn stacked_filters<F: Float>(&self, parameters: &Parameters<F>) -> Array2<F> {
        let mut stacked = Array2::zeros((self.projection_dim(), self.dim));
        for block in &self.blocks {
            let filter = parameters[block.filter].view();
            for j in 0..block.width {
                let first = block.projection + j * block.n_filters;
                let rows = filter.slice(s![.., j * self.dim..(j + 1) * self.dim]);
                stacked.slice_mut(s![first..first + block.n_filters, ..]).assign(&rows);
            }
        }
        stacked
    }
}

/// The saved state for the backward pass of [`SumPooledCnn`].
///
/// Linear: the sums of words at each offset, `n_sentences * Σ width * d` values. Tanh: the derivatives of all
/// activations, `Σ_s Σ_windows N_s * n_filters` values, and their sums per sentence.
#[derive(Debug, Clone)]
pub struct CnnSaved<F>(State<F>);

#[derive(Debug, Clone)]
enum State<F> {
    Linear(Array2<F>),
    Tanh(projected::Slopes<F>),
}

crate::encoder::encoder_of_passes!(Encoder for SumPooledCnn, CnnSaved<F>);

impl crate::encoder::Passes for SumPooledCnn {
    type Saved<F: Float> = CnnSaved<F>;

    fn dim(&self) -> usize {
        self.out_dim()
    }

    fn init<F: Float>(&self, rng: &mut Stream) -> Result<Parameters<F>> {
        let mut parameters = Parameters::new();
        for (i, Window { width, n_filters }) in self.windows.iter().enumerate() {
            let fan_in = width * self.dim;
            let filter = parameters.push_zeros(format!("filter{}", i + 1), [*n_filters, fan_in])?;
            init::glorot_uniform(rng, parameters[filter].values_mut(), fan_in, *n_filters)?;
            parameters.push_zeros(format!("bias{}", i + 1), [1, *n_filters])?;
        }
        Ok(parameters)
    }

    fn forward<F: Float>(
        &self,
        parameters: &Parameters<F>,
        batch: &TokenBatch,
        words: ArrayView2<'_, F>,
    ) -> Result<(Array2<F>, Self::Saved<F>)> {
        check_words(batch, self.dim, words)?;
        self.check_parameters(parameters)?;
        let (out, state) = match self.activation {
            Activation::Linear => {
                let (out, sums) = self.forward_collapsed(parameters, batch, words)?;
                (out, State::Linear(sums))
            }
            Activation::Tanh => {
                let (out, slopes) = self.forward_projected(parameters, batch, words)?;
                (out, State::Tanh(slopes))
            }
        };
        Ok((out, CnnSaved(state)))
    }

    fn backward<F: Float>(
        &self,
        parameters: &Parameters<F>,
        batch: &TokenBatch,
        words: ArrayView2<'_, F>,
        saved: &Self::Saved<F>,
        d_out: ArrayView2<'_, F>,
        d_words: Option<ArrayViewMut2<'_, F>>,
        d_parameters: &mut Parameters<F>,
    ) -> Result<()> {
        check_words(batch, self.dim, words)?;
        self.check_parameters(parameters)?;
        self.check_parameters(d_parameters)?;
        check_gradients(batch, self.out_dim(), d_out, words, d_words.as_ref())?;
        match &saved.0 {
            State::Linear(sums) if self.activation == Activation::Linear => {
                self.backward_collapsed(parameters, batch, sums, d_out, d_words, d_parameters)
            }
            State::Tanh(slopes) if self.activation == Activation::Tanh => {
                self.backward_projected(parameters, batch, words, slopes, d_out, d_words, d_parameters)
            }
            _ => Err(Error::InvalidParameter {
                name: "saved state",
                requirement: "of the forward pass of this encoder",
                got: "one of another activation function".into(),
            }),
        }
    }
}
