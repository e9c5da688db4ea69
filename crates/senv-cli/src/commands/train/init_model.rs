//! The model that training starts from: its words stay known and start from its vectors.

use std::path::PathBuf;

use senv::Model;

/// A model to fine-tune.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct InitModelArgs {
    /// Model to fine-tune, of any kind; english is built in.
    ///
    /// Words start from its vectors, all of its words stay known, and new words are added. Text is tokenized as by the
    /// model, unless --tokenizer, --lowercase, --strip-hashtags or --normalize is given. N-grams start fresh, and so
    /// does everything that a model file does not store (target rows, optimizer state).
    #[arg(long, value_name = "MODEL", conflicts_with = "init_vectors", help_heading = "Files")]
    pub(crate) init_model: Option<PathBuf>,
}

impl InitModelArgs {
    /// Opens the model.
    pub(crate) fn open(&self) -> senv::Result<Option<Model>> {
        self.init_model.as_deref().map(Model::open_verified).transpose()
    }
}
