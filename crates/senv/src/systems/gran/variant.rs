//! GRAN or a related model, as hyperparameters.

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
    /// Word vectors filtered by gates that depend on the sentence.
    Gran {
        /// The form of the gate.
        gate: GranGate,
    },
    /// An LSTM: LSTM last or LSTM average, depending on the pooling.
    Lstm,
    /// A bidirectional LSTM with a tanh layer on both directions: BiLSTM average.
    Bilstm,
}

/// The encoders by name.
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
    /// The default pooling: that of the gate for GRAN, otherwise the mean of the states.
    #[must_use]
    pub fn pooling(self) -> StatePooling {
        match self {
            Self::Gran { gate } => gate.pooling(),
            Self::Lstm | Self::Bilstm => StatePooling::Mean,
        }
    }

    /// The shape of the encoder. All variants have peepholes and are initialized from N(0, 0.1²), as in the release.
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

    /// A change of the encoder also resets its settings to their defaults.
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

    /// The encoder checks its shape when it is built.
    fn check_ranges(&self) -> CoreResult<()> {
        Ok(())
    }
}
