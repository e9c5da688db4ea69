//! Going on from a model: its words stay known and start from its vectors.

use std::path::{Path, PathBuf};

use senv::Sent2Vec;
use senv_core::{Observer, Tokenizer};
use senv_store::Embeddings;

use super::data_args::finite;
use crate::commands::open_verified;

/// A model to go on from.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct InitModelArgs {
    /// Model to go on from, of any kind, or english, which is part of senv: words start from its vectors and all of its words stay known; words that are
    /// new are added. Text is tokenized as the model does, unless --tokenizer or --lowercase say otherwise. Rows that a
    /// model file does not hold (target rows, optimizer state) start anew, and so do n-grams.
    #[arg(long, value_name = "MODEL", conflicts_with = "init_vectors", help_heading = "Files")]
    pub(crate) init_model: Option<PathBuf>,
}

/// What is taken of the model.
pub(crate) struct InitModel<'a> {
    pub(crate) path: &'a Path,
    pub(crate) vectors: Embeddings,
    pub(crate) tokenizer: Option<Tokenizer>,
}

impl InitModelArgs {
    /// Opens it, and reports what cannot be carried over.
    pub(crate) fn open(&self, observer: &dyn Observer) -> senv::Result<Option<InitModel<'_>>> {
        let Some(path) = &self.init_model else { return Ok(None) };
        let model = open_verified(path)?;
        if model.downcast_ref::<Sent2Vec>().is_some_and(|model| model.params().word_ngrams > 1) {
            observer.note(&format!(
                "the n-grams of {} are left behind, for their rows depend on the ids of its words: n-grams start anew",
                path.display()
            ));
        }
        let vectors = finite(model.to_embeddings()?, path)?;
        Ok(Some(InitModel { path, vectors, tokenizer: Some(model.tokenizer().clone()) }))
    }
}
