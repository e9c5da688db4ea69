//! Existing vectors of the lines of text files.

use std::path::{Path, PathBuf};

use senv_core::counts::plural;
use senv_store::NpyReader;

use crate::error::Result;

/// Existing vectors of lines.
pub(super) struct Vectors {
    pub(super) reader: NpyReader,
    pub(super) path: PathBuf,
    /// Lines so far; each has a row.
    pub(super) n_lines: usize,
}

impl Vectors {
    /// Opens a NumPy matrix with a row for each line.
    pub(super) fn open(path: &Path) -> Result<Self> {
        Ok(Self { reader: NpyReader::open(path)?, path: path.to_owned(), n_lines: 0 })
    }

    /// The vector of the next line.
    pub(super) fn next(&mut self) -> Result<Vec<f32>> {
        let table = self.reader.read_rows(1)?;
        self.n_lines += 1;
        if table.n_rows() == 0 {
            let rows = self.reader.n_rows();
            let reason = format!(
                "it has {}, but the text has more lines; every line, even a blank one, needs a row",
                plural(rows as u64, "row")
            );
            return Err(senv_core::Error::BadFile { path: self.path.clone(), reason }.into());
        }
        Ok(table.values().to_vec())
    }

    /// Returns an error if there are rows after the last line.
    pub(super) fn end(&mut self) -> Result<()> {
        let rows = self.reader.n_rows();
        if rows == self.n_lines {
            return Ok(());
        }
        let reason = format!(
            "it has {}, but the text has {}; every line, even a blank one, needs a row",
            plural(rows as u64, "row"),
            plural(self.n_lines as u64, "line")
        );
        Err(senv_core::Error::BadFile { path: self.path.clone(), reason }.into())
    }
}
