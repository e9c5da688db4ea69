//! Models that are a table of word vectors once trained: one way to keep, save, open and encode for all of them.

use std::{fmt::Debug, path::Path};

use senv_core::{Coverage, Scratch, SentenceEncoder, Table, Tokenizer, Vocabulary};
use serde::{Serialize, de::DeserializeOwned};

use crate::{AverageEncoder, Result, file, word2vec::words};

/// The settings of a system whose model is a table of word vectors.
pub trait AveragedSystem: Serialize + DeserializeOwned + Debug + Clone + PartialEq + Send + Sync {
    /// The name of its kind in model files.
    const KIND: &'static str;

    /// Numbers of a vector.
    fn dim(&self) -> usize;

    /// How text is cut into tokens.
    fn tokenizer(&self) -> &Tokenizer;
}

/// A trained model whose sentence vector is the mean of its words' vectors, equation `feature-average`.
#[derive(Debug, Clone)]
pub struct Averaged<P> {
    params: P,
    encoder: AverageEncoder,
}

impl<P: AveragedSystem> Averaged<P> {
    /// The name of this kind in model files.
    pub const KIND: &'static str = P::KIND;

    pub(crate) fn new(params: P, vocabulary: Vocabulary, rows: Table) -> Result<Self> {
        let features = words(&vocabulary)?;
        let encoder = AverageEncoder::new(params.tokenizer().clone(), vocabulary, features, rows)?;
        Ok(Self { params, encoder })
    }

    /// What it was trained with.
    #[must_use]
    pub fn params(&self) -> &P {
        &self.params
    }

    /// Words and rows.
    #[must_use]
    pub fn encoder(&self) -> &AverageEncoder {
        &self.encoder
    }

    /// Writes the model to a file, which appears whole or not at all.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        file::save(P::KIND, &self.params, self.encoder.vocabulary(), self.encoder.rows(), path.as_ref())
    }

    /// Opens a model; its rows are mapped, not read.
    ///
    /// # Errors
    /// If the file is no model of this kind, or damaged.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let (params, vocabulary, rows) = file::open::<P>(P::KIND, path)?;
        file::expect_rows(path, &rows, vocabulary.len(), params.dim())?;
        Self::new(params, vocabulary, rows)
    }
}

impl<P: AveragedSystem> SentenceEncoder for Averaged<P> {
    fn dim(&self) -> usize {
        self.encoder.dim()
    }

    fn encode_into(&self, sentence: &str, scratch: &mut Scratch, out: &mut [f32]) -> Coverage {
        self.encoder.encode_into(sentence, scratch, out)
    }
}
