//! What can go wrong with a model.

use std::path::PathBuf;

/// The result of a fallible operation of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error while training, saving or opening a model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An error of the core: a parameter, text, a file, memory.
    #[error(transparent)]
    Core(#[from] senv_core::Error),
    /// An error of the trainer.
    #[error(transparent)]
    Training(#[from] senv_negative_sampling::Error),
    /// An error of the n-grams' parameters.
    #[error(transparent)]
    Ngrams(#[from] senv_ngram::Error),
    /// An error of the model file.
    #[error(transparent)]
    Store(#[from] senv_store::Error),
    /// The configuration in a model file does not describe its tables.
    #[error("{}: {reason}; the file is damaged or was written by another program", path.display())]
    BadModel {
        /// The file.
        path: PathBuf,
        /// What does not fit.
        reason: String,
    },
    /// A model file of a kind that encodes no sentences.
    #[error("{}: a file of kind {kind:?} is no sentence encoder; expected sent2vec, word2vec, pv-dbow or embeddings", path.display())]
    NotAnEncoder {
        /// The file.
        path: PathBuf,
        /// The kind it names.
        kind: String,
    },
}
