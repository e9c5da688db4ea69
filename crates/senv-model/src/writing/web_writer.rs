//! Writes a collection for the web page.

use std::{
    collections::{HashMap, hash_map::Entry},
    path::Path,
};

use super::ModelWriter;
use crate::files::{
    RawTensor,
    web_collection::{COUNTS, Config, ENDS, FACTORS, IDS, LINES, MOST_DIM, ROWS, TEXT, WebCollection},
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
    /// The id.
    pub id: u64,
    /// The line, counted from 1; 0 if unknown.
    pub line: u32,
}

/// A file for the web page under construction. Equal texts share a row, and the first one provides vector, id and line.
///
/// The same sentences give the same bytes. The whole file is kept in memory.
#[derive(Debug, Default)]
pub struct WebCollectionWriter {
    dim: usize,
    model: String,
    rows: Vec<u8>,
    factors: Vec<f32>,
    text: Vec<u8>,
    ends: Vec<u32>,
    ids: Vec<u64>,
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

    /// Adds a sentence.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] if the vector has a different dimension; [`Error::BadHyperparameter`] if the file would
    /// be larger than a page can load, just below 2 GiB.
    pub fn push(&mut self, sentence: &WebSentence<'_>) -> Result<()> {
        let &WebSentence { text, vector, id, line } = sentence;
        if vector.len() != self.dim {
            return Err(Error::ShapeMismatch { what: "vector", expected: self.dim, got: vector.len() });
        }
        let row = self.ends.len();
        let n_bytes = self.n_bytes().saturating_add(self.row_bytes()).saturating_add(text.len());
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

    /// The bytes of a row apart from its text: its values, factor, end, id, line and count.
    fn row_bytes(&self) -> usize {
        self.dim + 4 + 4 + 8 + 4 + 4
    }

    /// The bytes of the file without its header.
    #[must_use]
    pub fn n_bytes(&self) -> usize {
        self.text.len() + self.ends.len() * self.row_bytes()
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
        ModelWriter::new(WebCollection::KIND)
            .config(&config)
            .raw(ROWS, &rows)
            .f32s(FACTORS, &self.factors)
            .bytes(TEXT, &self.text)
            .u32s(ENDS, &self.ends)
            .u64s(IDS, &self.ids)
            .u32s(LINES, &self.lines)
            .u32s(COUNTS, &self.counts)
            .save(path)
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
