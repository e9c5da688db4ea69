//! The LSTM encoder: in one or both directions, with one or more layers; uses the last state, the mean or the maximum.

#[cfg(test)]
mod tests;

use ndarray::{Array2, ArrayView2, ArrayViewMut2};
use senv_core::{
    Result,
    arrays::{Float, Parameters, TokenBatch, compiled_here},
    rng::Stream,
};

use crate::{
    encoder::Encoder,
    lstm::{LstmActivations, LstmCell, LstmInit},
    recurrent::{RecurrentCell, RecurrentTopology, Stack, StackSaved, StatePooling},
};

/// The variant of an LSTM encoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LstmForm {
    /// How directions and layers are connected; [`RecurrentTopology::Forward`] by default.
    pub topology: RecurrentTopology,
    /// How to pool the states of a sentence; the last one by default.
    pub pooling: StatePooling,
    /// Whether the gates see the cell, with a weight per value (Gers et al.); false by default.
    pub peepholes: bool,
    /// Whether the state is gated, `h = o ∘ tanh(c)` (default), or not, `h = tanh(c)`.
    pub output_gate: bool,
    /// How to initialize the weights.
    pub start: LstmInit,
}

impl Default for LstmForm {
    fn default() -> Self {
        Self {
            topology: RecurrentTopology::default(),
            pooling: StatePooling::default(),
            peepholes: false,
            output_gate: true,
            start: LstmInit::default(),
        }
    }
}

/// An LSTM encoder: GRAN's sister models, SDAE, and InferSent (two directions, maximum).
///
/// ```text
/// i = σ(W_i x + U_i h⁻ + p_i ∘ c⁻ + b_i)    f = σ(W_f x + U_f h⁻ + p_f ∘ c⁻ + b_f)    g = tanh(W_g x + U_g h⁻ + b_g)
/// c = f ∘ c⁻ + i ∘ g                        o = σ(W_o x + U_o h⁻ + p_o ∘ c + b_o)     h = o ∘ tanh(c)
/// ```
///
/// Parameters of direction `d` (`forward`, `backward`) in layer `l`, counted from 1. They are ordered by layer, and
/// within a layer the forward direction comes first. Each tensor's rows stack the blocks of i, f, g and o, with
/// `hidden` rows each, as in PyTorch (whose two biases are summed here):
///
/// | name | shape |
/// | --- | --- |
/// | `{d}{l}.input` | `(4 hidden, d)`; above the first layer `hidden` columns, `2 hidden` if interleaved |
/// | `{d}{l}.recurrent` | `(4 hidden, hidden)` |
/// | `{d}{l}.bias` | `(1, 4 hidden)` |
/// | `{d}{l}.peepholes` | `(1, 3 hidden)`: i, f and o; only with peepholes |
///
/// Without an output gate there is no block for o. States and cells start at zero; no step is computed for a sentence
/// that has ended. With last-state pooling, the sentence vector has every layer if there is one direction, otherwise
/// both directions of the top layer. Mean and maximum use the top layer.
///
/// ```
/// use ndarray::array;
/// use senv_core::{TokenId, arrays::TokenBatch, rng::stream};
/// use senv_encoders::{Encoder, RecurrentTopology, LstmEncoder, LstmForm, StatePooling};
/// let form = LstmForm { topology: RecurrentTopology::Separate, pooling: StatePooling::Max, ..LstmForm::default() };
/// let lstm = LstmEncoder::new(2, 3, 1, form)?;
/// let parameters = lstm.init(&mut stream(1, "encoder", &[]))?;
/// assert_eq!(parameters[3].name(), "backward1.input");
/// let mut batch = TokenBatch::new();
/// batch.assign([&[TokenId(4), TokenId(6)][..], &[TokenId(6), TokenId(4)], &[]])?;
/// let (out, _) = lstm.forward(&parameters, &batch, array![[0.1, 0.9], [-0.5, 0.2]].view())?;
/// assert_eq!(out.dim(), (3, 6));
/// assert!(out.row(0) != out.row(1)); // The order of words matters,
/// assert!(out.row(2).iter().all(|&x| x == 0.0)); // and an empty sentence is a vector of zeros.
/// # Ok::<(), senv_core::Error>(())
/// ```
///
/// # References
/// S. Hochreiter and J. Schmidhuber, Long Short-Term Memory, Neural Computation 1997; F. Gers, N. Schraudolph and J.
/// Schmidhuber, Learning Precise Timing with LSTM Recurrent Networks, JMLR 2002 (peepholes).
#[derive(Debug, Clone, PartialEq)]
pub struct LstmEncoder {
    stack: Stack<LstmCell>,
    start: LstmInit,
}

/// The saved state for the backward pass of [`LstmEncoder`]: gates, cells and states of all words, by direction.
#[derive(Debug, Clone)]
pub struct LstmSaved<F>(StackSaved<F, LstmActivations<F>>);

impl LstmEncoder {
    /// Creates an encoder for word vectors of dimension `word_dim`.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`](senv_core::Error::InvalidParameter) unless `word_dim`, `hidden` and `layers` are
    /// above 0; [`Error::TooLarge`](senv_core::Error::TooLarge) if the parameters do not fit in memory.
    pub fn new(word_dim: usize, hidden: usize, layers: usize, form: LstmForm) -> Result<Self> {
        let LstmForm { topology, pooling, peepholes, output_gate, start } = form;
        let first = LstmCell { input: word_dim, hidden, context: 0, peepholes, output_gate };
        let stack =
            Stack::new(first, |input| LstmCell { input, ..first }, (word_dim, hidden), layers, topology, pooling)?;
        Ok(Self { stack, start })
    }

    /// The word dimension.
    #[must_use]
    pub fn word_dim(&self) -> usize {
        self.stack.word_dim
    }

    /// The hidden size of each direction and layer.
    #[must_use]
    pub fn hidden(&self) -> usize {
        self.stack.hidden
    }

    /// The number of parameter values, as a float to avoid overflow, in constant time for any number of layers.
    #[must_use]
    pub fn n_values(&self) -> f64 {
        self.stack.n_values()
    }

    /// Encodes a batch with trained parameters. The result is bit-identical to that of [`forward`](Encoder::forward),
    /// without the activations that only the backward pass needs.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`](senv_core::Error::ShapeMismatch) if words or parameters do not match the encoder or the
    /// batch; [`Error::TooLarge`](senv_core::Error::TooLarge) if the result does not fit in memory.
    pub fn encode<F: Float>(
        &self,
        parameters: &Parameters<F>,
        batch: &TokenBatch,
        words: ArrayView2<'_, F>,
    ) -> Result<Array2<F>> {
        compiled_here!(self, |this: &'a LstmEncoder,
                              parameters: &'a Parameters<F>,
                              batch: &'a TokenBatch,
                              words: ArrayView2<'a, F>|
         -> Result<Array2<F>> { Ok(this.stack.run(parameters, batch, words, false)?.0) })
    }
}

crate::encoder::encoder_of_passes!(Encoder for LstmEncoder, LstmSaved<F>);

impl crate::encoder::Passes for LstmEncoder {
    type Saved<F: Float> = LstmSaved<F>;

    fn dim(&self) -> usize {
        self.stack.out_dim()
    }

    fn init<F: Float>(&self, rng: &mut Stream) -> Result<Parameters<F>> {
        let mut parameters = Parameters::new();
        for (cell, name) in self.stack.cells() {
            cell.push(&name, self.start, rng, &mut parameters)?;
        }
        Ok(parameters)
    }

    fn forward<F: Float>(
        &self,
        parameters: &Parameters<F>,
        batch: &TokenBatch,
        words: ArrayView2<'_, F>,
    ) -> Result<(Array2<F>, Self::Saved<F>)> {
        let (vectors, saved) = self.stack.run(parameters, batch, words, true)?;
        Ok((vectors, LstmSaved(saved)))
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
        self.stack.backward(parameters, batch, words, &saved.0, d_out, d_words, d_parameters)
    }
}
