//! Extracts the text of lines from the bytes of a block.

use std::{borrow::Cow, path::Path};

use super::{InvalidUtf8, sentences::without_marks};
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
            InvalidUtf8::Error => Err(Error::NulByte { path: path.to_owned(), line: number, byte: at + 1 }),
            _ => Ok(Cow::Owned(lossy(line, invalid_utf8).replace('\0', "\u{FFFD}"))),
        };
    }
    let byte = |error: std::str::Utf8Error| error.valid_up_to() + 1;
    let invalid = |error| Error::InvalidUtf8 { path: path.to_owned(), line: number, byte: byte(error) };
    invalid_utf8.decode(line).map_err(invalid)
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
    text.bytes().all(|b| b.is_ascii_whitespace() || b == 0x0B || b == 0)
}
