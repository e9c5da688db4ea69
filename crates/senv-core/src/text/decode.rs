//! Opens a text file of any compression, which is told by its first bytes and not by its name.

use std::{
    fs::File,
    io::{self, BufReader, Cursor, ErrorKind, Read},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use flate2::read::MultiGzDecoder;

use super::zstd::ZstdReader;
use crate::{Error, Result};

/// Bytes read ahead of a decoder.
const BUFFER: usize = 1 << 16;

/// The bytes of a file, decompressed.
pub(super) struct Source {
    pub(super) reader: Box<dyn Read + Send>,
    /// `read`, or what else is being done to the file: for messages.
    pub(super) action: &'static str,
}

/// Opens a file, or standard input for `-`; bytes taken from it are added to `consumed`.
pub(super) fn open(path: &Path, consumed: &Arc<AtomicU64>) -> Result<Source> {
    let counter = Arc::clone(consumed);
    let opened = if path.as_os_str() == "-" {
        detect(Counted { inner: io::stdin(), counter })
    } else {
        let file = File::open(path).map_err(|e| Error::io("open", path, e))?;
        detect(Counted { inner: file, counter })
    };
    opened.map_err(|e| Error::io("read", path, e))
}

/// Looks at the first bytes and puts the decoder that they ask for in front.
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
        // A terminal or a pipe may give a line of two bytes and then wait.
        if !may_be_compressed(&head[..n]) {
            break;
        }
    }
    let whole = Cursor::new(head).take(n as u64).chain(raw);
    Ok(match &head[..n] {
        [0x1F, 0x8B, 8, _] => Source {
            reader: Box::new(MultiGzDecoder::new(BufReader::with_capacity(BUFFER, whole))),
            action: "decompress",
        },
        [0x28, 0xB5, 0x2F, 0xFD] | [0x50..=0x5F, 0x2A, 0x4D, 0x18] => {
            Source { reader: Box::new(ZstdReader::new(BufReader::with_capacity(BUFFER, whole))), action: "decompress" }
        }
        _ => Source { reader: Box::new(whole), action: "read" },
    })
}

fn may_be_compressed(head: &[u8]) -> bool {
    [&[0x1F, 0x8B, 8][..], &[0x28, 0xB5, 0x2F, 0xFD]].iter().any(|magic| head.iter().zip(*magic).all(|(a, b)| a == b))
        || (head[0] & 0xF0 == 0x50 && head[1..].iter().zip(&[0x2A, 0x4D, 0x18]).all(|(a, b)| a == b))
}

/// Counts the bytes that pass.
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
