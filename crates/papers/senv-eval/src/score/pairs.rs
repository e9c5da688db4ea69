//! Scores of pairs of sentences: cosines of their vectors, or the output of a system that scores pairs directly (a
//! trained head, sparse words, any function of two sentences). Every protocol on pairs takes its scores from here.

use senv_core::kernels;
use senv_data::StsTask;

use crate::{
    error::{Error, Result},
    score::sentence_vectors::SentenceVectors,
};

/// Scores the relatedness of pairs of sentences. A trained head scores on the scale of the gold scores.
///
/// A closure that takes a batch of pairs implements it.
pub trait PairScorer {
    /// Returns one score per pair, in the order of the pairs.
    ///
    /// # Errors
    /// Any error of the scorer.
    fn score_batch(&self, pairs: &[(&str, &str)]) -> senv_core::Result<Vec<f64>>;
}

impl<S: Fn(&[(&str, &str)]) -> senv_core::Result<Vec<f64>>> PairScorer for S {
    fn score_batch(&self, pairs: &[(&str, &str)]) -> senv_core::Result<Vec<f64>> {
        self(pairs)
    }
}

/// The source of the scores of pairs.
#[derive(Clone, Copy)]
pub(crate) enum PairSource<'a> {
    /// The cosines of these vectors.
    Cosines(&'a SentenceVectors),
    /// A system that scores pairs.
    Scorer(&'a dyn PairScorer),
}

/// The scores of pairs, and the coverage of their tokens.
#[derive(Debug)]
pub(crate) struct PairScores {
    /// One score per pair, all finite.
    pub(crate) scores: Vec<f64>,
    /// Number of pairs in which a sentence has no known token; 0 if unknown.
    pub(crate) n_without_known_token: usize,
    /// Share of the tokens that are known; `None` if unknown, or if there are no tokens.
    pub(crate) known_token_share: Option<f64>,
}

impl PairSource<'_> {
    /// Scores pairs. `name` returns the name of the pair at an index, for errors.
    ///
    /// # Errors
    /// [`Error::NotEncoded`] for a sentence without a vector; [`Error::Core`] from the scorer, or if it returns more or
    /// fewer scores than there are pairs; [`Error::NotFinite`] if a score is NaN or infinite, with the pair named.
    pub(crate) fn score(self, pairs: &[(&str, &str)], name: impl Fn(usize) -> String) -> Result<PairScores> {
        let found = match self {
            Self::Cosines(vectors) => cosines(vectors, pairs)?,
            Self::Scorer(scorer) => {
                let scores = scorer.score_batch(pairs)?;
                PairScores { scores, n_without_known_token: 0, known_token_share: None }
            }
        };
        if found.scores.len() != pairs.len() {
            let (what, expected) = ("the scores of a batch of pairs", pairs.len());
            return Err(senv_core::Error::ShapeMismatch { what, expected, got: found.scores.len() }.into());
        }
        match found.scores.iter().position(|score| !score.is_finite()) {
            Some(i) => Err(Error::NotFinite { what: format!("the score of {}", name(i)) }),
            None => Ok(found),
        }
    }
}

fn cosines(vectors: &SentenceVectors, pairs: &[(&str, &str)]) -> Result<PairScores> {
    let (mut tokens, mut known, mut n_without_known_token) = (0, 0, 0);
    let mut scores = Vec::with_capacity(pairs.len());
    for pair in vectors.pair_numbers(pairs.iter().copied())? {
        let ([a, b], [u, v]) = (pair.map(|n| vectors.coverage(n)), pair.map(|n| vectors.vector(n)));
        tokens += a.tokens + b.tokens;
        known += a.known + b.known;
        n_without_known_token += usize::from(a.is_empty() || b.is_empty());
        scores.push(f64::from(kernels::cosine(u, v)));
    }
    let known_token_share = (tokens > 0).then(|| known as f64 / tokens as f64);
    Ok(PairScores { scores, n_without_known_token, known_token_share })
}

/// Returns the sentences of the pairs of a task.
pub(crate) fn texts(task: &StsTask) -> Vec<(&str, &str)> {
    task.pairs.iter().map(|pair| (&pair.first[..], &pair.second[..])).collect()
}
