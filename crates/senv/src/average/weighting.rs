//! Weights of words and n-grams, and removal of common components, for any model whose sentence vector is an average.
//!
//! Equation: `feature-weight`
//!
//! ```text
//! w(t)                          a word: `sif-weight` or `usif-weight`
//! w(t_i … t_j) = min_k w(t_k)   an n-gram: that of its most frequent word
//! s                             `weighted-sentence` over words and n-grams, divided by how many they are
//! v_S                           s after `common-component-removal`
//! ```
//!
//! An n-gram weighs as much as its most frequent word. "of the" counts as little as "the", and so does "the boat",
//! whose other word is already counted. By its own frequency an n-gram would weigh at least as much as its rarest word.
//! That is worse, because most n-grams of a text of this size have rows that were hardly trained.
//!
//! These choices were compared on a model of words and bigrams of 1.6 million words of news with SIF, one run each. The
//! mean of STS 2014 / 2013 was:
//!
//! * minimum 49.3 / 28.7, product 49.3 / 28.7, geometric mean 49.2 / 28.4, mean 49.0 / 27.9, maximum 48.5 / 26.8;
//! * without weights 36.1 / 20.9.
//!
//! A product of uSIF's weights, which go up to 2, would favor n-grams of rare words.
//!
//! S. Arora, Y. Liang and T. Ma, "A Simple but Tough-to-Beat Baseline for Sentence Embeddings", ICLR 2017; K.
//! Ethayarajh, "Unsupervised Random Walk Sentence Embeddings", RepL4NLP 2018. Both describe words only.

use senv_core::{Error as CoreError, Rows, Scratch, Table, TokenId};
use senv_ngram::WordNgrams;
use senv_store::{
    CommonComponents, ModelFile, ModelWriter, RowSum, load_weights_from, save_weights_into, weighted_sentence_with,
};

use crate::{
    average::weight_scheme::WeightScheme,
    error::{Error, Result},
};

/// The weights of the words of a model, and the common components of its sentence vectors.
///
/// The rows of the model are unchanged; weights are applied when a sentence is encoded.
#[derive(Debug, Clone)]
pub struct Weighting {
    scheme: WeightScheme,
    words: Vec<f32>,
    /// The highest of these weights.
    unknown: f32,
    components: Option<CommonComponents>,
}

impl Weighting {
    /// Creates weights without components.
    pub(crate) fn new(scheme: WeightScheme, words: Vec<f32>) -> Self {
        let unknown = words.iter().copied().fold(0.0, f32::max);
        Self { scheme, words, unknown, components: None }
    }

    /// Returns the scheme of the weights.
    #[must_use]
    pub fn scheme(&self) -> WeightScheme {
        self.scheme
    }

    /// Returns the weight of each word, in vocabulary order.
    #[must_use]
    pub fn words(&self) -> &[f32] {
        &self.words
    }

    /// Returns the common components to remove; `None` if none were requested.
    #[must_use]
    pub fn components(&self) -> Option<&CommonComponents> {
        self.components.as_ref()
    }

    /// Returns the same weights with these components.
    pub(crate) fn with_components(self, components: CommonComponents) -> Self {
        Self { components: Some(components), ..self }
    }

    /// Returns the same weights without components.
    pub(crate) fn without_components(self) -> Self {
        Self { components: None, ..self }
    }

    /// Returns the weight of an unknown word, the highest of any word.
    pub(crate) fn of_unknown(&self) -> f32 {
        self.unknown
    }

    /// Checks that it fits an encoder with this many words and dimensions.
    pub(crate) fn check_shape(&self, n_words: usize, dim: usize) -> senv_core::Result<()> {
        let mismatch = |what, expected, got| Err(CoreError::ShapeMismatch { what, expected, got });
        if self.words.len() != n_words {
            return mismatch("the weights of the words", n_words, self.words.len());
        }
        match &self.components {
            Some(components) if components.dim() != dim => mismatch("the common components", dim, components.dim()),
            _ => Ok(()),
        }
    }

    /// Writes the vector of these tokens and of some unknown words to `out`; zero if nothing has a weight. The vectors
    /// of unknown words have values of this square and were summed in `scratch.unknown`.
    pub(crate) fn encode_tokens(
        &self,
        features: &WordNgrams,
        table: &Table,
        tokens: &[TokenId],
        (n, square): (usize, f32),
        scratch: &mut Scratch,
        out: &mut [f32],
    ) {
        let Scratch { features: list, values: weights, unknown, .. } = scratch;
        features.features_into(tokens, list);
        weights.clear();
        for start in 0..list.n_tokens() {
            let (mut weight, mut last) = (self.words[tokens[start].index()], start);
            for i in list.starting_at(start) {
                while last < list.end_of(i) {
                    last += 1;
                    weight = weight.min(self.words[tokens[last].index()]);
                }
                weights.push(weight);
            }
        }
        let rows = list.rows().iter().map(|row| table.row(row.index())).zip(weights.iter().copied());
        // Rows are as long as `out`, because both have the dimension of the table.
        let unknown = RowSum { n, weighted: unknown, square };
        if weighted_sentence_with(rows, unknown, self.scheme.is_usif(), out).unwrap_or(0) == 0 {
            out.fill(0.0);
        } else if let Some(components) = &self.components {
            components.remove(out);
        }
    }

    /// Adds the weights and components to a model file.
    pub(crate) fn save_into<'a>(&'a self, writer: ModelWriter<'a>) -> ModelWriter<'a> {
        let writer = save_weights_into(&self.words, writer);
        match &self.components {
            Some(components) => components.save_into(writer),
            None => writer,
        }
    }

    /// Reads what [`Weighting::save_into`] wrote; `n_components` is the maximum number that the configuration requests.
    pub(crate) fn open(
        file: &ModelFile,
        scheme: WeightScheme,
        n_words: usize,
        dim: usize,
        n_components: usize,
    ) -> Result<Self> {
        let missing =
            |tensor| Error::BadModel { path: file.path().to_owned(), reason: format!("tensor {tensor:?} is missing") };
        let words = load_weights_from(file, n_words)?.ok_or_else(|| missing("word_weights"))?;
        let components = CommonComponents::load_from(file, dim)?;
        if n_components > 0 && components.is_none() {
            return Err(missing("common_components.vectors"));
        }
        Ok(Self { components, ..Self::new(scheme, words) })
    }
}

/// The highest dimension of vectors whose common components are computed. The work grows with its third power (more
/// than a quarter of an hour at 20,000), and is done after training.
const MAX_DIM: usize = 4096;

/// Checks before training that weights by these counts are possible for vectors of this dimension.
pub(crate) fn check(scheme: Option<WeightScheme>, dim: usize, vocabulary: &senv_core::Vocabulary) -> Result<()> {
    let Some(scheme) = scheme else { return Ok(()) };
    if dim > MAX_DIM {
        let requirement = "at most 4096 with word weights (larger only without weights)";
        let error = senv_core::Error::InvalidParameter { name: "dim", requirement, got: dim.to_string() };
        return Err(error.into());
    }
    scheme.word_weights(vocabulary, vocabulary).map(drop)
}

#[cfg(test)]
mod tests {
    use senv_core::Vocabulary;

    use super::*;

    #[test]
    fn a_dimension_whose_components_take_too_long_is_refused_before_training() {
        let words = Vocabulary::from_counts([("the", 3), ("cat", 1)], 4).unwrap();
        for (scheme, dim, ok) in [
            (Some(WeightScheme::USIF), MAX_DIM, true),
            (Some(WeightScheme::SIF), MAX_DIM + 1, false),
            (Some(WeightScheme::USIF), 65_536, false),
            (None, 65_536, true),
        ] {
            let checked = check(scheme, dim, &words);
            assert_eq!(checked.is_ok(), ok, "{scheme:?} {dim}");
            if let Err(error) = checked {
                assert!(error.to_string().contains("without weights"), "{error}");
            }
        }
        let uncounted = Vocabulary::from_counts([("the", 0), ("cat", 0)], 0).unwrap();
        assert!(check(Some(WeightScheme::SIF), 10, &uncounted).is_err());
    }
}
