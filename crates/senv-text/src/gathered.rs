//! Lines of text that are processed together.

use std::path::{Path, PathBuf};

use senv_base::{Error, Result};

use super::{Line, TextReader};

/// Lines stored back to back, with their files and numbers: texts of millions of lines in a few allocations.
///
/// ```
/// use senv_core::{TextOptions, TextReader, text::Lines};
/// let text = "The cat sat.\n\nIt slept.\n".as_bytes();
/// let mut reader = TextReader::from_reader("cats.txt", text, &TextOptions::default())?;
/// let lines = Lines::read_sentences(&mut reader)?;
/// assert_eq!((lines.len(), lines.get(1), lines.place(1).1), (2, "It slept.", 3));
/// # Ok::<(), senv_core::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Lines {
    text: String,
    ends: Vec<usize>,
    /// The number of lines before the first one.
    n_before: u64,
    /// The position of each line: the index of its file in `files`, and its number there.
    places: Vec<(usize, u64)>,
    /// The number of the record of each line; fewer if the last lines have none.
    records: Vec<u64>,
    files: Vec<PathBuf>,
}

impl Lines {
    /// Reads all lines that are not blank.
    ///
    /// # Errors
    /// The errors of reading; [`Error::OutOfMemory`].
    pub fn read_sentences(reader: &mut TextReader) -> Result<Self> {
        let mut lines = Self::default();
        lines.fill_sentences(reader, usize::MAX, usize::MAX)?;
        Ok(lines)
    }

    /// Replaces the lines by the next of the reader: at most `max_lines`, about `max_bytes` bytes, and all from one
    /// block. So the lines of a shard are grouped as in the whole input.
    ///
    /// # Errors
    /// The errors of reading; [`Error::OutOfMemory`].
    pub fn fill(&mut self, reader: &mut TextReader, max_lines: usize, max_bytes: usize) -> Result<()> {
        self.clear();
        while self.has_room(max_lines, max_bytes)
            && (self.ends.is_empty() || !reader.begins_block()?)
            && let Some(line) = reader.next_line()?
        {
            self.push_line(&line)?;
        }
        Ok(())
    }

    /// Like [`Lines::fill`], but skips blank lines and ignores block boundaries.
    ///
    /// # Errors
    /// The errors of [`Lines::fill`].
    pub fn fill_sentences(&mut self, reader: &mut TextReader, max_lines: usize, max_bytes: usize) -> Result<()> {
        self.clear();
        while self.has_room(max_lines, max_bytes)
            && let Some(line) = reader.next_line()?
        {
            if !line.is_blank() {
                self.push_line(&line)?;
            }
        }
        Ok(())
    }

    /// Removes all lines.
    pub fn clear(&mut self) {
        self.n_before += self.ends.len() as u64;
        self.text.clear();
        self.ends.clear();
        self.places.clear();
        self.records.clear();
    }

    /// Whether there are fewer than `max_lines` lines and fewer than `max_bytes` bytes.
    #[must_use]
    pub fn has_room(&self, max_lines: usize, max_bytes: usize) -> bool {
        self.ends.len() < max_lines && self.text.len() < max_bytes
    }

    /// Appends a line with its file and its number there.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] if memory runs out.
    pub fn push(&mut self, line: &str, path: &Path, number: u64) -> Result<()> {
        let reserved = self.text.try_reserve(line.len()).and_then(|()| self.ends.try_reserve(1));
        let reserved = reserved.and_then(|()| self.places.try_reserve(1));
        let bytes = (self.text.len() + line.len() + 24 * self.ends.len()) as u64;
        reserved.map_err(|_| Error::OutOfMemory { what: "the lines of a text", bytes })?;
        self.text.push_str(line);
        self.ends.push(self.text.len());
        if self.files.last().is_none_or(|file| file != path) {
            self.files.push(path.to_owned());
        }
        self.places.push((self.files.len() - 1, number));
        Ok(())
    }

    /// Appends a line of a reader.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] if memory runs out.
    pub fn push_line(&mut self, line: &Line<'_>) -> Result<()> {
        self.push(line.text, line.path, line.number)?;
        if let Some(record) = line.record {
            let bytes = 8 * self.ends.len() as u64;
            let room = self.ends.len() - self.records.len();
            let reserved = self.records.try_reserve(room);
            reserved.map_err(|_| Error::OutOfMemory { what: "the lines of a text", bytes })?;
            // Lines before it may have no record.
            self.records.resize(self.ends.len() - 1, 0);
            self.records.push(record);
        }
        Ok(())
    }

    /// Line `i` with its place.
    #[must_use]
    pub fn line(&self, i: usize) -> Line<'_> {
        let (path, number) = self.place(i);
        Line { text: self.get(i), path, number, record: self.record(i) }
    }

    /// The number of the record of line `i` in its table, counted from 1; `None` for a line of plain text.
    #[must_use]
    pub fn record(&self, i: usize) -> Option<u64> {
        self.records.get(i).copied().filter(|&record| record > 0)
    }

    /// Whether the lines come from several files.
    #[must_use]
    pub fn has_files(&self) -> bool {
        self.files.len() > 1
    }

    /// The file of line `i` and its number there, counted from 1.
    #[must_use]
    pub fn place(&self, i: usize) -> (&Path, u64) {
        let (file, number) = self.places[i];
        (&self.files[file], number)
    }

    /// Removes all lines and sets how many precede the next line, for a batch after other batches.
    pub(super) fn go_on_from(&mut self, n_before: u64) {
        self.clear();
        self.n_before = n_before;
    }

    /// The number of lines.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no lines.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Line `i`.
    #[must_use]
    pub fn get(&self, i: usize) -> &str {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.text[start..self.ends[i]]
    }

    /// The lines.
    #[must_use]
    pub fn texts(&self) -> Vec<&str> {
        (0..self.len()).map(|i| self.get(i)).collect()
    }

    /// Iterates over the lines with their numbers in the whole input, counted from 1.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &str)> {
        (0..self.len()).map(|i| (self.n_before + 1 + i as u64, self.get(i)))
    }
}
