//! The weights and common components of an encoder, found on sentences of a corpus, of pairs or in memory.

use rand::RngExt;
use senv_core::{
    Corpus, Scratch, Sentences, TokenId,
    corpus::BlockBuffer,
    rng::{Stream, stream},
};
use senv_store::SecondMoment;

use super::{
    encoder::{AverageEncoder, LookUp},
    weight_scheme::WeightScheme,
    weighting::Weighting,
};
use crate::{data::PairData, error::Result};

/// The maximum number of sentences, drawn at random from the training text, on which common components are found.
pub const WEIGHTING_SENTENCES: u64 = 100_000;

impl AverageEncoder {
    /// Returns the same encoder with weights by the counts of its vocabulary. The common components are those of a
    /// random sample (at most [`crate::average::WEIGHTING_SENTENCES`]) of the sentences of `corpus`, whose ids must be
    /// of that vocabulary.
    ///
    /// # Errors
    /// [`senv_core::Error::InvalidParameter`] for a parameter out of range, a vocabulary without counts or a corpus
    /// without a known word; [`senv_core::Error::Io`] if the corpus cannot be read back.
    pub fn weighted(self, scheme: Option<WeightScheme>, corpus: &Corpus, seed: u64) -> Result<Self> {
        weighted(self, scheme, corpus, seed)
    }

    /// Does the same as [`AverageEncoder::weighted`], on sentences in memory.
    ///
    /// # Errors
    /// The errors of [`AverageEncoder::weighted`].
    pub fn weighted_on<S: AsRef<str>>(self, scheme: Option<WeightScheme>, sentences: &[S], seed: u64) -> Result<Self> {
        let lines = Lines { look_up: self.look_up(), sentences };
        weighted(self, scheme, &lines, seed)
    }
}

/// Sentences in memory, looked up one by one.
struct Lines<'s, S> {
    look_up: LookUp,
    sentences: &'s [S],
}

impl<S: AsRef<str>> TokenSentences for Lines<'_, S> {
    fn n_sentences(&self) -> u64 {
        self.sentences.len() as u64
    }

    fn visit(&self, each: &mut dyn FnMut(&[TokenId]) -> Result<bool>) -> Result<()> {
        let (mut text, mut tokens) = (String::new(), Vec::new());
        for sentence in self.sentences {
            self.look_up.tokens(sentence.as_ref(), &mut text, &mut tokens);
            if !each(&tokens)? {
                return Ok(());
            }
        }
        Ok(())
    }
}

/// Finds the common components of an encoder's weighted sentences on a random sample.
pub(crate) struct ComponentSearch {
    encoder: AverageEncoder,
    weighting: Weighting,
    moment: SecondMoment,
    rng: Stream,
    /// The number of sentences to come, and how many of them will be used.
    n_left: u64,
    n_wanted: u64,
    scratch: Scratch,
    vector: Vec<f32>,
}

impl ComponentSearch {
    /// Prepares for `n_sentences` sentences, of which at most `n_wanted` are used, each with equal chance.
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

    /// Adds the next sentence, unless it has no known word. Returns whether more are needed.
    pub(crate) fn add(&mut self, tokens: &[TokenId]) -> Result<bool> {
        // Knuth, The Art of Computer Programming 2, algorithm S: takes exactly `n_wanted`, in order.
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

    /// Whether no sentence with a known word was added.
    pub(crate) fn is_empty(&self) -> bool {
        self.moment.n_vectors() == 0
    }

    /// Returns the encoder with its weighting and `n_components` components to remove. There are fewer if the vectors
    /// do not have more dimensions than that, or if nothing would be left of the sentences.
    pub(crate) fn finish(mut self, n_components: usize) -> Result<AverageEncoder> {
        let n = n_components.min(self.vector.len().saturating_sub(1));
        let components = self.moment.removable_components(n, self.weighting.scheme().is_usif())?;
        self.weighting = self.weighting.with_components(components);
        Ok(self.encoder.with_weighting(Some(self.weighting))?)
    }
}

/// A source that can be sampled: the sentences of a text as token ids.
pub(crate) trait TokenSentences {
    /// Returns the number of sentences.
    fn n_sentences(&self) -> u64;

    /// Passes sentences to `each` until it returns false.
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

impl TokenSentences for Sentences {
    fn n_sentences(&self) -> u64 {
        self.len() as u64
    }

    fn visit(&self, each: &mut dyn FnMut(&[TokenId]) -> Result<bool>) -> Result<()> {
        for sentence in self.iter() {
            if !each(sentence)? {
                return Ok(());
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

/// Returns an encoder with this weighting: weights by the counts of its vocabulary, components found on a random sample
/// of at most [`WEIGHTING_SENTENCES`] sentences.
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
    use senv_core::{Table, Tokenizer, Vocabulary};

    use super::*;
    use crate::average::encoder::words;

    /// Returns the numbers of the 100 sentences taken of 1000.
    fn taken(seed: u64) -> Vec<u32> {
        let vocabulary = Vocabulary::from_counts([("a", 3), ("b", 1)], 4).unwrap();
        let rows = Table::from_vec(2, 2, vec![1.0, 0.0, 0.0, 1.0]).unwrap();
        let features = words(&vocabulary).unwrap();
        let encoder = AverageEncoder::new(Tokenizer::whitespace(), vocabulary, features, rows).unwrap();
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
