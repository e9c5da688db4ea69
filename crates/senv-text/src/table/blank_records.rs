//! Counts the records without text, and remembers the first of them.

use std::{
    collections::HashMap,
    fmt,
    hash::{Hash, Hasher},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// The number of records whose places are kept.
const N_FIRST: usize = 3;

/// The records that lack the text: an empty cell, `null`, or no such field. They become blank lines.
///
/// Clones share what they have seen, so the caller keeps one and asks it afterwards. A record that is read again counts
/// once, if each file is read from its start.
///
/// ```
/// use senv_core::{TextOptions, TextReader, text::{BlankRecords, TableText}};
/// let json = "{\"text\": \"A cat.\"}\n{\"id\": 2}\n".as_bytes();
/// let blank = BlankRecords::default();
/// let table = TableText { blank_records: Some(blank.clone()), ..TableText::column("text") };
/// let options = TextOptions { table: Some(table), ..TextOptions::default() };
/// let mut reader = TextReader::from_reader("pets.jsonl", json, &options)?;
/// while reader.next_line()?.is_some() {}
/// assert_eq!((blank.n(), blank.first()), (1, vec![("pets.jsonl".into(), 2)]));
/// # Ok::<(), senv_core::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct BlankRecords {
    seen: Arc<Mutex<Seen>>,
}

#[derive(Default)]
struct Seen {
    /// The highest number of a record in each file.
    highest: HashMap<PathBuf, u64>,
    n: u64,
    first: Vec<(PathBuf, u64)>,
}

impl BlankRecords {
    /// How many records had no text so far.
    #[must_use]
    pub fn n(&self) -> u64 {
        self.seen().n
    }

    /// The files and lines, counted from 1, of the first three of them.
    #[must_use]
    pub fn first(&self) -> Vec<(PathBuf, u64)> {
        self.seen().first.clone()
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts the record of this number, which starts on `line`.
    pub(super) fn add(&self, path: &Path, record: u64, line: u64) {
        let mut seen = self.seen();
        match seen.highest.get_mut(path) {
            Some(highest) if *highest >= record => return,
            Some(highest) => *highest = record,
            None => {
                seen.highest.insert(path.to_owned(), record);
            }
        }
        seen.n += 1;
        if seen.first.len() < N_FIRST {
            seen.first.push((path.to_owned(), line));
        }
    }
}

impl fmt::Debug for BlankRecords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BlankRecords")
    }
}

/// Always true: what was seen is no setting.
impl PartialEq for BlankRecords {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for BlankRecords {}

impl Hash for BlankRecords {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}
