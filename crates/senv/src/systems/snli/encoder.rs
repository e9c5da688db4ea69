//! The encoders of the SNLI models: a sum of words, a GRU, or InferSent's LSTM.

use senv_core::{
    Result as CoreResult,
    hyperparameters::{Hyperparameter, Hyperparameters, Section, belongs_to, set_value},
};
use senv_encoders::{GruInit, GruStyle, LstmInit, RecurrentTopology, StatePooling};
use serde::{Deserialize, Serialize};

use crate::gradient::encoder_form::EncoderForm;

/// The kind of encoder of an SNLI model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum SnliEncoder {
    /// The sum of the word vectors.
    Bow,
    /// A recurrent encoder.
    Rnn {
        /// Hidden size of each direction in a layer.
        hidden: usize,
        /// Layers, at least 1.
        layers: usize,
        /// How directions and layers are joined.
        topology: RecurrentTopology,
        /// Equations of the cells.
        style: GruStyle,
        /// Initialization of the weights.
        start: GruInit,
    },
    /// InferSent: a bidirectional LSTM.
    Lstm {
        /// Hidden size of each direction.
        hidden: usize,
        /// Pooling of the hidden states.
        pooling: StatePooling,
    },
}

impl SnliEncoder {
    /// The paper's SNLI RNN: one direction, hidden size 2400, orthogonal initial recurrent matrices.
    #[must_use]
    pub fn rnn() -> Self {
        Self::Rnn {
            hidden: 2400,
            layers: 1,
            topology: RecurrentTopology::Forward,
            style: GruStyle::Paper,
            start: GruInit::Orthogonal,
        }
    }

    /// InferSent's encoder: 2048 units per direction, with the maximum over the words.
    #[must_use]
    pub fn lstm() -> Self {
        Self::Lstm { hidden: 2048, pooling: StatePooling::Max }
    }

    /// The shape of the encoder.
    pub(crate) fn form(&self) -> EncoderForm {
        match self.clone() {
            Self::Bow => EncoderForm::Sum,
            Self::Rnn { hidden, layers, topology, style, start } => {
                EncoderForm::Gru { hidden, layers, topology, style, start }
            }
            Self::Lstm { hidden, pooling } => EncoderForm::Lstm {
                hidden,
                layers: 1,
                topology: RecurrentTopology::Separate,
                pooling,
                peepholes: false,
                start: LstmInit::Torch,
            },
        }
    }
}

/// Settings of the recurrent encoders; the sum of word vectors has none.
impl Hyperparameters for SnliEncoder {
    fn hyperparameters(&self) -> Vec<Hyperparameter> {
        let section = Section::Training;
        let (is_rnn, is_lstm) = (matches!(self, Self::Rnn { .. }), matches!(self, Self::Lstm { .. }));
        let Self::Rnn { layers, topology, style, hidden: of_rnn, .. } =
            (if is_rnn { self.clone() } else { Self::rnn() })
        else {
            return Vec::new();
        };
        let (hidden, pooling) = match self {
            Self::Lstm { hidden, pooling } => (*hidden, *pooling),
            _ => (of_rnn, StatePooling::Max),
        };
        let of = |applies, parameter| Hyperparameter { applies, ..parameter };
        let sizes = &["Hidden size per direction and layer (rnn, lstm)."];
        let joined = &["How directions and layers are joined (rnn)."];
        let pooled = &["How the states of a sentence become its vector (lstm)."];
        vec![
            of(is_rnn || is_lstm, Hyperparameter::of("sentence_dim", sizes, section, None, &hidden)),
            of(
                is_rnn,
                Hyperparameter::of("layers", &["Number of stacked layers, at least 1 (rnn)."], section, None, &layers),
            ),
            of(is_rnn, Hyperparameter::of("topology", joined, section, None, &topology)),
            of(is_rnn, Hyperparameter::of("style", &["Equations of the GRU cells (rnn)."], section, None, &style)),
            of(is_lstm, Hyperparameter::of("pooling", pooled, section, None, &pooling)),
        ]
    }

    fn set(&mut self, name: &str, text: &str) -> CoreResult<bool> {
        match (name, self) {
            ("sentence_dim", Self::Rnn { hidden, .. } | Self::Lstm { hidden, .. }) => set_value(hidden, name, text)?,
            ("layers", Self::Rnn { layers, .. }) => set_value(layers, name, text)?,
            ("topology", Self::Rnn { topology, .. }) => set_value(topology, name, text)?,
            ("style", Self::Rnn { style, .. }) => set_value(style, name, text)?,
            ("pooling", Self::Lstm { pooling, .. }) => set_value(pooling, name, text)?,
            ("sentence_dim", _) => return Err(belongs_to(name, text, "encoder = rnn or lstm")),
            ("layers" | "topology" | "style", _) => return Err(belongs_to(name, text, "encoder = rnn")),
            ("pooling", _) => return Err(belongs_to(name, text, "encoder = lstm")),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The encoder checks its shape when it is built.
    fn check_ranges(&self) -> CoreResult<()> {
        Ok(())
    }
}
