//! Reads the lines of a text, and searches them or a collection, both in steps of the caller's size.

use std::io::Cursor;

use senv_core::{
    Error, Result, Scratch, SentenceEncoder, StaticEncoder, TextOptions, TextReader, files::WebQuery, kernels,
    text::InvalidUtf8,
};
use serde::Serialize;

use crate::{collection::Sentences, shares::beginning};

/// The number of lines whose vectors are stored together: 4 MiB at 256 dimensions. Blocks are never moved, so a growing
/// text is not copied.
const BLOCK: usize = 4096;
/// The maximum number of bytes of a line in a hit.
const MOST_BYTES: usize = 600;
/// A vector with a smaller norm counts as zero, as in [`kernels::cosine`].
const TINY: f32 = 1e-12;

/// The progress of reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Reading {
    /// The number of lines so far, without blank lines.
    pub lines: usize,
    /// Whether the end of the text is reached.
    pub done: bool,
}

/// The progress of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Searching {
    /// The number of lines compared.
    pub compared: usize,
    /// Whether these are all lines read so far.
    pub done: bool,
}

/// A line that was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Hit {
    /// The number in the text, counted from 1 and including blank lines; 0 for a sentence of a collection whose line is
    /// unknown.
    pub line: u64,
    /// The id of a sentence of a collection, a text or the digits of a number; for equal sentences, that of the first.
    pub id: Option<String>,
    /// The number of equal sentences in a collection, including this one; 1 for a line of a text.
    pub count: u32,
    /// The cosine with the query.
    pub cosine: f32,
    /// The line; a very long one is truncated.
    pub text: String,
}

/// The text or collection that is searched.
#[derive(Debug)]
pub(crate) enum Source {
    /// A text.
    Lines(Box<Lines>),
    /// A collection.
    Sentences(Box<Sentences>),
}

impl Source {
    fn len(&self) -> usize {
        match self {
            Self::Lines(lines) => lines.rows.len(),
            Self::Sentences(sentences) => sentences.len(),
        }
    }
}

/// Lines with their vectors.
pub(crate) struct Lines {
    dim: usize,
    /// `None` once the text has ended.
    reader: Option<TextReader>,
    text: String,
    /// The end of each line in `text`, its number in the file, and 1 / the norm of its vector, or 0 for a zero vector.
    rows: Vec<(usize, u64, f32)>,
    blocks: Vec<Vec<f32>>,
}

impl std::fmt::Debug for Lines {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lines").field("lines", &self.rows.len()).finish_non_exhaustive()
    }
}

impl Lines {
    /// An empty text.
    pub(crate) fn empty(dim: usize) -> Self {
        Self { dim, reader: None, text: String::new(), rows: Vec::new(), blocks: Vec::new() }
    }

    /// Opens the text of a file; nothing is read yet.
    pub(crate) fn open(bytes: Vec<u8>, dim: usize) -> Result<Self> {
        // The bytes are in memory, so a line may have any length.
        let options = TextOptions {
            invalid_utf8: InvalidUtf8::Replace,
            max_line_bytes: bytes.len().max(1),
            ..TextOptions::default()
        };
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

    pub(crate) fn blocks(&self) -> &[Vec<f32>] {
        &self.blocks
    }

    fn vector(&self, row: usize) -> &[f32] {
        &self.blocks[row / BLOCK][row % BLOCK * self.dim..][..self.dim]
    }

    /// The cosine of a row with a vector of norm 1; `None` if it has no direction.
    #[inline]
    fn cosine(&self, row: usize, unit: &[f32]) -> Option<f32> {
        let inverse = self.rows[row].2;
        (inverse != 0.0).then(|| (kernels::dot(self.vector(row), unit) * inverse).clamp(-1.0, 1.0))
    }

    fn line(&self, row: usize) -> &str {
        let start = if row == 0 { 0 } else { self.rows[row - 1].0 };
        &self.text[start..self.rows[row].0]
    }
}

/// A query and the nearest lines so far.
#[derive(Debug)]
pub(crate) struct Query {
    /// The vector of the query, with norm 1 or zero.
    unit: Vec<f32>,
    /// The same, rounded for a collection.
    rounded: WebQuery,
    k: usize,
    /// The number of rows compared.
    compared: usize,
    /// Row and cosine, nearest first.
    best: Vec<(usize, f32)>,
}

impl Query {
    /// A query without near lines.
    pub(crate) fn empty(dim: usize) -> Self {
        Self::new(vec![0.0; dim], 0)
    }

    pub(crate) fn new(mut vector: Vec<f32>, k: usize) -> Self {
        if kernels::l2_normalize(&mut vector) < TINY {
            vector.fill(0.0);
        }
        let rounded = WebQuery::new(&vector, vector.len());
        Self { unit: vector, rounded, k, compared: 0, best: Vec::new() }
    }

    /// See [`crate::Session::search`].
    pub(crate) fn search(&mut self, source: &Source, at_most: usize) -> Searching {
        let n = source.len();
        let rows = self.compared..self.compared.saturating_add(at_most).min(n);
        self.compared = rows.end;
        if self.k > 0 && self.rounded.has_direction() {
            // The kind of the source is checked once, not for each row.
            match source {
                Source::Lines(lines) => rows.for_each(|row| {
                    let cosine = lines.cosine(row, &self.unit);
                    self.take(row, cosine);
                }),
                Source::Sentences(sentences) => rows.for_each(|row| {
                    let cosine = sentences.cosine(row, &self.rounded);
                    self.take(row, cosine);
                }),
            }
        }
        Searching { compared: self.compared, done: self.compared == n }
    }

    /// Keeps a row if it is among the nearest so far. Rows ascend, so among equals the earlier one comes first.
    #[inline]
    fn take(&mut self, row: usize, cosine: Option<f32>) {
        let Some(cosine) = cosine else { return };
        if self.best.len() < self.k || self.best.last().is_some_and(|last| cosine > last.1) {
            let place = self.best.partition_point(|better| better.1 >= cosine);
            self.best.truncate(self.k - 1);
            self.best.insert(place, (row, cosine));
        }
    }

    pub(crate) fn hits(&self, source: &Source) -> Vec<Hit> {
        let hit = |&(row, cosine): &(usize, f32)| match source {
            Source::Lines(lines) => {
                let text = beginning(lines.line(row), MOST_BYTES);
                Hit { line: lines.rows[row].1, id: None, count: 1, cosine, text }
            }
            Source::Sentences(sentences) => {
                let file = sentences.file();
                let text = beginning(&file.text(row), MOST_BYTES);
                Hit { line: file.line(row).into(), id: Some(file.id(row)), count: file.count(row), cosine, text }
            }
        };
        self.best.iter().map(hit).collect()
    }
}
