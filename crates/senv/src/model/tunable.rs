//! Models whose encoder can be trained further, with a head on scored pairs.

use senv_core::{Table, arrays::Parameters};

use crate::{data::reading::Reading, gradient::encoder_form::EncoderForm};

/// The encoder of a model, and its input.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TunableEncoder<'m> {
    /// The encoder.
    pub form: EncoderForm,
    /// How text becomes token ids.
    pub reading: &'m Reading,
    /// The weights of the encoder.
    pub parameters: &'m Parameters<f32>,
    /// The word vectors.
    pub words: &'m Table,
}
