//! What the word vectors of a run start from.

use std::borrow::Cow;

use senv_core::{Observer, Tokenizer};
use senv_store::Embeddings;

use crate::{base::train_options::TrainOptions, error::Result, model::handle::Model};

/// What the word vectors of a run start from.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub enum Start<'a> {
    /// Random numbers.
    #[default]
    Random,
    /// Word vectors. Words that they lack are drawn as long as they are on average.
    Vectors(&'a Embeddings),
    /// A model of any kind to fine-tune: its words stay known and start from its vectors, and text is tokenized as it
    /// does unless the parameters say otherwise. Rows that a model file does not hold (target rows, the state of the
    /// optimizer) start anew, and so do n-grams.
    Model(&'a Model),
}

impl<'a> Start<'a> {
    /// The vectors, if there are any.
    ///
    /// # Errors
    /// If the model has no word vectors, or they do not fit into memory.
    pub fn vectors(self) -> Result<Option<Cow<'a, Embeddings>>> {
        Ok(match self {
            Self::Random => None,
            Self::Vectors(vectors) => Some(Cow::Borrowed(vectors)),
            Self::Model(model) => Some(Cow::Owned(model.to_embeddings()?)),
        })
    }

    /// Options whose vectors are those of the start, if it has any.
    pub(crate) fn options<'o, D: Clone>(
        vectors: Option<&'o Embeddings>,
        options: &TrainOptions<'o, D>,
    ) -> TrainOptions<'o, D> {
        TrainOptions { vectors: vectors.or(options.vectors), ..options.clone() }
    }

    /// The model to fine-tune.
    pub(crate) fn model(self) -> Option<&'a Model> {
        if let Self::Model(model) = self { Some(model) } else { None }
    }

    /// The tokenizer of a text: that of the parameters; where it is automatic, that of the model, or what `fitted`
    /// finds.
    pub(crate) fn tokenizer(self, given: &Tokenizer, fitted: impl FnOnce(&Tokenizer) -> Tokenizer) -> Tokenizer {
        match self.model().filter(|_| given.is_automatic()) {
            Some(model) => model.tokenizer().clone(),
            None => fitted(given),
        }
    }

    /// Notes what cannot be carried over.
    pub(crate) fn note_losses(self, observer: &dyn Observer) {
        let Some(model) = self.model() else { return };
        if model.abilities().average.is_some_and(|average| average.features().params().max_n > 1) {
            observer.note("the n-grams of the model are not used, because their rows depend on the ids of its words");
        }
    }
}
