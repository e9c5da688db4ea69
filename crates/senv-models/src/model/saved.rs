//! What every trained model can do, whichever system it is of.

use std::{any::Any, fmt::Debug, path::Path};

use senv_core::{SentenceEncoder, Table, Tokenizer, Vocabulary, hyperparameters::Hyperparameter};
use senv_store::{Embeddings, ModelFile};

use crate::{
    average::encoder::AverageEncoder,
    error::{Error, Result},
    model::handle::Model,
    sequence::{
        Hypothesis,
        decoding::Interpolation,
        vocabulary_expansion::{Expansion, ExpansionReport},
    },
};

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
    fn rows(&self) -> &Table;

    /// The hyperparameters it was trained with, as JSON; `null` for word vectors of another origin.
    fn config_json(&self) -> serde_json::Value;

    /// The same as names and values, as the arguments of a program are called; none for word vectors of another origin.
    fn hyperparameters(&self) -> Vec<Hyperparameter> {
        Vec::new()
    }

    /// Writes it to a file that [`Model::open`] reads, by atomic replacement.
    ///
    /// # Errors
    /// If the file cannot be written.
    fn write(&self, path: &Path) -> Result<()>;

    /// Its encoder with the weights that it carries, if it averages rows.
    fn average(&self) -> Option<&AverageEncoder> {
        None
    }

    /// Its decoders, if it has any.
    fn decoders(&self) -> Option<&dyn Decoders> {
        None
    }

    /// How related two sentences are by the head of a model that was tuned on scored pairs, on the scale of those scores;
    /// `None` for a model without a head.
    ///
    /// # Errors
    /// If memory is lacking.
    fn relatedness(&self, first: &str, second: &str) -> Result<Option<f64>> {
        let _ = (first, second);
        Ok(None)
    }

    /// Says that many sentences are to be encoded, so that what speeds that up may be made first.
    fn prepare_for_many(&self) {}

    /// Whether many sentences at once take less time than one after another, which is so where matrices are multiplied.
    fn gains_from_batches(&self) -> bool {
        false
    }

    /// Whether the vector of a sentence is inferred by training, which takes a hundred times as long as an average.
    fn infers_vectors(&self) -> bool {
        false
    }

    /// How words are best added: as they are to a model whose word vectors were given and stayed as they were, by a linear
    /// map with a constant to others.
    fn usual_expansion(&self) -> Expansion {
        Expansion::Affine
    }

    /// The model with the words of `vectors` besides its own.
    ///
    /// # Errors
    /// [`Error::CannotExpand`] for a kind that takes no more words; [`senv_core::Error`] where the vectors do not fit.
    fn expanded(&self, vectors: &Embeddings, expansion: Expansion) -> Result<(Model, ExpansionReport)> {
        let _ = (vectors, expansion);
        Err(Error::CannotExpand { kind: self.kind() })
    }
}

/// Decoders of a model: sentences from vectors.
pub trait Decoders {
    /// Their names, by number: Skip-thoughts predict the `previous` sentence and the `next`, in a combined model by
    /// `previous-2` and `next-2` as well; autoencoders reconstruct the sentence `itself`, and P-thought predicts a
    /// `paraphrase` besides.
    fn names(&self) -> Vec<&'static str>;

    /// What decoder `decoder` makes of a sentence, the likeliest first, by a beam of this width; sentences of at most
    /// `longest` words, the end token counted.
    ///
    /// # Errors
    /// [`Error::NoDecoder`] if there is none of this number; if memory is lacking.
    fn decode(&self, sentence: &str, decoder: usize, width: usize, longest: usize) -> Result<Vec<Hypothesis>>;

    /// The same of a vector between those of two sentences.
    ///
    /// # Errors
    /// As [`Decoders::decode`].
    fn decode_between(&self, first: &str, second: &str, decoder: usize, at: &Interpolation) -> Result<Vec<Hypothesis>>;
}

/// A model that can be read from a file of its kind.
pub(crate) trait ReadModel: SavedModel + Sized {
    /// The name of its kind in model files.
    const KIND: &'static str;

    /// Reads it; large tables are memory-mapped.
    fn from_file(file: &ModelFile) -> Result<Self>;
}
