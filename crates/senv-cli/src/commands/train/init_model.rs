//! Going on from a model: its words stay known and start from its vectors.

use std::path::PathBuf;

use senv::Model;

/// A model to fine-tune.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct InitModelArgs {
    /// Model to fine-tune, of any kind, or english, which is part of senv, for English only: words start from its
    /// vectors and all of its words stay known; words that are new are added. Text is tokenized as the model does,
    /// unless --tokenizer or --lowercase say otherwise. Rows that a model file does not hold (target rows, optimizer
    /// state) start anew, and so do n-grams.
    #[arg(long, value_name = "MODEL", conflicts_with = "init_vectors", help_heading = "Files")]
    pub(crate) init_model: Option<PathBuf>,
}

impl InitModelArgs {
    /// Opens it.
    pub(crate) fn open(&self) -> senv::Result<Option<Model>> {
        self.init_model.as_deref().map(Model::open_verified).transpose()
    }
}
