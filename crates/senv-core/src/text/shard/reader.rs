//! Reads the lines of a shard.

use std::{
    collections::VecDeque,
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    ops::Range,
    path::{Path, PathBuf},
};

use super::{BLOCK_BYTES, BLOCK_RECORDS, Shard};
use crate::{
    Error, Result,
    text::{
        BlockReader, TextBlock, TextOptions, TextReader,
        decode::{self, is_stdin},
        foreign::foreign,
    },
};

/// Bytes read at a time.
const CHUNK: usize = 1 << 16;

/// When a [`TextReader`] of a shard counts the lines that lie before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LineNumbers {
    /// At the beginning, so that each [`Line`](crate::text::Line) has its number: the file is read up to the shard, at the speed of the disk.
    Counted,
    /// Only for an error, which names the line of the file. Each line has the number that it has in the shard.
    InErrors,
}

/// What a reader still has to read of a shard.
pub(in crate::text) struct Pieces {
    rest: VecDeque<Piece>,
    /// The blocks of the present file.
    wanted: Range<u64>,
    numbers: LineNumbers,
    /// The present file and its bytes before the shard, whose lines nobody has counted.
    uncounted: Option<(PathBuf, u64)>,
}

/// Some blocks of a file.
struct Piece {
    path: PathBuf,
    blocks: Range<u64>,
    /// Whether the bytes of the file are lines.
    is_plain: bool,
}

impl TextReader {
    /// Reads a shard of these files: the lines of its blocks ([`Shard`]). To know how many blocks there are, compressed files and tables are
    /// read once as a whole; of plain text the length tells it, and the reader begins where the shard does. Of Parquet the number of
    /// rows is known, too.
    ///
    /// ```
    /// use senv_core::{TextOptions, TextReader, text::{LineNumbers, Shard}};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("long.txt");
    /// let line = "Half a million bytes of text are two blocks.\n";
    /// std::fs::write(&path, line.repeat(500_000 / line.len()))?;
    /// let mut n = Vec::new();
    /// for number in 1..=2 {
    ///     let shard = Shard::new(number, 2)?;
    ///     let mut reader = TextReader::open_shard(&[&path], &TextOptions::default(), shard, LineNumbers::Counted)?;
    ///     let mut lines = 0;
    ///     while reader.next_line()?.is_some() {
    ///         lines += 1;
    ///     }
    ///     n.push(lines);
    /// }
    /// assert_eq!(n, [5826, 5285]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`TextReader::open`]; [`Error::BadFile`] for standard input and pipes, which can be read once; as [`TextReader::next_line`]
    /// for what is read as a whole.
    pub fn open_shard<P: AsRef<Path>>(
        paths: &[P],
        options: &TextOptions,
        shard: Shard,
        numbers: LineNumbers,
    ) -> Result<Self> {
        let mut files = Vec::with_capacity(paths.len());
        let mut n_blocks = 0_u64;
        for path in paths.iter().map(AsRef::as_ref) {
            let (n, is_plain) = count_blocks(path, options)?;
            files.push((path, n_blocks..n_blocks + n, is_plain));
            n_blocks += n;
        }
        let of_shard = shard.of(n_blocks);
        let pieces = files.into_iter().filter_map(|(path, all, is_plain)| {
            let (start, end) = (of_shard.start.max(all.start), of_shard.end.min(all.end));
            let blocks = start.checked_sub(all.start)?..end.checked_sub(all.start)?;
            (!blocks.is_empty()).then(|| Piece { path: path.to_owned(), blocks, is_plain })
        });
        let pieces = Pieces { rest: pieces.collect(), wanted: 0..0, numbers, uncounted: None };
        let nothing = BlockReader::open(&[], CHUNK, false, options)?;
        let mut reader = Self::new(nothing, options.clone());
        reader.pieces = Some(Box::new(pieces));
        Ok(reader)
    }

    /// Whether the next line, if there is one, begins a block ([`Shard`]): whoever works on lines in batches, the results of which
    /// depend on what is together in one, begins a new batch here, and then gets the same from a shard as from the whole.
    ///
    /// # Errors
    /// As [`TextReader::next_line`].
    pub fn begins_block(&mut self) -> Result<bool> {
        Ok(self.advance()? && self.last_block != Some(self.present_block()))
    }

    /// File and block of the next line.
    pub(in crate::text) fn present_block(&self) -> (usize, u64) {
        let block = match self.block.offset(self.position) {
            Some(offset) => offset / BLOCK_BYTES,
            None => self.n_records / BLOCK_RECORDS,
        };
        (self.n_pieces + self.block.file, block)
    }

    /// Goes to the next line that is wanted; false behind the last.
    pub(in crate::text) fn advance(&mut self) -> Result<bool> {
        loop {
            if self.position >= self.block.bytes().len() {
                let file = self.block.file;
                if !self.blocks.next_block(&mut self.block).map_err(|error| numbered(&self.pieces, error))? {
                    if !self.next_piece()? {
                        return Ok(false);
                    }
                    continue;
                }
                (self.position, self.place) = (0, 0);
                if self.block.file != file {
                    self.n_records = 0;
                }
            }
            let Some(pieces) = &self.pieces else { return Ok(true) };
            let (_, block) = self.present_block();
            if pieces.wanted.contains(&block) {
                return Ok(true);
            }
            if block >= pieces.wanted.end {
                if !self.next_piece()? {
                    return Ok(false);
                }
                continue;
            }
            let rest = &self.block.bytes()[self.position..];
            self.position += memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
            self.place += 1;
            self.n_records += 1;
        }
    }

    /// Opens the next file of a shard; false behind the last, and of a reader of whole files.
    fn next_piece(&mut self) -> Result<bool> {
        let Some(pieces) = &mut self.pieces else { return Ok(false) };
        self.n_replaced += self.blocks.n_replaced();
        self.block = TextBlock::default();
        (self.position, self.place, self.n_records) = (0, 0, 0);
        self.n_pieces += 1;
        let Some(Piece { path, blocks, is_plain }) = pieces.rest.pop_front() else {
            self.blocks = BlockReader::open(&[], CHUNK, false, &self.options)?;
            pieces.wanted = 0..0;
            return Ok(false);
        };
        pieces.uncounted = None;
        self.blocks = if is_plain {
            let (file, stretch) = open_stretch(&path, &blocks).map_err(|e| Error::io("read", &path, e))?;
            let before = match pieces.numbers {
                LineNumbers::Counted => count_lines(&path, stretch.start).map_err(|e| Error::io("read", &path, e))?,
                LineNumbers::InErrors => 0,
            };
            if pieces.numbers == LineNumbers::InErrors {
                pieces.uncounted = Some((path.clone(), stretch.start));
            }
            let lines = file.take(stretch.end - stretch.start);
            BlockReader::of_stretch(path, lines, (stretch.start, before + 1), CHUNK, &self.options)?
        } else {
            BlockReader::open(&[path], CHUNK, false, &self.options)?
        };
        pieces.wanted = blocks;
        Ok(true)
    }
}

/// An error with the line of the file, where lines are counted from the beginning of a shard.
pub(in crate::text) fn numbered(pieces: &Option<Box<Pieces>>, mut error: Error) -> Error {
    if let Some((path, bytes)) = pieces.as_ref().and_then(|pieces| pieces.uncounted.as_ref())
        && let Error::LineTooLong { line, .. } | Error::InvalidUtf8 { line, .. } = &mut error
    {
        // What cannot be counted is another error; this one came first.
        *line += count_lines(path, *bytes).unwrap_or(0);
    }
    error
}

/// How many blocks a file has, and whether its bytes are lines.
fn count_blocks(path: &Path, options: &TextOptions) -> Result<(u64, bool)> {
    if is_stdin(path) {
        let reason =
            "standard input cannot be read by shards, each of which looks at all of it; write it to a file first";
        return Err(Error::BadFile { path: path.to_owned(), reason: reason.into() });
    }
    let metadata = std::fs::metadata(path).map_err(|e| Error::io("open", path, e))?;
    if !metadata.is_file() {
        let what = if metadata.is_dir() { "a folder" } else { "a pipe or a device, which can be read once" };
        let reason = format!("it is {what}; a shard needs files: write it to a file, or name the files");
        return Err(Error::BadFile { path: path.to_owned(), reason });
    }
    #[cfg(feature = "arrow")]
    if let Some(table) = &options.table
        && options.split.is_none()
        && crate::text::ArrowFormat::of_file(path) == Some(crate::text::ArrowFormat::Parquet)
        && let Some(n) = crate::text::ArrowBatches::open(path, Some(&table.columns))?.n_rows()
    {
        return Ok((n.div_ceil(BLOCK_RECORDS), false));
    }
    let is_plain = options.table.is_none() && options.split.is_none() && {
        let mut source = decode::open(path, &Default::default())?;
        let mut head = Vec::new();
        (&mut source.reader).take(1 << 12).read_to_end(&mut head).map_err(|e| Error::io(source.action, path, e))?;
        foreign(&head, path, false).map_or(Ok(()), Err)?;
        source.action == "read"
    };
    if is_plain {
        return Ok((metadata.len().div_ceil(BLOCK_BYTES), true));
    }
    let mut blocks = BlockReader::open(&[path.to_owned()], CHUNK, false, options)?;
    let mut block = TextBlock::default();
    let (mut n_bytes, mut n_lines) = (None, 0);
    while blocks.next_block(&mut block)? {
        let bytes = block.bytes();
        n_bytes = block.offset(bytes.len());
        n_lines += memchr::memchr_iter(b'\n', bytes).count() as u64 + u64::from(!bytes.ends_with(b"\n"));
    }
    Ok((n_bytes.map_or(n_lines.div_ceil(BLOCK_RECORDS), |n| n.div_ceil(BLOCK_BYTES)), false))
}

/// Opens a file of plain lines where the first line of some blocks begins; and the bytes of their lines.
fn open_stretch(path: &Path, blocks: &Range<u64>) -> io::Result<(File, Range<u64>)> {
    let mut file = File::open(path)?;
    let start = next_line_start(&mut file, blocks.start * BLOCK_BYTES)?;
    let end = next_line_start(&mut file, blocks.end * BLOCK_BYTES)?;
    file.seek(SeekFrom::Start(start))?;
    Ok((file, start..end.max(start)))
}

/// Where the first line begins that does not begin before `offset`; the end of the file if none does.
fn next_line_start(file: &mut File, offset: u64) -> io::Result<u64> {
    let Some(before) = offset.checked_sub(1) else { return Ok(0) };
    let len = file.metadata()?.len();
    if offset >= len {
        return Ok(len);
    }
    let mut at = file.seek(SeekFrom::Start(before))?;
    let mut chunk = vec![0; CHUNK];
    loop {
        let n = match file.read(&mut chunk) {
            Ok(0) => return Ok(at),
            Ok(n) => n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(e),
        };
        if let Some(end) = memchr::memchr(b'\n', &chunk[..n]) {
            return Ok(at + end as u64 + 1);
        }
        at += n as u64;
    }
}

/// The lines in the first bytes of a file, which end with a line.
fn count_lines(path: &Path, n_bytes: u64) -> io::Result<u64> {
    let mut rest = File::open(path)?.take(n_bytes);
    let (mut n, mut chunk) = (0, vec![0; CHUNK]);
    loop {
        match rest.read(&mut chunk) {
            Ok(0) => return Ok(n),
            Ok(read) => n += memchr::memchr_iter(b'\n', &chunk[..read]).count() as u64,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
}
