//! The encoders of the SNLI models: a sum of words, or a recurrent encoder.

use senv_core::{
    Result as CoreResult,
    hyperparameters::{Hyperparameter, Hyperparameters, Section, belongs_to, set_value},
};
use senv_encoders::{GruInit, GruStyle, RecurrentTopology};
use serde::{Deserialize, Serialize};

use crate::gradient::trainable_encoder::EncoderForm;

/// The form of the encoder of an SNLI model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SnliEncoder {
    /// The sum of the word vectors.
    Bow,
    /// Recurrent encoders.
    Rnn {
        /// Hidden size of each direction in a layer.
        hidden: usize,
        /// Layers, at least 1.
        layers: usize,
        /// How directions and layers are joined.
        topology: RecurrentTopology,
        /// The form of the cells.
        style: GruStyle,
        /// Where the weights start.
        start: GruInit,
    },
}

impl SnliEncoder {
    /// The paper's SNLI RNN: one direction, hidden size 2400, recurrent matrices orthogonal at the start.
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

    /// Its shape.
    pub(crate) fn form(&self) -> EncoderForm {
        match self.clone() {
            Self::Bow => EncoderForm::Sum,
            Self::Rnn { hidden, layers, topology, style, start } => {
                EncoderForm::Gru { hidden, layers, topology, style, start }
            }
        }
    }
}

/// Settings of the recurrent encoder; the sum of word vectors has none.
impl Hyperparameters for SnliEncoder {
    fn hyperparameters(&self) -> Vec<Hyperparameter> {
        let applies = matches!(self, Self::Rnn { .. });
        let (hidden, layers, topology, style) = match self {
            Self::Rnn { hidden, layers, topology, style, .. } => (*hidden, *layers, *topology, *style),
            Self::Bow => {
                return Self::rnn().hyperparameters().into_iter().map(|h| Hyperparameter { applies, ..h }).collect();
            }
        };
        let section = Section::Training;
        vec![
            Hyperparameter::of(
                "sentence_dim",
                &["Hidden size of each direction in a layer (rnn)."],
                section,
                None,
                &hidden,
            ),
            Hyperparameter::of("layers", &["Stacked layers, at least 1 (rnn)."], section, None, &layers),
            Hyperparameter::of("topology", &["How directions and layers are joined (rnn)."], section, None, &topology),
            Hyperparameter::of("style", &["Equations of the GRU cells (rnn)."], section, None, &style),
        ]
    }

    fn set(&mut self, name: &str, text: &str) -> CoreResult<bool> {
        if !["sentence_dim", "layers", "topology", "style"].contains(&name) {
            return Ok(false);
        }
        let Self::Rnn { hidden, layers, topology, style, .. } = self else {
            return Err(belongs_to(name, text, "encoder = rnn"));
        };
        match name {
            "sentence_dim" => set_value(hidden, name, text)?,
            "layers" => set_value(layers, name, text)?,
            "topology" => set_value(topology, name, text)?,
            _ => set_value(style, name, text)?,
        }
        Ok(true)
    }

    /// The encoder checks its shape when it is made.
    fn check_ranges(&self) -> CoreResult<()> {
        Ok(())
    }
}
