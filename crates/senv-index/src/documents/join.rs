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

use senv_core::{Error, Result};

/// The paper's constant, added to a rank before it is inverted.
const K: f64 = 60.0;

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
    pub(super) fn parts(&self, scores: &[f64]) -> Vec<f64> {
        match self.method {
            JoinMethod::ZScores => standardized(scores),
            JoinMethod::ReciprocalRanks => reciprocal_ranks(scores),
        }
    }

    /// The sum of the terms of three rankings.
    pub(super) fn sum(&self, words: &[f64], documents: &[f64], sentences: &[f64]) -> Vec<f64> {
        let meaning = documents.iter().zip(sentences);
        // Added in the order of the unweighted equation.
        let sum = |(words, (document, sentence)): (&f64, (&f64, &f64))| {
            self.words * words + self.meaning * document + self.meaning * sentence
        };
        words.iter().zip(meaning).map(sum).collect()
    }
}

/// Scores minus their mean, divided by their deviation; zeros if all are equal.
pub(super) fn standardized(scores: &[f64]) -> Vec<f64> {
    let n = scores.len().max(1) as f64;
    let mean = scores.iter().sum::<f64>() / n;
    let deviation = (scores.iter().map(|score| (score - mean).powi(2)).sum::<f64>() / n).sqrt();
    scores.iter().map(|score| if deviation > 1e-12 { (score - mean) / deviation } else { 0.0 }).collect()
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
        assert_eq!(join.sum(&[1.0, 0.0], &[0.0, 1.0], &[4.0, 1.0]), [4.0, 1.0]);
        for (words, meaning) in [(-1.0, 1.0), (f64::NAN, 1.0), (0.0, 0.0), (1.0, f64::INFINITY)] {
            assert!(Join { words, meaning, ..Join::default() }.check().is_err());
        }
        assert!(Join { words: 0.0, ..Join::default() }.check().is_ok());
    }
}
