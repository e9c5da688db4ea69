//! The GRU encoder: unidirectional or bidirectional, with one or more layers.

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
    gru::{Cell, GruActivations, GruInit, GruStyle},
    recurrent::{RecurrentCell, RecurrentTopology, Stack, StackSaved, StatePooling},
};

/// A GRU encoder: Skip-thoughts uni (`Forward`) and bi (`Separate`), and P-thought in all three topologies.
///
/// Parameters of direction `d` (`forward`, `backward`) in layer `l`, counted from 1. They are ordered by layer, and
/// within a layer the forward direction comes first. Each tensor's rows stack the blocks of r, z and n, with `hidden`
/// rows each:
///
/// | name | shape |
/// | --- | --- |
/// | `{d}{l}.input` | `(3 hidden, d)`; above the first layer `hidden` columns, `2 hidden` if interleaved |
/// | `{d}{l}.recurrent` | `(3 hidden, hidden)` |
/// | `{d}{l}.bias` | `(1, 3 hidden)` |
/// | `{d}{l}.recurrent_bias` | `(1, 3 hidden)`, only in the variant [`GruStyle::Torch`] |
///
/// The weights released by the Skip-thoughts authors are for the variant [`GruStyle::Release`], transposed, with the
/// candidate in separate arrays. `input` is `W` transposed above `Wx` transposed, `recurrent` is `U` transposed above
/// `Ux` transposed, and `bias` is `b` before `bx`. Those of PyTorch (`weight_ih`, `weight_hh`, `bias_ih`, `bias_hh`)
/// are the four tensors of [`GruStyle::Torch`], unchanged.
///
/// Initial states are zero. No step is computed for a sentence that has ended. For each direction and layer, a forward
/// pass over `n` words in `s` sentences with `u` distinct words saves `5 hidden n + hidden s` values. It needs `3
/// hidden u` more temporarily. The backward pass needs the same amounts again.
///
/// ```
/// use ndarray::array;
/// use senv_core::{TokenId, arrays::TokenBatch, rng::stream};
/// use senv_encoders::{Encoder, GruEncoder, GruInit, GruStyle, RecurrentTopology};
/// let bi = GruEncoder::new(2, 3, 1, RecurrentTopology::Separate, GruStyle::Tf1, GruInit::Glorot)?;
/// let parameters = bi.init(&mut stream(1, "encoder", &[]))?;
/// assert_eq!(parameters[3].name(), "backward1.input");
/// let mut batch = TokenBatch::new();
/// batch.assign([&[TokenId(4), TokenId(6)][..], &[TokenId(6), TokenId(4)], &[]])?;
/// let (out, _) = bi.forward(&parameters, &batch, array![[0.1, 0.9], [-0.5, 0.2]].view())?;
/// assert_eq!(out.dim(), (3, 6));
/// assert!(out.row(0) != out.row(1)); // The order of words matters,
/// assert!(out.row(2).iter().all(|&x| x == 0.0)); // and an empty sentence is the first state.
/// # Ok::<(), senv_core::Error>(())
/// ```
///
/// # References
/// K. Cho et al., Learning Phrase Representations using RNN Encoder-Decoder, EMNLP 2014, section 2.3; R. Kiros et al.,
/// Skip-Thought Vectors, NIPS 2015, section 2.1.
#[derive(Debug, Clone, PartialEq)]
pub struct GruEncoder {
    stack: Stack<Cell>,
    start: GruInit,
}

/// The saved state for the backward pass of [`GruEncoder`]: gates and states of all words, by direction.
#[derive(Debug, Clone)]
pub struct GruSaved<F>(StackSaved<F, GruActivations<F>>);

impl GruEncoder {
    /// Creates an encoder for word vectors of dimension `word_dim`. Skip-thoughts has 620, `hidden` 2400 (uni) or 1200
    /// (bi), and one layer. P-thought has 300, 1200, and one or two layers.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`](senv_core::Error::InvalidParameter) unless `word_dim`, `hidden` and `layers` are
    /// above 0; [`Error::TooLarge`](senv_core::Error::TooLarge) if the parameters do not fit in memory.
    pub fn new(
        word_dim: usize,
        hidden: usize,
        layers: usize,
        topology: RecurrentTopology,
        style: GruStyle,
        start: GruInit,
    ) -> Result<Self> {
        let first = Cell { input: word_dim, hidden, context: 0, style };
        let above = |input| Cell { input, ..first };
        let stack = Stack::new(first, above, (word_dim, hidden), layers, topology, StatePooling::Last)?;
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

    /// The number of layers.
    #[must_use]
    pub fn layers(&self) -> usize {
        self.stack.layers
    }

    /// How directions and layers are connected.
    #[must_use]
    pub fn topology(&self) -> RecurrentTopology {
        self.stack.topology
    }

    /// The variant of the cells.
    #[must_use]
    pub fn style(&self) -> GruStyle {
        self.stack.first.style
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
        compiled_here!(self, |this: &'a GruEncoder,
                              parameters: &'a Parameters<F>,
                              batch: &'a TokenBatch,
                              words: ArrayView2<'a, F>|
         -> Result<Array2<F>> { Ok(this.stack.run(parameters, batch, words, false)?.0) })
    }
}

crate::encoder::encoder_of_passes!(Encoder for GruEncoder, GruSaved<F>);

impl crate::encoder::Passes for GruEncoder {
    type Saved<F: Float> = GruSaved<F>;

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
        Ok((vectors, GruSaved(saved)))
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
