//! The LSTM decoder.

#[cfg(test)]
mod tests;

use senv_core::Result;

use crate::{
    decoder::{Conditioning, FirstInput},
    lstm::{LstmActivations, LstmCell, LstmInit},
    recurrent::{CoreSaved, DecoderCore, decoder_over_core},
};

/// An LSTM decoder, trained by teacher forcing: `recurrent-decoder` over `lstm`, with an output gate and without
/// peepholes; used by SDAE.
///
/// Parameters; each tensor's rows stack the blocks of i, f, g and o, with `hidden` rows each, as in PyTorch:
///
/// | name | shape |
/// | --- | --- |
/// | `decoder.input` | `(4 hidden, word_dim)` |
/// | `decoder.recurrent` | `(4 hidden, hidden)` |
/// | `decoder.bias` | `(1, 4 hidden)` |
/// | `decoder.context` | `(4 hidden, vector_dim)`, only with a context |
/// | `decoder.state` | `(2 hidden, vector_dim)`: the first state, then the first cell; only with [`Conditioning::ContextAndState`] |
/// | `decoder.state_bias` | `(1, 2 hidden)`, only with [`Conditioning::ContextAndState`] |
///
/// A state of [`DecoderSession`](crate::DecoderSession) has `2 hidden` values, the hidden state and then the cell. If
/// the sentence vector is the first state, the first cell is zero.
///
/// ```
/// use ndarray::array;
/// use senv_core::{TokenId, arrays::TokenBatch, rng::stream};
/// use senv_encoders::{Conditioning, Decoder, FirstInput, LstmDecoder, LstmInit};
/// let decoder = LstmDecoder::new(2, 3, 4, Conditioning::ContextAndState, FirstInput::Zero, LstmInit::Orthogonal)?;
/// let parameters = decoder.init::<f64>(&mut stream(1, "decoder", &[]))?;
/// let mut targets = TokenBatch::new();
/// targets.assign([&[TokenId(5), TokenId(0)][..], &[TokenId(0)]])?; // 0 ends a sentence.
/// let words = array![[0.3, -0.2], [0.1, 0.9]];
/// let vectors = array![[0.5, -0.5, 0.1, 0.7], [0.0, 0.2, 0.4, 0.1]];
/// let (hidden, _) = decoder.forward(&parameters, &targets, words.view(), vectors.view())?;
/// assert_eq!(hidden.dim(), (3, 3));
/// assert_eq!(decoder.session(&parameters, vectors.row(0))?.first_state().len(), 6);
/// # Ok::<(), senv_core::Error>(())
/// ```
///
/// # References
/// S. Hochreiter and J. Schmidhuber, Long Short-Term Memory, Neural Computation 1997; F. Hill, K. Cho and A. Korhonen,
/// Learning Distributed Representations of Sentences from Unlabelled Data, NAACL 2016, section 3.1.
#[derive(Debug, Clone, PartialEq)]
pub struct LstmDecoder {
    core: DecoderCore<LstmCell>,
}

/// The saved state for the backward pass of [`LstmDecoder`]: gates, cells and states of all words.
#[derive(Debug, Clone)]
pub struct LstmDecoderSaved<F>(CoreSaved<F, LstmActivations<F>>);

impl LstmDecoder {
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
        start: LstmInit,
    ) -> Result<Self> {
        let cell = |context| LstmCell { input: word_dim, hidden, context, peepholes: false, output_gate: true };
        Ok(Self { core: DecoderCore::new(cell, vector_dim, conditioning, first, start)? })
    }
}

decoder_over_core!(LstmDecoder, LstmDecoderSaved);
