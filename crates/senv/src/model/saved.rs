//! What every trained model can do, whichever system it is of.

use std::{any::Any, fmt::Debug, path::Path};

use senv_core::{SentenceEncoder, StaticEncoder, Table, Tokenizer, Vocabulary, hyperparameters::Hyperparameter};
use senv_store::{Embeddings, ModelFile};

use super::{
    decode::Decode,
    expansion::{ExpansionReport, VocabularyExpansion},
    reverse_dictionary::ReverseDictionary,
    score_pairs::ScorePairs,
    tunable::TunableEncoder,
};
use crate::{average::encoder::AverageEncoder, error::Result};

/// A trained model: it encodes, and lives in a file of its own kind. A new system implements this, and
/// [`crate::systems`] lists it.
pub trait SavedModel: SentenceEncoder + Any + Debug {
    /// The name of its kind in model files.
    fn kind(&self) -> &'static str;

    /// The words it knows.
    fn vocabulary(&self) -> &Vocabulary;

    /// How it tokenizes text.
    fn tokenizer(&self) -> &Tokenizer;

    /// The table of its rows as they were trained; weights, where a model has them, come to them when it encodes.
    ///
    /// # Errors
    /// [`senv_core::Error::TooLarge`] where rows that are stored in few bits do not fit into memory in full.
    fn rows(&self) -> Result<&Table>;

    /// The hyperparameters it was trained with, as JSON; `null` for word vectors of another origin.
    fn config_json(&self) -> serde_json::Value;

    /// The same as names and values, as the arguments of a program are called; none for word vectors of another origin.
    fn hyperparameters(&self) -> Vec<Hyperparameter> {
        Vec::new()
    }

    /// The static table that it is, with its order part if it has one: a model of kind `static` or `order`.
    fn static_table(&self) -> Option<&StaticEncoder> {
        None
    }

    /// The same model around this table, if it is a static one.
    fn with_static_table(&self, _table: StaticEncoder) -> Option<Box<dyn SavedModel>> {
        None
    }

    /// Writes it to a file that [`Model::open`](crate::Model::open) reads, by atomic replacement.
    ///
    /// # Errors
    /// If the file cannot be written.
    fn write(&self, path: &Path) -> Result<()>;

    /// Its encoder with the weights that it carries, if it averages rows.
    fn average(&self) -> Option<&AverageEncoder> {
        None
    }

    /// Whether its words were trained on pairs, so that the lengths of their vectors hold frequency weights.
    fn holds_frequency_weights(&self) -> bool {
        false
    }

    /// Its decoders, if it has any.
    fn decoders(&self) -> Option<&dyn Decode> {
        None
    }

    /// Its head, if it was fine-tuned on scored pairs.
    fn head(&self) -> Option<&dyn ScorePairs> {
        None
    }

    /// Its encoder, if it has one that can be fine-tuned on scored pairs. An average needs none: its rows are tuned.
    fn tunable(&self) -> Option<TunableEncoder<'_>> {
        None
    }

    /// The words whose vectors its own lie among, if it was trained towards vectors of words.
    fn reverse_dictionary(&self) -> Option<&dyn ReverseDictionary> {
        None
    }

    /// The same model as one that takes more words, if it is one.
    fn expandable(&self) -> Option<&dyn ExpandVocabulary> {
        None
    }

    /// Makes what speeds up the encoding of many sentences.
    fn prepare_for_many(&self) {}

    /// What encoding costs.
    fn cost(&self) -> EncodingCost {
        EncodingCost::PerSentence
    }
}

/// What it costs to encode many sentences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum EncodingCost {
    /// Each sentence by itself, in microseconds.
    PerSentence,
    /// Many at once take less time than one after another: matrices are multiplied.
    LessInBatches,
    /// The vector of each sentence is inferred by training, which takes a hundred times as long as an average.
    Inferred,
}

/// A model that takes more words.
pub trait ExpandVocabulary {
    /// How words are best added: as they are to a model whose word vectors were given and stayed as they were, by a
    /// linear map with a constant to others.
    fn usual_expansion(&self) -> VocabularyExpansion {
        VocabularyExpansion::Affine
    }

    /// The model with the words of `vectors` besides its own.
    ///
    /// # Errors
    /// [`senv_core::Error`] where the vectors do not fit.
    fn expanded(
        &self,
        vectors: &Embeddings,
        expansion: VocabularyExpansion,
    ) -> Result<(Box<dyn SavedModel>, ExpansionReport)>;
}

/// A model that can be read from a file of its kind.
pub(crate) trait ReadModel: SavedModel + Sized {
    /// The name of its kind in model files.
    const KIND: &'static str;

    /// Reads it; large tables are memory-mapped.
    fn from_file(file: &ModelFile) -> Result<Self>;
}
