//! Errors of an index.

use std::path::{Path, PathBuf};

use senv_core::Remedy;

use crate::Id;

/// The result of a fallible operation of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of building, searching, reading or writing an index.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An error of the core: from the operating system, of a file, of a shape, of memory.
    #[error(transparent)]
    Core(#[from] senv_core::Error),
    /// A row holds NaN or an infinite number.
    #[error("row {row} contains NaN or an infinite number; remove it, or encode its text again")]
    NonFinite {
        /// The row, counted from 0.
        row: usize,
    },
    /// More rows than an index can number.
    #[error(
        "an index of {rows} rows of {dim} values is too large: the limit is 2,147,483,647 rows of 1 to 65,536 values; \
        split it"
    )]
    TooManyRows {
        /// Rows given.
        rows: usize,
        /// Values of a row.
        dim: usize,
    },
    /// An id that already exists.
    #[error("id {} already exists; replace its row, or choose another id", id.quoted())]
    RepeatedId {
        /// The id.
        id: Id,
        /// The row that was to be added with it, counted from 0 over all parts.
        row: usize,
    },
    /// Two of the rows added together have the same id.
    #[error(
        "rows {first} and {second} (counted from 0) have the same id {}; give each row its own id", id.quoted()
    )]
    GivenTwice {
        /// The id.
        id: Id,
        /// The first row with it, counted from 0 over all parts.
        first: usize,
        /// The second.
        second: usize,
    },
    /// A text as the id of a row of a collection whose ids are numbers.
    #[error(
        "the ids of the collection are integers from 0 to {}, and {} is not one; give a number, or make the collection \
        with texts as ids", u64::MAX, id.quoted()
    )]
    NotANumber {
        /// The id.
        id: Id,
    },
    /// An id that is empty or too long.
    #[error("row {row} (counted from 0) has an id of {n_bytes} bytes, expected 1 to {}", Id::MAX_BYTES)]
    BadId {
        /// The row, counted from 0 in its part.
        row: usize,
        /// The bytes of its id.
        n_bytes: usize,
    },
    /// Rows were added without ids to a collection whose ids are texts, so there is no next one.
    #[error("{}: the ids of the collection are texts; give each row its own id", path.display())]
    NoIds {
        /// The collection.
        path: PathBuf,
    },
    /// Rows were added without ids, but there are not enough numbers after the highest id.
    #[error(
        "not enough ids left: the next one is {next_id} and the largest is {}; give the rows explicit ids",
        u64::MAX
    )]
    NoIdLeft {
        /// The id that the first of them would have.
        next_id: u64,
    },
    /// More segments than the system can map.
    #[error(
        "{}: the system cannot map all {segments} segments; raise the limit (on Linux sysctl vm.max_map_count and \
        ulimit -v), then compact the collection; if it does not keep its vectors, rebuild it", path.display()
    )]
    TooManySegments {
        /// The collection.
        path: PathBuf,
        /// Its segments.
        segments: usize,
    },
    /// A collection has reached the maximum number of segments.
    #[error(
        "{}: the collection has {segments} segments, the most a system can map; compact it, or, if it does not keep \
        its vectors, rebuild it with more rows per call", path.display()
    )]
    SegmentLimit {
        /// The collection.
        path: PathBuf,
        /// Its segments.
        segments: usize,
    },
    /// An id that no row has.
    #[error("no row has the id {}", id.quoted())]
    UnknownId {
        /// The id.
        id: Id,
    },
    /// A column that the collection does not have.
    #[error("{}: no column {name}; the columns are {columns}", path.display(), name = senv_core::quoted(name))]
    UnknownColumn {
        /// The collection.
        path: PathBuf,
        /// The requested column.
        name: String,
        /// The columns, separated by commas.
        columns: String,
    },
    /// Columns that do not match those of the collection.
    #[error("the columns given are {}, expected {}", listed(found), listed(expected))]
    WrongColumns {
        /// The columns of the collection.
        expected: String,
        /// Those given.
        found: String,
    },
    /// Vectors of another model.
    #[error("{}: the collection was made with model {expected}, and these vectors with model {found}; encode with the \
        same model", path.display())]
    OtherModel {
        /// The collection.
        path: PathBuf,
        /// Digest of the model of the collection.
        expected: String,
        /// Digest of the model given.
        found: String,
    },
    /// Collections that are not shards of the same collection.
    #[error("{}: {reason}", path.display())]
    ShardsDoNotFit {
        /// The collection that does not fit, or the one to be made.
        path: PathBuf,
        /// What does not fit, and what to do.
        reason: String,
    },
    /// A collection already exists where one was to be made.
    #[error("{}: a collection already exists here; open it, or choose another name", path.display())]
    Exists {
        /// The folder.
        path: PathBuf,
    },
    /// A folder that is not a collection.
    #[error("{}", not_a_collection(path))]
    NotACollection {
        /// The folder.
        path: PathBuf,
    },
    /// A change was saved, but the changed collection cannot be opened.
    #[error("{}: the change was saved, but the collection cannot be reopened: {error}; do not repeat the change", path.display())]
    ChangedNotOpened {
        /// The collection.
        path: PathBuf,
        /// Why it cannot be opened.
        error: Box<Error>,
    },
    /// Files that the manifest of a collection lists are missing.
    #[error(
        "{}: the collection is missing files: {missing}; restore them from a backup, or rebuild the collection from \
        its text or vectors and {}",
        path.display(),
        Remedy::Replace
    )]
    FilesMissing {
        /// The collection.
        path: PathBuf,
        /// The first name, and how many more there are.
        missing: String,
    },
    /// A file of an earlier layout.
    #[error(
        "{}: the file has version {found}, and this version of senv reads version {supported}; rebuild the index from \
        its vectors or texts",
        path.display()
    )]
    OldVersion {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u64,
        /// The supported version.
        supported: u32,
    },
    /// A collection whose words another version of senv has made.
    #[error(
        "{}: the collection has words of {found}, and this version of senv has words of version {supported}; make it \
        again from its texts (senv index --force), or use the version of senv that made it",
        path.display()
    )]
    OtherWords {
        /// The manifest.
        path: PathBuf,
        /// What counts as a word there.
        found: String,
        /// The supported version.
        supported: u32,
    },
    /// A ranking by words of a collection without words.
    #[error(
        "{}: the collection has no {what}; make it again from its texts with them (senv index --force)", path.display()
    )]
    NoWords {
        /// The collection.
        path: PathBuf,
        /// What it lacks: words, or documents.
        what: &'static str,
    },
    /// A part of a file does not match its checksum, or contradicts itself.
    #[error("{}: {what} is damaged: {reason}; copy the collection again or rebuild it", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Which part.
        what: String,
        /// What does not fit.
        reason: String,
    },
}

impl Error {
    /// The core error in this error, if there is one.
    #[must_use]
    pub fn core(&self) -> Option<&senv_core::Error> {
        if let Self::Core(error) = self { Some(error) } else { None }
    }

    /// Whether the change was made despite the error, so retrying would make it twice.
    #[must_use]
    pub fn is_done(&self) -> bool {
        match self {
            Self::Core(error) => error.is_done(),
            Self::ChangedNotOpened { .. } => true,
            _ => false,
        }
    }

    /// The error of a step, for an operation that fails with it and changes nothing.
    pub(crate) fn of_step(self) -> Self {
        match self {
            Self::Core(error) => error.of_step().into(),
            error => error,
        }
    }

    /// The error of opening the result of a change.
    pub(crate) fn behind_change(self, folder: &Path) -> Self {
        Self::ChangedNotOpened { path: folder.to_owned(), error: Box::new(self) }
    }
}

/// Names of columns, separated by commas.
fn listed(columns: &str) -> &str {
    if columns.is_empty() { "none" } else { columns }
}

/// Describes why a folder is not a collection.
fn not_a_collection(path: &Path) -> String {
    let shown = path.display();
    match std::fs::metadata(path) {
        Err(_) => format!("{shown} does not exist; a collection is a folder made by `senv index`"),
        Ok(file) if !file.is_dir() => format!("{shown} is a file; a collection is a folder made by `senv index`"),
        Ok(_) => format!("{shown} is not a collection: it has no file named manifest; `senv index` makes one"),
    }
}
