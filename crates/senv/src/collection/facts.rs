//! What a collection contains, and how it was made.

use std::path::Path;

use senv_core::{KnownWords, text::TextMarks};
use senv_index::{Collection, Rescoring};

use super::{
    MODEL_KIND, MODEL_ORDER, MODEL_PATH, MODEL_TERMS, RECALL, SentenceCollection, has_column,
    new_sentences::{NO_DIRECTION, SAMPLE, SAMPLE_MARKS, ZERO_VECTORS},
};
use crate::model::handle::Model;

impl SentenceCollection {
    /// The vectors, ids and texts.
    #[must_use]
    pub fn rows(&self) -> &Collection {
        &self.rows
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The original path of the model of a collection; `None` if the collection does not contain sentences.
    #[must_use]
    pub fn model_path(rows: &Collection) -> Option<&Path> {
        rows.metadata().get(MODEL_PATH).map(Path::new)
    }

    /// The kind of the model of a collection.
    #[must_use]
    pub fn model_kind(rows: &Collection) -> Option<&str> {
        rows.metadata().get(MODEL_KIND).map(String::as_str)
    }

    /// The terms of use of the model that the vectors were made with ([`Model::terms`]); `None` if it has none, or if
    /// the collection was made before terms were recorded.
    #[must_use]
    pub fn model_terms(rows: &Collection) -> Option<&str> {
        rows.metadata().get(MODEL_TERMS).map(String::as_str)
    }

    /// The weight of the order part; `None` if the model has none.
    #[must_use]
    pub fn order_weight(rows: &Collection) -> Option<f64> {
        rows.metadata().get(MODEL_ORDER)?.parse().ok()
    }

    /// The default recall of searches in a collection.
    #[must_use]
    pub fn recall(rows: &Collection) -> f32 {
        let kept = rows.metadata().get(RECALL).and_then(|recall| recall.parse().ok());
        kept.unwrap_or(senv_index::DEFAULT_RECALL)
    }

    /// Number of sentences.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no sentences.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Whether the sentences belong to documents.
    #[must_use]
    pub fn has_documents(&self) -> bool {
        [Self::DOCUMENT, Self::PLACE].iter().all(|name| has_column(&self.rows, name))
    }

    /// Whether cosines are estimates, because no vectors are stored to compute them with ([`Rescoring::None`]).
    #[must_use]
    pub fn estimates_cosines(&self) -> bool {
        self.rows.params().rescoring == Rescoring::None
    }

    /// How many words of the first sentences of each addition ([`KnownWords::SAMPLE`]) the model knows.
    #[must_use]
    pub fn known_words(rows: &Collection) -> KnownWords {
        let [sentences, words, known, hashed] = SAMPLE.map(|name| rows.count(name));
        let [tokens, english, others, code] = SAMPLE_MARKS.map(|name| rows.count(name));
        KnownWords { sentences, words, known, hashed, marks: TextMarks { tokens, english, others, code } }
    }

    /// The number of sentences that were added without a vector, because the model knows none of their words; they are
    /// never found.
    #[must_use]
    pub fn zero_vectors(rows: &Collection) -> u64 {
        rows.count(ZERO_VECTORS)
    }

    /// The number of sentences that were added with a vector without a direction: too short (norms below 1e-12) or too
    /// long (norms that overflow). They are never found.
    #[must_use]
    pub fn directionless_vectors(rows: &Collection) -> u64 {
        rows.count(NO_DIRECTION)
    }
}
