//! Reads the lines of a shard.

use std::{io::Read, path::Path};

use super::{
    BLOCK_BYTES, BLOCK_RECORDS, LineNumbers, Shard,
    pieces::{CHUNK, Piece, Pieces, count_blocks, count_lines, numbered, open_stretch},
};
use crate::{BlockReader, TextBlock, TextOptions, TextReader};
use senv_base::{Error, Result};

impl TextReader {
    /// Opens a shard of files: the lines of its blocks ([`Shard`]). To count the blocks, compressed files, tables and
    /// text that is split into sentences are read completely once. For plain text the file size is enough, and reading
    /// starts at the shard. Parquet files store the number of rows.
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
    /// The errors of [`TextReader::open`]; [`Error::BadFile`] for standard input and pipes, which can be read only
    /// once; for files that are read completely, the errors of [`TextReader::next_line`].
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

    /// Whether the next line, if any, starts a block ([`Shard`]). If the result of a batch depends on the lines in it,
    /// start a new batch here. Then a shard gives the same results as the whole input.
    ///
    /// # Errors
    /// The errors of [`TextReader::next_line`].
    pub fn begins_block(&mut self) -> Result<bool> {
        Ok(self.advance()? && self.last_block != Some(self.present_block()))
    }

    /// The file and block of the next line.
    pub(crate) fn present_block(&self) -> (usize, u64) {
        let block = match self.block.offset(self.position) {
            Some(offset) => offset / BLOCK_BYTES,
            None => self.n_records / BLOCK_RECORDS,
        };
        (self.n_pieces + self.block.file, block)
    }

    /// Moves to the next line of the shard; false after the last.
    pub(crate) fn advance(&mut self) -> Result<bool> {
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

    /// Opens the next file of a shard; false after the last, and for a reader of whole files.
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
