//! Lines of a small text file: bounded, UTF-8, any line ends, plain or compressed.

use std::path::Path;

use senv_core::{
    Error as CoreError, Observer, TextOptions, TextReader,
    memory::check_memory,
    text::{InvalidUtf8, ReadingProgress},
};

use crate::{Error, Result};

/// The longest accepted line. The longest pair of the STS sets has about 2,000 bytes.
pub(crate) const MAX_LINE_BYTES: usize = 1 << 20;

/// Calls `each` with the number (from 1) and text of every line of [`TextReader`], without a byte-order mark and line
/// ends (`\n` or `\r\n`; the last can be missing). The file can be compressed; `-` is standard input.
pub(crate) fn for_each_line(path: &Path, each: impl FnMut(u64, &str) -> Result<()>) -> Result<()> {
    for_each_line_of(&mut TextReader::open(&[path], &options())?, each)
}

/// Like [`for_each_line`], for a reader that keeps nothing from a line, and may take a long time.
pub(crate) fn for_each_line_kept_nowhere(
    path: &Path,
    quoted_pairs: bool,
    observer: &dyn Observer,
    mut each: impl FnMut(u64, &str) -> Result<()>,
) -> Result<()> {
    let options = TextOptions { quoted_pairs, ..options() };
    let mut reader = TextReader::open(&[path], &options.of_pairs())?;
    let mut progress = ReadingProgress::new(&[path], "reading pairs");
    while let Some(line) = reader.next_line().map_err(of_pairs)? {
        each(line.number, line.text)?;
        progress.report(reader.bytes_read(), None, observer)?;
    }
    Ok(())
}

/// Like [`for_each_line`], for data sets published in ISO 8859-1: a line that is not UTF-8 is read as that.
pub(crate) fn for_each_line_or_latin1(path: &Path, each: impl FnMut(u64, &str) -> Result<()>) -> Result<()> {
    let options = TextOptions { invalid_utf8: InvalidUtf8::Windows1252, ..options() };
    for_each_line_of(&mut TextReader::open(&[path], &options)?, each)
}

/// The options of line reading.
pub(crate) fn options() -> TextOptions {
    TextOptions { max_line_bytes: MAX_LINE_BYTES, ..TextOptions::default() }
}

/// Like [`for_each_line`], for an open reader.
pub(crate) fn for_each_line_of(reader: &mut TextReader, mut each: impl FnMut(u64, &str) -> Result<()>) -> Result<()> {
    let mut room = Room::default();
    while let Some(line) = reader.next_line().map_err(of_pairs)? {
        room.take(line.text.len())?;
        each(line.number, line.text)?;
    }
    Ok(())
}

/// Checks that memory suffices for what readers keep of lines. Readers make many small allocations, and a failed one
/// would abort the program.
#[derive(Debug, Default)]
pub(crate) struct Room {
    /// Bytes of the lines so far, with the overhead per line.
    read: usize,
    /// The number of bytes that the last check allows.
    checked: usize,
}

impl Room {
    /// Overhead per line: two strings and a score, in a list that doubles when it grows.
    const BESIDE: usize = 256;

    /// Adds a line. Checks memory again whenever the total has grown by an eighth.
    pub(crate) fn take(&mut self, text: usize) -> Result<()> {
        self.read = self.read.saturating_add(text).saturating_add(Self::BESIDE);
        if self.read > self.checked {
            check_memory::<u8>(1, self.read)
                .map_err(|_| CoreError::OutOfMemory { what: "the lines of a data set", bytes: self.read as u64 })?;
            self.checked = self.read.saturating_add(self.read / 8);
        }
        Ok(())
    }
}

/// Converts the error, with the advice for files of pairs.
pub(crate) fn of_pairs(error: CoreError) -> Error {
    match error {
        CoreError::InvalidUtf8 { path, line, byte, column } => Error::InvalidUtf8 { path, line, byte, column },
        CoreError::LineTooLong { path, line, limit } => Error::LineTooLong { path, line, limit },
        error => error.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(bytes: &[u8]) -> Result<Vec<(u64, String)>> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        let mut seen = Vec::new();
        for_each_line(file.path(), |number, text| {
            seen.push((number, text.to_owned()));
            Ok(())
        })?;
        Ok(seen)
    }

    #[test]
    fn any_line_end_a_mark_and_a_missing_last_end_are_read() {
        let expected = [(1, "a".to_owned()), (2, String::new()), (3, "b\u{feff}".to_owned())];
        assert_eq!(lines("a\n\nb\u{feff}\n".as_bytes()).unwrap(), expected);
        assert_eq!(lines("\u{feff}a\r\n\r\nb\u{feff}".as_bytes()).unwrap(), expected);
        // The first text, compressed with gzip.
        let packed = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x4b\xe4\xe2\x4a\x7a\
            \xbf\x7b\x3f\x17\x00\xbf\x3c\xe5\x5b\x08\x00\x00\x00";
        assert_eq!(lines(packed).unwrap(), expected);
        assert!(lines(b"").unwrap().is_empty());
    }

    #[test]
    fn room_is_looked_for_again_and_again_and_its_lack_is_an_error() {
        let mut room = Room::default();
        room.take(1000).unwrap();
        assert_eq!((room.read, room.checked), (1256, 1413));
        room.take(0).unwrap();
        assert_eq!((room.read, room.checked), (1512, 1701), "more than was checked");
        room.take(0).unwrap();
        room.take(1).unwrap();
        assert_eq!((room.read, room.checked), (2025, 2278));
        room.take(usize::MAX / 2 - 3000).unwrap_err();
        let mut room = Room { read: usize::MAX / 2, checked: 0 };
        let error = room.take(0).unwrap_err();
        assert!(error.to_string().ends_with("for the lines of a data set"), "{error}");
        Room { read: usize::MAX / 2, checked: usize::MAX }.take(0).unwrap();
    }

    #[test]
    fn bad_bytes_and_endless_lines_are_named() {
        let bad = lines(b"fine\nab\xFFc\n");
        assert!(matches!(bad, Err(Error::InvalidUtf8 { line: 2, byte: 3, .. })), "{bad:?}");
        let mut text = vec![b'x'; MAX_LINE_BYTES];
        text.push(b'\n');
        assert_eq!(lines(&text).unwrap().len(), 1);
        text.insert(0, b'x');
        assert!(matches!(lines(&text), Err(Error::LineTooLong { line: 1, limit: MAX_LINE_BYTES, .. })));
        let missing = for_each_line(Path::new("no/such/file.tsv"), |_, _| Ok(()));
        assert!(missing.unwrap_err().to_string().starts_with("cannot open no/such/file.tsv: "));
    }
}
