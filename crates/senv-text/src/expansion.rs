//! Rejects files that expand to implausibly much text, because they were probably made to fill memory or a disk.

use std::{
    fmt,
    io::{self, ErrorKind, Read},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use senv_base::Error;

/// Any file below these numbers of bytes and lines is accepted.
const FIRST_BYTES: u64 = 16 << 20;
const FIRST_LINES: u64 = 1 << 16;
/// The same for rows of record batches: in a column with few distinct texts, many rows take at most a byte.
#[cfg(feature = "arrow")]
const FIRST_ROWS: u64 = 1 << 20;

/// How far a file has expanded so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Expansion {
    /// Bytes of the file that were read, some of them ahead.
    pub(crate) compressed: u64,
    /// Bytes of text.
    pub(crate) text: u64,
    pub(crate) lines: u64,
}

impl Expansion {
    /// Whether the size is plausible for text: at most 200 bytes and 10 lines per byte of the file. Typical text has 3
    /// to 10 bytes per byte of its file, and logs about 50; a line takes at least a byte even if it is similar to
    /// others. The start of a file is always accepted.
    fn may_be_text(self, first_lines: u64) -> bool {
        let Self { compressed, text, lines } = self;
        (text < FIRST_BYTES || text / 200 <= compressed) && (lines < first_lines || lines / 10 <= compressed)
    }

    /// Returns an error if a file of record batches has implausibly many rows.
    #[cfg(feature = "arrow")]
    pub(crate) fn check_rows(self, path: &Path) -> senv_base::Result<()> {
        if self.may_be_text(FIRST_ROWS) { Ok(()) } else { Err(self.error(path)) }
    }

    fn error(self, path: &Path) -> Error {
        let Self { compressed, text, lines } = self;
        Error::Expansion { path: path.to_owned(), compressed, text, lines }
    }
}

impl fmt::Display for Expansion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { compressed, text, lines } = self;
        write!(
            f,
            "{compressed} bytes expand to more than {text} bytes in {lines} lines, which is not plausible for \
            text"
        )
    }
}

impl std::error::Error for Expansion {}

/// Converts an error of reading a file, including what a guard found.
pub(crate) fn read_error(action: &'static str, path: &Path, error: io::Error) -> Error {
    match error.get_ref().and_then(|error| error.downcast_ref::<Expansion>()) {
        Some(expansion) => expansion.error(path),
        None => Error::io(action, path, error),
    }
}

/// Passes on the output of a decoder as long as it is plausible for text.
pub(crate) struct Guard<R> {
    decoder: R,
    consumed: Arc<AtomicU64>,
    text: u64,
    lines: u64,
    is_lifted: Arc<AtomicBool>,
}

impl<R> Guard<R> {
    /// `consumed` counts what the decoder reads. Once `is_lifted` is set, nothing is rejected.
    pub(crate) fn new(decoder: R, consumed: Arc<AtomicU64>, is_lifted: Arc<AtomicBool>) -> Self {
        Self { decoder, consumed, text: 0, lines: 0, is_lifted }
    }
}

impl<R: Read> Read for Guard<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.decoder.read(buffer)?;
        self.text += n as u64;
        self.lines += memchr::memchr_iter(b'\n', &buffer[..n]).count() as u64;
        let compressed = self.consumed.load(Ordering::Relaxed);
        let expansion = Expansion { compressed, text: self.text, lines: self.lines };
        if expansion.may_be_text(FIRST_LINES) || self.is_lifted.load(Ordering::Relaxed) {
            Ok(n)
        } else {
            Err(io::Error::new(ErrorKind::InvalidData, expansion))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use senv_base::Result;

    use super::*;
    use crate::{TableText, TextBytes, TextOptions, TextReader};

    fn gz(text: &[u8]) -> Vec<u8> {
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        gz.write_all(text).unwrap();
        gz.finish().unwrap()
    }

    /// Counts the lines of a reader, or returns its error, which must repeat.
    fn count(mut reader: TextReader) -> Result<usize> {
        let mut n = 0;
        loop {
            match reader.next_line() {
                Ok(Some(_)) => n += 1,
                Ok(None) => return Ok(n),
                Err(error) => {
                    assert!(reader.next_line().is_err());
                    return Err(error);
                }
            }
        }
    }

    #[test]
    fn text_is_bounded_by_bytes_and_lines_for_each_byte_of_its_file() {
        let of = |compressed, text, lines| Expansion { compressed, text, lines }.may_be_text(FIRST_LINES);
        assert!(of(1, FIRST_BYTES - 1, FIRST_LINES - 1));
        assert!(of(100_000, 20_000_000, 1) && !of(99_999, 20_000_000, 1));
        assert!(of(10_000, 1, 100_009) && !of(9_999, 1, 100_009));
    }

    #[test]
    fn a_file_that_becomes_more_than_text_is_refused_by_every_reader_unless_any_is_accepted() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let line = [&[b'a'; 9999][..], b"\n"].concat();
        for (name, text) in [
            ("blank.gz", b"\n".repeat(1 << 20)),
            ("long.gz", line.repeat(2000)),
            ("id,a.csv.gz", { [&b"id,text\n"[..], &b"\"\n\n\n\n\n\n\n\n\n\n\n\n\",\n".repeat(100_000)].concat() }),
        ] {
            std::fs::write(at(name), gz(&text)).unwrap();
            let table = name.contains("csv").then(|| TableText::column("text"));
            let options = TextOptions { table, ..TextOptions::default() };
            let any = TextOptions { any_expansion: true, ..options.clone() };
            let opened = |options| TextReader::open(&[at(name)], options).unwrap();
            let error = count(opened(&options)).unwrap_err();
            assert!(matches!(&error, Error::Expansion { path, .. } if *path == at(name)), "{error}");
            let n = count(opened(&any)).unwrap();
            assert!(n >= 2000, "{n}");
            let given = TextReader::from_reader("given", io::Cursor::new(gz(&text)), &options).unwrap();
            assert!(matches!(count(given), Err(Error::Expansion { .. })));
            let bytes = || TextBytes::open(at(name)).unwrap();
            assert!(matches!(count(bytes().into_lines(&options).unwrap()), Err(Error::Expansion { .. })));
            assert_eq!(count(bytes().into_lines(&any).unwrap()).unwrap(), n);
            let mut bytes = bytes();
            let error = io::copy(&mut bytes, &mut io::sink()).unwrap_err();
            assert!(matches!(bytes.error(error), Error::Expansion { .. }));
        }
        let plain = TextReader::from_reader("plain", io::Cursor::new(b"\n".repeat(1 << 20)), &TextOptions::default());
        assert_eq!(count(plain.unwrap()).unwrap(), 1 << 20);
    }
}
