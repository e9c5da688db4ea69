//! The mean of compressed word rows.
//!
//! Equation: `static-average`
//!
//! ```text
//! v_S = (Σ_{known t in S} s_t q_t + Σ_{unknown t in S} u(t)) / n        u(t): `unknown-word`
//! ```
//!
//! n is the number of tokens that have a vector: the known ones, and the unknown ones if the encoder has a ρ. A token
//! that occurs twice counts twice. v_S = 0 if n = 0.
//!
//! `feature-average` of `senv` is the same mean over rows of f32. This encoder is separate because it decodes rows
//! while summing them. Programs that only serve (a web page, say) then need neither training nor the crates for it.

use super::{
    CompressedRows, RowEncoding,
    order::{OrderConfig, OrderJoin, OrderPart, OrderValues, OrderWords},
};
use crate::{
    Coverage, KnownWords, Scratch, SentenceEncoder, Vocabulary,
    words::{look_up_all, unknown_word_value},
};
use senv_base::{Error, Result, TokenId};
use senv_kernels::kernels;
use senv_text::{Normalization, Tokenizer};

/// A sentence encoder based on a table: a tokenizer, a vocabulary, and a compressed row per word. Rows are averaged.
///
/// | what | value |
/// | --- | --- |
/// | sentence vector | mean of the rows of the known tokens, shape `(dim,)`; zero if there are none |
/// | unknown tokens | left out; with `unknown_word_length`, a random vector of that length from a hash of the token |
/// | with an [order part](crate::static_model::order) | that mean, followed by values for word order and negation |
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
    pub(crate) tokenizer: Tokenizer,
    pub(crate) vocabulary: Vocabulary,
    pub(crate) rows: CompressedRows,
    pub(crate) unknown_word_length: Option<f32>,
    pub(crate) source: String,
    pub(crate) order: Option<OrderPart>,
}

impl StaticEncoder {
    /// Creates an encoder from its parts: row `i` belongs to token `i`. `unknown_word_length` is the length of the
    /// vectors of unknown words, ideally [`CompressedRows::mean_length`]; with `None`, unknown words are left out.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] unless there are as many rows as tokens; [`Error::InvalidParameter`] if the length is
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
        Ok(Self { tokenizer, vocabulary, rows, unknown_word_length, source: String::new(), order: None })
    }

    /// Returns the encoder with a text about its origin, which is saved with the model.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<String>) -> Self {
        self.source = source.into();
        self
    }

    /// Returns the encoder with another normalization of text. It has the vectors of its file for text that is typed
    /// plainly. A model trained without one has rows of its own for the other forms, which are then not used.
    ///
    /// ```
    /// # use senv_core::{StaticEncoder, Table, Tokenizer, Vocabulary, static_model::{CompressedRows, RowEncoding}};
    /// use senv_core::{SentenceEncoder, text::Normalization};
    /// # let vocabulary = Vocabulary::from_counts([("do", 2), ("n't", 1)], 3)?;
    /// # let rows = CompressedRows::compress(&Table::from_vec(2, 2, vec![1.0, 0.0, 0.5, 0.5])?, RowEncoding::F32)?;
    /// # let encoder = StaticEncoder::new(Tokenizer::words(), vocabulary, rows, None)?;
    /// let typed = encoder.with_normalization(Normalization::Typing);
    /// assert_eq!(typed.encode_one("don’t"), typed.encode_one("don't"));
    /// # Ok::<(), senv_core::Error>(())
    /// ```
    #[must_use]
    pub fn with_normalization(mut self, normalization: Normalization) -> Self {
        self.tokenizer = self.tokenizer.normalize(normalization);
        self
    }

    /// Returns the encoder with an order part after the mean. Its dimension grows by [`OrderPart::dim`], and its first
    /// dimensions do not change.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] if a setting or number is out of range; [`Error::ShapeMismatch`] if the numbers do
    /// not fit each other or the table; [`Error::TooLarge`] if memory runs out.
    pub fn with_order(mut self, config: OrderConfig, values: OrderValues) -> Result<Self> {
        self.order = Some(OrderPart::new(config, values, &self.vocabulary, self.rows.dim())?);
        Ok(self)
    }

    /// Returns the encoder without its order part.
    #[must_use]
    pub fn without_order(mut self) -> Self {
        self.order = None;
        self
    }

    /// Returns the encoder with its order part and negation column multiplied by `weight`: 1 as trained, 0 for the
    /// cosines of the table only. A search by topic needs less, a search for duplicates more. Changes nothing if there
    /// is no order part.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] if the weight is negative, infinite or NaN.
    pub fn with_order_weight(self, weight: f64) -> Result<Self> {
        if !(weight.is_finite() && weight >= 0.0) {
            let (name, requirement) = ("order", "finite and not negative");
            return Err(Error::InvalidParameter { name, requirement, got: weight.to_string() });
        }
        match self.order.as_ref().map(OrderPart::join) {
            Some(join) => self.with_order_join(join.with_weight(weight)),
            None => Ok(self),
        }
    }

    /// Returns the encoder with other weights for its order part, if it has one.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] if a weight is negative, infinite or NaN.
    pub fn with_order_join(mut self, join: OrderJoin) -> Result<Self> {
        self.order = self.order.map(|part| part.with_join(join)).transpose()?;
        Ok(self)
    }

    /// Returns the encoder with the maps of its order part stored in another encoding.
    ///
    /// # Errors
    /// [`Error::TooLarge`] if memory runs out.
    pub fn with_order_encoding(mut self, encoding: RowEncoding) -> Result<Self> {
        if let Some(part) = &self.order {
            self.order = Some(part.with_encoding(encoding, &self.vocabulary, self.rows.dim())?);
        }
        Ok(self)
    }

    /// The order part, if there is one.
    #[must_use]
    pub fn order(&self) -> Option<&OrderPart> {
        self.order.as_ref()
    }

    /// Returns the encoder with terms of use, which models built from it inherit ([`Vocabulary::terms`]).
    #[must_use]
    pub fn with_terms(mut self, terms: &str) -> Self {
        self.vocabulary = self.vocabulary.with_terms(Some(terms));
        self
    }

    /// Keeps the first `dim` dimensions, for models whose first dimensions carry the most information (nested
    /// representations). Rows are not copied. The length of the vectors of unknown words changes in proportion to the
    /// mean length of the rows. An order part is kept only if `dim` is the whole dimension of the table.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] if `dim` is 0 or above the dimension of the table.
    pub fn truncate_dim(mut self, dim: usize) -> Result<Self> {
        if self.order.is_some() && dim == SentenceEncoder::dim(&self) {
            return Ok(self);
        }
        self.order = None;
        let before = self.unknown_word_length.map(|_| self.rows.mean_length());
        self.rows = self.rows.truncate_dim(dim)?;
        if let (Some(length), Some(before)) = (&mut self.unknown_word_length, before.filter(|&before| before > 0.0)) {
            *length *= self.rows.mean_length() / before;
        }
        Ok(self)
    }

    /// Keeps the first `n_words` words of the vocabulary, the most frequent ones; the others become unknown. The values
    /// of rows are not copied.
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
            if let Some(part) = &self.order {
                self.order = Some(part.of_words(&self.vocabulary, self.rows.dim())?);
            }
        }
        Ok(self)
    }

    /// Returns the encoder without random vectors for unknown words; forms and compounds of known words keep their
    /// vectors. Use it for queries that are compared with words, because no word is near a random vector.
    #[must_use]
    pub fn without_hashed_words(mut self) -> Self {
        self.unknown_word_length = self.unknown_word_length.map(|_| 0.0);
        self
    }

    /// Computes the vector of a sentence whose words are looked up: the mean of the rows of `tokens` and of `n_unknown`
    /// vectors of unknown words with the sum `unknown` (`words::look_up_all`). It equals, bit for bit, the first values
    /// of [`SentenceEncoder::encode_into`].
    ///
    /// # Panics
    /// If a token has no row, or the length of `out` is not that of a row.
    pub fn mean_into(&self, tokens: &[TokenId], unknown: Option<&[f32]>, n_unknown: usize, out: &mut [f32]) {
        self.rows.sum_rows(tokens, out);
        // Sum first: with one rounding per step, a fused multiply-add cannot differ from a product and a sum, so every
        // processor gives the same bits.
        if let Some(unknown) = unknown {
            kernels::add(unknown, out);
        }
        kernels::scale(1.0 / (tokens.len() + n_unknown).max(1) as f32, out);
    }

    /// Counts the known words of these sentences. [`KnownWords::SAMPLE`] sentences suffice to decide whether the model
    /// fits a text ([`KnownWords::few`]).
    pub fn known_words(&self, sentences: impl IntoIterator<Item = impl AsRef<str>>) -> KnownWords {
        KnownWords::count(self, &self.tokenizer, &self.vocabulary, sentences)
    }

    /// The tokenizer.
    #[must_use]
    pub fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }

    /// The known words.
    #[must_use]
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// The rows of the words.
    #[must_use]
    pub fn rows(&self) -> &CompressedRows {
        &self.rows
    }

    /// The encoding of the rows.
    #[must_use]
    pub fn encoding(&self) -> RowEncoding {
        self.rows.encoding()
    }

    /// The length of the vectors of unknown words; `None` if these are left out.
    #[must_use]
    pub fn unknown_word_length(&self) -> Option<f32> {
        self.unknown_word_length
    }

    /// The origin of the model, in the words of its author; may be empty.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }
}

impl StaticEncoder {
    /// Writes the mean, then the order part.
    fn encode_into_with_order(
        &self,
        part: &OrderPart,
        sentence: &str,
        scratch: &mut Scratch,
        out: &mut [f32],
    ) -> Coverage {
        let (dim, n_known) = (self.rows.dim(), self.vocabulary.len());
        let words = OrderWords { table: self, random: part.config().random_features };
        let coverage = words.read(sentence, scratch);
        let Scratch { tokens, unknown, values, .. } = scratch;
        let (mean, behind) = out.split_at_mut(dim);
        let columns = part.dim() - 1;
        part.encode_into(words, tokens, values, &mut behind[..columns]);
        let (n, is_negated) = (tokens.len(), part.is_negated(tokens));
        tokens.retain(|token| token.index() < n_known);
        self.mean_into(tokens, (coverage.hashed > 0).then_some(&unknown[..]), coverage.hashed, mean);
        // `out` has room for all parts: its length is `dim` of the trait.
        let _ = part.join().apply(n, is_negated, dim, out);
        coverage
    }
}

crate::encoding_methods!([] StaticEncoder);

impl SentenceEncoder for StaticEncoder {
    fn dim(&self) -> usize {
        self.rows.dim() + self.order.as_ref().map_or(0, OrderPart::dim)
    }

    fn encode_sentence(&self, sentence: &str, scratch: &mut Scratch, out: &mut [f32]) -> Coverage {
        let dim = self.rows.dim();
        if let Some(part) = &self.order {
            return self.encode_into_with_order(part, sentence, scratch, out);
        }
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
