//! A collection of sentences in one file, small enough for a browser. The web page of senv searches this file.
//!
//! Row i is an int8 vector `q_i` and the factor `1 / |q_i|`. A query of norm 1 is rounded to 16 bits, `u ≈ s p`. Then
//!
//! ```text
//! cos(u, q_i) ≈ s (p · q_i) / |q_i|
//! ```
//!
//! uses only integers, whose sum is the same on every processor. The layout is in `docs/format.md`.
//!
//! [`WebCollection`] reads it from bytes in memory, without copying them; `WebCollectionWriter` writes it.
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::{ModelFile, files::RawTensor};
use senv_base::{Error, Result, SharedBytes};

/// The maximum dimension: above it, the query would be rounded to fewer than twelve bits.
pub(crate) const MOST_DIM: usize = 8192;
/// The names and types of the tensors with one number per row.
pub(crate) const ROWS: &str = "rows";
pub(crate) const FACTORS: &str = "factors";
pub(crate) const TEXT: &str = "text";
pub(crate) const ENDS: &str = "ends";
/// The ids that are numbers, one per row.
pub(crate) const IDS: &str = "ids";
/// The ids that are texts, and where each ends.
pub(crate) const ID_TEXT: &str = "ids.text";
pub(crate) const ID_ENDS: &str = "ids.ends";
pub(crate) const LINES: &str = "lines";
pub(crate) const COUNTS: &str = "counts";

/// The content of the header apart from names and shapes.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Config {
    /// The digest of the model that computed the vectors.
    pub(crate) model: String,
    /// The number of sentences, counting duplicates.
    pub(crate) sentences: u64,
}

/// Sentences and their vectors in one file in memory: distinct texts, each with a count, an id and a line number.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("my.web");
/// use senv_core::files::{WebCollection, WebCollectionWriter, WebQuery, WebSentence};
/// let mut writer = WebCollectionWriter::new(2, "digest of the model")?;
/// writer.push(&WebSentence { text: "east", vector: &[1.0, 0.0], id: "T-7".into(), line: 1 })?; // or 7.into()
/// writer.push(&WebSentence { text: "north", vector: &[0.0, 2.0], id: "T-8".into(), line: 2 })?;
/// writer.push(&WebSentence { text: "east", vector: &[1.0, 0.0], id: "T-9".into(), line: 3 })?;
/// writer.save(&path)?;
///
/// let mut file = WebCollection::from_bytes("my.web", std::fs::read(&path)?)?;
/// while !file.check(1 << 20)? {}
/// let query = WebQuery::new(&[0.1, 5.0], file.dim());
/// assert_eq!((file.len(), file.sentences(), file.text(1).as_str()), (2, 3, "north"));
/// assert!(file.cosine(1, &query) > 0.99 && file.cosine(0, &query) < 0.1);
/// assert_eq!((file.id(0).as_str(), file.line(0), file.count(0)), ("T-7", 1, 2));
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
    ids: WebIds,
    lines: SharedBytes,
    counts: SharedBytes,
    unchecked: Unchecked,
    file: ModelFile,
}

/// The ids of the rows, all of one kind.
#[derive(Debug)]
enum WebIds {
    Numbers(SharedBytes),
    Texts { text: SharedBytes, ends: SharedBytes },
}

/// The tensors that are not checked yet, the next one last, and the progress within it.
#[derive(Debug)]
struct Unchecked {
    tensors: Vec<(&'static str, SharedBytes)>,
    done: usize,
    hasher: crc32fast::Hasher,
}

impl WebCollection {
    /// The kind of the file.
    pub const KIND: &'static str = "web-collection";

    /// Opens the bytes of a file; errors call it `name`. Checks only the header; [`WebCollection::check`] compares the
    /// rest with its checksums.
    ///
    /// # Errors
    /// The errors of [`ModelFile::open`]; [`Error::WrongKind`] for a file of a different kind; [`Error::BadFile`],
    /// [`Error::MissingTensor`] or [`Error::WrongTensor`] if the layout is wrong.
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
            if found != dtype || (![TEXT, ID_TEXT].contains(&name) && shape != [len]) {
                let (path, name) = (file.path().to_owned(), name.to_owned());
                let (found, expected) = (format!("{found} {shape:?}"), format!("{dtype} [{len}]"));
                return Err(Error::WrongTensor { path, name, found, expected });
            }
            Ok(bytes)
        };
        let (factors, text, ends) = (tensor(FACTORS, "F32")?, tensor(TEXT, "U8")?, tensor(ENDS, "U32")?);
        let (lines, counts) = (tensor(LINES, "U32")?, tensor(COUNTS, "U32")?);
        let ids = match file.contains(ID_TEXT) {
            true => WebIds::Texts { text: tensor(ID_TEXT, "U8")?, ends: tensor(ID_ENDS, "U32")? },
            false => WebIds::Numbers(tensor(IDS, "U64")?),
        };
        if !file.has_checksums() {
            return Err(bad("it has no checksums; export the collection again".into()));
        }
        let mut parts = vec![(ROWS, &rows.bytes), (FACTORS, &factors), (TEXT, &text), (ENDS, &ends)];
        match &ids {
            WebIds::Numbers(ids) => parts.push((IDS, ids)),
            WebIds::Texts { text, ends } => parts.extend([(ID_TEXT, text), (ID_ENDS, ends)]),
        }
        parts.extend([(LINES, &lines), (COUNTS, &counts)]);
        let tensors = parts.into_iter().map(|(name, bytes)| (name, bytes.clone())).collect();
        let unchecked = Unchecked { tensors, done: 0, hasher: crc32fast::Hasher::new() };
        Ok(Self { config, dim, len, rows: rows.bytes, factors, text, ends, ids, lines, counts, unchecked, file })
    }

    /// Compares up to `at_most` further bytes with their checksums; returns whether all are checked.
    ///
    /// # Errors
    /// [`Error::Checksum`] if a tensor does not match; then nothing in the file can be trusted.
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

    /// The number of distinct sentences, which are the rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no sentences.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The number of sentences, counting duplicates.
    #[must_use]
    pub fn sentences(&self) -> u64 {
        self.config.sentences
    }

    /// The number of values per vector.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// The digest of the model that computed the vectors.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.config.model
    }

    /// The terms of use of that model, if it has some.
    #[must_use]
    pub fn terms(&self) -> Option<&str> {
        self.file.terms()
    }

    /// The cosine of a row with a query, in `[-1, 1]`, with a rounding error of about 0.001; 0 for a vector without a
    /// direction.
    ///
    /// # Panics
    /// If `row` is out of range.
    #[must_use]
    #[inline]
    pub fn cosine(&self, row: usize, query: &WebQuery) -> f32 {
        let stored = &self.rows[row * self.dim..(row + 1) * self.dim];
        let sum: i32 = stored.iter().zip(&query.values).map(|(&q, &p)| i32::from(q as i8) * i32::from(p)).sum();
        let factor = f32::from_le_bytes(number(&self.factors, row));
        let cosine = sum as f32 * query.scale * factor;
        // The factor in a handmade file can be any number.
        if cosine.is_finite() { cosine.clamp(-1.0, 1.0) } else { 0.0 }
    }

    /// Whether a row has a direction. A search never finds rows without one.
    ///
    /// # Panics
    /// If `row` is out of range.
    #[must_use]
    pub fn has_direction(&self, row: usize) -> bool {
        f32::from_le_bytes(number(&self.factors, row)) > 0.0
    }

    /// The sentence of a row. Invalid UTF-8 becomes U+FFFD; a range outside the text gives an empty string.
    ///
    /// # Panics
    /// If `row` is out of range.
    #[must_use]
    pub fn text(&self, row: usize) -> String {
        part(&self.text, &self.ends, row)
    }

    /// The id of the first sentence with the text of a row: a text, or the decimal digits of a number.
    ///
    /// # Panics
    /// If `row` is out of range.
    #[must_use]
    pub fn id(&self, row: usize) -> String {
        match &self.ids {
            WebIds::Numbers(ids) => u64::from_le_bytes(number(ids, row)).to_string(),
            WebIds::Texts { text, ends } => part(text, ends, row),
        }
    }

    /// The line of that sentence in its file, counted from 1; 0 if unknown.
    ///
    /// # Panics
    /// If `row` is out of range.
    #[must_use]
    pub fn line(&self, row: usize) -> u32 {
        u32::from_le_bytes(number(&self.lines, row))
    }

    /// The number of sentences with the text of a row, at least 1.
    ///
    /// # Panics
    /// If `row` is out of range.
    #[must_use]
    pub fn count(&self, row: usize) -> u32 {
        u32::from_le_bytes(number(&self.counts, row))
    }
}

/// Text `i` of those that are back to back in `text`; empty if its range is outside.
fn part(text: &[u8], ends: &[u8], i: usize) -> String {
    let end = |i: usize| u32::from_le_bytes(number(ends, i)) as usize;
    let start = if i == 0 { 0 } else { end(i - 1) };
    String::from_utf8_lossy(text.get(start..end(i)).unwrap_or_default()).into_owned()
}

/// The little-endian bytes of number `i`.
#[inline]
fn number<const N: usize>(bytes: &[u8], i: usize) -> [u8; N] {
    bytes.as_chunks::<N>().0[i]
}

/// A query for a [`WebCollection`]: a unit vector rounded to at most 16 bits per value.
#[derive(Debug, Clone, PartialEq)]
pub struct WebQuery {
    values: Vec<i16>,
    scale: f32,
}

impl WebQuery {
    /// Rounds the direction of a vector of `dim` values. The query is zero if the vector has no direction or another
    /// dimension.
    #[must_use]
    pub fn new(vector: &[f32], dim: usize) -> Self {
        let norm = vector.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>().sqrt();
        let most = vector.iter().fold(0.0_f64, |most, &x| most.max(f64::from(x).abs()));
        if vector.len() != dim || !norm.is_finite() || norm < 1e-12 {
            return Self { values: vec![0; dim], scale: 0.0 };
        }
        // No sum of products with int8 values, including -128, overflows 32 bits.
        let limit = (f64::from(i32::MAX) / (128.0 * dim as f64)).floor().clamp(1.0, f64::from(i16::MAX));
        let values = vector.iter().map(|&x| (f64::from(x) / most * limit).round() as i16).collect();
        Self { values, scale: (most / limit / norm) as f32 }
    }

    /// Whether the query has a direction.
    #[must_use]
    pub fn has_direction(&self) -> bool {
        self.scale > 0.0
    }
}
