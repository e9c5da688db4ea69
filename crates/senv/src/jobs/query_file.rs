//! A file of queries that can be part of the searched text: a line does not find itself.

use std::{
    cell::RefCell,
    collections::HashMap,
    path::{Path, PathBuf},
};

use senv_core::files::is_same_file;

use super::nearest::NearSentence;

/// A file of queries, which recognizes its other paths.
///
/// ```
/// let queries = senv::jobs::QueryFile::new("src/lib.rs".as_ref());
/// assert!(queries.is_named("src/../src/lib.rs") && !queries.is_named("Cargo.toml"));
/// ```
#[derive(Debug)]
pub struct QueryFile {
    path: PathBuf,
    is_named: RefCell<HashMap<String, bool>>,
}

impl QueryFile {
    /// The file at a path.
    #[must_use]
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), is_named: RefCell::default() }
    }

    /// Whether a name, relative to the current folder, refers to this file.
    #[must_use]
    pub fn is_named(&self, name: &str) -> bool {
        if let Some(&known) = self.is_named.borrow().get(name) {
            return known;
        }
        let is_named = self.path == Path::new(name) || is_same_file(&self.path, name.as_ref());
        self.is_named.borrow_mut().insert(name.to_owned(), is_named);
        is_named
    }

    /// Removes the queried line itself, or the record of a table, from the counts and positions of an equal sentence.
    pub fn leave_out(&self, number: u64, sentence: &mut NearSentence) {
        sentence.count -= 1;
        if sentence.place.record.unwrap_or(sentence.place.line) == number
            && self.is_named(&sentence.place.file)
            && let Some(next) = sentence.next.take()
        {
            sentence.place = next;
        }
    }
}
