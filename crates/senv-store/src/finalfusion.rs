//! finalfusion (`.fifu`): a vocabulary, a matrix of unit rows (full or quantized), and the original norms of the rows.
//!
//! ```text
//! "FiFu", u32 0, u32 chunks, u32 ids; then each chunk: u32 id, u64 bytes, body        all of it little-endian
//! ```
//!
//! Rows of subwords, which follow those of words, are left out: unknown words have no vector.

use crate::{
    Embeddings, Error, Format, LoadReport, ReadOptions, Result,
    byte_window::ByteWindow,
    collect::{Collector, limit},
    error::Position,
};

const MAGIC: &[u8] = b"FiFu";
/// Bytes read at a time.
const BLOCK: usize = 1 << 20;
/// The maximum number of chunks in a file.
const MAX_CHUNKS: u32 = 16;

/// The chunks that are read.
mod id {
    pub(super) const SIMPLE_VOCABULARY: u32 = 1;
    pub(super) const DENSE_ARRAY: u32 = 2;
    pub(super) const BUCKET_SUBWORDS: u32 = 3;
    pub(super) const QUANTIZED_ARRAY: u32 = 4;
    pub(super) const METADATA: u32 = 5;
    pub(super) const NORMS: u32 = 6;
    pub(super) const FASTTEXT_SUBWORDS: u32 = 7;
    pub(super) const EXPLICIT_N_GRAMS: u32 = 8;
}

/// The type id of f32 values.
const F32: u32 = 10;
const U8: u32 = 1;

/// Rows before they are scaled by their norms.
struct Rows {
    dim: usize,
    values: Vec<f32>,
}

/// Reads the rest of the input.
pub(crate) fn read(input: ByteWindow, options: &ReadOptions) -> Result<(Embeddings, LoadReport)> {
    let mut file = File { input, options, end: u64::MAX };
    let head = file.bytes(12)?;
    let number = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    if !head.starts_with(MAGIC) || number(4) != 0 {
        return Err(file.unknown("this is not a finalfusion file of version 0"));
    }
    let n_chunks = number(8);
    if n_chunks > MAX_CHUNKS {
        return Err(file.unknown("a finalfusion file of more than 16 chunks"));
    }
    file.skip(4 * u64::from(n_chunks))?;
    let mut words: Option<Vec<Vec<u8>>> = None;
    let (mut rows, mut norms): (Option<Rows>, Option<Vec<f32>>) = (None, None);
    for _ in 0..n_chunks {
        file.end = u64::MAX;
        let (chunk, len) = (file.u32()?, file.u64()?);
        file.end = file.input.position().saturating_add(len);
        if file.input.left().is_some_and(|left| len > left) {
            return Err(file.input.truncated("a chunk"));
        }
        match chunk {
            id::METADATA => {}
            id::SIMPLE_VOCABULARY | id::BUCKET_SUBWORDS | id::FASTTEXT_SUBWORDS | id::EXPLICIT_N_GRAMS => {
                words = Some(file.words(chunk)?);
            }
            id::DENSE_ARRAY => rows = Some(file.dense(words.as_deref())?),
            id::QUANTIZED_ARRAY => rows = Some(file.quantized(words.as_deref())?),
            id::NORMS => norms = Some(file.norms(words.as_deref())?),
            _ => {
                return Err(
                    file.unknown("a finalfusion file with an unsupported vocabulary or matrix (such as floret's)")
                );
            }
        }
        // The rest of the chunk: rows of subwords.
        let left = file.end.saturating_sub(file.input.position());
        file.end = u64::MAX;
        file.skip(left)?;
    }
    let (Some(words), Some(rows)) = (words, rows) else {
        return Err(file.unknown("a finalfusion file without a vocabulary or without a matrix"));
    };
    if !file.input.window(1)?.is_empty() {
        return Err(Error::TrailingBytes { path: file.input.path().to_owned(), end: file.input.position() });
    }
    let (path, dim) = (file.input.path().to_owned(), rows.dim);
    let mut collected = Collector::new(path, options, dim, words.len() as u64, LoadReport::new(Format::Finalfusion))?;
    let mut scaled = vec![0.0; dim];
    for (i, (word, row)) in words.iter().zip(rows.values.chunks_exact(dim)).enumerate() {
        let norm = norms.as_ref().map_or(1.0, |norms| norms[i]);
        scaled.iter_mut().zip(row).for_each(|(scaled, x)| *scaled = x * norm);
        collected.push(word, &scaled, Position::Byte(file.input.position()))?;
    }
    collected.finish()
}

struct File<'a> {
    input: ByteWindow,
    options: &'a ReadOptions,
    /// The end of the current chunk.
    end: u64,
}

impl File<'_> {
    fn unknown(&self, found: &'static str) -> Error {
        Error::UnknownFormat { path: self.input.path().to_owned(), found }
    }

    /// The next bytes, which must be in the chunk.
    fn bytes(&mut self, n: usize) -> Result<Vec<u8>> {
        let is_within = self.input.position().saturating_add(n as u64) <= self.end;
        if self.input.buffered().len() < n && is_within {
            self.input.window(n.max(BLOCK))?;
        }
        match self.input.buffered().get(..n).filter(|_| is_within) {
            Some(bytes) => {
                let bytes = bytes.to_vec();
                self.input.consume(n);
                Ok(bytes)
            }
            None => Err(self.input.truncated("a chunk")),
        }
    }

    fn skip(&mut self, mut n: u64) -> Result<()> {
        while n > 0 {
            let step = usize::try_from(n).unwrap_or(usize::MAX).min(BLOCK);
            let there = self.input.window(step)?.len().min(step);
            if there == 0 {
                return Err(self.input.truncated("a chunk"));
            }
            self.input.consume(there);
            n -= there as u64;
        }
        Ok(())
    }

    fn u32(&mut self) -> Result<u32> {
        let bytes = self.bytes(4)?;
        Ok(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    fn u64(&mut self) -> Result<u64> {
        Ok(u64::from(self.u32()?) | u64::from(self.u32()?) << 32)
    }

    /// Skips the zeros up to a multiple of four, or four zeros if the position is one.
    fn padding(&mut self) -> Result<()> {
        let n = 4 - self.input.position() % 4;
        self.bytes(n as usize).map(|_| ())
    }

    /// Returns an error if the chunk has too few bytes for these rows.
    fn check(&self, rows: u64, dim: u64, row_bytes: u64) -> Result<()> {
        let path = || self.input.path().to_owned();
        if dim == 0 {
            return Err(Error::ZeroDim { path: path() });
        }
        limit(&path(), "the dimension", dim, self.options.max_dim as u64)?;
        limit(&path(), "the number of rows", rows, self.options.max_rows)?;
        let (needed, left) = (u128::from(rows) * u128::from(row_bytes), self.end.saturating_sub(self.input.position()));
        if needed > u128::from(left) {
            return Err(Error::DeclaredTooMuch { path: path(), rows, dim, needed, left });
        }
        Ok(())
    }

    fn words(&mut self, chunk: u32) -> Result<Vec<Vec<u8>>> {
        let n = self.u64()?;
        self.check(n, 1, 4)?;
        // How words are split into subwords.
        self.skip(match chunk {
            id::SIMPLE_VOCABULARY => 0,
            id::EXPLICIT_N_GRAMS => 8 + 8,
            _ => 12,
        })?;
        let mut words = Vec::new();
        for _ in 0..n {
            let len = self.u32()? as usize;
            if len > self.options.max_word_bytes {
                let (path, at) = (self.input.path().to_owned(), Position::Byte(self.input.position()));
                return Err(Error::TooLong { path, at, what: "the word", limit: self.options.max_word_bytes });
            }
            words.push(self.bytes(len)?);
        }
        Ok(words)
    }

    /// Reads values, block by block.
    fn f32s(&mut self, n: usize) -> Result<Vec<f32>> {
        let mut values = Vec::new();
        while values.len() < n {
            let some = (n - values.len()).min(BLOCK / 4);
            let bytes = self.bytes(4 * some)?;
            values.extend(bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)));
        }
        Ok(values)
    }

    /// The number of word rows; a matrix has at least this many.
    fn n_words(&self, words: Option<&[Vec<u8>]>, rows: u64) -> Result<usize> {
        match words {
            Some(words) if words.len() as u64 <= rows => Ok(words.len()),
            _ => Err(self.unknown("a finalfusion file with fewer rows than words, or words after the rows")),
        }
    }

    fn dense(&mut self, words: Option<&[Vec<u8>]>) -> Result<Rows> {
        let (rows, dim, kind) = (self.u64()?, self.u32()?, self.u32()?);
        if kind != F32 {
            return Err(self.unknown("a finalfusion file whose values are not f32"));
        }
        self.padding()?;
        self.check(rows, dim.into(), 4 * u64::from(dim))?;
        let n = self.n_words(words, rows)?;
        Ok(Rows { dim: dim as usize, values: self.f32s(n * dim as usize)? })
    }

    /// Reads rows whose parts are each one of some centroids.
    fn quantized(&mut self, words: Option<&[Vec<u8>]>) -> Result<Rows> {
        let (has_projection, has_norms) = (self.u32()? != 0, self.u32()? != 0);
        let [n_parts, dim, n_centroids] = [self.u32()?, self.u32()?, self.u32()?];
        let (rows, code, kind) = (self.u64()?, self.u32()?, self.u32()?);
        if code != U8
            || kind != F32
            || n_parts == 0
            || dim == 0
            || dim % n_parts != 0
            || !(1..=256).contains(&n_centroids)
        {
            return Err(self.unknown("a finalfusion file with an unsupported quantized matrix"));
        }
        self.padding()?;
        let head =
            u64::from(dim) * if has_projection { u64::from(dim) + u64::from(n_centroids) } else { n_centroids.into() };
        self.check(head, dim.into(), 4)?;
        let (dim, n_parts, n_centroids) = (dim as usize, n_parts as usize, n_centroids as usize);
        let projection = if has_projection { Some(self.f32s(dim * dim)?) } else { None };
        let centroids = self.f32s(n_centroids * dim)?;
        self.check(rows, dim as u64, n_parts as u64 + if has_norms { 4 } else { 0 })?;
        let n = self.n_words(words, rows)?;
        let norms = if has_norms { Some(self.f32s(rows as usize)?) } else { None };
        let part = dim / n_parts;
        let (mut values, mut row) = (Vec::new(), vec![0.0_f32; dim]);
        for i in 0..n {
            let codes = self.bytes(n_parts)?;
            for (p, (&code, out)) in codes.iter().zip(row.chunks_exact_mut(part)).enumerate() {
                let code = usize::from(code);
                if code >= n_centroids {
                    return Err(self.unknown("a finalfusion file with a code without a centroid"));
                }
                out.copy_from_slice(&centroids[(p * n_centroids + code) * part..][..part]);
            }
            let norm = norms.as_ref().map_or(1.0, |norms| norms[i]);
            match &projection {
                None => values.extend(row.iter().map(|x| norm * x)),
                // The row times the transpose.
                Some(projection) => values.extend(
                    projection
                        .chunks_exact(dim)
                        .map(|column| norm * row.iter().zip(column).map(|(x, p)| x * p).sum::<f32>()),
                ),
            }
        }
        Ok(Rows { dim, values })
    }

    fn norms(&mut self, words: Option<&[Vec<u8>]>) -> Result<Vec<f32>> {
        let (n, kind) = (self.u64()?, self.u32()?);
        if kind != F32 {
            return Err(self.unknown("a finalfusion file whose lengths are not f32"));
        }
        self.padding()?;
        self.check(n, 1, 4)?;
        let n_words = self.n_words(words, n)?;
        self.f32s(n_words)
    }
}
