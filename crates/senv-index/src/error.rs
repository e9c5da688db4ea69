//! Errors of an index.

use std::path::{Path, PathBuf};

use senv_core::Remedy;

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
    #[error("row {row} holds NaN or an infinite number; remove it, or encode its text anew")]
    NonFinite {
        /// The row, counted from 0.
        row: usize,
    },
    /// More rows than an index can number.
    #[error(
        "an index of {rows} rows of {dim} values is too large: at most 2,147,483,647 rows of 1 to 65,536 values; divide it"
    )]
    TooManyRows {
        /// Rows given.
        rows: usize,
        /// Values of a row.
        dim: usize,
    },
    /// An id that is there already, or twice in what is added.
    #[error("id {id} is there already; replace its row, or give another id")]
    RepeatedId {
        /// The id.
        id: u64,
    },
    /// An id that two of the rows have that are added together.
    #[error("id {id} is given twice, with the rows {first} and {second}, counted from 0; give each row one of its own")]
    GivenTwice {
        /// The id.
        id: u64,
        /// The first row with it, counted from 0 over all parts.
        first: usize,
        /// The second.
        second: usize,
    },
    /// Rows without ids, where not as many numbers are left behind the highest id.
    #[error("the next free id would be {next_id}, and ids end at {}; give the rows ids of their own", u64::MAX)]
    NoIdLeft {
        /// The id that the first of them would have.
        next_id: u64,
    },
    /// More segments than the system maps.
    #[error(
        "{}: the system does not map all of its {segments} segments; with a higher limit (on Linux sysctl vm.max_map_count, and \
         ulimit -v) it opens, and is compacted; without vectors kept, build it anew", path.display()
    )]
    TooManySegments {
        /// The collection.
        path: PathBuf,
        /// Its segments.
        segments: usize,
    },
    /// As many segments as a collection can have.
    #[error(
        "{}: it has {segments} segments, and no system maps many more files; compact it, or, where no vectors are kept, build it anew \
         and add more rows at a time", path.display()
    )]
    SegmentLimit {
        /// The collection.
        path: PathBuf,
        /// Its segments.
        segments: usize,
    },
    /// An id that no row has.
    #[error("no row has the id {id}")]
    UnknownId {
        /// The id.
        id: u64,
    },
    /// A column that the collection does not have.
    #[error("{}: no column {name}; there are: {columns}", path.display(), name = senv_core::quoted(name))]
    UnknownColumn {
        /// The collection.
        path: PathBuf,
        /// The column asked for.
        name: String,
        /// The columns, separated by commas.
        columns: String,
    },
    /// Columns that do not fit those of the collection.
    #[error("the columns given are {found}, expected {expected}")]
    WrongColumns {
        /// The columns of the collection.
        expected: String,
        /// Those given.
        found: String,
    },
    /// Vectors of another model.
    #[error("{}: the vectors are of the model {found}, those of the collection of {expected}; encode with the same model", path.display())]
    OtherModel {
        /// The collection.
        path: PathBuf,
        /// Digest of the model of the collection.
        expected: String,
        /// Digest of the model given.
        found: String,
    },
    /// Collections that are not the shards of one whole.
    #[error("{}: {reason}", path.display())]
    ShardsDoNotFit {
        /// The collection that does not fit, or the one that was to be made.
        path: PathBuf,
        /// What does not fit, and what to do.
        reason: String,
    },
    /// There is a collection where one was to be made.
    #[error("{}: there is a collection already; open it, or give another name", path.display())]
    Exists {
        /// The folder.
        path: PathBuf,
    },
    /// A folder that is no collection.
    #[error("{}", not_a_collection(path))]
    NotACollection {
        /// The folder.
        path: PathBuf,
    },
    /// A change is made, and what the collection is now cannot be opened.
    #[error("{}: the change is made, but the collection cannot be opened now: {error}; do not make the change again", path.display())]
    ChangedNotOpened {
        /// The collection.
        path: PathBuf,
        /// Why it cannot be opened.
        error: Box<Error>,
    },
    /// Files that the manifest of a collection names are not there.
    #[error(
        "{}: files of the collection are missing: {missing}; copy them back from where they were saved, or make the collection anew from \
         its text or vectors in the place of this one ({})",
        path.display(),
        Remedy::Replace
    )]
    FilesMissing {
        /// The collection.
        path: PathBuf,
        /// Their names: the first of them, and how many there are.
        missing: String,
    },
    /// A file of an earlier layout.
    #[error(
        "{}: it is of version {found}, this program reads version {supported}; build the index anew from its vectors or texts",
        path.display()
    )]
    OldVersion {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u64,
        /// The version that is read.
        supported: u32,
    },
    /// A part of a file does not fit its checksum, or what it says does not fit together.
    #[error("{}: {what} is damaged: {reason}; copy or build the collection anew", path.display())]
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

/// Describes why a folder is not a collection.
fn not_a_collection(path: &Path) -> String {
    let shown = path.display();
    match std::fs::metadata(path) {
        Err(_) => format!("{shown}: no collection of senv: there is no such folder"),
        Ok(file) if !file.is_dir() => format!("{shown}: no collection of senv, which is a folder: this is a file"),
        Ok(_) => format!("{shown}: no collection of senv: it has no file manifest"),
    }
}
