//! The mean of the rows of a sentence's features: what Sent2Vec and averaged word vectors are once trained.
//!
//! Equation: `feature-average`
//!
//! ```text
//! v_S = (1/|R(S)|) Σ_{r in R(S)} v_r        R(S): known words, and the n-grams over them; v_S = 0 if R(S) is empty
//! ```
//!
//! Pagliardini, Gupta and Jaggi 2018, equation 1. Unknown words are dropped before n-grams are formed, nothing is
//! dropped at random, and a word that occurs twice counts twice. With a [`Weighting`] the mean is weighted, and common
//! components are removed from it (`feature-weight`); with [`UnknownWords::Hash`] unknown words join it (`unknown-word`).

use crate::SavedModel;
use crate::model::embeddings_of;
use senv_core::{
    Corpus, Coverage, Error, Result, Rows, Scratch, SentenceEncoder, Table, TokenId, Tokenizer, Vocabulary, kernels,
    look_up_all,
};
use senv_ngram::WordNgramParams;
use senv_ngram::WordNgrams;
use std::path::Path;

use crate::{
    UnknownWords, WeightScheme, Weighting,
    unknown_words::HashedWords,
    weighting::{self, TokenSentences},
};

/// Averages the rows of words and n-grams, with weights where it has any.
#[derive(Debug, Clone)]
pub struct AverageEncoder {
    tokenizer: Tokenizer,
    vocabulary: Vocabulary,
    features: WordNgrams,
    rows: Table,
    weighting: Option<Box<Weighting>>,
    hashed: Option<HashedWords>,
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
        Ok(Self { tokenizer, vocabulary, features, rows, weighting: None, hashed: None })
    }

    /// The same encoder with another weighting, or none.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] if the weighting is of another vocabulary or dimension.
    pub fn with_weighting(mut self, weighting: Option<Weighting>) -> Result<Self> {
        if let Some(weighting) = &weighting {
            weighting.check_shape(self.vocabulary.len(), self.rows.dim())?;
        }
        self.weighting = weighting.map(Box::new);
        Ok(self)
    }

    /// The same encoder with or without vectors for unknown words. For [`UnknownWords::Hash`] all rows are read, whose mean
    /// length those vectors get.
    ///
    /// ```
    /// use senv_core::{SentenceEncoder, Tokenizer, Vocabulary};
    /// use senv_models::{AverageEncoder, UnknownWords};
    /// let vocabulary = Vocabulary::from_counts([("met", 2)], 2)?;
    /// let encoder = AverageEncoder::random(&Tokenizer::words(), &vocabulary, &["met"], 300, 1)?;
    /// assert_eq!(encoder.similarity("Ishmael", "Ishmael"), 0.0);
    /// let encoder = encoder.with_unknown_words(UnknownWords::Hash);
    /// assert!(encoder.similarity("met Ishmael", "Ishmael left") > encoder.similarity("met Ishmael", "Queequeg left") + 0.3);
    /// # Ok::<(), senv_models::Error>(())
    /// ```
    #[must_use]
    pub fn with_unknown_words(mut self, unknown: UnknownWords) -> Self {
        self.hashed = match unknown {
            UnknownWords::Skip => None,
            UnknownWords::Hash => Some(HashedWords::like(&self)),
        };
        self
    }

    /// The same encoder with vectors for unknown words as they were saved.
    pub(crate) fn with_hashed(mut self, hashed: Option<HashedWords>) -> Self {
        self.hashed = hashed;
        self
    }

    /// The vectors of unknown words, if they have any.
    pub(crate) fn hashed(&self) -> Option<&HashedWords> {
        self.hashed.as_ref()
    }

    /// What stands for unknown words.
    #[must_use]
    pub fn unknown_words(&self) -> UnknownWords {
        if self.hashed.is_some() { UnknownWords::Hash } else { UnknownWords::Skip }
    }

    /// The same encoder with weights by the counts of its vocabulary, and the common components of a random sample (at
    /// most [`crate::WEIGHTING_SENTENCES`]) of the sentences of `corpus`, which is coded in that vocabulary.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a parameter out of range, a vocabulary without counts or a corpus without a known
    /// word; [`Error::Io`] if the corpus cannot be read back.
    pub fn weighted(self, scheme: Option<WeightScheme>, corpus: &Corpus, seed: u64) -> crate::Result<Self> {
        weighting::weighted(self, scheme, corpus, seed)
    }

    /// As [`AverageEncoder::weighted`], on sentences in memory.
    ///
    /// # Errors
    /// As [`AverageEncoder::weighted`].
    pub fn weighted_on<S: AsRef<str>>(
        self,
        scheme: Option<WeightScheme>,
        sentences: &[S],
        seed: u64,
    ) -> crate::Result<Self> {
        let lines = Lines { tokenizer: self.tokenizer.clone(), vocabulary: self.vocabulary.clone(), sentences };
        weighting::weighted(self, scheme, &lines, seed)
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

    /// The weights and common components; `None` for a plain mean.
    #[must_use]
    pub fn weighting(&self) -> Option<&Weighting> {
        self.weighting.as_deref()
    }

    /// The row of a word, as it was trained: without its weight.
    #[must_use]
    pub fn word(&self, token: &str) -> Option<&[f32]> {
        self.vocabulary.id(token).map(|id| self.rows.row(self.features.token_row(id).index()))
    }

    /// Token, relative frequency in the training text and row (without its weight) of every word, the most frequent
    /// first.
    pub fn words(&self) -> impl Iterator<Item = (&str, f64, &[f32])> + '_ {
        self.vocabulary.iter().map(|(id, token, _)| {
            (token, self.vocabulary.frequency(id), self.rows.row(self.features.token_row(id).index()))
        })
    }

    /// The mean, weighted if the encoder is, of the rows of these tokens and their n-grams; zero without tokens.
    pub fn encode_tokens(&self, tokens: &[TokenId], scratch: &mut Scratch, out: &mut [f32]) {
        self.encode_with(tokens, 0, scratch, out);
    }

    /// The same with `n_unknown` unknown words, whose vectors, each with its weight, were added up in `scratch.unknown`.
    pub(crate) fn encode_with(&self, tokens: &[TokenId], n_unknown: usize, scratch: &mut Scratch, out: &mut [f32]) {
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

/// Sentences in memory, looked up one by one.
struct Lines<'s, S> {
    tokenizer: Tokenizer,
    vocabulary: Vocabulary,
    sentences: &'s [S],
}

impl<S: AsRef<str>> TokenSentences for Lines<'_, S> {
    fn n_sentences(&self) -> u64 {
        self.sentences.len() as u64
    }

    fn visit(&self, each: &mut dyn FnMut(&[TokenId]) -> crate::Result<bool>) -> crate::Result<()> {
        let (mut text, mut tokens) = (String::new(), Vec::new());
        for sentence in self.sentences {
            known_tokens(&self.tokenizer, &self.vocabulary, sentence.as_ref(), &mut text, &mut tokens);
            if !each(&tokens)? {
                return Ok(());
            }
        }
        Ok(())
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

impl SavedModel for AverageEncoder {
    fn kind(&self) -> &'static str {
        "embeddings"
    }

    fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }

    fn rows(&self) -> &Table {
        &self.rows
    }

    fn config_json(&self) -> serde_json::Value {
        serde_json::Value::Null
    }

    fn write(&self, path: &Path) -> crate::Result<()> {
        Ok(embeddings_of(self)?.save(path)?)
    }

    fn average(&self) -> Option<&AverageEncoder> {
        Some(self)
    }
}

impl SentenceEncoder for AverageEncoder {
    fn dim(&self) -> usize {
        self.rows.dim()
    }

    fn encode_into(&self, sentence: &str, scratch: &mut Scratch, out: &mut [f32]) -> Coverage {
        let mut tokens = std::mem::take(&mut scratch.tokens);
        if let Some(hashed) = self.hashed {
            let weight = self.weighting.as_ref().map_or(1.0, |weighting| weighting.of_unknown());
            let (value, dim) = (weight * hashed.value(self.dim()), self.dim());
            let Scratch { text, unknown, .. } = scratch;
            let Self { tokenizer, vocabulary, .. } = self;
            let coverage = look_up_all(vocabulary, tokenizer, sentence, value, dim, text, &mut tokens, unknown);
            self.encode_with(&tokens, coverage.hashed, scratch, out);
            scratch.tokens = tokens;
            return coverage;
        }
        let coverage = known_tokens(&self.tokenizer, &self.vocabulary, sentence, &mut scratch.text, &mut tokens);
        self.encode_tokens(&tokens, scratch, out);
        scratch.tokens = tokens;
        coverage
    }
}

/// Words alone, no n-grams: row i is word i.
pub(crate) fn words(vocabulary: &Vocabulary) -> crate::Result<WordNgrams> {
    Ok(WordNgrams::new(vocabulary, WordNgramParams { max_n: 1, first_row: 0, ..WordNgramParams::default() })?)
}
