//! Extracts the text of lines from the bytes of a block.

use std::{borrow::Cow, path::Path};

use super::{InvalidUtf8, sentences::without_marks, table::TableColumn};
use senv_base::{Error, Result};

/// Returns the line that starts at `start`, without its end, and the start of the next one.
#[doc(hidden)]
#[inline]
pub fn cut_line(bytes: &[u8], start: usize) -> (&[u8], usize) {
    let rest = &bytes[start..];
    let (line, end) = match memchr::memchr(b'\n', rest) {
        Some(at) => (&rest[..at], start + at + 1),
        None => (rest, bytes.len()),
    };
    (line.strip_suffix(b"\r").unwrap_or(line), end)
}

/// Returns the line as text if its length and bytes are valid; owned if bytes were replaced.
#[doc(hidden)]
pub fn check_line<'a>(
    line: &'a [u8],
    path: &Path,
    number: u64,
    max_line_bytes: usize,
    invalid_utf8: InvalidUtf8,
) -> Result<Cow<'a, str>> {
    if line.len() > max_line_bytes {
        return Err(Error::LineTooLong { path: path.to_owned(), line: number, limit: max_line_bytes });
    }
    if let Some(at) = memchr::memchr(0, line) {
        return match invalid_utf8 {
            InvalidUtf8::Error => {
                Err(Error::NulByte { path: path.to_owned(), line: number, byte: at + 1, column: None })
            }
            _ => Ok(Cow::Owned(lossy(line, invalid_utf8).replace('\0', "\u{FFFD}"))),
        };
    }
    let byte = |error: std::str::Utf8Error| error.valid_up_to() + 1;
    let invalid = |error| Error::InvalidUtf8 { path: path.to_owned(), line: number, byte: byte(error), column: None };
    invalid_utf8.decode(line).map_err(invalid)
}

/// The error of [`check_line`] for the line of a record with these columns: bytes are counted in the cell, where a line
/// end is one.
#[doc(hidden)]
#[must_use]
pub fn in_cell(error: Error, record: &[u8], columns: Option<&[TableColumn]>) -> Error {
    let Some(columns) = columns else { return error };
    let cell = |byte: usize| {
        let before = &record[..byte.saturating_sub(1).min(record.len())];
        let start = memchr::memrchr(b'\t', before).map_or(0, |tab| tab + 1);
        let place = memchr::memchr_iter(b'\t', before).count();
        let column = match columns.get(place) {
            Some(TableColumn::Name(name)) => name.to_string(),
            Some(TableColumn::Number(number)) => number.to_string(),
            Some(TableColumn::All) | None => (place + 1).to_string(),
        };
        (before.len() - start + 1, Some(column))
    };
    match error {
        Error::InvalidUtf8 { path, line, byte, column: None } => {
            let (byte, column) = cell(byte);
            Error::InvalidUtf8 { path, line, byte, column }
        }
        Error::NulByte { path, line, byte, column: None } => {
            let (byte, column) = cell(byte);
            Error::NulByte { path, line, byte, column }
        }
        error => error,
    }
}

fn lossy(line: &[u8], invalid_utf8: InvalidUtf8) -> Cow<'_, str> {
    invalid_utf8.decode(line).unwrap_or_else(|_| String::from_utf8_lossy(line))
}

/// A sentence without its line ends, which become spaces. The marks of quoted mail (`>`) stay only at the beginning.
///
/// ```
/// use senv_core::text::on_one_line;
/// assert_eq!(on_one_line("> It is late,\n> and it rains."), "> It is late, and it rains.");
/// ```
#[must_use]
pub fn on_one_line(sentence: &str) -> Cow<'_, str> {
    let Some((first, rest)) = sentence.split_once('\n') else { return Cow::Borrowed(sentence) };
    let mut line = first.to_owned();
    for next in rest.split('\n') {
        line.push(' ');
        line.push_str(without_marks(next));
    }
    Cow::Owned(line)
}

/// Whether a text is only ASCII white space or NUL, and so not a sentence.
///
/// ```
/// assert!(senv_core::text::is_blank(" \t\n") && !senv_core::text::is_blank(" ."));
/// ```
#[must_use]
pub fn is_blank(text: &str) -> bool {
    text.bytes().all(is_blank_byte)
}

/// Whether this is ASCII white space or NUL.
pub(crate) fn is_blank_byte(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0B || byte == 0
}
