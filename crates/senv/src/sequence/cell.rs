//! The cells of an encoder and its decoders.

use ndarray::{Array2, ArrayView2};
use senv_core::{
    Result as CoreResult,
    arrays::{Parameters, TokenBatch},
};
use senv_encoders::{
    Conditioning, Decoder, Encoder, FirstInput, GruDecoder, GruEncoder, GruInit, GruStyle, LstmDecoder, LstmEncoder,
    LstmForm, LstmInit, RecurrentTopology,
};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// The cells of an encoder and its decoders, and their initial weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum SequenceCell {
    /// Gated recurrent units.
    Gru {
        /// The equations of the cells.
        style: GruStyle,
        /// The initial weights.
        start: GruInit,
    },
    /// Long short-term memory, with an output gate and without peepholes.
    Lstm {
        /// The initial weights.
        lstm: LstmInit,
    },
}

impl SequenceCell {
    /// Returns the equations and initial weights of gated recurrent units, if the cells are GRUs.
    pub(crate) fn gru(self) -> Option<(GruStyle, GruInit)> {
        match self {
            Self::Gru { style, start } => Some((style, start)),
            Self::Lstm { .. } => None,
        }
    }

    /// Returns cells with the same tensors, with the initial weights that are fastest to compute.
    pub(super) fn cheap(self) -> Self {
        match self {
            Self::Gru { style, .. } => Self::Gru { style, start: GruInit::Glorot },
            Self::Lstm { .. } => Self::Lstm { lstm: LstmInit::Torch },
        }
    }
}

/// An encoder, and the form of its decoders, if any.
#[derive(Debug, Clone)]
pub(crate) struct Network<E, D> {
    pub(super) encoder: E,
    pub(super) decoder: Option<D>,
}

impl<E, D> Network<E, D> {
    /// Returns decoder `k` of `n`, or an error if there is no such decoder.
    pub(super) fn decoder(&self, k: usize, n: usize) -> Result<&D> {
        self.decoder.as_ref().filter(|_| k < n).ok_or(Error::NoDecoder { n, asked: k })
    }
}

/// Networks of either type of cell.
#[derive(Debug, Clone)]
pub(crate) enum Networks {
    Gru(Network<GruEncoder, GruDecoder>),
    Lstm(Network<LstmEncoder, LstmDecoder>),
}

/// Evaluates an expression on the network of either type of cell.
macro_rules! with_network {
    ($networks:expr, $network:ident => $value:expr) => {
        match $networks {
            $crate::sequence::cell::Networks::Gru($network) => $value,
            $crate::sequence::cell::Networks::Lstm($network) => $value,
        }
    };
}
pub(super) use with_network;

impl Networks {
    /// Returns an encoder for words of the first size, with states of the second, without a decoder.
    pub(super) fn encoder_of(
        cell: SequenceCell,
        (dim, hidden): (usize, usize),
        layers: usize,
        topology: RecurrentTopology,
    ) -> Result<Self> {
        Ok(match cell {
            SequenceCell::Gru { style, start } => {
                let encoder = GruEncoder::new(dim, hidden, layers, topology, style, start)?;
                Self::Gru(Network { encoder, decoder: None })
            }
            SequenceCell::Lstm { lstm: start } => {
                let encoder =
                    LstmEncoder::new(dim, hidden, layers, LstmForm { topology, start, ..LstmForm::default() })?;
                Self::Lstm(Network { encoder, decoder: None })
            }
        })
    }

    /// Adds a decoder of these cells for words of `word_dim` values.
    pub(super) fn with_decoder(
        mut self,
        cell: SequenceCell,
        word_dim: usize,
        conditioning: Conditioning,
        first: FirstInput,
    ) -> Result<Self> {
        let dim = self.dim();
        match (&mut self, cell) {
            (Self::Gru(network), SequenceCell::Gru { style, start }) => {
                network.decoder = Some(GruDecoder::new(word_dim, dim, dim, conditioning, first, style, start)?);
            }
            (Self::Lstm(network), SequenceCell::Lstm { lstm: start }) => {
                network.decoder = Some(LstmDecoder::new(word_dim, dim, dim, conditioning, first, start)?);
            }
            (Self::Gru(_), SequenceCell::Lstm { .. }) | (Self::Lstm(_), SequenceCell::Gru { .. }) => {}
        }
        Ok(self)
    }

    /// Returns the dimension of the sentence vectors.
    pub(super) fn dim(&self) -> usize {
        with_network!(self, network => Encoder::<f32>::dim(&network.encoder))
    }

    /// Returns the number of parameters of the encoder and of one decoder.
    pub(super) fn n_values(&self) -> (f64, f64) {
        with_network!(self, network => {
            (network.encoder.n_values(), network.decoder.as_ref().map_or(0.0, Decoder::n_values))
        })
    }

    /// Encodes sentences with trained parameters.
    pub(super) fn encode(
        &self,
        parameters: &Parameters<f32>,
        batch: &TokenBatch,
        words: ArrayView2<'_, f32>,
    ) -> CoreResult<Array2<f32>> {
        with_network!(self, network => network.encoder.encode(parameters, batch, words))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_stored_as_they_were_before_there_were_others() {
        let gru = SequenceCell::Gru { style: GruStyle::Tf1, start: GruInit::Glorot };
        assert_eq!(serde_json::to_string(&gru).unwrap(), r#"{"style":"tf1","start":"glorot"}"#);
        let lstm = SequenceCell::Lstm { lstm: LstmInit::Orthogonal };
        assert_eq!(serde_json::to_string(&lstm).unwrap(), r#"{"lstm":"orthogonal"}"#);
        for cell in [gru, lstm] {
            let text = serde_json::to_string(&cell).unwrap();
            assert_eq!(serde_json::from_str::<SequenceCell>(&text).unwrap(), cell);
        }
        assert!(serde_json::from_str::<SequenceCell>(r#"{"style":"tf1"}"#).is_err());
    }
}
