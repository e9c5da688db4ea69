//! Reads files as bytes, for formats that are not lines.

use std::{
    io::{self, BufRead, BufReader, Read},
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
};

use super::{
    TextOptions, TextReader,
    decode::{self, BOM, Source},
    expansion::read_error,
};
use senv_base::{Error, Result};

/// The decompressed bytes of a file, to inspect its start and then read it as bytes or lines.
///
/// Compression is detected as in [`TextReader`]; `-` is standard input.
///
/// ```
/// use senv_core::{TextOptions, text::TextBytes};
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
    is_lifted: Arc<AtomicBool>,
}

/// How much white space may precede the first character of a file.
const LONGEST_HEAD: usize = 1 << 12;

fn without_mark(head: &[u8]) -> &[u8] {
    head.strip_prefix(BOM).unwrap_or(head)
}

impl std::fmt::Debug for TextBytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TextBytes").field("path", &self.path).finish_non_exhaustive()
    }
}

impl TextBytes {
    /// Opens a file; `-` is standard input.
    ///
    /// # Errors
    /// [`Error::Io`] if the file does not exist or its first bytes cannot be read.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let Source { reader, action, is_lifted } = decode::open(path, &Arc::default())?;
        Ok(Self { path: path.to_owned(), reader: BufReader::new(reader), action, is_lifted })
    }

    /// Whether the file starts like a JSON object: with `{`, after optional white space. Consumes nothing except a byte
    /// order mark.
    ///
    /// # Errors
    /// [`Error::Io`] if the first bytes cannot be read.
    pub fn is_json_object(&mut self) -> Result<bool> {
        let (mut head, mut at_end) = (Vec::new(), false);
        // The buffer may contain only a few bytes.
        while !at_end
            && head.len() < LONGEST_HEAD
            && (BOM.starts_with(&head) || without_mark(&head).trim_ascii().is_empty())
        {
            match self.reader.fill_buf() {
                Ok(bytes) => {
                    head.extend_from_slice(bytes);
                    let n = bytes.len();
                    at_end = n == 0;
                    self.reader.consume(n);
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(self.error(e)),
            }
        }
        let head = without_mark(&head).to_vec();
        let is_object = head.trim_ascii_start().first() == Some(&b'{');
        let rest = std::mem::replace(&mut self.reader, BufReader::new(Box::new(io::empty())));
        self.reader = BufReader::new(Box::new(io::Cursor::new(head).chain(rest)));
        Ok(is_object)
    }

    /// Converts into a reader of the file's lines.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] if the maximum line length is 0.
    pub fn into_lines(self, options: &TextOptions) -> Result<TextReader> {
        let source = Source { reader: Box::new(self.reader), action: self.action, is_lifted: self.is_lifted };
        TextReader::from_source(self.path, source, options)
    }

    /// An error of reading these bytes, with the name of the file.
    #[must_use]
    pub fn error(&self, error: io::Error) -> Error {
        read_error(self.action, &self.path, error)
    }
}

impl Read for TextBytes {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.reader.read(buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_found_behind_white_space_and_nothing_is_lost() {
        for (text, is_object, rest) in [
            ("{}", true, "{}"),
            ("    \r\n\r\n{1}", true, "    \r\n\r\n{1}"),
            ("\u{feff}\n\n  {", true, "\n\n  {"),
            ("\u{feff}text", false, "text"),
            ("    text {", false, "    text {"),
            ("\n\n\n\n\n", false, "\n\n\n\n\n"),
            ("", false, ""),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("text");
            std::fs::write(&path, text).unwrap();
            let mut bytes = TextBytes::open(&path).unwrap();
            assert_eq!(bytes.is_json_object().unwrap(), is_object, "{text:?}");
            let mut read = String::new();
            bytes.read_to_string(&mut read).unwrap();
            assert_eq!(read, rest);
        }
    }
}
