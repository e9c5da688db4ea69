//! The mean of the rows of a sentence's features: what Sent2Vec and averaged word vectors are once trained.
//!
//! Equation: `feature-average`
//!
//! ```text
//! v_S = (1/|R(S)|) Σ_{r in R(S)} v_r        R(S): known words, and the n-grams over them; v_S = 0 if R(S) is empty
//! ```
//!
//! Pagliardini, Gupta and Jaggi 2018, equation 1. Unknown words are dropped before n-grams are formed, nothing is
//! dropped at random, and a word that occurs twice counts twice.

use senv_core::{
    Coverage, Error, Features, Result, Rows, Scratch, SentenceEncoder, Table, TokenId, Tokenizer, Vocabulary, kernels,
};
use senv_ngram::WordNgrams;

/// Averages the rows of words and n-grams.
#[derive(Debug, Clone)]
pub struct AverageEncoder {
    tokenizer: Tokenizer,
    vocabulary: Vocabulary,
    features: WordNgrams,
    rows: Table,
}

impl AverageEncoder {
    /// An encoder from its parts; the table needs a row for every feature.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] if the table has fewer rows than the features can name, or another number of words
    /// was counted.
    pub fn new(tokenizer: Tokenizer, vocabulary: Vocabulary, features: WordNgrams, rows: Table) -> Result<Self> {
        if features.n_tokens() != vocabulary.len() {
            let (expected, got) = (vocabulary.len(), features.n_tokens());
            return Err(Error::ShapeMismatch { what: "vocabulary of the n-grams", expected, got });
        }
        if rows.n_rows() < features.n_rows() {
            return Err(Error::ShapeMismatch { what: "table", expected: features.n_rows(), got: rows.n_rows() });
        }
        Ok(Self { tokenizer, vocabulary, features, rows })
    }

    /// How text is cut into tokens.
    #[must_use]
    pub fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }

    /// The words that are known.
    #[must_use]
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// The features and their rows.
    #[must_use]
    pub fn features(&self) -> &WordNgrams {
        &self.features
    }

    /// The rows of words and n-grams.
    #[must_use]
    pub fn rows(&self) -> &Table {
        &self.rows
    }

    /// The row of a word.
    #[must_use]
    pub fn word(&self, token: &str) -> Option<&[f32]> {
        self.vocabulary.id(token).map(|id| self.rows.row(self.features.token_row(id).index()))
    }

    /// Token, relative frequency in the training text and row of every word, the most frequent first.
    pub fn words(&self) -> impl Iterator<Item = (&str, f64, &[f32])> + '_ {
        self.vocabulary.iter().map(|(id, token, _)| {
            (token, self.vocabulary.frequency(id), self.rows.row(self.features.token_row(id).index()))
        })
    }

    /// The mean of the rows of these tokens and their n-grams; zero without tokens.
    pub fn encode_tokens(&self, tokens: &[TokenId], scratch: &mut Scratch, out: &mut [f32]) {
        self.features.features_into(tokens, &mut scratch.features);
        let rows = scratch.features.rows();
        let share = 1.0 / rows.len().max(1) as f32;
        kernels::sum_rows(self.rows.values(), self.rows.stride(), rows, share, out);
    }
}

/// Looks up the tokens of a text; returns how many there were.
pub(crate) fn known_tokens(
    tokenizer: &Tokenizer,
    vocabulary: &Vocabulary,
    text: &str,
    scratch: &mut String,
    tokens: &mut Vec<TokenId>,
) -> Coverage {
    vocabulary.known_tokens(tokenizer, text, scratch, tokens)
}

impl SentenceEncoder for AverageEncoder {
    fn dim(&self) -> usize {
        self.rows.dim()
    }

    fn encode_into(&self, sentence: &str, scratch: &mut Scratch, out: &mut [f32]) -> Coverage {
        let mut tokens = std::mem::take(&mut scratch.tokens);
        let coverage = known_tokens(&self.tokenizer, &self.vocabulary, sentence, &mut scratch.text, &mut tokens);
        self.encode_tokens(&tokens, scratch, out);
        scratch.tokens = tokens;
        coverage
    }
}
