//! What every trained model can do, whichever system it is of.

use std::{any::Any, fmt::Debug};

use senv_core::{
    SentenceEncoder, StaticEncoder, Table, Tokenizer, Vocabulary, files::Destination, hyperparameters::Hyperparameter,
};
use senv_store::{Embeddings, ModelFile};

use super::{
    decode::Decode,
    digest::of_written,
    expansion::{ExpansionReport, VocabularyExpansion},
    reverse_dictionary::ReverseDictionary,
    score_pairs::ScorePairs,
    tunable::TunableEncoder,
};
use crate::{
    average::encoder::AverageEncoder,
    error::{Error, Result},
};

/// A trained model: it encodes, and lives in a file of its own kind. Systems of this crate implement it, and so may
/// others, whose kinds [`Model::open`](crate::Model::open) knows once [`register`](crate::register) was called.
pub trait SavedModel: SentenceEncoder + Any + Debug {
    /// The name of its kind in model files.
    fn kind(&self) -> &'static str;

    /// The words it knows; empty if it has no vocabulary.
    fn vocabulary(&self) -> &Vocabulary;

    /// How it tokenizes text.
    fn tokenizer(&self) -> &Tokenizer;

    /// The table of its rows as they were trained; weights, where a model has them, come to them when it encodes.
    ///
    /// # Errors
    /// [`senv_core::Error::TooLarge`] where rows that are stored in few bits do not fit into memory in full;
    /// [`Error::NoRows`] for a model without a row for each word.
    fn rows(&self) -> Result<&Table> {
        Err(Error::NoRows { kind: self.kind() })
    }

    /// The settings that it was made with, as JSON; `null` for word vectors of another origin.
    fn config_json(&self) -> String {
        "null".to_owned()
    }

    /// Its hyperparameters as names and values, as the arguments of a program are called; none for word vectors of
    /// another origin.
    fn hyperparameters(&self) -> Vec<Hyperparameter> {
        Vec::new()
    }

    /// What it can do beside encoding.
    fn abilities(&self) -> Abilities<'_> {
        Abilities::default()
    }

    /// The same model around this table, if it is a static one.
    fn with_static_table(&self, _table: StaticEncoder) -> Option<Box<dyn SavedModel>> {
        None
    }

    /// Writes it to a file that [`Model::open`](crate::Model::open) reads, or the bytes of that file to a writer.
    ///
    /// # Errors
    /// If they cannot be written.
    fn write(&self, to: Destination<'_>) -> Result<()>;

    /// Makes what speeds up the encoding of many sentences.
    fn prepare_for_many(&self) {}

    /// A digest of it in hexadecimal digits, which that of another model differs from: by default that of the file that
    /// it is written to ([`model_digest`](crate::model::model_digest)).
    ///
    /// # Errors
    /// If it cannot be written, or memory for its bytes is lacking.
    fn digest(&self) -> Result<String> {
        of_written(|writer| self.write(Destination::Writer(writer)))
    }
}

/// What a model can do beside encoding, each part of which it has or has not.
///
/// ```
/// let english = senv::english()?;
/// let abilities = english.abilities();
/// assert!(abilities.static_table.is_some() && abilities.decoders.is_none());
/// # Ok::<(), senv::Error>(())
/// ```
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct Abilities<'m> {
    /// What encoding costs.
    pub cost: EncodingCost,
    /// Its encoder with the weights that it carries, if it averages rows.
    pub average: Option<&'m AverageEncoder>,
    /// The static table that it is, with its order part if it has one: a model of kind `static` or `order`.
    pub static_table: Option<&'m StaticEncoder>,
    /// Whether its words were trained on pairs, so that the lengths of their vectors hold frequency weights.
    pub holds_frequency_weights: bool,
    /// Its decoders.
    pub decoders: Option<&'m dyn Decode>,
    /// Its head, if it was fine-tuned on scored pairs.
    pub head: Option<&'m dyn ScorePairs>,
    /// Its encoder, if it has one that can be fine-tuned on scored pairs. An average needs none: its rows are tuned.
    pub tunable: Option<TunableEncoder<'m>>,
    /// The words whose vectors its own lie among, if it was trained towards vectors of words.
    pub reverse_dictionary: Option<&'m dyn ReverseDictionary>,
    /// The same model as one that takes more words.
    pub expandable: Option<&'m dyn ExpandVocabulary>,
}

/// What it costs to encode many sentences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum EncodingCost {
    /// Each sentence by itself, in microseconds.
    #[default]
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
pub trait OpenModel: SavedModel + Sized {
    /// The name of its kind in model files.
    const KIND: &'static str;

    /// Reads it; large tables are memory-mapped.
    ///
    /// # Errors
    /// If the file is of another kind, or damaged.
    fn from_model_file(file: &ModelFile) -> Result<Self>;
}

/// Gives a model what all that live in files have.
macro_rules! model_file_methods {
    ([$($generics:tt)*] $type:ty) => {
        impl<$($generics)*> $type {
            /// Opens a model; its tables are memory-mapped. [`Model`](crate::Model) opens it from bytes, and writes it
            /// to a writer.
            ///
            /// # Errors
            /// If the file is no model of this kind, or damaged.
            pub fn open(path: impl AsRef<std::path::Path>) -> $crate::error::Result<Self> {
                $crate::model::saved::OpenModel::from_model_file(&senv_core::ModelFile::open(path)?)
            }

            /// Writes the model to a file by atomic replacement.
            ///
            /// # Errors
            /// If the file cannot be written.
            pub fn save(&self, path: impl AsRef<std::path::Path>) -> $crate::error::Result<()> {
                $crate::model::saved::SavedModel::write(self, senv_core::files::Destination::File(path.as_ref()))
            }
        }
    };
}

pub(crate) use model_file_methods;
