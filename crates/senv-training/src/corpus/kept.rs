//! Stores an interrupted reading so that it can be resumed.
//!
//! `PATH` is a checkpoint of the kind `text` that lists the pieces read and their source. `PATH.ids` contains the ids,
//! and `PATH.words` the words of all sets with their counts. Both are the temporary files of the reading. They get
//! these names if the system can name them (Linux, in the same file system), and are copied otherwise.

use std::{
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    io::ErrorKind,
    path::{Path, PathBuf},
    time::SystemTime,
};

use serde::{Deserialize, Serialize};

use super::{
    piece::Piece,
    sorted_runs::{SortedRunList, SortedRuns},
    storage::{Growing, ScratchFile},
};
use crate::{checkpoint, checkpoint::About};
use senv_base::{Error, Result};
use senv_model::Vocabulary;
use senv_text::{TextOptions, Tokenizer};

/// Where an interrupted reading is stored, and whether to resume from it.
///
/// Only a text of more than a million words is stored. A completed reading removes what an earlier one stored.
///
/// Programs with other kinds of readings store them as a checkpoint with its own kind, and data that does not fit in
/// memory in files next to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptReading {
    /// The checkpoint. For a corpus, there are two more files next to it, with `.ids` and `.words` at the end of their
    /// names.
    pub path: PathBuf,
    /// Whether to resume, if the stored reading has the same text and options.
    pub resume: bool,
    /// The origin of the run, stored in the checkpoint; see [`RunOptions::origin`](crate::RunOptions::origin).
    pub origin: String,
}

/// The name suffixes of the files next to the checkpoint of a corpus.
const BESIDE: [&str; 2] = [".ids", ".words"];

/// The state of a reading.
#[derive(Serialize, Deserialize)]
pub(super) struct State {
    /// The number of the next piece.
    pub(super) next: u64,
    pub(super) pieces: Vec<Piece>,
    n_words: u64,
    /// The checksums of the ids and of the words.
    checksums: [u32; 2],
    runs: SortedRunList,
}

/// The stored reading from which to resume.
pub(super) struct Resumed {
    /// The completed share of the text.
    pub(super) done: f64,
    pub(super) state: State,
    pub(super) storage: Growing,
    pub(super) runs: SortedRuns,
}

impl KeptReading {
    /// The [kind](crate::checkpoint::kind) of the checkpoint of a corpus.
    pub const KIND: &str = "text";

    /// The path of a file next to the checkpoint, whose name ends with `suffix`.
    #[must_use]
    pub fn beside(&self, suffix: &str) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(suffix);
        name.into()
    }

    /// Whether a reading of this kind is stored there. If something else is, this returns false, and the code that
    /// wrote it reports errors.
    #[must_use]
    pub fn is_there(&self, kind: &str) -> bool {
        checkpoint::kind(&self.path).is_ok_and(|found| found == kind)
    }

    /// Whether a reading of this kind can be stored. A run that resumes training reads the text again. If interrupted,
    /// it loses nothing, but its training checkpoint must not be replaced.
    #[must_use]
    pub fn has_room(&self, kind: &str) -> bool {
        !self.resume || !self.path.exists() || self.is_there(kind)
    }

    /// Stores a reading of this kind with `write`, which writes the checkpoint and the files next to it. `beside` lists
    /// their name suffixes.
    ///
    /// # Errors
    /// [`Error::BadFile`] if a file next to it is not part of a stored reading; that file is not replaced. The errors
    /// of `write`; if it fails, the earlier stored reading is kept.
    pub fn keep(&self, kind: &str, beside: &[&str], write: impl FnOnce() -> Result<()>) -> Result<()> {
        let beside: Vec<PathBuf> = beside.iter().map(|suffix| self.beside(suffix)).collect();
        let replaces = self.is_there(kind);
        if let Some(path) = beside.iter().find(|path| !replaces && path.exists()) {
            let reason = "the file exists and was not written by an earlier run; move it away".to_owned();
            return Err(Error::BadFile { path: path.clone(), reason });
        }
        let kept = write();
        if kept.is_err() && !self.is_there(kind) {
            // The error of the writing is returned.
            let _ = remove(&beside);
        }
        // The step is only part of the reading, which is not complete.
        kept.map_err(Error::of_step)
    }

    /// Removes a stored reading of this kind and the files next to it.
    ///
    /// # Errors
    /// [`Error::Io`] if a file cannot be removed.
    pub fn remove(&self, kind: &str, beside: &[&str]) -> Result<()> {
        if !self.is_there(kind) {
            return Ok(());
        }
        remove(std::slice::from_ref(&self.path))?;
        beside.iter().try_for_each(|suffix| remove(&[self.beside(suffix)]))
    }

    /// The current state of the files: names, sizes and times. A reading is resumed only if these are unchanged. `None`
    /// if a file cannot be read again, such as standard input.
    #[must_use]
    pub fn of_files(paths: &[PathBuf]) -> Option<String> {
        let files: Vec<_> = paths.iter().map(|path| stamp(path)).collect::<Option<_>>()?;
        Some(format!("(name, bytes, time) of the files {files:?}"))
    }

    /// Stores a partly read corpus, whose ids are in `storage`.
    pub(super) fn keep_corpus(
        &self,
        of: &str,
        done: f64,
        read: (u64, Vec<Piece>),
        storage: &mut Growing,
        runs: &mut SortedRuns,
    ) -> Result<()> {
        self.keep(Self::KIND, &BESIDE, || self.write(of, done, read, storage, runs))
    }

    /// Removes a stored corpus.
    pub(super) fn remove_corpus(&self) -> Result<()> {
        self.remove(Self::KIND, &BESIDE)
    }

    fn write(
        &self,
        of: &str,
        done: f64,
        (next, pieces): (u64, Vec<Piece>),
        storage: &mut Growing,
        runs: &mut SortedRuns,
    ) -> Result<()> {
        let [ids, words] = BESIDE.map(|suffix| self.beside(suffix));
        let (n_words, of_ids) = storage.keep(&ids)?;
        let (runs, of_words) = runs.keep(&words)?;
        let about = About { done, settings: of.to_owned(), origin: self.origin.clone() };
        let state = State { next, pieces, n_words, checksums: [of_ids, of_words], runs };
        checkpoint::save_with(&self.path, Self::KIND, &about, &state, &[])
    }

    /// Loads the stored reading of the same text, if resuming is enabled and it exists.
    pub(super) fn load(&self, of: &str) -> Result<Option<Resumed>> {
        if !self.resume || !self.is_there(Self::KIND) {
            return Ok(None);
        }
        let bad = |reason: &str| Err(Error::BadFile { path: self.path.clone(), reason: reason.to_owned() });
        let About { done, settings, .. } = checkpoint::about(&self.path)?;
        if settings != of {
            return bad("the text or the settings for reading it have changed since this file was written; start over");
        }
        let (state, _): (State, _) = checkpoint::load(&self.path, Self::KIND)?;
        let [ids, words] = BESIDE.map(|suffix| self.beside(suffix));
        let ids = ScratchFile::open_kept(&ids)?;
        let runs = state.runs.clone();
        let words = if runs.is_empty() { None } else { Some(ScratchFile::open_kept(&words)?) };
        let within = state.pieces.iter().all(|piece| {
            piece.number < state.next
                && piece.set < runs.n_sets()
                && piece.end().is_some_and(|end| end <= state.n_words)
        });
        let [of_ids, of_words] = state.checksums;
        let bytes = state.n_words.saturating_mul(4);
        let foreign = "the files stored with it are damaged or do not belong to it; start over";
        if !within || ids.bytes()? < bytes || ids.checksum(bytes)? != of_ids {
            return bad(foreign);
        }
        let Some(runs) = SortedRuns::of_kept(words, runs, of_words, ids.folder())? else {
            return bad(foreign);
        };
        let storage = Growing::of_kept(ids, state.n_words);
        Ok(Some(Resumed { done, state, storage, runs }))
    }
}

fn remove(paths: &[PathBuf]) -> Result<()> {
    paths.iter().try_for_each(|path| match fs::remove_file(path) {
        Err(e) if e.kind() != ErrorKind::NotFound => Err(Error::io("remove", path, e)),
        _ => Ok(()),
    })
}

/// Identifies a reading: the current files, how they are read, and which of how many ranks reads its part of them.
/// `None` for input that cannot be read again.
pub(super) fn reading_of(
    paths: &[PathBuf],
    tokenizer: &Tokenizer,
    text: &TextOptions,
    known: Option<&Vocabulary>,
    part: Option<(u64, u64)>,
) -> Option<String> {
    let files = KeptReading::of_files(paths)?;
    let known = known.map(|vocabulary| {
        let mut hasher = DefaultHasher::new();
        vocabulary.iter().for_each(|(_, token, _)| token.hash(&mut hasher));
        hasher.finish()
    });
    let part = part.map_or(String::new(), |(rank, n)| format!("; rank {rank} of {n}"));
    Some(format!("{files}; {tokenizer:?}; {text:?}; vocabulary {known:?}{part}"))
}

/// Name, size and modification time of a file, in nanoseconds; `None` if it is not a regular file.
fn stamp(path: &Path) -> Option<(&Path, u64, u128)> {
    let metadata = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    let changed = metadata.modified().ok()?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    Some((path, metadata.len(), changed.as_nanos()))
}
