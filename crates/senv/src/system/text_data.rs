//! Text that was read for a system, with the settings chosen by it.

use std::{borrow::Cow, path::PathBuf};

use senv_core::{Corpus, TextOptions, Tokenizer, Vocabulary};
use senv_negative_sampling::Constituents;
use senv_store::Embeddings;

use super::training_data::TrainingData;
use crate::{
    base::{sealed::Sealed, text_size::TextSize},
    check::{CheckParams, CheckText},
    error::Result,
};

/// Text that was read for a system that trains word vectors on it.
#[derive(Debug)]
pub struct TextData<'a> {
    /// The known words.
    pub vocabulary: Vocabulary,
    /// The text as token ids.
    pub corpus: Corpus,
    /// The constituents of its sentences, if it was read as trees.
    pub constituents: Option<Constituents>,
    /// The vectors that training starts from.
    pub vectors: Option<Cow<'a, Embeddings>>,
    /// How it was tokenized.
    pub tokenizer: Tokenizer,
    /// Words that occur less often are unknown.
    pub min_count: u64,
    /// Its size.
    pub size: TextSize,
    /// The files.
    pub paths: Vec<PathBuf>,
}

impl Sealed for TextData<'_> {}

impl TrainingData for TextData<'_> {
    fn start_dim(&self) -> Option<usize> {
        self.vectors.as_ref().map(|vectors| vectors.dim())
    }

    fn tokenizer(&self) -> Option<&Tokenizer> {
        Some(&self.tokenizer)
    }

    /// Returns a sample, which is also trained on.
    fn check_text(&mut self, params: &CheckParams, _: &TextOptions, _: bool) -> Result<Option<CheckText>> {
        CheckText::of_corpus(&self.corpus, &self.vocabulary, params).map(Some)
    }

    fn pretrain(&mut self, train: &mut dyn FnMut(&Vocabulary, &Corpus) -> Result<Embeddings>) -> Result<bool> {
        self.vectors = Some(Cow::Owned(train(&self.vocabulary, &self.corpus)?));
        Ok(true)
    }
}
