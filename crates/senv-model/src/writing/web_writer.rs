//! Writes a collection for the web page.

use std::{
    collections::{HashMap, hash_map::Entry},
    path::Path,
};

use super::ModelWriter;
use crate::files::{
    RawTensor,
    model_file::KEY_TERMS,
    web_collection::{
        COUNTS, Config, ENDS, FACTORS, ID_ENDS, ID_TEXT, IDS, LINES, MOST_DIM, ROWS, TEXT, WebCollection,
    },
};
use senv_base::{Error, Result};

/// The maximum size of a file. A page of 32-bit WebAssembly cannot have an array of 2 GiB, and needs room for the model
/// and the hits.
const MOST_BYTES: usize = (2 << 30) - (64 << 20);

/// A sentence to be written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WebSentence<'a> {
    /// The sentence.
    pub text: &'a str,
    /// The vector, of any norm. If its norm is below 1e-12 or not finite, a search never finds the sentence.
    pub vector: &'a [f32],
    /// The id. The first sentence decides whether all ids of the file are numbers or texts.
    pub id: WebId<'a>,
    /// The line, counted from 1; 0 if unknown.
    pub line: u32,
}

/// The id of a sentence to be written. Numbers and texts convert to it.
///
/// Exhaustive on purpose: an id is a number or a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WebId<'a> {
    /// A number.
    Number(u64),
    /// A text.
    Text(&'a str),
}

impl From<u64> for WebId<'_> {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl<'a> From<&'a str> for WebId<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

/// The ids of the rows.
#[derive(Debug)]
enum Ids {
    Numbers(Vec<u64>),
    Texts { text: Vec<u8>, ends: Vec<u32> },
}

impl Default for Ids {
    fn default() -> Self {
        Self::Numbers(Vec::new())
    }
}

impl Ids {
    /// Their bytes in the file.
    fn n_bytes(&self) -> usize {
        match self {
            Self::Numbers(ids) => 8 * ids.len(),
            Self::Texts { text, ends } => text.len() + 4 * ends.len(),
        }
    }

    /// Their bytes after this one is appended; `None` if it is of the other kind. The first one decides the kind.
    fn n_bytes_with(&mut self, id: WebId<'_>) -> Option<usize> {
        if self.n_bytes() == 0 {
            *self = match id {
                WebId::Number(_) => Self::default(),
                WebId::Text(_) => Self::Texts { text: Vec::new(), ends: Vec::new() },
            };
        }
        match (&*self, id) {
            (Self::Numbers(_), WebId::Number(_)) => Some(self.n_bytes() + 8),
            (Self::Texts { .. }, WebId::Text(id)) => Some(self.n_bytes().saturating_add(id.len() + 4)),
            _ => None,
        }
    }

    /// Appends an id of their kind.
    fn push(&mut self, id: WebId<'_>) {
        match (self, id) {
            (Self::Numbers(ids), WebId::Number(id)) => ids.push(id),
            (Self::Texts { text, ends }, WebId::Text(id)) => {
                text.extend_from_slice(id.as_bytes());
                ends.push(text.len() as u32);
            }
            // `n_bytes_with` is called first.
            _ => {}
        }
    }
}

/// A file for the web page under construction. Equal texts share a row, and the first one provides vector, id and line.
///
/// The same sentences give the same bytes. The whole file is kept in memory.
#[derive(Debug, Default)]
pub struct WebCollectionWriter {
    dim: usize,
    model: String,
    terms: Option<String>,
    rows: Vec<u8>,
    factors: Vec<f32>,
    text: Vec<u8>,
    ends: Vec<u32>,
    ids: Ids,
    lines: Vec<u32>,
    counts: Vec<u32>,
    /// The row of each text.
    places: HashMap<Box<str>, u32>,
    sentences: u64,
}

impl WebCollectionWriter {
    /// Starts an empty file with vectors of `dim` values, 1 to 8,192, of the model with this digest.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] if the dimension is out of range.
    pub fn new(dim: usize, model: &str) -> Result<Self> {
        if dim == 0 || dim > MOST_DIM {
            let (name, requirement, got) = ("dim", "1 to 8192", dim.to_string());
            return Err(Error::InvalidParameter { name, requirement, got });
        }
        Ok(Self { dim, model: model.to_owned(), ..Self::default() })
    }

    /// Sets the terms of use of the model, which the file then has in its metadata
    /// ([`WebCollection::terms`]).
    #[must_use]
    pub fn with_terms(self, terms: Option<&str>) -> Self {
        Self { terms: terms.map(str::to_owned), ..self }
    }

    /// Adds a sentence.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] if the vector has a different dimension; [`Error::BadHyperparameter`] if the file would
    /// be larger than a page can load, just below 2 GiB, or if the id is a text where others are numbers, or the
    /// reverse.
    pub fn push(&mut self, sentence: &WebSentence<'_>) -> Result<()> {
        let &WebSentence { text, vector, id, line } = sentence;
        if vector.len() != self.dim {
            return Err(Error::ShapeMismatch { what: "vector", expected: self.dim, got: vector.len() });
        }
        let row = self.ends.len();
        let Some(id_bytes) = self.ids.n_bytes_with(id) else {
            return Err(Error::BadHyperparameter {
                name: "the id".into(),
                value: format!("{id:?}"),
                reason: "the ids of a file are all numbers or all texts".into(),
            });
        };
        let n_bytes = self.row_bytes().saturating_mul(row + 1).saturating_add(self.text.len() + text.len());
        let n_bytes = n_bytes.saturating_add(id_bytes);
        match self.places.entry(text.into()) {
            Entry::Occupied(place) => {
                let count = &mut self.counts[*place.get() as usize];
                *count = count.saturating_add(1);
            }
            Entry::Vacant(place) => {
                if n_bytes > MOST_BYTES {
                    return Err(Error::BadHyperparameter {
                        name: "the collection".into(),
                        value: format!("{row} sentences or more"),
                        reason: format!(
                            "a web page can include a file of at most {} MB; use fewer sentences",
                            MOST_BYTES >> 20
                        ),
                    });
                }
                place.insert(row as u32);
                self.text.extend_from_slice(text.as_bytes());
                self.ends.push(self.text.len() as u32);
                self.factors.push(quantize(vector, &mut self.rows));
                self.ids.push(id);
                self.lines.push(line);
                self.counts.push(1);
            }
        }
        self.sentences += 1;
        Ok(())
    }

    /// The bytes of a row apart from its text and id: its values, factor, end, line and count.
    fn row_bytes(&self) -> usize {
        self.dim + 4 + 4 + 4 + 4
    }

    /// The bytes of the file without its header.
    #[must_use]
    pub fn n_bytes(&self) -> usize {
        self.text.len() + self.ends.len() * self.row_bytes() + self.ids.n_bytes()
    }

    /// The number of distinct sentences.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no sentences.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The number of sentences, counting duplicates.
    #[must_use]
    pub fn sentences(&self) -> u64 {
        self.sentences
    }

    /// Writes the file, atomically replacing an existing one.
    ///
    /// # Errors
    /// The errors of [`ModelWriter::save`].
    pub fn save(self, path: impl AsRef<Path>) -> Result<()> {
        let config = Config { model: self.model, sentences: self.sentences };
        let bad =
            |error: serde_json::Error| Error::BadFile { path: path.as_ref().to_owned(), reason: error.to_string() };
        let config = serde_json::to_string(&config).map_err(bad)?;
        let shape = vec![self.ends.len(), self.dim];
        let rows = RawTensor { dtype: "I8".into(), shape, bytes: self.rows.into() };
        let writer = ModelWriter::new(WebCollection::KIND)
            .config(&config)
            .raw(ROWS, &rows)
            .f32s(FACTORS, &self.factors)
            .bytes(TEXT, &self.text)
            .u32s(ENDS, &self.ends);
        let writer = match &self.terms {
            Some(terms) => writer.metadata(KEY_TERMS, terms),
            None => writer,
        };
        let writer = match &self.ids {
            Ids::Numbers(ids) => writer.u64s(IDS, ids),
            Ids::Texts { text, ends } => writer.bytes(ID_TEXT, text).u32s(ID_ENDS, ends),
        };
        writer.u32s(LINES, &self.lines).u32s(COUNTS, &self.counts).save(path)
    }
}

/// Appends the int8 values of a vector, the largest of which is 127, and returns 1 / their norm; zeros and 0 for a
/// vector without a direction.
fn quantize(vector: &[f32], rows: &mut Vec<u8>) -> f32 {
    let norm = vector.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>().sqrt();
    if !norm.is_finite() || norm < 1e-12 {
        rows.resize(rows.len() + vector.len(), 0);
        return 0.0;
    }
    let most = vector.iter().fold(0.0_f64, |most, &x| most.max(f64::from(x).abs()));
    let mut squares = 0_i64;
    for &x in vector {
        let code = (f64::from(x) / most * 127.0).round() as i8;
        squares += i64::from(code) * i64::from(code);
        rows.push(code as u8);
    }
    (1.0 / (squares as f64).sqrt()) as f32
}
