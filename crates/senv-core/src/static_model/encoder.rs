//! The mean of compressed rows of words.
//!
//! Equation: `static-average`
//!
//! ```text
//! v_S = (Σ_{known t in S} s_t q_t + Σ_{unknown t in S} u(t)) / n        u(t): `unknown-word`
//! ```
//!
//! n counts the tokens that have a vector: the known ones, and the unknown ones where the encoder has a ρ. A token that occurs
//! twice counts twice. v_S = 0 where n = 0.
//!
//! `feature-average` of `senv` is the same mean over rows of f32. It is an encoder of its own because here rows are decoded while
//! they are summed, and programs that only serve (a web page, say) need neither training nor the crates around it.

use super::{CompressedRows, RowEncoding};
use crate::{
    Coverage, Error, KnownWords, Result, Scratch, SentenceEncoder, TokenId, Tokenizer, Vocabulary, kernels,
    words::{look_up_all, unknown_word_value},
};

/// A sentence encoder that is a table: tokenizer, vocabulary, and a compressed row for each word, averaged.
///
/// | what | value |
/// | --- | --- |
/// | sentence vector | mean of the rows of the known tokens, shape `(dim,)`; zero without one |
/// | unknown tokens | left out; with `unknown_word_length` a random vector of that length, decided by a hash of the token |
///
/// ```
/// use senv_core::{SentenceEncoder, StaticEncoder, Table, Tokenizer, Vocabulary, static_model::{CompressedRows, RowEncoding}};
/// let vocabulary = Vocabulary::from_counts([("the", 2), ("cat", 1)], 3)?;
/// let rows = CompressedRows::compress(&Table::from_vec(2, 2, vec![1.0, 0.0, 0.0, 1.0])?, RowEncoding::Int8)?;
/// let encoder = StaticEncoder::new(Tokenizer::words().lowercase(true), vocabulary, rows, None)?;
/// // (1, 0) for "the" and (0, 1) for "cat"; "sat" is unknown.
/// assert_eq!(encoder.encode(&["The cat sat"])?.row(0).to_vec(), [0.5, 0.5]);
/// # Ok::<(), senv_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct StaticEncoder {
    pub(super) tokenizer: Tokenizer,
    pub(super) vocabulary: Vocabulary,
    pub(super) rows: CompressedRows,
    pub(super) unknown_word_length: Option<f32>,
    pub(super) source: String,
}

impl StaticEncoder {
    /// An encoder from its parts: row `i` belongs to token `i`. `unknown_word_length` is the length of the vectors of unknown
    /// words (at best [`CompressedRows::mean_length`]); without one, unknown words are left out.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] unless there are as many rows as tokens; [`Error::InvalidParameter`] for a length that is
    /// negative, infinite or NaN.
    pub fn new(
        tokenizer: Tokenizer,
        vocabulary: Vocabulary,
        rows: CompressedRows,
        unknown_word_length: Option<f32>,
    ) -> Result<Self> {
        if rows.n_rows() != vocabulary.len() {
            let (expected, got) = (vocabulary.len(), rows.n_rows());
            return Err(Error::ShapeMismatch { what: "table of compressed rows", expected, got });
        }
        if let Some(length) = unknown_word_length.filter(|length| !(length.is_finite() && *length >= 0.0)) {
            let (name, requirement) = ("unknown_word_length", "finite and not negative");
            return Err(Error::InvalidParameter { name, requirement, got: length.to_string() });
        }
        Ok(Self { tokenizer, vocabulary, rows, unknown_word_length, source: String::new() })
    }

    /// The same encoder with a text that says where it comes from; it is saved with the model.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<String>) -> Self {
        self.source = source.into();
        self
    }

    /// The same encoder with terms of use, which models that are made of it carry on ([`Vocabulary::terms`]).
    #[must_use]
    pub fn with_terms(mut self, terms: &str) -> Self {
        self.vocabulary = self.vocabulary.with_terms(Some(terms));
        self
    }

    /// The first `dim` dimensions of the encoder, for models whose first dimensions hold the most (nested
    /// representations); rows are not copied. The length of the vectors of unknown words changes as the mean length of the
    /// rows does.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] if `dim` is 0 or above [`SentenceEncoder::dim`].
    pub fn truncate_dim(mut self, dim: usize) -> Result<Self> {
        let before = self.unknown_word_length.map(|_| self.rows.mean_length());
        self.rows = self.rows.truncate_dim(dim)?;
        if let (Some(length), Some(before)) = (&mut self.unknown_word_length, before.filter(|&before| before > 0.0)) {
            *length *= self.rows.mean_length() / before;
        }
        Ok(self)
    }

    /// The encoder with the first `n_words` words of its vocabulary, the most frequent ones; the others become unknown. The
    /// values of rows are not copied.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] if `n_words` is 0.
    pub fn truncate_vocabulary(mut self, n_words: usize) -> Result<Self> {
        if n_words == 0 {
            let (name, requirement) = ("n_words", "at least 1");
            return Err(Error::InvalidParameter { name, requirement, got: "0".into() });
        }
        if n_words < self.vocabulary.len() {
            let words = self.vocabulary.iter().take(n_words).map(|(_, word, count)| (word, count));
            let kept = Vocabulary::from_counts(words, self.vocabulary.corpus_tokens())?;
            self.vocabulary = kept.with_terms_of(Some(&self.vocabulary));
            self.rows = self.rows.first_rows(n_words);
        }
        Ok(self)
    }

    /// The encoder in which unknown words have no vectors of their own; forms and compounds of known words keep theirs. A query
    /// among words is encoded so: no word is near a vector that a hash decides.
    #[must_use]
    pub fn without_hashed_words(mut self) -> Self {
        self.unknown_word_length = self.unknown_word_length.map(|_| 0.0);
        self
    }

    /// The vector of a sentence whose words were looked up: the mean of the rows of `tokens` and of `n_unknown` vectors of unknown words, of
    /// which `unknown` is the sum (`words::look_up_all`). The bits are those of [`SentenceEncoder::encode_into`].
    ///
    /// # Panics
    /// If there is no row of a token, or `out` has not [`SentenceEncoder::dim`] values.
    pub fn mean_into(&self, tokens: &[TokenId], unknown: Option<&[f32]>, n_unknown: usize, out: &mut [f32]) {
        self.rows.sum_rows(tokens, out);
        // Sums first: with one rounding a step, no fused multiply-add can differ from a product and a sum, and every processor
        // has the same bits.
        if let Some(unknown) = unknown {
            kernels::add(unknown, out);
        }
        kernels::scale(1.0 / (tokens.len() + n_unknown).max(1) as f32, out);
    }

    /// How many words of these sentences are known: [`KnownWords::SAMPLE`] of them tell whether the model fits a text
    /// ([`KnownWords::few`]).
    pub fn known_words(&self, sentences: impl IntoIterator<Item = impl AsRef<str>>) -> KnownWords {
        KnownWords::count(self, &self.tokenizer, &self.vocabulary, sentences)
    }

    /// How text is tokenized.
    #[must_use]
    pub fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }

    /// The words that are known.
    #[must_use]
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// The rows of the words.
    #[must_use]
    pub fn rows(&self) -> &CompressedRows {
        &self.rows
    }

    /// The type in which rows are stored.
    #[must_use]
    pub fn encoding(&self) -> RowEncoding {
        self.rows.encoding()
    }

    /// The length of the vectors of unknown words; `None` if these are left out.
    #[must_use]
    pub fn unknown_word_length(&self) -> Option<f32> {
        self.unknown_word_length
    }

    /// Where the model comes from, in the words of whoever made it; may be empty.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }
}

crate::encoding_methods!([] StaticEncoder);

impl SentenceEncoder for StaticEncoder {
    fn dim(&self) -> usize {
        self.rows.dim()
    }

    fn encode_into(&self, sentence: &str, scratch: &mut Scratch, out: &mut [f32]) -> Coverage {
        let dim = self.rows.dim();
        let Scratch { text, tokens, unknown, .. } = scratch;
        let coverage = match self.unknown_word_length {
            None => self.vocabulary.known_tokens(&self.tokenizer, sentence, text, tokens),
            Some(length) => {
                let value = unknown_word_value(length, dim);
                look_up_all(&self.vocabulary, &self.tokenizer, sentence, value, dim, text, tokens, unknown)
            }
        };
        self.mean_into(tokens, (coverage.hashed > 0).then_some(&unknown[..]), coverage.hashed, out);
        coverage
    }
}
