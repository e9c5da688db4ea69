//! Validation on pairs with human scores: the score of an encoder is Pearson's r between its cosines and the gold
//! scores, averaged over the sets.

use ndarray::Axis;
use senv_core::{Error as CoreError, Sentences, Tokenizer, Vocabulary, arrays::TokenBatch, kernels};

use crate::{
    average::encoder::known_tokens,
    base::fingerprint::Fingerprint,
    error::Result,
    gradient::{Weights, trainable_encoder::AnyEncoder},
};

pub use senv_data::ScoredPairs;

/// A hash that changes with any of the pairs.
#[must_use]
pub fn scored_pairs_fingerprint(pairs: &ScoredPairs) -> String {
    let pairs = pairs.pairs.iter();
    pairs.fold(Fingerprint::new(), |sum, (score, a, b)| sum.scores(&[*score]).text(a).text(b)).hex()
}

/// Scored pairs as token ids.
#[derive(Debug, Clone)]
pub(crate) struct Validation {
    sets: Vec<Set>,
    batch: TokenBatch,
}

#[derive(Debug, Clone)]
struct Set {
    /// The first sentences, then the second ones.
    sentences: Sentences,
    gold: Vec<f64>,
}

impl Validation {
    /// Converts the sentences of these sets to token ids.
    ///
    /// # Errors
    /// [`CoreError::InvalidParameter`] for a set whose scores have no correlation with anything.
    pub(crate) fn new(sets: &[ScoredPairs], tokenizer: &Tokenizer, vocabulary: &Vocabulary) -> Result<Self> {
        sets.iter().try_for_each(check)?;
        let (mut scratch, mut tokens) = (String::new(), Vec::new());
        let mut number = |set: &ScoredPairs| {
            let mut sentences = Sentences::new();
            let texts = set.pairs.iter().map(|pair| &pair.1).chain(set.pairs.iter().map(|pair| &pair.2));
            for text in texts {
                known_tokens(tokenizer, vocabulary, text, &mut scratch, &mut tokens);
                sentences.push(tokens.iter().copied());
            }
            Set { sentences, gold: set.pairs.iter().map(|pair| pair.0).collect() }
        };
        Ok(Self { sets: sets.iter().map(&mut number).collect(), batch: TokenBatch::new() })
    }

    /// No sets.
    pub(crate) fn none() -> Self {
        Self { sets: Vec::new(), batch: TokenBatch::new() }
    }

    /// Whether there are no pairs to validate with.
    #[must_use]
    pub(crate) fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    /// Pearson's r, averaged over the sets; NaN if r is undefined for one of them, for example because all cosines are
    /// equal.
    ///
    /// # Errors
    /// Errors of shapes or memory.
    pub(crate) fn score(&mut self, encoder: &dyn AnyEncoder, weights: &Weights) -> Result<Option<f64>> {
        let mut sum = 0.0;
        for set in &self.sets {
            self.batch.assign(set.sentences.iter())?;
            let words = self.batch.gather(&weights.words)?;
            let (vectors, _) = encoder.forward(&weights.parameters[0], &self.batch, words.view())?;
            let (first, second) = vectors.view().split_at(Axis(0), set.gold.len());
            let cosine = |(u, v): (ndarray::ArrayView1<'_, f32>, ndarray::ArrayView1<'_, f32>)| {
                let (u, v) = (u.to_slice().unwrap_or_default(), v.to_slice().unwrap_or_default());
                f64::from(kernels::cosine(u, v))
            };
            let cosines: Vec<f64> = first.outer_iter().zip(second.outer_iter()).map(cosine).collect();
            sum += correlation(&set.gold, &cosines);
        }
        Ok((!self.sets.is_empty()).then(|| sum / self.sets.len() as f64))
    }

    /// A fingerprint of the sets.
    pub(crate) fn fingerprint(&self) -> Fingerprint {
        self.sets.iter().fold(Fingerprint::new(), |sum, set| sum.sentences(&set.sentences).scores(&set.gold))
    }
}

/// Refuses pairs whose scores are not finite or do not differ, and fewer than two pairs.
fn check(set: &ScoredPairs) -> Result<()> {
    let scores = || set.pairs.iter().map(|pair| pair.0);
    let got = match scores().find(|score| !score.is_finite()) {
        Some(score) => format!("a score of {score}"),
        None if set.pairs.len() < 2 => senv_core::counts::plural(set.pairs.len() as u64, "pair"),
        None if scores().all(|score| score == set.pairs[0].0) => format!("only scores of {}", set.pairs[0].0),
        None => return Ok(()),
    };
    let requirement = "sets of two or more pairs with finite scores that differ";
    Err(CoreError::InvalidParameter { name: "dev", requirement, got: format!("{}: {got}", set.name) }.into())
}

/// Pearson's r; NaN if it is undefined, because a value is NaN or all values are equal.
pub(crate) fn correlation(gold: &[f64], scores: &[f64]) -> f64 {
    if scores.iter().any(|score| !score.is_finite()) {
        return f64::NAN;
    }
    senv_metrics::pearson_r(gold, scores).ok().flatten().unwrap_or(f64::NAN)
}
