//! What a folder of outputs is to be, and what is heard of it.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::Duration,
};

/// How several workers share the files of a [`FolderJob`](super::FolderJob).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimParams {
    /// A folder that all of them see, for claims alone.
    pub folder: PathBuf,
    /// Time without a sign of life after which a worker counts as dead, and another one takes over its file. Six signs
    /// are given in it.
    pub timeout: Duration,
}

impl ClaimParams {
    /// Claims in this folder, with a timeout of a minute.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), timeout: Duration::from_secs(60) }
    }
}

/// What a [`FolderJob`](super::FolderJob) makes, and how.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FolderParams {
    /// The ending of outputs, without a dot. An output has the name of its input and this ending behind it, unless the
    /// name ends so already.
    pub ending: String,
    /// The digest of the model ([`model_digest`](crate::model::model_digest)).
    pub model: String,
    /// What else decides what an output holds. A folder in which it was other is refused.
    pub settings: BTreeMap<String, String>,
    /// How workers share the files; without it the job has the folder to itself.
    pub claims: Option<ClaimParams>,
    /// Whether inputs and outputs that are there are hashed even where their length and time of change are those that
    /// were noted.
    pub check_hashes: bool,
    /// Whether other settings, and files that nobody has noted, are replaced.
    pub force: bool,
}

/// What happens in a [`FolderJob`](super::FolderJob), for whoever wants to say it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FolderEvent<'a> {
    /// The output was complete.
    Complete(&'a Path),
    /// The output is made again, because of this.
    Again(&'a Path, &'static str),
    /// The claim of this worker, which counts as dead, was taken over.
    TakenOver(&'a Path, &'a str),
    /// An output with so many rows was finished.
    Finished(&'a Path, u64),
    /// Another worker has taken over the claim, and what this one has made is discarded.
    Lost(&'a Path),
    /// So many files are with other workers.
    Waiting(usize),
}

/// What became of a [`FolderJob`](super::FolderJob).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FolderOutcome<E> {
    /// Files that this worker has finished.
    pub finished: usize,
    /// Rows of them.
    pub rows: u64,
    /// Files that were complete already, or that others have finished.
    pub complete: usize,
    /// Inputs that failed, and why.
    pub failed: Vec<(PathBuf, E)>,
}
