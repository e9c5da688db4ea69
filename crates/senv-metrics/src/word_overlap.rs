//! Word overlap of two sentences, the baseline that a similarity has to beat.
//!
//! Equation: `word-overlap`

use std::{collections::HashSet, hash::Hash};

/// Words of two sentences, each counted once.
///
/// ```text
/// jaccard(A, B)          = |A ∩ B| / |A ∪ B|
/// over_mean_length(A, B) = 2 |A ∩ B| / (|A| + |B|)
/// ```
///
/// A and B are sets: a word counts once, regardless of how often it occurs. The paper on SNLI-finetuned Skip-thoughts
/// plots histograms of one of the two without naming it; unless stated otherwise, senv assumes the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct WordOverlap {
    /// Distinct words of the first sentence.
    pub n_first: usize,
    /// Distinct words of the second sentence.
    pub n_second: usize,
    /// Distinct words in both sentences.
    pub n_shared: usize,
}

impl WordOverlap {
    /// Counts the words of two sentences.
    ///
    /// ```
    /// use senv_metrics::WordOverlap;
    /// let overlap = WordOverlap::of(["a", "dog", "barks"], ["a", "dog", "and", "a", "cat"]);
    /// assert_eq!((overlap.n_first, overlap.n_second, overlap.n_shared), (3, 4, 2));
    /// assert_eq!((overlap.jaccard(), overlap.over_mean_length()), (2.0 / 5.0, 4.0 / 7.0));
    /// ```
    #[must_use]
    pub fn of<W: Eq + Hash>(first: impl IntoIterator<Item = W>, second: impl IntoIterator<Item = W>) -> Self {
        let (first, second): (HashSet<W>, HashSet<W>) = (first.into_iter().collect(), second.into_iter().collect());
        let n_shared = first.iter().filter(|word| second.contains(word)).count();
        Self { n_first: first.len(), n_second: second.len(), n_shared }
    }

    /// The share of all words that are in both sentences, in `[0, 1]`; 0 if both are empty.
    #[must_use]
    pub fn jaccard(&self) -> f64 {
        share(self.n_shared, self.n_first + self.n_second - self.n_shared)
    }

    /// Shared words over the mean number of words, in `[0, 1]`; 0 if both are empty. Never below
    /// [`WordOverlap::jaccard`].
    #[must_use]
    pub fn over_mean_length(&self) -> f64 {
        share(2 * self.n_shared, self.n_first + self.n_second)
    }
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_sentences_share_nothing() {
        let neither = WordOverlap::of::<&str>([], []);
        assert_eq!((neither.jaccard(), neither.over_mean_length()), (0.0, 0.0));
        let one = WordOverlap::of(["word"], []);
        assert_eq!((one.jaccard(), one.over_mean_length()), (0.0, 0.0));
    }
}
