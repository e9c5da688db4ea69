//! The lines of a text and the search among them, both in steps of the caller's size.

use std::io::Cursor;

use senv_core::{
    Error, Result, Scratch, SentenceEncoder, StaticEncoder, TextOptions, TextReader, kernels, text::InvalidUtf8,
};
use serde::Serialize;

use crate::shares::beginning;

/// Lines whose vectors lie together: 4 MiB of 256 dimensions. Blocks are never moved, so a growing text is not copied.
const BLOCK: usize = 4096;
/// Bytes of a line that a hit shows.
const MOST_BYTES: usize = 600;
/// Below this norm a vector counts as zero, as for [`kernels::cosine`].
const TINY: f32 = 1e-12;

/// How far a text is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Reading {
    /// Lines so far, blank ones left out.
    pub lines: usize,
    /// Whether the text has ended.
    pub done: bool,
}

/// How far a search has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Searching {
    /// Lines that were compared.
    pub compared: usize,
    /// Whether these are all that were read.
    pub done: bool,
}

/// A line that was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Hit {
    /// Its number in the text, from 1, blank lines counted.
    pub line: u64,
    /// Its cosine with the query.
    pub cosine: f32,
    /// The line; the end of a very long one is left out.
    pub text: String,
}

/// Lines with their vectors.
pub(crate) struct Lines {
    dim: usize,
    /// Nothing once the text has ended.
    reader: Option<TextReader>,
    text: String,
    /// Where each line ends in `text`, its number in the file, and 1 / the norm of its vector, or 0 where that is zero.
    rows: Vec<(usize, u64, f32)>,
    blocks: Vec<Vec<f32>>,
}

impl std::fmt::Debug for Lines {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lines").field("lines", &self.rows.len()).finish_non_exhaustive()
    }
}

impl Lines {
    /// No text.
    pub(crate) fn empty(dim: usize) -> Self {
        Self { dim, reader: None, text: String::new(), rows: Vec::new(), blocks: Vec::new() }
    }

    /// The text of a file, of which nothing is read yet.
    pub(crate) fn open(bytes: Vec<u8>, dim: usize) -> Result<Self> {
        // The bytes are in memory, so a line may be as long as they are.
        let options = TextOptions { invalid_utf8: InvalidUtf8::Replace, max_line_bytes: bytes.len().max(1) };
        let reader = TextReader::from_reader("the text", Cursor::new(bytes), &options)?;
        Ok(Self { reader: Some(reader), ..Self::empty(dim) })
    }

    /// See [`crate::Session::read_lines`].
    pub(crate) fn read(&mut self, encoder: &StaticEncoder, scratch: &mut Scratch, at_most: usize) -> Result<Reading> {
        let Some(mut reader) = self.reader.take() else {
            return Ok(Reading { lines: self.rows.len(), done: true });
        };
        for _ in 0..at_most {
            let Some(line) = reader.next_line()? else {
                return Ok(Reading { lines: self.rows.len(), done: true });
            };
            if line.is_blank() {
                continue;
            }
            self.add(encoder, scratch, line.text, line.number)?;
        }
        self.reader = Some(reader);
        Ok(Reading { lines: self.rows.len(), done: false })
    }

    fn add(&mut self, encoder: &StaticEncoder, scratch: &mut Scratch, line: &str, number: u64) -> Result<()> {
        let (rows, dim) = (self.rows.len() + 1, self.dim);
        let too_large = |_| Error::TooLarge { rows, dim };
        if self.rows.len() == BLOCK * self.blocks.len() {
            let mut block = Vec::new();
            block.try_reserve_exact(BLOCK * dim).map_err(too_large)?;
            self.blocks.push(block);
        }
        self.text.try_reserve(line.len()).and_then(|()| self.rows.try_reserve(1)).map_err(too_large)?;
        let Some(block) = self.blocks.last_mut() else {
            return Ok(());
        };
        let start = block.len();
        block.resize(start + dim, 0.0);
        let vector = &mut block[start..];
        encoder.encode_into(line, scratch, vector);
        let norm = kernels::norm(vector);
        self.text.push_str(line);
        self.rows.push((self.text.len(), number, if norm >= TINY { 1.0 / norm } else { 0.0 }));
        Ok(())
    }

    pub(crate) fn vectors(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        self.blocks.iter().map(Vec::as_slice)
    }

    fn vector(&self, row: usize) -> &[f32] {
        &self.blocks[row / BLOCK][row % BLOCK * self.dim..][..self.dim]
    }

    fn line(&self, row: usize) -> &str {
        let start = if row == 0 { 0 } else { self.rows[row - 1].0 };
        &self.text[start..self.rows[row].0]
    }
}

/// A query and the nearest lines so far.
#[derive(Debug)]
pub(crate) struct Query {
    /// Of norm 1, or zero.
    unit: Vec<f32>,
    k: usize,
    /// Rows compared.
    compared: usize,
    /// Row and cosine, the nearest first.
    best: Vec<(usize, f32)>,
}

impl Query {
    /// A query that nothing is near.
    pub(crate) fn empty(dim: usize) -> Self {
        Self::new(vec![0.0; dim], 0)
    }

    pub(crate) fn new(mut vector: Vec<f32>, k: usize) -> Self {
        if kernels::l2_normalize(&mut vector) < TINY {
            vector.fill(0.0);
        }
        Self { unit: vector, k, compared: 0, best: Vec::new() }
    }

    /// See [`crate::Session::search`].
    pub(crate) fn search(&mut self, lines: &Lines, at_most: usize) -> Searching {
        let n = lines.rows.len();
        let end = self.compared.saturating_add(at_most).min(n);
        let has_direction = self.unit.iter().any(|&x| x != 0.0);
        for row in self.compared..end {
            let inverse = lines.rows[row].2;
            if inverse == 0.0 || self.k == 0 || !has_direction {
                continue;
            }
            let cosine = (kernels::dot(lines.vector(row), &self.unit) * inverse).clamp(-1.0, 1.0);
            // Rows ascend: among equals the earlier one stays in front.
            if self.best.len() < self.k || self.best.last().is_some_and(|last| cosine > last.1) {
                let place = self.best.partition_point(|better| better.1 >= cosine);
                self.best.truncate(self.k - 1);
                self.best.insert(place, (row, cosine));
            }
        }
        self.compared = end;
        Searching { compared: end, done: end == n }
    }

    pub(crate) fn hits(&self, lines: &Lines) -> Vec<Hit> {
        let hit = |&(row, cosine): &(usize, f32)| Hit {
            line: lines.rows[row].1,
            cosine,
            text: beginning(lines.line(row), MOST_BYTES),
        };
        self.best.iter().map(hit).collect()
    }
}
