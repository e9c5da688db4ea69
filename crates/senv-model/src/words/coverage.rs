//! The share of a sentence that is known.

/// The number of tokens of a sentence, of those in the vocabulary, and of others that have a vector.
///
/// To find out whether a model knows a text, use [`KnownWords`](crate::KnownWords), which counts words without
/// punctuation and digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Coverage {
    /// The number of tokens.
    pub tokens: usize,
    /// The number of tokens in the vocabulary.
    pub known: usize,
    /// The number of other tokens that have a vector: from a hash of their characters, or the shared vector of unknown
    /// words.
    pub hashed: usize,
    /// The number of tokens at the end that have a vector but were not read. Recurrent encoders need memory that grows
    /// with the sentence, so they have a limit. 0 if the whole sentence was read.
    pub unread: usize,
}

impl Coverage {
    /// `tokens` tokens, `known` of them known and the others without a vector.
    #[must_use]
    pub const fn new(tokens: usize, known: usize) -> Self {
        Self { tokens, known, hashed: 0, unread: 0 }
    }

    /// Whether no token has a vector; the embedding is then the zero vector.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.known + self.hashed == 0
    }
}
