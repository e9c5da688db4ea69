//! Words for definitions: what a model trained toward word vectors can do.

use senv_store::Embeddings;

/// A word that a definition could describe.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct DefinedWord {
    /// The word.
    pub word: String,
    /// The cosine of its vector and that of the definition, in `[-1, 1]`.
    pub cosine: f32,
    /// Whether the model was trained on definitions of this word; otherwise it was held out.
    pub trained: bool,
}

/// A reverse dictionary: a model whose vectors are in the space of word vectors.
pub trait ReverseDictionary {
    /// Returns the words to search, with their unit vectors.
    fn target_words(&self) -> &Embeddings;

    /// Whether the definitions of word `i` were held out of training.
    fn is_held_out(&self, i: usize) -> bool;
}
