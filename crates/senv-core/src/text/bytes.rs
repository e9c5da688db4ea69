//! Files -> bytes, for formats that are not lines.

use std::{
    io::{self, BufRead, BufReader, Read},
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    TextOptions, TextReader,
    decode::{self, Source},
};
use crate::{Error, Result};

/// The decompressed bytes of a file: to look at its beginning, and then to read it as bytes or as lines.
///
/// Compression is detected as by [`TextReader`]; `-` is standard input.
///
/// ```
/// use senv_core::{TextBytes, TextOptions};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("captions.tsv");
/// std::fs::write(&path, "73\tA dog runs\n")?;
/// let mut bytes = TextBytes::open(&path)?;
/// assert!(!bytes.is_json_object()?);
/// let mut lines = bytes.into_lines(&TextOptions::default())?;
/// assert_eq!(lines.next_line()?.map(|line| line.text), Some("73\tA dog runs"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct TextBytes {
    path: PathBuf,
    reader: BufReader<Box<dyn Read + Send>>,
    action: &'static str,
}

impl std::fmt::Debug for TextBytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TextBytes").field("path", &self.path).finish_non_exhaustive()
    }
}

impl TextBytes {
    /// Opens a file.
    ///
    /// # Errors
    /// [`Error::Io`] if it is not there or its first bytes cannot be read.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let Source { reader, action } = decode::open(path, &Arc::default())?;
        Ok(Self { path: path.to_owned(), reader: BufReader::new(reader), action })
    }

    /// Whether the file begins like a JSON object: with `{`, after white space. A byte-order mark is passed over, nothing else.
    ///
    /// # Errors
    /// [`Error::Io`] if its first bytes cannot be read.
    pub fn is_json_object(&mut self) -> Result<bool> {
        let mark = b"\xef\xbb\xbf";
        let failed = |e| Error::io(self.action, &self.path, e);
        if self.reader.fill_buf().map_err(failed)?.starts_with(mark) {
            self.reader.consume(mark.len());
        }
        let first = self.reader.fill_buf().map_err(failed)?;
        Ok(first.trim_ascii_start().first() == Some(&b'{'))
    }

    /// The lines of the file.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] if the maximum line length is 0.
    pub fn into_lines(self, options: &TextOptions) -> Result<TextReader> {
        let source = Source { reader: Box::new(self.reader), action: self.action };
        TextReader::from_source(self.path, source, options)
    }

    /// An error of reading these bytes, with the name of the file.
    #[must_use]
    pub fn error(&self, error: io::Error) -> Error {
        Error::io(self.action, &self.path, error)
    }
}

impl Read for TextBytes {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.reader.read(buffer)
    }
}
