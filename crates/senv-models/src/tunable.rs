//! The encoders that can be trained further on scored pairs: an average of words, or filters over them.

use ndarray::{Array2, ArrayView2, ArrayViewMut2};
use senv_core::{Parameters, Result as CoreResult, Stream, Table, TokenBatch, TokenId, kernels};
use senv_encoders::{Activation, Average, CnnSaved, Encoder, Padding, Pooling, SumPooledCnn, Window};
use serde::{Deserialize, Serialize};

use crate::Result;

/// The form of an encoder over word vectors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EncoderForm {
    /// The mean of the words.
    Average,
    /// Filters over windows of words, summed.
    Cnn {
        /// Windows and their filters.
        windows: Vec<Window>,
        /// What is done to the result of a filter.
        activation: Activation,
        /// What becomes of sentences shorter than a window.
        padding: Padding,
    },
}

impl EncoderForm {
    /// The encoder over word vectors of `dim` numbers.
    pub(crate) fn encoder(&self, dim: usize) -> Result<Tunable> {
        Ok(match self {
            Self::Average => Tunable::Average(Average { dim, pooling: Pooling::Mean }),
            Self::Cnn { windows, activation, padding } => {
                Tunable::Cnn(SumPooledCnn::new(dim, windows.clone(), *activation, *padding)?)
            }
        })
    }
}

/// One of the encoders.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Tunable {
    Average(Average),
    Cnn(SumPooledCnn),
}

impl Tunable {
    /// The vector of one sentence.
    pub(crate) fn encode_into(
        &self,
        parameters: &Parameters<f32>,
        words: &Table,
        tokens: &[TokenId],
        numbers: &mut Vec<f32>,
        out: &mut [f32],
    ) -> CoreResult<()> {
        match self {
            Self::Average(_) => {
                let share = 1.0 / tokens.len().max(1) as f32;
                out.fill(0.0);
                tokens.iter().for_each(|token| kernels::axpy(share, senv_core::Rows::row(words, token.index()), out));
                Ok(())
            }
            Self::Cnn(cnn) => cnn.encode_into(parameters, words, tokens, numbers, out),
        }
    }
}

/// What either encoder keeps for its backward pass.
pub(crate) enum TunableSaved {
    Average(<Average as Encoder<f32>>::Saved),
    Cnn(CnnSaved<f32>),
}

impl Encoder<f32> for Tunable {
    type Saved = TunableSaved;

    fn dim(&self) -> usize {
        match self {
            Self::Average(encoder) => Encoder::<f32>::dim(encoder),
            Self::Cnn(encoder) => Encoder::<f32>::dim(encoder),
        }
    }

    fn init(&self, rng: &mut Stream) -> CoreResult<Parameters<f32>> {
        match self {
            Self::Average(encoder) => encoder.init(rng),
            Self::Cnn(encoder) => encoder.init(rng),
        }
    }

    fn forward(
        &self,
        parameters: &Parameters<f32>,
        batch: &TokenBatch,
        words: ArrayView2<'_, f32>,
    ) -> CoreResult<(Array2<f32>, TunableSaved)> {
        Ok(match self {
            Self::Average(encoder) => {
                let (out, saved) = encoder.forward(parameters, batch, words)?;
                (out, TunableSaved::Average(saved))
            }
            Self::Cnn(encoder) => {
                let (out, saved) = encoder.forward(parameters, batch, words)?;
                (out, TunableSaved::Cnn(saved))
            }
        })
    }

    fn backward(
        &self,
        parameters: &Parameters<f32>,
        batch: &TokenBatch,
        words: ArrayView2<'_, f32>,
        saved: &TunableSaved,
        d_out: ArrayView2<'_, f32>,
        d_words: Option<ArrayViewMut2<'_, f32>>,
        d_parameters: &mut Parameters<f32>,
    ) -> CoreResult<()> {
        match (self, saved) {
            (Self::Average(encoder), TunableSaved::Average(saved)) => {
                encoder.backward(parameters, batch, words, saved, d_out, d_words, d_parameters)
            }
            (Self::Cnn(encoder), TunableSaved::Cnn(saved)) => {
                encoder.backward(parameters, batch, words, saved, d_out, d_words, d_parameters)
            }
            _ => Err(senv_core::Error::ShapeMismatch { what: "saved state of another encoder", expected: 1, got: 0 }),
        }
    }
}
