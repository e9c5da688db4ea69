//! The form of an encoder over word vectors in a model file, and the encoder built from it.

use std::sync::Arc;

use senv_encoders::{
    Activation, Average, GranEncoder, GranForm, GranGate, GruEncoder, GruInit, GruStyle, JoinedLstm, LstmEncoder,
    LstmForm, LstmInit, Padding, Pooling, RecurrentTopology, StatePooling, SumPooledCnn, Window,
};
use senv_store::ModelFile;
use serde::{Deserialize, Serialize};

use super::{present_words::PresentWords, trainable_encoder::TrainableEncoder};
use crate::{
    base::configuration::{expect_layers, expect_values},
    error::Result,
};

/// The shape of an encoder over word vectors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum EncoderForm {
    /// The mean of the words.
    Average,
    /// The sum of the words.
    Sum,
    /// The sum of the distinct words and a bias, followed by tanh: BOW AE.
    PresentWords,
    /// Filters over windows of words, summed.
    Cnn {
        /// Windows and their filters.
        windows: Vec<Window>,
        /// Function applied to the output of a filter.
        activation: Activation,
        /// Padding of sentences shorter than a window.
        padding: Padding,
    },
    /// A recurrent encoder.
    Gru {
        /// Hidden size of each direction in a layer.
        hidden: usize,
        /// Layers, at least 1.
        layers: usize,
        /// How directions and layers are joined.
        topology: RecurrentTopology,
        /// Equations of the cells.
        style: GruStyle,
        /// Initial weights.
        start: GruInit,
    },
    /// An LSTM encoder.
    Lstm {
        /// Hidden size of each direction in a layer.
        hidden: usize,
        /// Layers, at least 1.
        layers: usize,
        /// How directions and layers are joined.
        topology: RecurrentTopology,
        /// Pooling of the hidden states.
        pooling: StatePooling,
        /// Whether the gates have peephole connections to the cell.
        peepholes: bool,
        /// Initial weights.
        start: LstmInit,
    },
    /// A bidirectional LSTM with a tanh layer on both directions, whose dimension is that of the words.
    JoinedLstm {
        /// Hidden size of each direction.
        hidden: usize,
        /// Pooling of the joined states.
        pooling: StatePooling,
    },
    /// Word vectors filtered by gates that depend on the sentence.
    Gran {
        /// Hidden size of the LSTM.
        hidden: usize,
        /// The form of the gate.
        gate: GranGate,
        /// Pooling of the gated vectors.
        pooling: StatePooling,
    },
}

impl EncoderForm {
    /// Builds the encoder for word vectors of dimension `dim`.
    pub(crate) fn encoder(&self, dim: usize) -> Result<Arc<dyn TrainableEncoder>> {
        Ok(match self {
            Self::Average => Arc::new(Average { dim, pooling: Pooling::Mean }),
            Self::Sum => Arc::new(Average { dim, pooling: Pooling::Sum }),
            Self::PresentWords => Arc::new(PresentWords::new(dim)),
            Self::Cnn { windows, activation, padding } => {
                Arc::new(SumPooledCnn::new(dim, windows.clone(), *activation, *padding)?)
            }
            Self::Gru { hidden, layers, topology, style, start } => {
                Arc::new(GruEncoder::new(dim, *hidden, *layers, *topology, *style, *start)?)
            }
            Self::Lstm { hidden, layers, topology, pooling, peepholes, start } => {
                let (topology, pooling, peepholes, start) = (*topology, *pooling, *peepholes, *start);
                let form = LstmForm { topology, pooling, peepholes, start, ..LstmForm::default() };
                Arc::new(LstmEncoder::new(dim, *hidden, *layers, form)?)
            }
            Self::JoinedLstm { hidden, pooling } => Arc::new(JoinedLstm::new(dim, *hidden, dim, *pooling)?),
            Self::Gran { hidden, gate, pooling } => {
                let form = GranForm { gate: *gate, pooling: Some(*pooling) };
                Arc::new(GranEncoder::new(dim, *hidden, form)?)
            }
        })
    }

    /// Returns an error if the encoder has more values or layers than the file can contain.
    pub(crate) fn check(&self, dim: usize, file: &ModelFile) -> Result<()> {
        let encoder = self.encoder(dim)?;
        if let Self::Gru { layers, .. } | Self::Lstm { layers, .. } = self {
            expect_layers(file, *layers)?;
        }
        expect_values(file, "the encoder", encoder.n_values())
    }

    /// A form with the same tensors whose initial weights take no time to compute.
    pub(crate) fn cheap(&self) -> Self {
        let mut form = self.clone();
        match &mut form {
            Self::Gru { start, .. } => *start = GruInit::Glorot,
            Self::Lstm { start, .. } => *start = LstmInit::Torch,
            _ => {}
        }
        form
    }
}
