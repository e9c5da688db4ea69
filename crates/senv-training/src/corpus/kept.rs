//! A reading that was stopped, kept to go on from.
//!
//! `PATH` is a checkpoint of the kind `text`: which pieces were read, and what of. `PATH.ids` are the ids, and
//! `PATH.words` the words with their counts, of all sets. Both are the temporary files of the reading, which only get a
//! name where the system can give them one (Linux, in the same file system), and are copied elsewhere.

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

/// Where a reading that is stopped keeps what it has read, and whether it goes on from there.
///
/// Only a text of more than a million words is worth it. A reading that ends removes what an earlier one has kept.
///
/// A program with readings of its own keeps them as a checkpoint of a kind of its own, and with what does not fit into
/// memory in files beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptReading {
    /// A checkpoint; beside that of a corpus stand two files, with `.ids` and `.words` at the end of their names.
    pub path: PathBuf,
    /// Go on from there, if there is something of the same text and the same options.
    pub resume: bool,
    /// Where the run comes from, written into the checkpoint: see [`RunOptions::origin`](crate::RunOptions::origin).
    pub origin: String,
}

/// The ends of the names of the files beside the checkpoint of a corpus.
const BESIDE: [&str; 2] = [".ids", ".words"];

/// What has been read.
#[derive(Serialize, Deserialize)]
pub(super) struct State {
    /// The number of the next piece.
    pub(super) next: u64,
    pub(super) pieces: Vec<Piece>,
    n_words: u64,
    /// Of the ids and of the words.
    checksums: [u32; 2],
    runs: SortedRunList,
}

/// What a reading goes on from.
pub(super) struct Resumed {
    /// Share of the text.
    pub(super) done: f64,
    pub(super) state: State,
    pub(super) storage: Growing,
    pub(super) runs: SortedRuns,
}

impl KeptReading {
    /// The [kind](crate::checkpoint::kind) of its checkpoint.
    pub const KIND: &str = "text";

    /// A file beside the checkpoint, whose name ends with `suffix`.
    #[must_use]
    pub fn beside(&self, suffix: &str) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(suffix);
        name.into()
    }

    /// Whether a reading of this kind is kept there. Whatever else may be there, whoever wrote it will say.
    #[must_use]
    pub fn is_there(&self, kind: &str) -> bool {
        checkpoint::kind(&self.path).is_ok_and(|found| found == kind)
    }

    /// Whether a reading of this kind may be kept: a run that goes on from its training reads the text again, and loses
    /// nothing if it is stopped meanwhile, unless its checkpoint were replaced.
    #[must_use]
    pub fn has_room(&self, kind: &str) -> bool {
        !self.resume || !self.path.exists() || self.is_there(kind)
    }

    /// Keeps a reading of this kind by `write`, which writes the checkpoint and the files beside it, named by the ends
    /// of their names.
    ///
    /// # Errors
    /// [`Error::BadFile`] if a file beside it is no part of a reading that was kept: it is not replaced. Those of
    /// `write`; where it fails, what an earlier reading has kept stays.
    pub fn keep(&self, kind: &str, beside: &[&str], write: impl FnOnce() -> Result<()>) -> Result<()> {
        let beside: Vec<PathBuf> = beside.iter().map(|suffix| self.beside(suffix)).collect();
        let replaces = self.is_there(kind);
        if let Some(path) = beside.iter().find(|path| !replaces && path.exists()) {
            let reason = "the file exists and was not written by an earlier run; move it away".to_owned();
            return Err(Error::BadFile { path: path.clone(), reason });
        }
        let kept = write();
        if kept.is_err() && !self.is_there(kind) {
            // The error is that of the writing.
            let _ = remove(&beside);
        }
        // The whole is the reading, which is not over.
        kept.map_err(Error::of_step)
    }

    /// Removes a reading of this kind, with the files beside it.
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

    /// The files as they are now, their names, sizes and times: a reading is gone on from where these are the same.
    /// `None` if one of them cannot be read again, such as standard input.
    #[must_use]
    pub fn of_files(paths: &[PathBuf]) -> Option<String> {
        let files: Vec<_> = paths.iter().map(|path| stamp(path)).collect::<Option<_>>()?;
        Some(format!("(name, bytes, time) of the files {files:?}"))
    }

    /// Keeps what was read of a corpus, of which `storage` holds the ids.
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

    /// Removes what was kept of a corpus.
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

    /// What an earlier reading of the same has kept, if it is wanted and there.
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

/// What a reading is of: the files as they are now, how they are read, and which of how many ranks reads its part of
/// them. `None` for an input that cannot be read again.
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

/// Name, size and time of the last change of a file, in nanoseconds; `None` if it is something else than a file.
fn stamp(path: &Path) -> Option<(&Path, u64, u128)> {
    let metadata = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    let changed = metadata.modified().ok()?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    Some((path, metadata.len(), changed.as_nanos()))
}
