//! Lines of a small text file: bounded, UTF-8, with any line end.

use std::{
    fs::File,
    io::{BufRead, BufReader, Read},
    path::Path,
};

use crate::{Error, Result};

/// The longest line that is read. The longest pair of the STS sets has about 2,000 bytes.
pub(crate) const MAX_LINE_BYTES: usize = 1 << 20;

/// Calls `each` with the number (from 1) and text of every line: a byte-order mark at the start of the file and
/// the line end (`\n` or `\r\n`) are taken off, and the last line may lack one.
pub(crate) fn for_each_line(path: &Path, mut each: impl FnMut(u64, &str) -> Result<()>) -> Result<()> {
    let file = File::open(path).map_err(|e| senv_core::Error::io("open", path, e))?;
    let mut reader = BufReader::new(file);
    let mut buffer = Vec::new();
    for line in 1.. {
        buffer.clear();
        // One byte more than may be there, so that a line that is too long is noticed before it fills the memory.
        let limit = MAX_LINE_BYTES as u64 + 1;
        let n = (&mut reader)
            .take(limit)
            .read_until(b'\n', &mut buffer)
            .map_err(|e| senv_core::Error::io("read", path, e))?;
        if n == 0 {
            break;
        }
        if n > MAX_LINE_BYTES {
            return Err(Error::LineTooLong { path: path.to_owned(), line, limit: MAX_LINE_BYTES });
        }
        let text = std::str::from_utf8(&buffer).map_err(|e| Error::InvalidUtf8 {
            path: path.to_owned(),
            line,
            byte: e.valid_up_to() + 1,
        })?;
        let text = text.strip_suffix('\n').unwrap_or(text);
        let text = text.strip_suffix('\r').unwrap_or(text);
        let text = if line == 1 { text.strip_prefix('\u{feff}').unwrap_or(text) } else { text };
        each(line, text)?;
    }
    Ok(())
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
        assert!(lines(b"").unwrap().is_empty());
    }

    #[test]
    fn bad_bytes_and_endless_lines_are_named() {
        let bad = lines(b"fine\nab\xFFc\n");
        assert!(matches!(bad, Err(Error::InvalidUtf8 { line: 2, byte: 3, .. })), "{bad:?}");
        let mut text = vec![b'x'; MAX_LINE_BYTES - 1];
        text.push(b'\n');
        assert_eq!(lines(&text).unwrap().len(), 1);
        text.insert(0, b'x');
        assert!(matches!(lines(&text), Err(Error::LineTooLong { line: 1, limit: MAX_LINE_BYTES, .. })));
        let missing = for_each_line(Path::new("no/such/file.tsv"), |_, _| Ok(()));
        assert!(missing.unwrap_err().to_string().starts_with("cannot open no/such/file.tsv: "));
    }
}
