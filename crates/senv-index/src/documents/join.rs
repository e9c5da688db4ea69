//! Joins rankings by words and by meaning into one.
//!
//! Equation: `joined-rankings`
//!
//! ```text
//! w z(words) + m (z(document) + z(sentence))                  z(x) = (x - mean) / deviation, over all documents
//! w r(words) + m (r(document) + r(sentence))                  r(x) = 1 / (60 + rank of x), 0 where x is 0 or all x are the same
//! ```
//!
//! Reciprocal ranks: Cormack, Clarke and Buettcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank
//! Learning Methods", SIGIR 2009.

use rayon::prelude::*;
use senv_core::{Error, Result};

/// The paper's constant, added to a rank before it is inverted.
const K: f64 = 60.0;
/// Scores that are added up by one thread.
const PART: usize = 1 << 14;
/// The largest deviation that rounding gives equal scores.
const FLAT: f64 = 1e-9;

/// The quantity summed over the rankings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum JoinMethod {
    /// How many standard deviations a score is above the mean over all documents.
    #[default]
    ZScores,
    /// The reciprocal of the rank plus 60; equal scores share a rank.
    ReciprocalRanks,
}

/// How to join rankings by words and by meaning. The default adds their z-scores, and words count as much as the two
/// cosines together.
///
/// ```
/// use senv_index::documents::{Join, JoinMethod};
/// let join = Join { words: 1.0, ..Join::default() };
/// assert_eq!((join.method, join.meaning), (JoinMethod::ZScores, 1.0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Join {
    /// The quantity to add.
    pub method: JoinMethod,
    /// The weight of the words, at least 0; 2 by default.
    pub words: f64,
    /// The weight of each of the two cosines, with the whole document and with the nearest sentence; at least 0; 1 by
    /// default.
    pub meaning: f64,
}

impl Default for Join {
    fn default() -> Self {
        Self { method: JoinMethod::default(), words: 2.0, meaning: 1.0 }
    }
}

impl Join {
    /// Checks that the weights are valid.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] if a weight is negative or NaN, or both are 0.
    pub fn check(&self) -> Result<()> {
        let Self { words, meaning, .. } = *self;
        let is_weight = |weight: f64| weight.is_finite() && weight >= 0.0;
        if is_weight(words) && is_weight(meaning) && words + meaning > 0.0 {
            return Ok(());
        }
        let requirement = "at least 0 and not both 0";
        Err(Error::InvalidParameter { name: "weights", requirement, got: format!("{words}, {meaning}") })
    }

    /// The terms that the scores of one ranking add to the sum.
    pub(crate) fn parts(&self, scores: &[f64]) -> Vec<f64> {
        match self.method {
            JoinMethod::ZScores => standardized(scores),
            JoinMethod::ReciprocalRanks => reciprocal_ranks(scores),
        }
    }

    /// The sum of the terms of three rankings.
    pub(super) fn sums(&self, words: &[f64], documents: &[f64], sentences: &[f64]) -> Vec<f64> {
        let meaning = documents.iter().zip(sentences);
        words
            .iter()
            .zip(meaning)
            .map(|(&words, (&document, &sentence))| self.sum([words, document, sentence]))
            .collect()
    }

    /// The sum of the terms by words, by the document and by its nearest sentence.
    pub(crate) fn sum(&self, [words, document, sentence]: [f64; 3]) -> f64 {
        // Added in the order of the unweighted equation.
        self.words * words + self.meaning * document + self.meaning * sentence
    }

    /// Whether a document with these scores is found: it has a word or a vector that counts.
    pub(crate) fn finds(&self, [words, document, sentence]: [f64; 3]) -> bool {
        self.words > 0.0 && words != 0.0 || self.meaning > 0.0 && (document != 0.0 || sentence != 0.0)
    }
}

/// The mean and the standard deviation of scores.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Spread {
    mean: f64,
    deviation: f64,
}

impl Spread {
    pub(crate) fn of<T: Copy + Into<f64> + Sync>(scores: &[T]) -> Self {
        let n = scores.len().max(1) as f64;
        let sum = |term: &(dyn Fn(f64) -> f64 + Sync)| -> f64 {
            // In parts of a fixed length, so that the number of threads does not matter.
            let of_part = |part: &[T]| part.iter().map(|&score| term(score.into())).sum::<f64>();
            scores.par_chunks(PART).map(of_part).collect::<Vec<f64>>().iter().sum()
        };
        let mean = sum(&|score| score) / n;
        Self { mean, deviation: (sum(&|score| (score - mean).powi(2)) / n).sqrt() }
    }

    /// Whether all scores are the same, apart from rounding.
    pub(crate) fn is_flat(self) -> bool {
        self.deviation <= FLAT
    }

    /// z of the equation; 0 if all scores are the same.
    pub(crate) fn z(self, score: f64) -> f64 {
        if self.is_flat() { 0.0 } else { (score - self.mean) / self.deviation }
    }
}

/// Scores minus their mean, divided by their deviation; zeros if all are equal.
pub(super) fn standardized(scores: &[f64]) -> Vec<f64> {
    let spread = Spread::of(scores);
    scores.iter().map(|&score| spread.z(score)).collect()
}

/// The reciprocals of ranks; zeros for scores of 0 and if all scores are equal.
fn reciprocal_ranks(scores: &[f64]) -> Vec<f64> {
    let mut reciprocals = vec![0.0; scores.len()];
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_unstable_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    let mut rank = 1;
    for equal in order.chunk_by(|&a, &b| scores[a] == scores[b]) {
        if equal.len() == scores.len() {
            break;
        }
        equal.iter().filter(|&&i| scores[i] != 0.0).for_each(|&i| reciprocals[i] = 1.0 / (K + rank as f64));
        rank += equal.len();
    }
    reciprocals
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_become_deviations_or_reciprocal_ranks() {
        assert_eq!(standardized(&[1.0, 3.0]), [-1.0, 1.0]);
        assert_eq!(standardized(&[2.0, 2.0]), [0.0, 0.0]);
        assert_eq!(
            reciprocal_ranks(&[0.5, 0.0, 2.0, 0.5, -1.0]),
            [1.0 / 62.0, 0.0, 1.0 / 61.0, 1.0 / 62.0, 1.0 / 65.0]
        );
        assert_eq!(reciprocal_ranks(&[3.0, 3.0]), [0.0, 0.0]);
        assert!(reciprocal_ranks(&[]).is_empty());
        let join = Join { words: 2.0, meaning: 0.5, ..Join::default() };
        assert_eq!(join.sums(&[1.0, 0.0], &[0.0, 1.0], &[4.0, 1.0]), [4.0, 1.0]);
        for (words, meaning) in [(-1.0, 1.0), (f64::NAN, 1.0), (0.0, 0.0), (1.0, f64::INFINITY)] {
            assert!(Join { words, meaning, ..Join::default() }.check().is_err());
        }
        assert!(Join { words: 0.0, ..Join::default() }.check().is_ok());
    }
}
