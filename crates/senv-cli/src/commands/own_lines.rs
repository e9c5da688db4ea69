//! Whether a query is a line of a file that is searched: a line does not find itself.

use std::{
    cell::RefCell,
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
};

use senv::{SentenceCollection, SentenceHit};

use crate::failure::Result;

/// The file of the queries, and which other names are names of it.
pub(crate) struct OwnLines {
    name: String,
    /// Behind links, and without `.` and `..`.
    real: Option<PathBuf>,
    is_own: RefCell<HashMap<String, bool>>,
}

impl OwnLines {
    pub(crate) fn of(path: &Path) -> Self {
        let name = path.display().to_string();
        Self { name, real: fs::canonicalize(path).ok(), is_own: RefCell::default() }
    }

    /// Whether a file of this name is the file of the queries. Both may have other names for it; names are
    /// looked up from the present folder.
    pub(crate) fn is_own(&self, name: String) -> bool {
        if name == self.name {
            return true;
        }
        let same = |name: &String| self.real.is_some() && fs::canonicalize(name).ok() == self.real;
        let mut known = self.is_own.borrow_mut();
        if let Some(&known) = known.get(&name) {
            return known;
        }
        let is_own = same(&name);
        known.insert(name, is_own);
        is_own
    }

    /// Leaves the line out that a query itself is.
    pub(crate) fn leave_out(
        &self,
        collection: &SentenceCollection,
        query: &str,
        line: Option<u64>,
        hit: &mut SentenceHit,
    ) -> Result<()> {
        let Some(line) = line.filter(|_| hit.text == query) else { return Ok(()) };
        let rows = collection.rows();
        let (file, number) = (SentenceCollection::FILE, SentenceCollection::LINE);
        if ![file, number].iter().all(|name| rows.columns().iter().any(|column| column == name)) {
            return Ok(());
        }
        let line = line.to_string();
        for (place, &position) in hit.positions.iter().enumerate() {
            if rows.text(position, number)? == line && self.is_own(rows.text(position, file)?) {
                hit.positions.remove(place);
                break;
            }
        }
        Ok(())
    }
}
