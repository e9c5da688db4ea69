//! GRAN or one of its sister models, as hyperparameters.

use senv_core::{
    Result as CoreResult,
    hyperparameters::{Hyperparameter, Hyperparameters, Section, belongs_to, named_values, set_value},
};
use senv_encoders::{GranGate, LstmInit, RecurrentTopology, StatePooling};
use serde::{Deserialize, Serialize};

use crate::gradient::encoder_form::EncoderForm;

/// The encoder: GRAN, or one of the LSTMs that its paper compares it with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum GranVariant {
    /// Word vectors through gates that see the sentence.
    Gran {
        /// What the gate lets through.
        gate: GranGate,
    },
    /// An LSTM: LSTM last and LSTM average, by the pooling.
    Lstm,
    /// Both directions of an LSTM, joined by a tanh layer: BiLSTM average.
    Bilstm,
}

/// Encoders by name.
enum VariantName {
    Gran,
    Lstm,
    Bilstm,
}
named_values!(VariantName {
    Gran = "gran": "Word vectors, each value gated by an LSTM that reads the sentence",
    Lstm = "lstm": "States of an LSTM; --pooling last gives LSTM last, mean gives LSTM average",
    Bilstm = "bilstm": "States of an LSTM in both directions, joined by a tanh layer (BiLSTM average)",
});

impl Default for GranVariant {
    fn default() -> Self {
        Self::Gran { gate: GranGate::default() }
    }
}

impl GranVariant {
    /// The pooling where none is set: that of the gate, and the mean of states.
    #[must_use]
    pub fn pooling(self) -> StatePooling {
        match self {
            Self::Gran { gate } => gate.pooling(),
            Self::Lstm | Self::Bilstm => StatePooling::Mean,
        }
    }

    /// Its shape. All of them have peepholes and start from N(0, 0.1²), as in the release.
    pub(super) fn form(self, hidden: usize, pooling: Option<StatePooling>) -> EncoderForm {
        let pooling = pooling.unwrap_or(self.pooling());
        match self {
            Self::Gran { gate } => EncoderForm::Gran { hidden, gate, pooling },
            Self::Bilstm => EncoderForm::JoinedLstm { hidden, pooling },
            Self::Lstm => EncoderForm::Lstm {
                hidden,
                layers: 1,
                topology: RecurrentTopology::Forward,
                pooling,
                peepholes: true,
                start: LstmInit::Normal,
            },
        }
    }
}

impl Hyperparameters for GranVariant {
    fn hyperparameters(&self) -> Vec<Hyperparameter> {
        let (name, gate) = match *self {
            Self::Gran { gate } => (VariantName::Gran, Some(gate)),
            Self::Lstm => (VariantName::Lstm, None),
            Self::Bilstm => (VariantName::Bilstm, None),
        };
        let section = Section::Training;
        let gates = &["What the gate is applied to, with the numbers of the authors' code (gran)."];
        let of_gate = Hyperparameter::of("gate", gates, section, None, &gate.unwrap_or_default());
        vec![
            Hyperparameter::of("encoder", &["How the words of a sentence become its vector."], section, None, &name),
            Hyperparameter { applies: gate.is_some(), ..of_gate },
        ]
    }

    /// Another encoder comes with its defaults.
    fn set(&mut self, name: &str, text: &str) -> CoreResult<bool> {
        match (name, &mut *self) {
            ("encoder", _) => {
                let mut variant = VariantName::Gran;
                set_value(&mut variant, name, text)?;
                *self = match (variant, *self) {
                    (VariantName::Gran, same @ Self::Gran { .. }) => same,
                    (VariantName::Gran, _) => Self::default(),
                    (VariantName::Lstm, _) => Self::Lstm,
                    (VariantName::Bilstm, _) => Self::Bilstm,
                };
            }
            ("gate", Self::Gran { gate }) => set_value(gate, name, text)?,
            ("gate", _) => return Err(belongs_to(name, text, "encoder = gran")),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The encoder checks its shape when it is made.
    fn check_ranges(&self) -> CoreResult<()> {
        Ok(())
    }
}
