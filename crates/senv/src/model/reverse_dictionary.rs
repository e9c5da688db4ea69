//! Words from definitions: what a model that was trained towards word vectors can do.

use senv_store::Embeddings;

/// A word that a definition may be of.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct DefinedWord {
    /// The word.
    pub word: String,
    /// Cosine of its vector and that of the definition, in `[-1, 1]`.
    pub cosine: f32,
    /// Whether the model was trained on definitions of this word; otherwise it was held out.
    pub trained: bool,
}

/// A model whose vectors lie among those of words: a reverse dictionary.
pub trait ReverseDictionary {
    /// The words that definitions are looked up among, and their unit vectors.
    fn target_words(&self) -> &Embeddings;

    /// Whether the definitions of word `i` of these were held out from training.
    fn is_held_out(&self, i: usize) -> bool;
}
