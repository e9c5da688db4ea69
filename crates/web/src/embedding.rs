//! The vector of a sentence, and how much of the sentence is known.

use senv_core::Coverage;
use serde::Serialize;

/// How many words a text has, and what is known of them; compounds that are unknown count as their parts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Words and punctuation marks.
    pub tokens: usize,
    /// Of these, tokens with a row of their own.
    pub known: usize,
    /// Of the others, tokens whose vector a hash decides.
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
    /// Its words.
    pub counts: Counts,
    /// Shape `(dim,)`; zero for a text without a word.
    pub vector: Vec<f32>,
}
