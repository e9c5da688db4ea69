//! Lines of text that are worked on together.

use std::path::{Path, PathBuf};

use senv_base::{Error, Result};

use super::TextReader;

/// Lines back to back, with where each stands: texts of millions of lines in two pieces of memory.
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
    /// Lines before the first one.
    n_before: u64,
    /// Where each stands: its file among `files`, and its number in that.
    places: Vec<(usize, u64)>,
    files: Vec<PathBuf>,
}

impl Lines {
    /// All lines of a reader that hold anything but blanks.
    ///
    /// # Errors
    /// Those of reading; [`Error::OutOfMemory`].
    pub fn read_sentences(reader: &mut TextReader) -> Result<Self> {
        let mut lines = Self::default();
        lines.fill_sentences(reader, usize::MAX, usize::MAX)?;
        Ok(lines)
    }

    /// Replaces the lines by the next of the reader: so many at most, about so many bytes, and of one block, so that
    /// those of a shard come together as they do in the whole.
    ///
    /// # Errors
    /// Those of reading; [`Error::OutOfMemory`].
    pub fn fill(&mut self, reader: &mut TextReader, max_lines: usize, max_bytes: usize) -> Result<()> {
        self.clear();
        while self.has_room(max_lines, max_bytes)
            && (self.ends.is_empty() || !reader.begins_block()?)
            && let Some(line) = reader.next_line()?
        {
            self.push(line.text, line.path, line.number)?;
        }
        Ok(())
    }

    /// The same of the lines that hold anything but blanks, whatever the blocks.
    ///
    /// # Errors
    /// As [`Lines::fill`].
    pub fn fill_sentences(&mut self, reader: &mut TextReader, max_lines: usize, max_bytes: usize) -> Result<()> {
        self.clear();
        while self.has_room(max_lines, max_bytes)
            && let Some(line) = reader.next_line()?
        {
            if !line.is_blank() {
                self.push(line.text, line.path, line.number)?;
            }
        }
        Ok(())
    }

    /// Takes all lines away.
    pub fn clear(&mut self) {
        self.n_before += self.ends.len() as u64;
        self.text.clear();
        self.ends.clear();
        self.places.clear();
    }

    /// Whether there are fewer lines, and fewer bytes.
    #[must_use]
    pub fn has_room(&self, max_lines: usize, max_bytes: usize) -> bool {
        self.ends.len() < max_lines && self.text.len() < max_bytes
    }

    /// Appends a line of a file, of this number there.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
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

    /// Whether lines are of several files.
    #[must_use]
    pub fn has_files(&self) -> bool {
        self.files.len() > 1
    }

    /// The file of line `i`, and its number in that, counted from 1.
    #[must_use]
    pub fn place(&self, i: usize) -> (&Path, u64) {
        let (file, number) = self.places[i];
        (&self.files[file], number)
    }

    /// The lines before the next that is read: those of a batch that other batches came before.
    pub(super) fn go_on_from(&mut self, n_before: u64) {
        self.clear();
        self.n_before = n_before;
    }

    /// Number of lines.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
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

    /// The lines with their numbers over all that was read, counted from 1.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &str)> {
        (0..self.len()).map(|i| (self.n_before + 1 + i as u64, self.get(i)))
    }
}
