//! Skip-thoughts with an encoder that was fine-tuned on entailment.

use super::Snli;
use crate::{
    base::range::require,
    error::Result,
    gradient::copy_table,
    sequence::{EncoderPart, SequenceForm},
    systems::skip_thought::SkipThought,
};

impl SkipThought {
    /// Returns the model with the words and the encoder of one part replaced by those of `tuned`, which was tuned from
    /// that part ([`SnliParams::fit_skip_thought`](crate::SnliParams::fit_skip_thought)). The part loses its decoders,
    /// which were trained for other vectors.
    ///
    /// # Errors
    /// [`senv_core::Error::InvalidParameter`] if there is no such part, or `tuned` has other words;
    /// [`senv_core::Error::ShapeMismatch`] if it has a different encoder; [`senv_core::Error::TooLarge`].
    pub fn with_tuned(&self, part: usize, tuned: &Snli) -> Result<Self> {
        require(part < self.parts.len(), "part", "one of the model's parts", part as f64)?;
        let (words, parameters) = (tuned.words(), tuned.parameters());
        let old = &self.parts[part];
        let same = tuned.vocabulary().text() == self.vocabulary.text() && words.n_rows() == self.vocabulary.len();
        require(same, "words of the tuned model", "the words of the model it started from", words.n_rows() as f64)?;
        parameters.expect_form_of(&old.parameters[0])?;
        let mut new = self.clone();
        let form = SequenceForm { decoders: 0, ..old.seq2seq.form.clone() };
        new.parts[part] = EncoderPart::new(copy_table(words)?, form.build()?, vec![parameters.clone()]);
        new.config.parts[part] = form;
        Ok(new)
    }
}
