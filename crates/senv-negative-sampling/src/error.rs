//! What can go wrong while training.

use std::path::PathBuf;

/// The result of a fallible operation of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of the negative-sampling trainer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An error of the core: a parameter, a file, memory.
    #[error(transparent)]
    Core(#[from] senv_core::Error),
    /// No sentence yields a training example.
    #[error(
        "no sentence holds two known tokens of which one may be a target ({sentences} sentences, {tokens} known tokens); give more text, or lower the minimum count, also that of targets"
    )]
    NothingToLearn {
        /// Sentences in the corpus.
        sentences: u64,
        /// Tokens of the corpus that are in the vocabulary.
        tokens: u64,
    },
    /// A score became infinite or not a number.
    #[error(
        "training diverged in epoch {epoch} after {tokens} tokens: a score is not finite at learning rate {lr}; start again with a lower learning rate{}",
        .checkpoint.as_ref().map(|p| format!(" from the checkpoint {}", p.display())).unwrap_or_default()
    )]
    Diverged {
        /// The epoch, counted from 1.
        epoch: u32,
        /// Tokens seen when it was noticed.
        tokens: u64,
        /// Learning rate at that point.
        lr: f32,
        /// The last good checkpoint, where there is one.
        checkpoint: Option<PathBuf>,
    },
    /// A checkpoint was written by a run with other settings or other text.
    #[error("{}: the checkpoint was written with another {what}; resume with the settings and the text it was started with, or start anew", path.display())]
    CheckpointMismatch {
        /// The checkpoint.
        path: PathBuf,
        /// What differs.
        what: &'static str,
    },
}
