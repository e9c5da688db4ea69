//! A collection of sentences in one file, small enough for a browser: the file that the web page of senv searches.
//!
//! Row i is an int8 vector `q_i` and the factor `1 / |q_i|`. A query of norm 1 is rounded to 16 bits, `u ≈ s p`, so
//! that
//!
//! ```text
//! cos(u, q_i) ≈ s (p · q_i) / |q_i|
//! ```
//!
//! needs integers alone, whose sum is the same on every processor. The layout is in `docs/format.md`.
//!
//! [`WebCollection`] reads it from bytes in memory, which it keeps and never copies; `WebCollectionWriter` writes it.
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::{ModelFile, files::RawTensor};
use senv_base::{Error, Result, SharedBytes};

/// Dimension at most: with more, the query is rounded to fewer than twelve bits.
pub(crate) const MOST_DIM: usize = 8192;
/// Names of the tensors with a number for each row, and their types.
pub(crate) const ROWS: &str = "rows";
pub(crate) const FACTORS: &str = "factors";
pub(crate) const TEXT: &str = "text";
pub(crate) const ENDS: &str = "ends";
pub(crate) const IDS: &str = "ids";
pub(crate) const LINES: &str = "lines";
pub(crate) const COUNTS: &str = "counts";

/// What the header says beside names and shapes.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Config {
    /// The digest of the model that made the vectors.
    pub(crate) model: String,
    /// Sentences, equal ones counted each.
    pub(crate) sentences: u64,
}

/// Sentences with their vectors in one file in memory: distinct texts, each with its number, id and line.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("my.web");
/// use senv_core::files::{WebCollection, WebCollectionWriter, WebQuery, WebSentence};
/// let mut writer = WebCollectionWriter::new(2, "digest of the model")?;
/// writer.push(&WebSentence { text: "east", vector: &[1.0, 0.0], id: 7, line: 1 })?;
/// writer.push(&WebSentence { text: "north", vector: &[0.0, 2.0], id: 8, line: 2 })?;
/// writer.push(&WebSentence { text: "east", vector: &[1.0, 0.0], id: 9, line: 3 })?;
/// writer.save(&path)?;
///
/// let mut file = WebCollection::from_bytes("my.web", std::fs::read(&path)?)?;
/// while !file.check(1 << 20)? {}
/// let query = WebQuery::new(&[0.1, 5.0], file.dim());
/// assert_eq!((file.len(), file.sentences(), file.text(1).as_str()), (2, 3, "north"));
/// assert!(file.cosine(1, &query) > 0.99 && file.cosine(0, &query) < 0.1);
/// assert_eq!((file.id(0), file.line(0), file.count(0)), (7, 1, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct WebCollection {
    config: Config,
    dim: usize,
    len: usize,
    rows: SharedBytes,
    factors: SharedBytes,
    text: SharedBytes,
    ends: SharedBytes,
    ids: SharedBytes,
    lines: SharedBytes,
    counts: SharedBytes,
    unchecked: Unchecked,
    file: ModelFile,
}

/// The tensors that are not compared with their checksums yet, the next one last, and how far that one is.
#[derive(Debug)]
struct Unchecked {
    tensors: Vec<(&'static str, SharedBytes)>,
    done: usize,
    hasher: crc32fast::Hasher,
}

impl WebCollection {
    /// The kind of the file.
    pub const KIND: &'static str = "web-collection";

    /// Takes the bytes of a file; `name` stands for it in errors. The header is checked; [`WebCollection::check`]
    /// compares the rest with its checksums.
    ///
    /// # Errors
    /// As [`ModelFile::open`]; [`Error::WrongKind`] for a file of another kind; [`Error::BadFile`],
    /// [`Error::MissingTensor`] or [`Error::WrongTensor`] for one without the layout.
    pub fn from_bytes(name: &str, bytes: Vec<u8>) -> Result<Self> {
        let file = ModelFile::from_shared(Path::new(name), bytes.into())?;
        file.expect_kind(Self::KIND)?;
        let bad = |reason: String| Error::BadFile { path: file.path().to_owned(), reason };
        let config: Config = serde_json::from_str(file.config().unwrap_or_default())
            .map_err(|error| bad(format!("the configuration of the collection is damaged: {error}")))?;
        let rows = file.raw(ROWS)?;
        let [len, dim] = rows.shape[..] else {
            return Err(bad(format!("the rows have {} axes, expected 2", rows.shape.len())));
        };
        if rows.dtype != "I8" || dim == 0 || dim > MOST_DIM {
            return Err(bad(format!("the rows are {} of {dim} values, expected I8 of 1 to {MOST_DIM}", rows.dtype)));
        }
        let tensor = |name: &'static str, dtype: &str| -> Result<SharedBytes> {
            let RawTensor { dtype: found, shape, bytes } = file.raw(name)?;
            if found != dtype || (name != TEXT && shape != [len]) {
                let (path, name) = (file.path().to_owned(), name.to_owned());
                let (found, expected) = (format!("{found} {shape:?}"), format!("{dtype} [{len}]"));
                return Err(Error::WrongTensor { path, name, found, expected });
            }
            Ok(bytes)
        };
        let (factors, text, ends) = (tensor(FACTORS, "F32")?, tensor(TEXT, "U8")?, tensor(ENDS, "U32")?);
        let (ids, lines, counts) = (tensor(IDS, "U64")?, tensor(LINES, "U32")?, tensor(COUNTS, "U32")?);
        if !file.has_checksums() {
            return Err(bad("it has no checksums; export the collection again".into()));
        }
        let parts = [&rows.bytes, &factors, &text, &ends, &ids, &lines, &counts];
        let names = [ROWS, FACTORS, TEXT, ENDS, IDS, LINES, COUNTS];
        let tensors = names.into_iter().zip(parts.map(SharedBytes::clone)).collect();
        let unchecked = Unchecked { tensors, done: 0, hasher: crc32fast::Hasher::new() };
        Ok(Self { config, dim, len, rows: rows.bytes, factors, text, ends, ids, lines, counts, unchecked, file })
    }

    /// Compares at most so many further bytes with their checksums; whether all are compared.
    ///
    /// # Errors
    /// [`Error::Checksum`] for a tensor that does not fit: nothing of the file is to be believed.
    pub fn check(&mut self, at_most: usize) -> Result<bool> {
        let Unchecked { tensors, done, hasher } = &mut self.unchecked;
        let mut left = at_most.max(1);
        while let Some((name, bytes)) = tensors.last().filter(|_| left > 0) {
            let end = done.saturating_add(left).min(bytes.len());
            hasher.update(&bytes[*done..end]);
            left -= end - *done;
            *done = end;
            if end == bytes.len() {
                let found = std::mem::take(hasher).finalize();
                self.file.check_sum(name, found)?;
                tensors.pop();
                *done = 0;
            }
        }
        Ok(tensors.is_empty())
    }

    /// Number of distinct sentences, which are the rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of sentences, equal ones counted each.
    #[must_use]
    pub fn sentences(&self) -> u64 {
        self.config.sentences
    }

    /// Values of a vector.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// The digest of the model that made the vectors.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.config.model
    }

    /// The cosine of a row with a query, in `[-1, 1]`, off by some .001 of rounding; 0 for a vector without a
    /// direction.
    ///
    /// # Panics
    /// If there is no such row.
    #[must_use]
    #[inline]
    pub fn cosine(&self, row: usize, query: &WebQuery) -> f32 {
        let stored = &self.rows[row * self.dim..(row + 1) * self.dim];
        let sum: i32 = stored.iter().zip(&query.values).map(|(&q, &p)| i32::from(q as i8) * i32::from(p)).sum();
        let factor = f32::from_le_bytes(number(&self.factors, row));
        let cosine = sum as f32 * query.scale * factor;
        // A factor of a file that somebody made by hand may be anything.
        if cosine.is_finite() { cosine.clamp(-1.0, 1.0) } else { 0.0 }
    }

    /// Whether a row has a direction: one without is never found.
    ///
    /// # Panics
    /// If there is no such row.
    #[must_use]
    pub fn has_direction(&self, row: usize) -> bool {
        f32::from_le_bytes(number(&self.factors, row)) > 0.0
    }

    /// The sentence of a row; what is not UTF-8 becomes U+FFFD, and what lies outside of the text is empty.
    ///
    /// # Panics
    /// If there is no such row.
    #[must_use]
    pub fn text(&self, row: usize) -> String {
        let end = |row: usize| u32::from_le_bytes(number(&self.ends, row)) as usize;
        let start = if row == 0 { 0 } else { end(row - 1) };
        String::from_utf8_lossy(self.text.get(start..end(row)).unwrap_or_default()).into_owned()
    }

    /// The id of the first of the sentences that are equal to a row.
    ///
    /// # Panics
    /// If there is no such row.
    #[must_use]
    pub fn id(&self, row: usize) -> u64 {
        u64::from_le_bytes(number(&self.ids, row))
    }

    /// The line of that sentence in its file, from 1; 0 where it is not known.
    ///
    /// # Panics
    /// If there is no such row.
    #[must_use]
    pub fn line(&self, row: usize) -> u32 {
        u32::from_le_bytes(number(&self.lines, row))
    }

    /// How many sentences are equal to a row, at least 1.
    ///
    /// # Panics
    /// If there is no such row.
    #[must_use]
    pub fn count(&self, row: usize) -> u32 {
        u32::from_le_bytes(number(&self.counts, row))
    }
}

/// The little-endian bytes of number `i`.
#[inline]
fn number<const N: usize>(bytes: &[u8], i: usize) -> [u8; N] {
    bytes.as_chunks::<N>().0[i]
}

/// A query for a [`WebCollection`]: a unit vector rounded to at most 16 bits a value.
#[derive(Debug, Clone, PartialEq)]
pub struct WebQuery {
    values: Vec<i16>,
    scale: f32,
}

impl WebQuery {
    /// Rounds the direction of a vector of `dim` values; zero for a vector that has none, or of another dimension.
    #[must_use]
    pub fn new(vector: &[f32], dim: usize) -> Self {
        let norm = vector.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>().sqrt();
        let most = vector.iter().fold(0.0_f64, |most, &x| most.max(f64::from(x).abs()));
        if vector.len() != dim || !norm.is_finite() || norm < 1e-12 {
            return Self { values: vec![0; dim], scale: 0.0 };
        }
        // No sum of products with int8 values, -128 among them, overflows 32 bits.
        let limit = (f64::from(i32::MAX) / (128.0 * dim as f64)).floor().clamp(1.0, f64::from(i16::MAX));
        let values = vector.iter().map(|&x| (f64::from(x) / most * limit).round() as i16).collect();
        Self { values, scale: (most / limit / norm) as f32 }
    }

    /// Whether it has a direction.
    #[must_use]
    pub fn has_direction(&self) -> bool {
        self.scale > 0.0
    }
}
