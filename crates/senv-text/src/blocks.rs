//! Reads files as blocks of whole lines.

use super::{
    InvalidUtf8, TableText, TextOptions,
    decode::{self, BOM, Source},
    foreign::foreign,
    split::{Output, Split, Splitter},
    table::{ArrowLines, LineBuffers, TableReader},
};
use senv_base::{Error, Result};
use std::{
    collections::VecDeque,
    io::{ErrorKind, Read},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

/// Whole lines of one file; each ends with a line feed, except possibly the last line of the file.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct TextBlock {
    buffer: Vec<u8>,
    range: std::ops::Range<usize>,
    /// The index of the file in reading order.
    pub file: usize,
    /// The number of the first line in its file, counted from 1.
    first_line: u64,
    /// For records of a table, the number of each line.
    numbers: Vec<u64>,
    /// For lines of a table, the number of the record of each line, counted from 1.
    records: Vec<u64>,
    /// For plain lines, the offset of the first one in the decompressed bytes of its file.
    offset: Option<u64>,
}

impl TextBlock {
    /// The bytes of the lines.
    pub fn bytes(&self) -> &[u8] {
        &self.buffer[self.range.clone()]
    }

    /// The line number in the file for line `i` of the block, counted from 0.
    #[inline]
    pub fn number(&self, i: usize) -> u64 {
        self.numbers.get(i).copied().unwrap_or(self.first_line + i as u64)
    }

    /// The number of the record for line `i` of the block, counted from 0; `None` for files that are no tables.
    #[inline]
    pub fn record(&self, i: usize) -> Option<u64> {
        self.records.get(i).copied()
    }

    /// Where a reader of tables puts its lines.
    fn buffers(&mut self) -> LineBuffers<'_> {
        LineBuffers { text: &mut self.buffer, numbers: &mut self.numbers, records: &mut self.records, raw: None }
    }

    /// For plain lines, the offset in the decompressed bytes of the file for position `at` of the block.
    #[inline]
    pub(super) fn offset(&self, at: usize) -> Option<u64> {
        self.offset.map(|offset| offset + at as u64)
    }
}

/// Reads files one after another and splits them into blocks of whole lines.
///
/// A block ends after the last line end within its size, so its end depends only on the text.
#[doc(hidden)]
pub struct BlockReader {
    paths: Vec<PathBuf>,
    /// Files that are not opened yet, by index.
    waiting: VecDeque<usize>,
    open: Option<Open>,
    /// The block size in bytes, if lines allow it.
    size: usize,
    max_line_bytes: usize,
    table: Option<TableText>,
    split: Option<Split>,
    /// Lines that are not split yet.
    uncut: Box<TextBlock>,
    /// An error after sentences that were already split.
    failed: Option<Box<Error>>,
    /// Lines, in files before the current one, in which invalid bytes were replaced before splitting.
    n_replaced: u64,
    invalid_utf8: InvalidUtf8,
    /// Returns lines as soon as they are read, for interactive input.
    eager: bool,
    consumed: Arc<AtomicU64>,
    any_expansion: bool,
}

struct Open {
    file: usize,
    source: Source,
    /// Bytes already read: the start of the next block.
    carry: Vec<u8>,
    /// The offset of `carry` in the file.
    offset: u64,
    next_line: u64,
    at_start: bool,
    at_end: bool,
    /// For a table: converts its records to lines.
    table: Option<TableReader>,
    /// For a file of record batches: converts its rows to lines.
    arrow: Option<Box<ArrowLines>>,
    splitter: Option<Box<Splitter>>,
}

impl BlockReader {
    /// Opens files to read in this order; `-` is standard input.
    ///
    /// # Errors
    /// [`Error::Io`] if a file cannot be opened. All files are checked first, so a typo in the last name is found
    /// immediately.
    pub fn open(paths: &[PathBuf], size: usize, eager: bool, options: &TextOptions) -> Result<Self> {
        for path in paths.iter().filter(|path| path.as_os_str() != "-") {
            std::fs::metadata(path).map_err(|e| Error::io("open", path, e))?;
        }
        Self::new(paths.to_vec(), size, eager, options)
    }

    /// Reads an open input; `path` is its name in errors.
    pub fn from_reader(
        path: PathBuf,
        reader: impl Read + Send + 'static,
        size: usize,
        eager: bool,
        options: &TextOptions,
    ) -> Result<Self> {
        let source = decode::detect(reader).map_err(|e| Error::io("read", &path, e))?;
        Self::from_source(path, source, size, eager, options)
    }

    /// Reads an open file with known compression.
    pub(super) fn from_source(
        path: PathBuf,
        source: Source,
        size: usize,
        eager: bool,
        options: &TextOptions,
    ) -> Result<Self> {
        let mut blocks = Self::new(vec![path], size, eager, options)?;
        blocks.waiting.clear();
        blocks.open = Some(blocks.opened(0, source)?);
        Ok(blocks)
    }

    /// Reads a stretch of a file of plain lines that starts at `offset`, with line `line`.
    pub(super) fn of_stretch(
        path: PathBuf,
        reader: impl Read + Send + 'static,
        (offset, line): (u64, u64),
        size: usize,
        options: &TextOptions,
    ) -> Result<Self> {
        let source = Source::plain(reader, "read");
        let mut blocks = Self::from_source(path, source, size, false, options)?;
        if let Some(open) = &mut blocks.open {
            // A byte order mark and signs of other formats are at the start of the file.
            (open.offset, open.next_line, open.at_start) = (offset, line, offset == 0);
        }
        Ok(blocks)
    }

    fn new(paths: Vec<PathBuf>, size: usize, eager: bool, options: &TextOptions) -> Result<Self> {
        if options.max_line_bytes == 0 {
            return Err(Error::InvalidParameter {
                name: "max_line_bytes",
                requirement: "at least 1",
                got: options.max_line_bytes.to_string(),
            });
        }
        Ok(Self {
            waiting: (0..paths.len()).collect(),
            paths,
            open: None,
            size,
            max_line_bytes: options.max_line_bytes,
            // Where sentences are cut, paragraphs of a cell stay separate.
            table: options
                .table
                .clone()
                .map(|table| TableText { line_ends: table.line_ends || options.split.is_some(), ..table }),
            split: options.split,
            uncut: Box::default(),
            failed: None,
            n_replaced: 0,
            invalid_utf8: options.invalid_utf8,
            eager,
            consumed: Arc::default(),
            any_expansion: options.any_expansion,
        })
    }

    fn opened(&self, file: usize, source: Source) -> Result<Open> {
        let path = &self.paths[file];
        source.is_lifted.store(self.any_expansion, Ordering::Relaxed);
        let table = self.table.as_ref().map(|table| TableReader::new(table, path, self.invalid_utf8)).transpose()?;
        let limits = (self.max_line_bytes, self.invalid_utf8);
        let columns = self.table.as_ref().map(|table| table.columns.clone());
        let splitter = self.split.map(|split| Box::new(Splitter::new(split, columns.clone(), limits)));
        Ok(Open {
            file,
            source,
            carry: Vec::new(),
            offset: 0,
            next_line: 1,
            at_start: true,
            at_end: false,
            table,
            arrow: None,
            splitter,
        })
    }

    fn open_file(&self, file: usize) -> Result<Open> {
        let path = &self.paths[file];
        if let Some(table) = &self.table
            && let Some(arrow) = ArrowLines::open(table, path, (self.invalid_utf8, self.any_expansion), &self.consumed)?
        {
            let source = Source::plain(std::io::empty(), "read");
            return Ok(Open { arrow: Some(Box::new(arrow)), ..self.opened(file, source)? });
        }
        self.opened(file, decode::open(path, &self.consumed)?)
    }

    /// The path of a file, by its index.
    pub fn path(&self, file: usize) -> &Path {
        &self.paths[file]
    }

    /// The number of bytes read from the files so far, before decompression.
    pub fn consumed(&self) -> u64 {
        self.consumed.load(Ordering::Relaxed)
    }

    /// Reads the next block; returns false at the end of the last file.
    pub fn next_block(&mut self, block: &mut TextBlock) -> Result<bool> {
        if let Some(error) = self.failed.take() {
            return Err(*error);
        }
        loop {
            if self.open.is_none() {
                let Some(file) = self.waiting.pop_front() else { return Ok(false) };
                self.open = Some(self.open_file(file)?);
            }
            let Some(open) = &mut self.open else { return Ok(false) };
            let limits = (self.max_line_bytes, self.invalid_utf8);
            let path = &self.paths[open.file];
            if open.splitter.is_none() {
                if open.next_block(block, path, self.size, limits, self.eager)? {
                    return Ok(true);
                }
                self.open = None;
                continue;
            }
            let is_more = open.next_block(&mut self.uncut, path, self.size, limits, self.eager)?;
            let Some(splitter) = &mut open.splitter else { continue };
            block.offset = None;
            let mut out = Output(block.buffers());
            out.0.clear();
            let cut = if is_more {
                let uncut = &self.uncut;
                splitter.cut(uncut.bytes(), |i| (uncut.number(i), uncut.record(i)), path, &mut out)
            } else {
                splitter.end(path, &mut out)
            };
            block.range = 0..block.buffer.len();
            block.file = open.file;
            if !is_more {
                self.n_replaced += splitter.n_replaced;
                self.open = None;
            }
            match cut {
                Err(error) if block.range.is_empty() => return Err(error),
                cut => self.failed = cut.err().map(Box::new),
            }
            if !block.range.is_empty() {
                return Ok(true);
            }
        }
    }

    /// The number of lines in which invalid bytes were replaced before splitting into sentences.
    pub fn n_replaced(&self) -> u64 {
        let of_file = self.open.as_ref().and_then(|open| open.splitter.as_ref());
        self.n_replaced + of_file.map_or(0, |splitter| splitter.n_replaced)
    }
}

impl Open {
    fn next_block(
        &mut self,
        block: &mut TextBlock,
        path: &Path,
        size: usize,
        (max, policy): (usize, InvalidUtf8),
        eager: bool,
    ) -> Result<bool> {
        // After an error, the block is empty.
        (block.range, block.offset) = (0..0, None);
        if let Some(arrow) = &mut self.arrow {
            let is_more = arrow.next_lines(path, size, max, block.buffers())?;
            block.range = 0..block.buffer.len();
            block.file = self.file;
            return Ok(is_more);
        }
        if let Some(table) = &mut self.table {
            let is_more = table.next_lines(&mut self.source, path, size, max, eager, block.buffers())?;
            block.range = 0..block.buffer.len();
            block.file = self.file;
            return Ok(is_more);
        }
        block.numbers.clear();
        block.records.clear();
        let buffer = &mut block.buffer;
        let mut filled = self.carry.len();
        let mut wanted = size.max(filled + 1);
        grow(buffer, wanted);
        buffer[..filled].copy_from_slice(&self.carry);
        self.carry.clear();
        // How far the buffer has been searched for line ends.
        let (mut searched, mut cut) = (0, None);
        loop {
            while filled < wanted && !self.at_end {
                match self.source.reader.read(&mut buffer[filled..wanted]) {
                    Ok(0) => self.at_end = true,
                    Ok(n) => filled += n,
                    Err(e) if e.kind() == ErrorKind::Interrupted => {}
                    Err(e) => return Err(self.source.error(path, e)),
                }
                if eager {
                    break;
                }
            }
            if let Some(at) = memchr::memrchr(b'\n', &buffer[searched..filled]) {
                cut = Some(searched + at + 1);
            }
            searched = filled;
            if self.at_end {
                cut = Some(filled);
            }
            if cut.is_some() {
                break;
            }
            // A file that is not text may have no line ends.
            if filled > max.saturating_add(1 + BOM.len()) && self.at_start {
                foreign(&buffer[..filled], path, false, policy).map_or(Ok(()), Err)?;
            }
            // The limit plus one byte for a carriage return and three for a byte order mark.
            if filled > max.saturating_add(1 + BOM.len()) {
                return Err(Error::LineTooLong { path: path.to_owned(), line: self.next_line, limit: max });
            }
            if filled == wanted {
                wanted += size;
                grow(buffer, wanted);
            }
        }
        if self.at_start {
            foreign(&buffer[..filled], path, false, policy).map_or(Ok(()), Err)?;
        }
        let end = cut.unwrap_or(filled);
        self.carry.extend_from_slice(&buffer[end..filled]);
        let start = if self.at_start && buffer[..end].starts_with(BOM) { BOM.len() } else { 0 };
        self.at_start = false;
        block.range = start..end;
        block.offset = Some(self.offset + start as u64);
        self.offset += end as u64;
        block.file = self.file;
        block.first_line = self.next_line;
        self.next_line += memchr::memchr_iter(b'\n', &buffer[start..end]).count() as u64;
        Ok(start < end)
    }
}

/// Makes the buffer at least `n` bytes long.
fn grow(buffer: &mut Vec<u8>, n: usize) {
    if buffer.len() < n {
        buffer.resize(n, 0);
    }
}
