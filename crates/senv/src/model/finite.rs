//! Detection of NaN and infinite values in the vectors of a damaged model.

use std::path::Path;

use senv_core::{Scratch, SentenceEncoder};

use super::handle::Model;
use crate::error::Result;

impl Model {
    /// Refuses a sentence vector with a NaN or infinite value, and names the word that it comes from. `path` is the
    /// file of the model.
    ///
    /// The rows of a model are memory-mapped and not checked when it opens, so this checks the rows in use.
    ///
    /// # Errors
    /// [`senv_core::Error::BadFile`] if a value is NaN or infinite.
    pub fn check_finite(&self, path: &Path, sentence: &str, vector: &[f32]) -> Result<()> {
        if is_finite(vector) {
            return Ok(());
        }
        let (mut scratch, mut row) = (Scratch::default(), vec![0.0; self.dim()]);
        let mut culprit = None;
        self.tokenizer().for_each(sentence, &mut String::new(), |token| {
            if culprit.is_none() {
                self.encode_into(token, &mut scratch, &mut row);
                culprit = (!is_finite(&row)).then(|| token.to_owned());
            }
        });
        let what = match culprit {
            Some(word) => format!("the word {word}", word = senv_core::quoted(word)),
            None => format!("the sentence {sentence}", sentence = senv_core::quoted(sentence)),
        };
        let reason = format!(
            "the vector of {what} contains NaN or an infinite value; `senv info --verify` shows what is \
                damaged"
        );
        Err(senv_core::Error::BadFile { path: path.to_owned(), reason }.into())
    }
}

/// There is no early exit, which would prevent vector instructions.
fn is_finite(vector: &[f32]) -> bool {
    !vector.iter().fold(false, |bad, x| bad | !x.is_finite())
}
