//! The GRU decoder.

#[cfg(test)]
mod tests;

use senv_core::Result;

use crate::{
    decoder::{Conditioning, FirstInput},
    gru::{Cell, GruActivations, GruInit, GruStyle},
    recurrent::{CoreSaved, DecoderCore, decoder_over_core},
};

/// A GRU decoder, trained by teacher forcing: `recurrent-decoder` over `gru`.
///
/// Parameters; each tensor's rows stack the blocks of r, z and n, with `hidden` rows each:
///
/// | name | shape |
/// | --- | --- |
/// | `decoder.input` | `(3 hidden, word_dim)` |
/// | `decoder.recurrent` | `(3 hidden, hidden)` |
/// | `decoder.bias` | `(1, 3 hidden)` |
/// | `decoder.recurrent_bias` | `(1, 3 hidden)`, only in the variant [`GruStyle::Torch`] |
/// | `decoder.context` | `(3 hidden, vector_dim)`, only with a context |
/// | `decoder.state` | `(hidden, vector_dim)`, only with [`Conditioning::ContextAndState`] |
/// | `decoder.state_bias` | `(1, hidden)`, only with [`Conditioning::ContextAndState`] |
///
/// It needs the memory of a unidirectional [`GruEncoder`](crate::GruEncoder) with one layer, plus `hidden` values per
/// word.
///
/// ```
/// use ndarray::array;
/// use senv_core::{TokenId, arrays::TokenBatch, rng::stream};
/// use senv_encoders::{Conditioning, Decoder, FirstInput, GruDecoder, GruInit, GruStyle};
/// let decoder = GruDecoder::new(2, 3, 3, Conditioning::InitialState, FirstInput::Zero, GruStyle::Release, GruInit::Orthogonal)?;
/// let parameters = decoder.init::<f64>(&mut stream(1, "decoder", &[]))?;
/// let mut targets = TokenBatch::new();
/// targets.assign([&[TokenId(5), TokenId(0)][..], &[TokenId(0)]])?; // 0 ends a sentence.
/// let words = array![[0.3, -0.2], [0.1, 0.9]];
/// let vectors = array![[0.5, -0.5, 0.1], [0.0, 0.2, 0.4]];
/// let (hidden, _) = decoder.forward(&parameters, &targets, words.view(), vectors.view())?;
/// assert_eq!(hidden.dim(), (3, 3));
/// assert_eq!(GruDecoder::targets(&targets), [5, 0, 0]);
/// # Ok::<(), senv_core::Error>(())
/// ```
///
/// # References
/// R. Kiros et al., Skip-Thought Vectors, NIPS 2015, section 2.1, "Decoder"; K. Cho et al., EMNLP 2014, appendix A.
#[derive(Debug, Clone, PartialEq)]
pub struct GruDecoder {
    core: DecoderCore<Cell>,
}

/// The saved state for the backward pass of [`GruDecoder`]: gates and states of all words.
#[derive(Debug, Clone)]
pub struct GruDecoderSaved<F>(CoreSaved<F, GruActivations<F>>);

impl GruDecoder {
    /// Creates a decoder of hidden size `hidden`, for word vectors of dimension `word_dim` and sentence vectors of
    /// `vector_dim`.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`](senv_core::Error::InvalidParameter) unless all three are above 0;
    /// [`Error::ShapeMismatch`](senv_core::Error::ShapeMismatch) if sentence vectors are initial states but do not have
    /// the hidden size; [`Error::TooLarge`](senv_core::Error::TooLarge) if the parameters do not fit in memory.
    pub fn new(
        word_dim: usize,
        hidden: usize,
        vector_dim: usize,
        conditioning: Conditioning,
        first: FirstInput,
        style: GruStyle,
        start: GruInit,
    ) -> Result<Self> {
        let cell = |context| Cell { input: word_dim, hidden, context, style };
        Ok(Self { core: DecoderCore::new(cell, vector_dim, conditioning, first, start)? })
    }
}

decoder_over_core!(GruDecoder, GruDecoderSaved);
