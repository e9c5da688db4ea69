//! How much of a sentence is known.

/// How many tokens of a sentence are in the vocabulary, and how many others have a vector.
///
/// Whether a model knows a text is the subject of [`KnownWords`](crate::KnownWords), which counts words without marks
/// and digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Coverage {
    /// Tokens of the sentence.
    pub tokens: usize,
    /// Of these, tokens in the vocabulary.
    pub known: usize,
    /// Of the others, tokens that have a vector all the same: one that a hash of their characters decides, or that of
    /// the word which stands for all unknown ones.
    pub hashed: usize,
    /// Of the others, tokens at the end that have a vector and were not read: recurrent encoders, whose memory grows
    /// with the sentence, have a bound. 0 where the whole sentence was read.
    pub unread: usize,
}

impl Coverage {
    /// So many tokens, of which so many are known and the others have no vector.
    #[must_use]
    pub const fn new(tokens: usize, known: usize) -> Self {
        Self { tokens, known, hashed: 0, unread: 0 }
    }

    /// Whether no token has a vector: the embedding is then the zero vector.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.known + self.hashed == 0
    }
}
