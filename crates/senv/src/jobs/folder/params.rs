//! Parameters, events and outcome of a folder of outputs.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::Duration,
};

/// How several workers share the files of a [`FolderJob`](super::FolderJob).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimParams {
    /// A folder shared by all workers, only for claims.
    pub folder: PathBuf,
    /// Time without a heartbeat after which a worker counts as dead and another takes over its file. There are six
    /// heartbeats per timeout.
    pub timeout: Duration,
}

impl ClaimParams {
    /// Claims in this folder, with a timeout of one minute.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), timeout: Duration::from_secs(60) }
    }
}

/// The outputs of a [`FolderJob`](super::FolderJob) and how they are made.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FolderParams {
    /// The extension of outputs, without a dot. It is appended to the name of the input, unless the name already has
    /// it.
    pub ending: String,
    /// The digest of the model ([`model_digest`](crate::model::model_digest)).
    pub model: String,
    /// All other settings that affect the content of outputs. A folder with different ones is refused.
    pub settings: BTreeMap<String, String>,
    /// How workers share the files; `None` if the job has the folder to itself.
    pub claims: Option<ClaimParams>,
    /// Whether existing inputs and outputs are hashed even if length and modification time match the record.
    pub check_hashes: bool,
    /// Whether to replace other settings, and files without a record.
    pub force: bool,
}

/// An event in a [`FolderJob`](super::FolderJob), for progress reports.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FolderEvent<'a> {
    /// The output was already complete.
    Complete(&'a Path),
    /// The output is rebuilt, with the reason.
    Again(&'a Path, &'static str),
    /// The claim of a worker that counts as dead was taken over.
    TakenOver(&'a Path, &'a str),
    /// An output was finished, with this number of rows.
    Finished(&'a Path, u64),
    /// Another worker took over the claim, so this worker discarded its output.
    Lost(&'a Path),
    /// This many files are claimed by other workers.
    Waiting(usize),
}

/// The outcome of a [`FolderJob`](super::FolderJob).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FolderOutcome<E> {
    /// Files that this worker has finished.
    pub finished: usize,
    /// The rows of these files.
    pub rows: u64,
    /// Files that were already complete, or that others have finished.
    pub complete: usize,
    /// Inputs that failed, with the error.
    pub failed: Vec<(PathBuf, E)>,
}
