//! A program's own encoder as a model.

use std::fmt;

use senv_core::{Coverage, Result as CoreResult, Scratch, SentenceEncoder, Tokenizer, Vocabulary, files::Destination};

use super::saved::SavedModel;
use crate::error::{Error, Result};

/// An encoder with a name and a digest that identifies it. It has no file and no words.
pub(crate) struct NamedEncoder<E> {
    pub(crate) encoder: E,
    pub(crate) digest: String,
    pub(crate) tokenizer: Tokenizer,
    pub(crate) vocabulary: Vocabulary,
}

/// The kind of all such models.
const KIND: &str = "encoder";

impl<E> fmt::Debug for NamedEncoder<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NamedEncoder").field("digest", &self.digest).finish_non_exhaustive()
    }
}

impl<E: SentenceEncoder + 'static> SavedModel for NamedEncoder<E> {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }

    fn write(&self, to: Destination<'_>) -> Result<()> {
        let reason = "a program's own encoder cannot be saved".to_owned();
        Err(Error::BadModel { path: to.path().to_owned(), reason })
    }

    fn digest(&self) -> Result<String> {
        Ok(self.digest.clone())
    }
}

impl<E: SentenceEncoder> SentenceEncoder for NamedEncoder<E> {
    fn dim(&self) -> usize {
        self.encoder.dim()
    }

    fn encode_sentence(&self, sentence: &str, scratch: &mut Scratch, out: &mut [f32]) -> Coverage {
        self.encoder.encode_sentence(sentence, scratch, out)
    }

    fn try_encode_into(&self, sentence: &str, scratch: &mut Scratch, out: &mut [f32]) -> CoreResult<Coverage> {
        self.encoder.try_encode_into(sentence, scratch, out)
    }

    fn encode_batch(&self, sentences: &[&str]) -> CoreResult<(ndarray::Array2<f32>, Vec<Coverage>)> {
        self.encoder.encode_batch(sentences)
    }
}
