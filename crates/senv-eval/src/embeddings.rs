//! The embeddings of many sentences, each distinct one encoded once.

use std::collections::HashMap;

use ndarray::Array2;
use senv_core::{Coverage, SentenceEncoder};

use crate::{Error, Result};

/// Distinct sentences, indexed in the order in which they first occur, and their embeddings.
pub(crate) struct Embeddings<'a> {
    sentences: Vec<&'a str>,
    numbers: HashMap<&'a str, usize>,
    values: Array2<f32>,
    coverage: Vec<Coverage>,
}

impl<'a> Embeddings<'a> {
    /// Encodes on all threads of the current rayon pool.
    pub(crate) fn of(encoder: &dyn SentenceEncoder, sentences: impl IntoIterator<Item = &'a str>) -> Result<Self> {
        let (mut distinct, mut numbers) = (Vec::new(), HashMap::new());
        for sentence in sentences {
            numbers.entry(sentence).or_insert_with(|| {
                distinct.push(sentence);
                distinct.len() - 1
            });
        }
        let (values, coverage) = encoder.encode_batch(&distinct)?;
        for (what, expected, got) in [
            ("rows of the embeddings", distinct.len(), values.nrows()),
            ("an embedding", encoder.dim(), values.ncols()),
            ("coverage of the sentences", distinct.len(), coverage.len()),
        ] {
            if got != expected {
                return Err(senv_core::Error::ShapeMismatch { what, expected, got }.into());
            }
        }
        let values = if values.is_standard_layout() { values } else { values.as_standard_layout().into_owned() };
        Ok(Self { sentences: distinct, numbers, values, coverage })
    }

    /// An error for an embedding that is not finite.
    pub(crate) fn check_finite(&self) -> Result<()> {
        match (0..self.n()).find(|&number| self.vector(number).iter().any(|x| !x.is_finite())) {
            Some(number) => {
                let start: String = self.sentences[number].chars().take(60).collect();
                Err(Error::NotFinite { what: format!("the embedding of {start:?}") })
            }
            None => Ok(()),
        }
    }

    /// Distinct sentences.
    pub(crate) fn n(&self) -> usize {
        self.sentences.len()
    }

    /// The index of a sentence.
    pub(crate) fn number(&self, sentence: &str) -> usize {
        self.numbers[sentence]
    }

    /// The embedding of sentence `number`.
    pub(crate) fn vector(&self, number: usize) -> &[f32] {
        let dim = self.values.ncols();
        self.values.as_slice().map_or(&[], |values| &values[number * dim..][..dim])
    }

    /// The coverage of sentence `number`.
    pub(crate) fn coverage(&self, number: usize) -> Coverage {
        self.coverage[number]
    }

    /// All embeddings, one a row.
    pub(crate) fn into_values(self) -> Array2<f32> {
        self.values
    }
}
