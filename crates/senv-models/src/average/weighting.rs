//! Weights of words and n-grams, and removal of common components: a part of any model whose sentence vector is an
//! average.
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
//! An n-gram weighs as much as its most frequent word: "of the" counts as little as "the", and so does "the boat", whose
//! other word is counted already. By its own frequency an n-gram would weigh at least as much as its rarest word, and
//! that is worse: most n-grams of a text of this size have rows that were hardly trained. On a model of words and bigrams
//! of 1.6 million words of news with SIF (mean of STS 2014 / 2013; one run each): minimum 49.3 / 28.7, product
//! 49.3 / 28.7, geometric mean 49.2 / 28.4, mean 49.0 / 27.9, maximum 48.5 / 26.8; without weights 36.1 / 20.9. A product
//! of uSIF's weights, which go up to 2, would favour n-grams of rare words.
//!
//! S. Arora, Y. Liang and T. Ma, "A Simple but Tough-to-Beat Baseline for Sentence Embeddings", ICLR 2017; K. Ethayarajh,
//! "Unsupervised Random Walk Sentence Embeddings", RepL4NLP 2018. Both speak of words alone.

use rand::RngExt;
use senv_core::{BlockBuffer, Corpus, Error as CoreError, Rows, Scratch, Stream, Table, TokenId, Vocabulary, stream};
use senv_ngram::WordNgrams;
use senv_store::{
    CommonComponents, ModelFile, ModelWriter, RowSum, SecondMoment, load_weights_from, save_weights_into,
    weighted_sentence_with,
};

use crate::{
    average::{encoder::AverageEncoder, weight_scheme::WeightScheme},
    data::PairData,
    error::{Error, Result},
};

/// Sentences of the training text, drawn at random, that common components are found on, at most.
pub const WEIGHTING_SENTENCES: u64 = 100_000;

/// Weights of the words of a model, and the common components of its sentence vectors.
///
/// The rows of the model stay as they were trained: they are weighted sentence by sentence.
#[derive(Debug, Clone)]
pub struct Weighting {
    scheme: WeightScheme,
    words: Vec<f32>,
    /// The highest of these weights.
    unknown: f32,
    components: Option<CommonComponents>,
}

impl Weighting {
    /// Weights without components.
    pub(crate) fn new(scheme: WeightScheme, words: Vec<f32>) -> Self {
        let unknown = words.iter().copied().fold(0.0, f32::max);
        Self { scheme, words, unknown, components: None }
    }

    /// Whose weights.
    #[must_use]
    pub fn scheme(&self) -> WeightScheme {
        self.scheme
    }

    /// The weight of each word, in the order of the vocabulary.
    #[must_use]
    pub fn words(&self) -> &[f32] {
        &self.words
    }

    /// The common components that are removed; `None` if none were asked for.
    #[must_use]
    pub fn components(&self) -> Option<&CommonComponents> {
        self.components.as_ref()
    }

    /// The same weights without components.
    pub(crate) fn without_components(self) -> Self {
        Self { components: None, ..self }
    }

    /// The weight of an unknown word: that of the word that weighs most.
    pub(crate) fn of_unknown(&self) -> f32 {
        self.unknown
    }

    /// Whether it fits an encoder of so many words and values.
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

    /// The vector of these tokens and of so many unknown words, whose vectors have values of this square and were added up
    /// in `scratch.unknown`; zero where nothing has a weight.
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
        // Rows are as long as `out`: both have the dimension of the table.
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

    /// Reads what [`Weighting::save_into`] wrote; `n_components` is how many the configuration asks for, at most.
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

/// Finds the common components of an encoder's weighted sentences, on a random sample of those that it is given.
pub(crate) struct ComponentSearch {
    encoder: AverageEncoder,
    weighting: Weighting,
    moment: SecondMoment,
    rng: Stream,
    /// Sentences to come, and how many of them will be taken.
    n_left: u64,
    n_wanted: u64,
    scratch: Scratch,
    vector: Vec<f32>,
}

impl ComponentSearch {
    /// For `n_sentences` to come, of which at most `n_wanted` are taken, each with equal chance.
    pub(crate) fn new(
        encoder: AverageEncoder,
        weighting: Weighting,
        n_sentences: u64,
        n_wanted: u64,
        seed: u64,
    ) -> Result<Self> {
        let dim = encoder.rows().dim();
        Ok(Self {
            encoder,
            weighting,
            moment: SecondMoment::new(dim)?,
            rng: stream(seed, "weighting sentences", &[]),
            n_left: n_sentences,
            n_wanted: n_wanted.min(n_sentences),
            scratch: Scratch::default(),
            vector: vec![0.0; dim],
        })
    }

    /// The next sentence; those without a known word are passed over. Whether more are wanted.
    pub(crate) fn add(&mut self, tokens: &[TokenId]) -> Result<bool> {
        // Knuth, The Art of Computer Programming 2, algorithm S: just as many as wanted, in their order.
        let taken = self.n_wanted >= self.n_left || self.rng.random_range(0..self.n_left) < self.n_wanted;
        self.n_left = self.n_left.saturating_sub(1);
        if taken && self.n_wanted > 0 {
            self.n_wanted -= 1;
            if !tokens.is_empty() {
                let Self { encoder, weighting, scratch, vector, .. } = self;
                weighting.encode_tokens(encoder.features(), encoder.rows(), tokens, (0, 0.0), scratch, vector);
                self.moment.add(vector)?;
            }
        }
        Ok(self.n_wanted > 0)
    }

    /// The encoder with its weighting, of which `n_components` are removed (fewer where the vectors have no more
    /// dimensions than that).
    pub(crate) fn finish(mut self, n_components: usize) -> Result<AverageEncoder> {
        let n = n_components.min(self.vector.len().saturating_sub(1));
        self.weighting.components = Some(self.moment.common_components(n, self.weighting.scheme.is_usif())?);
        Ok(self.encoder.with_weighting(Some(self.weighting))?)
    }
}

/// What can be sampled: the sentences of a text as token ids.
pub(crate) trait TokenSentences {
    /// How many there are.
    fn n_sentences(&self) -> u64;

    /// Hands them over one by one until no more are wanted.
    fn visit(&self, each: &mut dyn FnMut(&[TokenId]) -> Result<bool>) -> Result<()>;
}

impl TokenSentences for Corpus {
    fn n_sentences(&self) -> u64 {
        Corpus::n_sentences(self)
    }

    fn visit(&self, each: &mut dyn FnMut(&[TokenId]) -> Result<bool>) -> Result<()> {
        let mut block = BlockBuffer::default();
        for i in 0..self.n_blocks() {
            self.read_block(i, &mut block)?;
            for sentence in block.iter() {
                if !each(sentence)? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

/// The sentences of all sources.
impl TokenSentences for PairData {
    fn n_sentences(&self) -> u64 {
        self.sources.iter().map(|source| source.sentences().len() as u64).sum()
    }

    fn visit(&self, each: &mut dyn FnMut(&[TokenId]) -> Result<bool>) -> Result<()> {
        for sentence in self.sources.iter().flat_map(|source| source.sentences().iter()) {
            if !each(sentence)? {
                return Ok(());
            }
        }
        Ok(())
    }
}

/// Says before the training whether there are weights by these counts.
pub(crate) fn check_counts(scheme: Option<WeightScheme>, vocabulary: &Vocabulary) -> Result<()> {
    scheme.map_or(Ok(()), |scheme| scheme.word_weights(vocabulary, vocabulary).map(drop))
}

/// An encoder with this weighting: weights by the counts of its own vocabulary, components found on a random sample of
/// at most [`WEIGHTING_SENTENCES`] sentences.
pub(crate) fn weighted(
    encoder: AverageEncoder,
    scheme: Option<WeightScheme>,
    sentences: &dyn TokenSentences,
    seed: u64,
) -> Result<AverageEncoder> {
    let Some(scheme) = scheme else { return Ok(encoder.with_weighting(None)?) };
    scheme.check()?;
    let words = scheme.word_weights(encoder.vocabulary(), encoder.vocabulary())?;
    let n = sentences.n_sentences();
    let mut search = ComponentSearch::new(encoder, Weighting::new(scheme, words), n, WEIGHTING_SENTENCES, seed)?;
    sentences.visit(&mut |tokens| search.add(tokens))?;
    search.finish(scheme.n_components())
}

#[cfg(test)]
mod tests {
    use senv_core::Tokenizer;

    use super::*;
    use crate::average::encoder::words;

    /// The numbers of the sentences, of 1000, that 100 are taken of.
    fn taken(seed: u64) -> Vec<u32> {
        let vocabulary = Vocabulary::from_counts([("a", 3), ("b", 1)], 4).unwrap();
        let rows = Table::from_vec(2, 2, vec![1.0, 0.0, 0.0, 1.0]).unwrap();
        let features = words(&vocabulary).unwrap();
        let encoder = AverageEncoder::new(Tokenizer::blank(), vocabulary, features, rows).unwrap();
        let weighting = Weighting::new(WeightScheme::SIF, vec![0.5, 1.0]);
        let mut search = ComponentSearch::new(encoder, weighting, 1000, 100, seed).unwrap();
        let mut taken = Vec::new();
        for i in 0..1000 {
            let before = search.moment.n_vectors();
            let more = search.add(&[TokenId(i % 2)]).unwrap();
            taken.extend((search.moment.n_vectors() > before).then_some(i));
            assert_eq!(more, taken.len() < 100);
        }
        taken
    }

    #[test]
    fn a_sample_has_the_size_asked_for_and_comes_from_the_whole_text() {
        let sample = taken(1);
        assert_eq!(sample.len(), 100);
        let first_half = sample.iter().filter(|&&i| i < 500).count();
        assert!((30..=70).contains(&first_half), "{first_half}");
        assert_eq!(sample, taken(1));
        assert_ne!(sample, taken(2));
    }
}
