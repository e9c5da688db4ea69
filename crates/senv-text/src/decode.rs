//! Opens text files with any compression, detected from the first bytes and not from the name.

use std::{
    fs::File,
    io::{self, Cursor, ErrorKind, Read},
    path::Path,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use super::{
    expansion::{Guard, read_error},
    gzip, zstd,
};
use senv_base::{Error, Result};

/// The byte order mark of UTF-8.
pub(super) const BOM: &[u8] = b"\xEF\xBB\xBF";

/// The bytes of a file, decompressed.
pub(super) struct Source {
    pub(super) reader: Box<dyn Read + Send>,
    /// The action on the file for messages: `read`, for example.
    pub(super) action: &'static str,
    /// Whether it may expand to more than plausible text ([`Guard`]).
    pub(super) is_lifted: Arc<AtomicBool>,
}

impl Source {
    /// A source that is read unchanged, or was guarded before.
    pub(super) fn plain(reader: impl Read + Send + 'static, action: &'static str) -> Self {
        Self { reader: Box::new(reader), action, is_lifted: Arc::default() }
    }

    /// An error of reading the source.
    pub(super) fn error(&self, path: &Path, error: io::Error) -> Error {
        read_error(self.action, path, error)
    }
}

/// The peeked bytes of standard input, and whether the input ends after them.
static AHEAD: Mutex<(Vec<u8>, bool)> = Mutex::new((Vec::new(), false));

/// Whether a path means standard input.
#[doc(hidden)]
pub fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Peeks at up to `n` first bytes of standard input. The next reader that opens `-` reads them again.
#[doc(hidden)]
pub fn peek_stdin(n: usize) -> Vec<u8> {
    let mut ahead = AHEAD.lock().unwrap_or_else(PoisonError::into_inner);
    let (bytes, at_end) = &mut *ahead;
    peek(&mut io::stdin(), n, bytes, at_end);
    bytes.clone()
}

fn peek(input: &mut impl Read, n: usize, bytes: &mut Vec<u8>, at_end: &mut bool) {
    let mut chunk = [0; 1 << 12];
    while bytes.len() < n && !*at_end {
        match input.read(&mut chunk) {
            Ok(0) => *at_end = true,
            Ok(n) => bytes.extend_from_slice(&chunk[..n]),
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            // The next reader gets the error again.
            Err(_) => break,
        }
    }
}

/// Reads the peeked bytes, then the rest. Does not read again after the end, because a terminal would continue.
fn after_peek(input: impl Read + Send + 'static, (bytes, at_end): (Vec<u8>, bool)) -> impl Read + Send + 'static {
    Cursor::new(bytes).chain(input.take(if at_end { 0 } else { u64::MAX }))
}

/// Opens a file, or standard input for `-`; `consumed` counts the bytes read.
pub(super) fn open(path: &Path, consumed: &Arc<AtomicU64>) -> Result<Source> {
    let counter = Arc::clone(consumed);
    let opened = if is_stdin(path) {
        let ahead = std::mem::take(&mut *AHEAD.lock().unwrap_or_else(PoisonError::into_inner));
        detect(Counted { inner: after_peek(io::stdin(), ahead), counter })
    } else {
        let file = File::open(path).map_err(|e| Error::io("open", path, e))?;
        detect(Counted { inner: file, counter })
    };
    opened.map_err(|e| Error::io("read", path, e))
}

/// Detects the compression from the first bytes and adds the decoder.
pub(super) fn detect(mut raw: impl Read + Send + 'static) -> io::Result<Source> {
    let mut head = [0; 4];
    let mut n = 0;
    while n < head.len() {
        match raw.read(&mut head[n..]) {
            Ok(0) => break,
            Ok(more) => n += more,
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
        // A terminal or a pipe may provide a line of two bytes and then wait.
        if !may_be_compressed(&head[..n]) {
            break;
        }
    }
    let whole = Cursor::new(head).take(n as u64).chain(raw);
    let consumed = Arc::default();
    let counted = Counted { inner: whole, counter: Arc::clone(&consumed) };
    let decoder = match &head[..n] {
        [0x1F, 0x8B, 8, _] => gzip::reader(counted)?,
        [0x28, 0xB5, 0x2F, 0xFD] | [0x50..=0x5F, 0x2A, 0x4D, 0x18] => zstd::reader(counted)?,
        _ => return Ok(Source::plain(counted.inner, "read")),
    };
    let is_lifted = Arc::default();
    let guard = Guard::new(decoder, consumed, Arc::clone(&is_lifted));
    Ok(Source { reader: Box::new(guard), action: "decompress", is_lifted })
}

fn may_be_compressed(head: &[u8]) -> bool {
    [&[0x1F, 0x8B, 8][..], &[0x28, 0xB5, 0x2F, 0xFD]].iter().any(|magic| head.iter().zip(*magic).all(|(a, b)| a == b))
        || (head[0] & 0xF0 == 0x50 && head[1..].iter().zip(&[0x2A, 0x4D, 0x18]).all(|(a, b)| a == b))
}

/// Counts the bytes read.
struct Counted<R> {
    inner: R,
    counter: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.counter.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns three bytes at a time, and fails the test if it is read after its end.
    struct Once(Cursor<&'static [u8]>, bool);

    impl Read for Once {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            assert!(!self.1, "read again after its end");
            let most = buffer.len().min(3);
            let n = self.0.read(&mut buffer[..most])?;
            self.1 = n == 0;
            Ok(n)
        }
    }

    #[test]
    fn what_was_looked_at_is_read_again_and_an_end_is_met_once() {
        for (wanted, looked, ended) in
            [(4, &b"012345"[..], false), (10, b"0123456789", false), (99, b"0123456789", true)]
        {
            let mut input = Once(Cursor::new(b"0123456789"), false);
            let (mut bytes, mut at_end) = (Vec::new(), false);
            peek(&mut input, wanted, &mut bytes, &mut at_end);
            assert_eq!((&bytes[..], at_end), (looked, ended));
            peek(&mut input, wanted, &mut bytes, &mut at_end);
            let mut all = String::new();
            after_peek(input, (bytes, at_end)).take(1 << 10).read_to_string(&mut all).unwrap();
            assert_eq!(all, "0123456789");
        }
    }
}
