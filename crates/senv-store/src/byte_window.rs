//! A look-ahead window over the bytes of a file or stream, plain or gzip. Memory grows with the window, not with
//! declared sizes.

use std::{
    fs::File,
    io::{ErrorKind, Read},
    path::{Path, PathBuf},
};

use flate2::read::MultiGzDecoder;

use crate::{Error, ReadOptions, Result};

/// The initial size of the buffer.
const STEP: usize = 1 << 16;

/// A source of bytes with a look-ahead window.
pub(crate) struct ByteWindow {
    path: PathBuf,
    reader: Box<dyn Read>,
    buffer: Vec<u8>,
    /// The window is `buffer[start..end]`.
    start: usize,
    end: usize,
    ended: bool,
    /// Bytes consumed.
    position: u64,
    /// Total length, if it is known.
    len: Option<u64>,
}

impl ByteWindow {
    /// Opens a file, which is decompressed if it is gzip.
    pub(crate) fn open(path: &Path, options: &ReadOptions) -> Result<Self> {
        let file = File::open(path).map_err(|e| senv_core::Error::io("open", path, e))?;
        let metadata = file.metadata().map_err(|e| senv_core::Error::io("open", path, e))?;
        if metadata.is_dir() {
            return Err(senv_core::Error::not_a_file(path, &metadata).into());
        }
        // A pipe or device reports a length of 0, which means nothing.
        let len = metadata.is_file().then_some(metadata.len());
        Self::new(path, Box::new(file), len, options)
    }

    /// Opens a stream of unknown length; `path` is its name in errors.
    pub(crate) fn from_reader(path: &Path, reader: impl Read + 'static, options: &ReadOptions) -> Result<Self> {
        Self::new(path, Box::new(reader), None, options)
    }

    fn new(path: &Path, reader: Box<dyn Read>, len: Option<u64>, options: &ReadOptions) -> Result<Self> {
        let plain = |reader, len| Self {
            path: path.to_owned(),
            reader,
            buffer: Vec::new(),
            start: 0,
            end: 0,
            ended: false,
            position: 0,
            len,
        };
        let mut input = plain(reader, len);
        if !input.window(2)?.starts_with(&[0x1f, 0x8b]) {
            return Ok(input);
        }
        let compressed = Compressed { head: input.buffer[..input.end].to_vec(), at: 0, rest: input.reader, read: 0 };
        let (max_bytes, max_ratio) = (options.max_expanded_bytes, options.max_expansion);
        let expanded = Expanded { decoder: MultiGzDecoder::new(compressed), written: 0, max_bytes, max_ratio };
        Ok(plain(Box::new(expanded), None))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes consumed so far.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// Bytes not yet consumed, if the length is known.
    pub(crate) fn left(&self) -> Option<u64> {
        self.len.map(|len| len.saturating_sub(self.position))
    }

    /// The next bytes: at least `n`, unless the input ends earlier.
    pub(crate) fn window(&mut self, n: usize) -> Result<&[u8]> {
        if self.end - self.start < n && !self.ended {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
            while self.end < n && !self.ended {
                if self.end == self.buffer.len() {
                    // Grows in steps that at most double, regardless of `n`.
                    let grown = n.min((2 * self.end).max(STEP)).max(STEP);
                    self.buffer.resize(grown, 0);
                }
                match self.reader.read(&mut self.buffer[self.end..]) {
                    Ok(0) => self.ended = true,
                    Ok(read) => self.end += read,
                    Err(e) if e.kind() == ErrorKind::Interrupted => {}
                    Err(e) => return Err(senv_core::Error::io("read", &self.path, e).into()),
                }
            }
        }
        Ok(&self.buffer[self.start..self.end])
    }

    /// The current window, without reading more.
    pub(crate) fn buffered(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Whether nothing follows the window.
    pub(crate) fn ended(&self) -> bool {
        self.ended
    }

    /// Advances the window by `n` bytes, which must be in it.
    pub(crate) fn consume(&mut self, n: usize) {
        debug_assert!(n <= self.end - self.start);
        self.start += n;
        self.position += n as u64;
    }

    /// The error for an input that ended too early.
    pub(crate) fn truncated(&self, what: &'static str) -> Error {
        let end = self.position + (self.end - self.start) as u64;
        Error::Truncated { path: self.path.clone(), end, what }
    }
}

/// The compressed side: counts the bytes read.
struct Compressed {
    head: Vec<u8>,
    at: usize,
    rest: Box<dyn Read>,
    read: u64,
}

impl Read for Compressed {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let n = if self.at < self.head.len() {
            let n = out.len().min(self.head.len() - self.at);
            out[..n].copy_from_slice(&self.head[self.at..self.at + n]);
            self.at += n;
            n
        } else {
            self.rest.read(out)?
        };
        self.read += n as u64;
        Ok(n)
    }
}

/// The decompressed side: returns an error if the bytes exceed the limit for their compressed size.
struct Expanded {
    decoder: MultiGzDecoder<Compressed>,
    written: u64,
    max_bytes: u64,
    max_ratio: u64,
}

impl Read for Expanded {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let n = self.decoder.read(out)?;
        self.written += n as u64;
        let by_ratio = self.decoder.get_ref().read.saturating_mul(self.max_ratio).saturating_add(1 << 20);
        if self.written > self.max_bytes.min(by_ratio) {
            return Err(std::io::Error::other(format!(
                "the compressed data expand to more than {} bytes or {} times their size; if you trust the file, \
                raise the limit",
                self.max_bytes, self.max_ratio
            )));
        }
        Ok(n)
    }
}
