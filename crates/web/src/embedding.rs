//! The vector of a sentence, and how many of its words are known.

use senv_core::Coverage;
use serde::Serialize;

/// The number of words of a text, and how many are known. Unknown compounds count as their parts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Words and punctuation marks.
    pub tokens: usize,
    /// Tokens that have a row.
    pub known: usize,
    /// Other tokens with a vector from a hash.
    pub hashed: usize,
}

impl From<Coverage> for Counts {
    fn from(coverage: Coverage) -> Self {
        Self { tokens: coverage.tokens, known: coverage.known, hashed: coverage.hashed }
    }
}

/// A sentence vector.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Embedding {
    /// The numbers of its words.
    pub counts: Counts,
    /// The vector, shape `(dim,)`; zero for a text without words.
    pub vector: Vec<f32>,
}
