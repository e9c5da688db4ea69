//! Errors of a run.

use std::path::PathBuf;

use senv_core::Remedy;

/// The result of a fallible operation of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of a run. A failed command is not an error: its rows state the reason.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No paper has this name.
    #[error("unknown paper {name:?}; the papers are {known}")]
    UnknownPaper {
        /// The name as given.
        name: String,
        /// All names.
        known: String,
    },
    /// The output folder contains files that are not from an earlier run.
    #[error("{} exists and is not the folder of an earlier run; give a new or empty folder, or one of an earlier run", path.display())]
    NotARun {
        /// The folder.
        path: PathBuf,
    },
    /// An error of `senv-eval`, which reads the data sets to compute their checksums.
    #[error(transparent)]
    Eval(#[from] senv_eval::Error),
    /// An error of the core: a file that cannot be written, a program that cannot be started, or a request to stop.
    #[error(transparent)]
    Core(#[from] senv_core::Error),
}

impl Error {
    /// Returns the settings that can avoid this error, if any.
    #[must_use]
    pub fn remedies(&self) -> &[Remedy] {
        match self {
            Self::Eval(error) => error.remedies(),
            Self::Core(error) => error.remedies(),
            Self::UnknownPaper { .. } | Self::NotARun { .. } => &[],
        }
    }
}
