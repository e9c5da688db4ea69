//! The mean of the rows of a sentence's features, the encoder of Sent2Vec and averaged word vectors.
//!
//! Equation: `feature-average`
//!
//! ```text
//! v_S = (1/|R(S)|) Σ_{r in R(S)} v_r        R(S): known words, and the n-grams over them; v_S = 0 if R(S) is empty
//! ```
//!
//! Pagliardini, Gupta and Jaggi 2018, equation 2. Unknown words are dropped before n-grams are formed, nothing is
//! dropped at random, and a word that occurs twice counts twice. A [`Weighting`] weights the mean and removes common
//! components from it (`feature-weight`). [`UnknownWords::Hash`] adds unknown words to it (`unknown-word`).
//!
//! Rows are summed by [`kernels::sum_rows`], as in training (`average-pooling` of `senv-encoders`, which also has a
//! backward pass, in f32 and f64). A third mean of words is `static-average` of the core, which reads 4-bit rows in
//! place and does not depend on training code.

use senv_core::{
    Coverage, Error, Result, Rows, Scratch, SentenceEncoder, Table, TokenId, Tokenizer, Vocabulary, kernels,
    words::look_up_all,
};
use senv_ngram::{WordNgramParams, WordNgrams};

use crate::average::{
    unknown_words::{HashedWords, UnknownWords},
    weighting::Weighting,
};

/// An encoder that averages the rows of words and n-grams, with optional weights.
#[derive(Debug, Clone)]
pub struct AverageEncoder {
    tokenizer: Tokenizer,
    vocabulary: Vocabulary,
    features: WordNgrams,
    rows: Table,
    weighting: Option<Box<Weighting>>,
    hashed: Option<HashedWords>,
    /// The word whose row replaces every unknown one.
    unknown_row: Option<TokenId>,
}

impl AverageEncoder {
    /// Creates an encoder from its parts; the table needs a row for every feature.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] if the table has fewer rows than there are features, or the features are for another
    /// number of words.
    pub fn new(tokenizer: Tokenizer, vocabulary: Vocabulary, features: WordNgrams, rows: Table) -> Result<Self> {
        if features.n_tokens() != vocabulary.len() {
            let (expected, got) = (vocabulary.len(), features.n_tokens());
            return Err(Error::ShapeMismatch { what: "vocabulary of the n-grams", expected, got });
        }
        if rows.n_rows() < features.n_rows() {
            return Err(Error::ShapeMismatch { what: "table", expected: features.n_rows(), got: rows.n_rows() });
        }
        Ok(Self { tokenizer, vocabulary, features, rows, weighting: None, hashed: None, unknown_row: None })
    }

    /// Returns the same encoder with another weighting, or none.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] if the weighting is of a different vocabulary or dimension.
    pub fn with_weighting(mut self, weighting: Option<Weighting>) -> Result<Self> {
        if let Some(weighting) = &weighting {
            weighting.check_shape(self.vocabulary.len(), self.rows.dim())?;
        }
        self.weighting = weighting.map(Box::new);
        Ok(self)
    }

    /// Returns the same encoder with or without vectors for unknown words. [`UnknownWords::Hash`] reads all rows and
    /// gives those vectors their mean length.
    ///
    /// ```
    /// use senv_core::{SentenceEncoder, Tokenizer, Vocabulary};
    /// use senv::average::{AverageEncoder, UnknownWords};
    /// let vocabulary = Vocabulary::from_counts([("met", 2)], 2)?;
    /// let encoder = AverageEncoder::random(&Tokenizer::words(), &vocabulary, &["met"], 300, 1)?;
    /// assert_eq!(encoder.similarity("Ishmael", "Ishmael"), 0.0);
    /// let encoder = encoder.with_unknown_words(UnknownWords::Hash);
    /// assert!(encoder.similarity("met Ishmael", "Ishmael left") > encoder.similarity("met Ishmael", "Queequeg left") + 0.3);
    /// # Ok::<(), senv::Error>(())
    /// ```
    #[must_use]
    pub fn with_unknown_words(mut self, unknown: UnknownWords) -> Self {
        self.hashed = match unknown {
            UnknownWords::Skip => None,
            UnknownWords::Hash => Some(HashedWords::like(self.words().map(|(.., row)| row))),
        };
        self.unknown_row = None;
        self
    }

    /// Returns the same encoder with the row of `word` for every unknown word. Some files of vectors have such a row,
    /// for example `UUUNKKK` of the Paragram vectors. Unknown words then count as known everywhere: they have the
    /// weight of that word, and common components include them.
    ///
    /// ```
    /// use senv_core::{SentenceEncoder, Tokenizer, Vocabulary};
    /// let vocabulary = Vocabulary::from_counts([("met", 2), ("UUUNKKK", 1)], 3)?;
    /// let words = ["met", "UUUNKKK"];
    /// let encoder = senv::average::AverageEncoder::random(&Tokenizer::words(), &vocabulary, &words, 300, 1)?;
    /// let encoder = encoder.with_unknown_row("UUUNKKK")?;
    /// assert!((encoder.similarity("met Ishmael", "Queequeg met") - 1.0).abs() < 1e-6);
    /// # Ok::<(), senv::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] if the word is unknown itself.
    pub fn with_unknown_row(mut self, word: &str) -> Result<Self> {
        let (name, requirement) = ("unknown_row", "one of the words with a vector");
        let unknown =
            || Error::InvalidParameter { name, requirement, got: format!("{word}", word = senv_core::quoted(word)) };
        self.unknown_row = Some(self.vocabulary.id(word).ok_or_else(unknown)?);
        self.hashed = None;
        Ok(self)
    }

    /// Returns the word whose row replaces unknown ones, if there is one.
    #[must_use]
    pub fn unknown_row(&self) -> Option<&str> {
        self.unknown_row.map(|id| self.vocabulary.token(id))
    }

    /// Returns how the tokens of a text are looked up.
    pub(crate) fn look_up(&self) -> LookUp {
        let Self { tokenizer, vocabulary, unknown_row, .. } = self;
        LookUp { tokenizer: tokenizer.clone(), vocabulary: vocabulary.clone(), unknown_row: *unknown_row }
    }

    /// Returns the same encoder with vectors for unknown words as they were saved.
    pub(crate) fn with_hashed(mut self, hashed: Option<HashedWords>) -> Self {
        self.hashed = hashed;
        self
    }

    /// Returns the vectors of unknown words, if any.
    pub(crate) fn hashed(&self) -> Option<&HashedWords> {
        self.hashed.as_ref()
    }

    /// Returns how unknown words are treated.
    #[must_use]
    pub fn unknown_words(&self) -> UnknownWords {
        if self.hashed.is_some() { UnknownWords::Hash } else { UnknownWords::Skip }
    }

    /// Returns the tokenizer.
    #[must_use]
    pub fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }

    /// Returns the known words.
    #[must_use]
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// Returns the features and their rows.
    #[must_use]
    pub fn features(&self) -> &WordNgrams {
        &self.features
    }

    /// Returns the rows of words and n-grams.
    #[must_use]
    pub fn rows(&self) -> &Table {
        &self.rows
    }

    /// Returns the weights and common components; `None` for a plain mean.
    #[must_use]
    pub fn weighting(&self) -> Option<&Weighting> {
        self.weighting.as_deref()
    }

    /// Returns the row of a word as it was trained, without its weight.
    #[must_use]
    pub fn word(&self, token: &str) -> Option<&[f32]> {
        self.vocabulary.id(token).map(|id| self.rows.row(self.features.token_row(id).index()))
    }

    /// Returns the token, relative frequency in the training text and unweighted row of every word, most frequent
    /// first.
    pub fn words(&self) -> impl Iterator<Item = (&str, f64, &[f32])> + '_ {
        self.vocabulary.iter().map(|(id, token, _)| {
            (token, self.vocabulary.frequency(id), self.rows.row(self.features.token_row(id).index()))
        })
    }

    /// Writes the mean of the rows of these tokens and their n-grams to `out`, weighted if the encoder is; zero without
    /// tokens.
    pub(crate) fn encode_tokens(&self, tokens: &[TokenId], scratch: &mut Scratch, out: &mut [f32]) {
        self.encode_tokens_and_unknown(tokens, 0, scratch, out);
    }

    /// Like [`Self::encode_tokens`], with `n_unknown` unknown words, whose weighted vectors were summed in
    /// `scratch.unknown`.
    pub(crate) fn encode_tokens_and_unknown(
        &self,
        tokens: &[TokenId],
        n_unknown: usize,
        scratch: &mut Scratch,
        out: &mut [f32],
    ) {
        let square = self.hashed.map_or(0.0, |hashed| hashed.value(out.len()).powi(2));
        if let Some(weighting) = &self.weighting {
            return weighting.encode_tokens(&self.features, &self.rows, tokens, (n_unknown, square), scratch, out);
        }
        self.features.features_into(tokens, &mut scratch.features);
        let rows = scratch.features.rows();
        let share = 1.0 / (rows.len() + n_unknown).max(1) as f32;
        kernels::sum_rows(self.rows.values(), self.rows.stride(), rows, share, out);
        if n_unknown > 0 {
            kernels::axpy(share, &scratch.unknown, out);
        }
    }
}

/// The look-up of an encoder, usable while the encoder is changed.
pub(crate) struct LookUp {
    tokenizer: Tokenizer,
    vocabulary: Vocabulary,
    unknown_row: Option<TokenId>,
}

impl LookUp {
    /// Looks up the tokens of a text.
    pub(crate) fn tokens(&self, text: &str, scratch: &mut String, tokens: &mut Vec<TokenId>) -> Coverage {
        let Self { tokenizer, vocabulary, unknown_row } = self;
        tokens_with_row(tokenizer, vocabulary, *unknown_row, text, scratch, tokens)
    }
}

/// Looks up the tokens of a text, with `row` for unknown ones if it is given. [`Coverage::hashed`] counts them.
fn tokens_with_row(
    tokenizer: &Tokenizer,
    vocabulary: &Vocabulary,
    row: Option<TokenId>,
    text: &str,
    scratch: &mut String,
    tokens: &mut Vec<TokenId>,
) -> Coverage {
    let Some(row) = row else { return known_tokens(tokenizer, vocabulary, text, scratch, tokens) };
    let mut unknown = 0;
    let n = vocabulary.known_tokens_or(tokenizer, text, scratch, tokens, |_, tokens| {
        tokens.push(row);
        unknown += 1;
    });
    Coverage { hashed: unknown, ..Coverage::new(n, n - unknown) }
}

/// Looks up the tokens of a text and returns their number, known or not.
pub(crate) fn known_tokens(
    tokenizer: &Tokenizer,
    vocabulary: &Vocabulary,
    text: &str,
    scratch: &mut String,
    tokens: &mut Vec<TokenId>,
) -> Coverage {
    vocabulary.known_tokens(tokenizer, text, scratch, tokens)
}

senv_core::encoding_methods!([] AverageEncoder);

impl SentenceEncoder for AverageEncoder {
    fn dim(&self) -> usize {
        self.rows.dim()
    }

    fn encode_sentence(&self, sentence: &str, scratch: &mut Scratch, out: &mut [f32]) -> Coverage {
        let mut tokens = std::mem::take(&mut scratch.tokens);
        if let Some(hashed) = self.hashed {
            let weight = self.weighting.as_ref().map_or(1.0, |weighting| weighting.of_unknown());
            let (value, dim) = (weight * hashed.value(self.dim()), self.dim());
            let Scratch { text, unknown, .. } = scratch;
            let Self { tokenizer, vocabulary, .. } = self;
            let coverage = look_up_all(vocabulary, tokenizer, sentence, value, dim, text, &mut tokens, unknown);
            self.encode_tokens_and_unknown(&tokens, coverage.hashed, scratch, out);
            scratch.tokens = tokens;
            return coverage;
        }
        let Self { tokenizer, vocabulary, unknown_row, .. } = self;
        let coverage = tokens_with_row(tokenizer, vocabulary, *unknown_row, sentence, &mut scratch.text, &mut tokens);
        self.encode_tokens(&tokens, scratch, out);
        scratch.tokens = tokens;
        coverage
    }
}

/// Returns words only, without n-grams: row i is word i.
pub(crate) fn words(vocabulary: &Vocabulary) -> crate::Result<WordNgrams> {
    Ok(WordNgrams::new(vocabulary, WordNgramParams { max_n: 1, first_row: 0, ..WordNgramParams::default() })?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::average::weight_scheme::WeightScheme;

    /// Returns an encoder with one row per word, one of them for unknown words.
    fn encoder() -> AverageEncoder {
        let vocabulary = Vocabulary::from_counts([("cat", 6), ("dog", 3), ("UUUNKKK", 1)], 10).unwrap();
        let rows = Table::from_vec(3, 2, vec![4.0, 0.0, 0.0, 8.0, 1.0, -2.0]).unwrap();
        let features = words(&vocabulary).unwrap();
        AverageEncoder::new(Tokenizer::words(), vocabulary, features, rows).unwrap()
    }

    fn vector(encoder: &AverageEncoder, text: &str) -> (Coverage, Vec<f32>) {
        let mut out = vec![f32::NAN; 2];
        let coverage = encoder.encode_into(text, &mut Scratch::default(), &mut out);
        (coverage, out)
    }

    #[test]
    fn a_row_stands_for_every_unknown_word() {
        let with_row = encoder().with_unknown_row("UUUNKKK").unwrap();
        let coverage = Coverage { hashed: 2, ..Coverage::new(4, 2) };
        // (4 + 0 + 2 x 1) / 4 and (0 + 8 - 2 x 2) / 4.
        assert_eq!(vector(&with_row, "cat Ishmael dog Queequeg"), (coverage, vec![1.5, 1.0]));
        assert_eq!(vector(&encoder(), "cat Ishmael dog Queequeg").1, [2.0, 4.0], "left out by default");
        assert_eq!(vector(&with_row, "").1, [0.0, 0.0]);
        assert_eq!(with_row.unknown_row(), Some("UUUNKKK"));
        let other = with_row.with_unknown_words(UnknownWords::Skip);
        assert_eq!((other.unknown_row(), vector(&other, "Ishmael").1), (None, vec![0.0, 0.0]));
        let error = encoder().with_unknown_row("UNK").unwrap_err().to_string();
        assert!(error.contains("unknown_row") && error.contains("\"UNK\""), "{error}");
    }

    #[test]
    fn the_row_has_its_weight_and_a_part_in_the_common_components() {
        let with_row = encoder().with_unknown_row("UUUNKKK").unwrap();
        let scheme = Some(WeightScheme::Sif { a: 0.2 });
        // Weights .2 / (.2 + p): 1/4 of cat, 2/5 of dog, 2/3 of the row.
        let weighted = with_row.weighted_on(scheme, &["Ishmael", "Queequeg", "dog"], 1).unwrap();
        // The sentences are the row, twice, and dog. Their first direction is removed from the mean of cat and the row.
        let (row, dog) = ([2.0 / 3.0, -4.0 / 3.0], [0.0, 2.0 / 5.0 * 8.0_f32]);
        let moment = |i: usize, j: usize| -> f32 { 2.0 * row[i] * row[j] + dog[i] * dog[j] };
        let (a, b, c) = (moment(0, 0), moment(0, 1), moment(1, 1));
        let largest = (a + c) / 2.0 + (((a - c) / 2.0).powi(2) + b * b).sqrt();
        let direction = [b, largest - a];
        let mean = [(1.0 + row[0]) / 2.0, row[1] / 2.0];
        let squares = direction[0] * direction[0] + direction[1] * direction[1];
        let along = (mean[0] * direction[0] + mean[1] * direction[1]) / squares;
        let expected = [mean[0] - along * direction[0], mean[1] - along * direction[1]];
        let (_, got) = vector(&weighted, "cat Ishmael");
        assert!(got.iter().zip(expected).all(|(x, y)| (x - y).abs() < 1e-5), "{got:?} {expected:?}");
    }
}
