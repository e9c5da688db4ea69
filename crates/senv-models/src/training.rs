//! What the systems share of training: reading the text, and what came of it.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use senv_core::{Corpus, CorpusOptions, Observer, Tokenizer, Vocabulary};
use senv_negative_sampling::Outcome;

use crate::Result;

/// A model and how its training went.
#[derive(Debug, Clone)]
pub struct Trained<M> {
    /// The model.
    pub model: M,
    /// Mean loss of a target over the run, in nats (a sample).
    pub loss: f64,
    /// Known tokens trained on, each counted once an epoch.
    pub tokens: u64,
    /// Wall time of training alone.
    pub training: Duration,
    /// Training was stopped before its end; the model is as far as it got.
    pub interrupted: bool,
}

impl<M> Trained<M> {
    /// Tokens a wall second of training.
    #[must_use]
    pub fn tokens_per_second(&self) -> f64 {
        self.tokens as f64 / self.training.as_secs_f64().max(1e-9)
    }

    pub(crate) fn new(outcome: &Outcome, model: M) -> Self {
        let Outcome { loss, tokens, training, interrupted, .. } = *outcome;
        Self { model, loss, tokens, training, interrupted }
    }
}

/// Reads text files into a vocabulary and a corpus, with the tokenizer and the minimum count of a model.
pub(crate) fn read(
    paths: &[impl AsRef<Path>],
    tokenizer: &Tokenizer,
    min_count: u64,
    options: &CorpusOptions,
    observer: &dyn Observer,
) -> Result<(Vocabulary, Corpus)> {
    let paths: Vec<PathBuf> = paths.iter().map(|path| path.as_ref().to_owned()).collect();
    let options = CorpusOptions { tokenizer: tokenizer.clone(), min_count, ..options.clone() };
    Ok(Corpus::read(&paths, &options, observer)?)
}
