//! Leaves out bad records, and remembers which.

use std::{
    collections::{HashMap, HashSet},
    fmt,
    hash::{Hash, Hasher},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use senv_base::{Error, Result};

/// The number of records that are described.
const N_FIRST: usize = 10;

/// A record that was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BadRecord {
    /// The file.
    pub path: PathBuf,
    /// The line of the error, counted from 1.
    pub line: u64,
    /// What is wrong.
    pub reason: String,
}

/// Lets readers of tables go on past a number of bad records: those that lack the column, whose text is not valid, or
/// whose quotes are wrong. After such a quote, reading continues on the next line. Rows of Parquet and Arrow are never
/// left out.
///
/// Clones share what they have seen, so the caller keeps one and asks it afterwards. A record that is read several
/// times counts once. Errors that are not of one record, such as a missing title, always stop.
///
/// ```
/// use senv_core::{TextOptions, TextReader, text::{BadRecords, TableText}};
/// let csv = "id,text\n1,A cat.\n2\n3,A dog.\n".as_bytes();
/// let bad = BadRecords::up_to(5);
/// let table = TableText { bad_records: Some(bad.clone()), ..TableText::column("text") };
/// let options = TextOptions { table: Some(table), ..TextOptions::default() };
/// let mut reader = TextReader::from_reader("pets.csv", csv, &options)?;
/// let mut texts = Vec::new();
/// while let Some(line) = reader.next_line()? {
///     texts.push(line.text.to_owned());
/// }
/// assert_eq!(texts, ["A cat.", "A dog."]);
/// assert_eq!((bad.n(), bad.first()[0].line), (1, 3));
/// # Ok::<(), senv_core::Error>(())
/// ```
#[derive(Clone)]
pub struct BadRecords {
    most: u64,
    seen: Arc<Mutex<Seen>>,
}

#[derive(Default)]
struct Seen {
    /// The numbers of the records in each file.
    records: HashMap<PathBuf, HashSet<u64>>,
    n: u64,
    first: Vec<BadRecord>,
}

impl BadRecords {
    /// Leaves out up to `most` records of all files together; the next bad one is an error.
    #[must_use]
    pub fn up_to(most: u64) -> Self {
        Self { most, seen: Arc::default() }
    }

    /// How many records may be left out.
    #[must_use]
    pub fn most(&self) -> u64 {
        self.most
    }

    /// How many records were left out so far.
    #[must_use]
    pub fn n(&self) -> u64 {
        self.seen().n
    }

    /// The first ten of them.
    #[must_use]
    pub fn first(&self) -> Vec<BadRecord> {
        self.seen().first.clone()
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Leaves out the record of this number (from 1 in its file) because of an error that was found after reading, such
    /// as an empty id. It counts as one that readers leave out.
    ///
    /// # Errors
    /// The error itself if there are too many of them, or if it has no line.
    pub fn leave_out(&self, path: &Path, record: u64, error: Error) -> Result<()> {
        let (Error::BadTable { line, .. }
        | Error::LineTooLong { line, .. }
        | Error::InvalidUtf8 { line, .. }
        | Error::NulByte { line, .. }) = error
        else {
            return Err(error);
        };
        let mut seen = self.seen();
        if seen.records.get(path).is_some_and(|records| records.contains(&record)) {
            return Ok(());
        }
        if seen.n >= self.most {
            return Err(error);
        }
        seen.n += 1;
        seen.records.entry(path.to_owned()).or_default().insert(record);
        if seen.first.len() < N_FIRST {
            let text = error.to_string();
            let reason = text.strip_prefix(&format!("{}:{line}: ", path.display())).unwrap_or(&text).to_owned();
            seen.first.push(BadRecord { path: path.to_owned(), line, reason });
        }
        Ok(())
    }
}

/// Only the limit: what was seen is no setting.
impl fmt::Debug for BadRecords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("BadRecords").field(&self.most).finish()
    }
}

impl PartialEq for BadRecords {
    fn eq(&self, other: &Self) -> bool {
        self.most == other.most
    }
}

impl Eq for BadRecords {}

impl Hash for BadRecords {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.most.hash(state);
    }
}
