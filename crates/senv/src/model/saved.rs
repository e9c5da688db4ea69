//! What every trained model can do, of any system.

use std::{any::Any, fmt::Debug, path::Path};

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

/// A trained model, which encodes and is stored in a file of its own kind. The systems of this crate implement it.
/// Other crates can, too: after [`register`](crate::register), [`Model::open`](crate::Model::open) opens their kinds.
pub trait SavedModel: SentenceEncoder + Any + Debug {
    /// Returns the name of its kind in model files.
    fn kind(&self) -> &'static str;

    /// Returns the words it knows; empty without a vocabulary.
    fn vocabulary(&self) -> &Vocabulary;

    /// Returns how it tokenizes text.
    fn tokenizer(&self) -> &Tokenizer;

    /// Returns the table of its rows as they were trained. Weights, if the model has them, are applied when it encodes.
    ///
    /// # Errors
    /// [`senv_core::Error::TooLarge`] if rows stored in few bits do not fit into memory in full; [`Error::NoRows`] for
    /// a model without a row for each word.
    fn rows(&self) -> Result<&Table> {
        Err(Error::NoRows { kind: self.kind() })
    }

    /// Returns the settings that it was made with, as JSON; `null` for word vectors of another origin.
    fn config_json(&self) -> String {
        "null".to_owned()
    }

    /// Returns its hyperparameters, named like the arguments of the program; empty for word vectors of another origin.
    fn hyperparameters(&self) -> Vec<Hyperparameter> {
        Vec::new()
    }

    /// Returns what it can do in addition to encoding.
    fn abilities(&self) -> Abilities<'_> {
        Abilities::default()
    }

    /// Returns the same model with this table, if it is a static model.
    fn with_static_table(&self, _table: StaticEncoder) -> Option<Box<dyn SavedModel>> {
        None
    }

    /// Writes it to a file that [`Model::open`](crate::Model::open) reads, or the bytes of that file to a writer.
    ///
    /// # Errors
    /// If they cannot be written.
    fn write(&self, to: Destination<'_>) -> Result<()>;

    /// Prepares the model to encode many sentences faster.
    fn prepare_for_many(&self) {}

    /// Returns its digest in hexadecimal digits, by default the digest of the file that it is written to
    /// ([`model_digest`](crate::model::model_digest)). Different models have different digests.
    ///
    /// # Errors
    /// If it cannot be written, or memory runs out.
    fn digest(&self) -> Result<String> {
        of_written(|writer| self.write(Destination::Writer(writer)))
    }
}

/// What a model can do in addition to encoding. Every part is optional.
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
    /// The cost of encoding.
    pub cost: EncodingCost,
    /// Its encoder, with its weights, if it averages rows.
    pub average: Option<&'m AverageEncoder>,
    /// The static table that it is, with its order part if it has one. Set for models of the kinds `static` and
    /// `order`.
    pub static_table: Option<&'m StaticEncoder>,
    /// Whether its words were trained on pairs, so the lengths of their vectors encode frequency weights.
    pub holds_frequency_weights: bool,
    /// Its decoders.
    pub decoders: Option<&'m dyn Decode>,
    /// Its head, if it was fine-tuned on scored pairs.
    pub head: Option<&'m dyn ScorePairs>,
    /// Its encoder, if it can be fine-tuned on scored pairs. `None` for an average, whose rows are tuned instead.
    pub tunable: Option<TunableEncoder<'m>>,
    /// The words whose vectors it was trained toward, if it was.
    pub reverse_dictionary: Option<&'m dyn ReverseDictionary>,
    /// The same model as one that accepts more words.
    pub expandable: Option<&'m dyn ExpandVocabulary>,
}

/// The cost of encoding many sentences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum EncodingCost {
    /// Each sentence is encoded separately, in microseconds.
    #[default]
    PerSentence,
    /// Encoding in batches is faster than one by one, because it multiplies matrices.
    LessInBatches,
    /// Training infers the vector of each sentence, which takes a hundred times as long as an average.
    Inferred,
}

/// A model that accepts more words.
pub trait ExpandVocabulary {
    /// Returns the best way to add words: unchanged if the word vectors of the model were given and kept fixed,
    /// otherwise by a linear map with a constant.
    fn usual_expansion(&self) -> VocabularyExpansion {
        VocabularyExpansion::Affine
    }

    /// Returns the model with the words of `vectors` added.
    ///
    /// # Errors
    /// [`senv_core::Error`] if the vectors do not fit.
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
    /// If the file is of a different kind, or damaged.
    fn from_model_file(file: &ModelFile) -> Result<Self>;
}

/// The file of a model; an error for the name of the built-in model, as it could not be opened.
pub(crate) fn file(path: &Path) -> Result<Destination<'_>> {
    #[cfg(feature = "english")]
    if crate::base::english_name::is_english(path) {
        let requirement = "a different name than that of the built-in model, or ./english";
        return Err(senv_core::Error::InvalidParameter { name: "path", requirement, got: "english".into() }.into());
    }
    Ok(Destination::File(path))
}

/// Implements what all models stored in files share.
macro_rules! model_file_methods {
    ([$($generics:tt)*] $type:ty) => {
        impl<$($generics)*> $type {
            /// Opens a model and memory-maps its tables. [`Model`](crate::Model) opens models from bytes and writes
            /// them to a writer.
            ///
            /// # Errors
            /// If the file is not a model of this kind, or is damaged.
            pub fn open(path: impl AsRef<std::path::Path>) -> $crate::error::Result<Self> {
                $crate::model::saved::OpenModel::from_model_file(&senv_core::ModelFile::open(path)?)
            }

            /// Writes the model to a file, replacing an existing one atomically.
            ///
            /// # Errors
            /// If the file cannot be written, or the path is `english`, the name of the built-in model.
            pub fn save(&self, path: impl AsRef<std::path::Path>) -> $crate::error::Result<()> {
                $crate::model::saved::SavedModel::write(self, $crate::model::saved::file(path.as_ref())?)
            }
        }
    };
}

pub(crate) use model_file_methods;
