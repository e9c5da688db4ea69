//! Reads files as lines.

use std::{
    borrow::Cow,
    io::Read,
    path::{Path, PathBuf},
};

use super::{
    BlockReader, TextBlock, TextOptions,
    cut::{check_line, cut_line, in_cell},
    decode::Source,
    is_blank,
    shard::pieces::{Pieces, numbered},
};
use senv_base::Result;

/// The number of bytes read at a time.
const BLOCK: usize = 1 << 16;

/// One line of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'a> {
    /// The line without its end (`\n` or `\r\n`).
    pub text: &'a str,
    /// The file; `-` is standard input.
    pub path: &'a Path,
    /// The line number in that file, counted from 1; for a record of a table, that of its first line.
    pub number: u64,
    /// For a line of a table, the number of its record in the file, counted from 1 without titles; rows of Parquet and
    /// Arrow are records. `None` for plain text.
    pub record: Option<u64>,
}

impl Line<'_> {
    /// Whether the line is only white space, which marks the end of a document.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        is_blank(self.text)
    }
}

/// Reads text files line by line, in bounded memory.
///
/// Files can be plain or compressed with gzip or Zstandard, including several members or frames. The compression is
/// detected from the first bytes. `-` is standard input. A line ends with `\n` or `\r\n`; the last line may end with
/// the file. A byte order mark at the start of a file is dropped. Control characters are ordinary characters, except
/// NUL; see [`InvalidUtf8`](super::InvalidUtf8).
///
/// ```
/// use senv_core::{TextOptions, TextReader};
/// let text = "The cat sat.\r\n\r\nA new document.".as_bytes();
/// let mut reader = TextReader::from_reader("cats.txt", text, &TextOptions::default())?;
/// let mut lines = Vec::new();
/// while let Some(line) = reader.next_line()? {
///     lines.push((line.number, line.text.to_owned(), line.is_blank()));
/// }
/// assert_eq!(lines[0], (1, "The cat sat.".into(), false));
/// assert_eq!((lines[1].2, lines[2].0), (true, 3));
/// # Ok::<(), senv_core::Error>(())
/// ```
pub struct TextReader {
    pub(super) blocks: BlockReader,
    pub(super) block: TextBlock,
    /// The start of the next line in the block.
    pub(super) position: usize,
    /// Its index among the lines of the block, and the number of the last line.
    pub(super) place: usize,
    number: u64,
    pub(super) options: TextOptions,
    /// The last line in which invalid bytes were replaced.
    mended: String,
    pub(super) n_replaced: u64,
    /// Lines of the current file before the next one.
    pub(super) n_records: u64,
    /// The file and the block of the last line.
    pub(super) last_block: Option<(usize, u64)>,
    /// The rest of a shard, and how many of its files were started.
    pub(super) pieces: Option<Box<Pieces>>,
    pub(super) n_pieces: usize,
}

impl std::fmt::Debug for TextReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TextReader").field("line", &self.number).finish_non_exhaustive()
    }
}

impl TextReader {
    /// Opens files to read one after another; `-` is standard input.
    ///
    /// # Errors
    /// [`Error::Io`](senv_base::Error::Io) if a file does not exist;
    /// [`Error::InvalidParameter`](senv_base::Error::InvalidParameter) if the maximum line length is 0.
    pub fn open<P: AsRef<Path>>(paths: &[P], options: &TextOptions) -> Result<Self> {
        let paths: Vec<PathBuf> = paths.iter().map(|path| path.as_ref().to_owned()).collect();
        Ok(Self::new(BlockReader::open(&paths, BLOCK, true, options)?, options.clone()))
    }

    /// Reads from any input; `name` is its name in errors and in [`Line::path`].
    ///
    /// # Errors
    /// [`Error::Io`](senv_base::Error::Io) if its first bytes cannot be read;
    /// [`Error::InvalidParameter`](senv_base::Error::InvalidParameter) if the maximum line length is 0.
    pub fn from_reader(
        name: impl Into<PathBuf>,
        reader: impl Read + Send + 'static,
        options: &TextOptions,
    ) -> Result<Self> {
        Ok(Self::new(BlockReader::from_reader(name.into(), reader, BLOCK, true, options)?, options.clone()))
    }

    /// Reads the lines of an open file with known compression.
    pub(super) fn from_source(path: PathBuf, source: Source, options: &TextOptions) -> Result<Self> {
        Ok(Self::new(BlockReader::from_source(path, source, BLOCK, true, options)?, options.clone()))
    }

    pub(super) fn new(blocks: BlockReader, options: TextOptions) -> Self {
        Self {
            blocks,
            block: TextBlock::default(),
            position: 0,
            place: 0,
            number: 0,
            options,
            mended: String::new(),
            n_replaced: 0,
            n_records: 0,
            last_block: None,
            pieces: None,
            n_pieces: 0,
        }
    }

    /// Returns the next line, or `None` at the end of the last file.
    ///
    /// # Errors
    /// [`Error::Io`](senv_base::Error::Io) if a file cannot be read, or its compressed data are truncated or damaged;
    /// [`Error::NotText`](senv_base::Error::NotText) for a file of a different format;
    /// [`Error::LineTooLong`](senv_base::Error::LineTooLong); [`Error::InvalidUtf8`](senv_base::Error::InvalidUtf8).
    pub fn next_line(&mut self) -> Result<Option<Line<'_>>> {
        if !self.advance()? {
            return Ok(None);
        }
        self.last_block = Some(self.present_block());
        self.n_records += 1;
        self.number = self.block.number(self.place);
        let record = self.block.record(self.place);
        self.place += 1;
        let path = self.blocks.path(self.block.file);
        let (line, end) = cut_line(self.block.bytes(), self.position);
        self.position = end;
        let checked = check_line(line, path, self.number, self.options.max_line_bytes, self.options.invalid_utf8);
        let columns = self.options.table.as_ref().map(|table| &table.columns[..]);
        let text = match checked.map_err(|error| numbered(&self.pieces, in_cell(error, line, columns)))? {
            Cow::Borrowed(text) => text,
            Cow::Owned(mended) => {
                self.n_replaced += 1;
                self.mended = mended;
                &self.mended
            }
        };
        Ok(Some(Line { text, path, number: self.number, record }))
    }

    /// The number of bytes read so far from the files, as stored on disk. Includes bytes read ahead of the lines.
    #[must_use]
    pub fn bytes_read(&self) -> u64 {
        self.blocks.consumed()
    }

    /// The number of lines so far in which invalid bytes were replaced.
    #[must_use]
    pub fn n_replaced(&self) -> u64 {
        self.n_replaced + self.blocks.n_replaced()
    }
}
