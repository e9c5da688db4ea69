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
    /// Word vectors. Words without a vector get random ones of the average length.
    Vectors(&'a Embeddings),
    /// A model of any kind to fine-tune. Its words stay known and start from its vectors, and text is tokenized as by
    /// the model unless the parameters say otherwise. Rows that a model file does not store (target rows, optimizer
    /// state) start from scratch, and so do n-grams.
    Model(&'a Model),
}

impl<'a> Start<'a> {
    /// Returns the vectors, if there are any.
    ///
    /// # Errors
    /// If the model does not have word vectors, or they do not fit into memory.
    pub fn vectors(self) -> Result<Option<Cow<'a, Embeddings>>> {
        Ok(match self {
            Self::Random => None,
            Self::Vectors(vectors) => Some(Cow::Borrowed(vectors)),
            Self::Model(model) => Some(Cow::Owned(model.to_embeddings()?)),
        })
    }

    /// Returns options with the vectors of the start, if it has any.
    pub(crate) fn options<'o, D: Clone>(
        vectors: Option<&'o Embeddings>,
        options: &TrainOptions<'o, D>,
    ) -> TrainOptions<'o, D> {
        TrainOptions { vectors: vectors.or(options.vectors), ..options.clone() }
    }

    /// Returns the model to fine-tune.
    pub(crate) fn model(self) -> Option<&'a Model> {
        if let Self::Model(model) = self { Some(model) } else { None }
    }

    /// Returns the tokenizer of a text: that of the parameters or, if it is automatic, that of the model, or else what
    /// `fitted` finds.
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
