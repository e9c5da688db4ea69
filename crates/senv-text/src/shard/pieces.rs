//! The part of each file that belongs to a shard, in blocks and in ranges of whole lines.

use std::{
    collections::VecDeque,
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    ops::Range,
    path::{Path, PathBuf},
};

use super::{BLOCK_BYTES, BLOCK_RECORDS};
use crate::{
    BlockReader, TextBlock, TextOptions, decode, decode::is_stdin, foreign::foreign, table::arrow::n_parquet_rows,
};
use senv_base::{Error, Result};

/// The number of bytes read at a time.
pub(super) const CHUNK: usize = 1 << 16;

/// When a [`TextReader`](crate::TextReader) of a shard counts the lines before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LineNumbers {
    /// At the start, so each [`Line`](crate::Line) has its number in the file. This reads the file up to the shard, at
    /// the speed of the disk.
    Counted,
    /// Only for an error, which names the line of the file. Lines are numbered within the shard.
    InErrors,
}

/// The parts of a shard that are still to be read.
pub(crate) struct Pieces {
    pub(super) rest: VecDeque<Piece>,
    /// The blocks of the current file.
    pub(super) wanted: Range<u64>,
    pub(super) numbers: LineNumbers,
    /// The current file and the number of its bytes before the shard, whose lines are not counted.
    pub(super) uncounted: Option<(PathBuf, u64)>,
}

/// Some blocks of a file.
pub(super) struct Piece {
    pub(super) path: PathBuf,
    pub(super) blocks: Range<u64>,
    /// Whether the bytes of the file are lines.
    pub(super) is_plain: bool,
}

/// Converts line numbers in an error from the shard to the file.
pub(crate) fn numbered(pieces: &Option<Box<Pieces>>, mut error: Error) -> Error {
    if let Some((path, bytes)) = pieces.as_ref().and_then(|pieces| pieces.uncounted.as_ref())
        && let Error::LineTooLong { line, .. } | Error::InvalidUtf8 { line, .. } | Error::NulByte { line, .. } =
            &mut error
    {
        // If counting fails, the original error is kept.
        *line += count_lines(path, *bytes).unwrap_or(0);
    }
    error
}

/// Returns the number of blocks of a file, and whether its bytes are lines.
pub(super) fn count_blocks(path: &Path, options: &TextOptions) -> Result<(u64, bool)> {
    if is_stdin(path) {
        let reason = "standard input cannot be split into shards; write it to a file first";
        return Err(Error::BadFile { path: path.to_owned(), reason: reason.into() });
    }
    let metadata = std::fs::metadata(path).map_err(|e| Error::io("open", path, e))?;
    if !metadata.is_file() {
        let what = if metadata.is_dir() { "a folder" } else { "a pipe or a device" };
        let reason = format!("it is {what}, and shards need regular files; write it to a file, or name the files");
        return Err(Error::BadFile { path: path.to_owned(), reason });
    }
    if let Some(table) = &options.table
        && options.split.is_none()
        && let Some(n) = n_parquet_rows(path, table)?
    {
        return Ok((n.div_ceil(BLOCK_RECORDS), false));
    }
    let is_plain = options.table.is_none() && options.split.is_none() && {
        let mut source = decode::open(path, &Default::default())?;
        let mut head = Vec::new();
        let read = (&mut source.reader).take(1 << 12).read_to_end(&mut head);
        read.map_err(|e| source.error(path, e))?;
        foreign(&head, path, false, options.invalid_utf8).map_or(Ok(()), Err)?;
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

/// Opens a file of plain lines at the first line of `blocks`; returns the byte range of their lines too.
pub(super) fn open_stretch(path: &Path, blocks: &Range<u64>) -> io::Result<(File, Range<u64>)> {
    let mut file = File::open(path)?;
    let start = next_line_start(&mut file, blocks.start * BLOCK_BYTES)?;
    let end = next_line_start(&mut file, blocks.end * BLOCK_BYTES)?;
    file.seek(SeekFrom::Start(start))?;
    Ok((file, start..end.max(start)))
}

/// The start of the first line at or after `offset`; the end of the file if there is none.
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

/// Counts the lines in the first bytes of a file, which end with a line.
pub(super) fn count_lines(path: &Path, n_bytes: u64) -> io::Result<u64> {
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
