//! word2vec: a word and the words around it.
//!
//! Equation: `window-context`
//!
//! ```text
//! b ~ uniform{1..window} for every focus word, after frequent words were dropped from the sentence
//! CBOW        context {w_{i−b}, .., w_{i+b}} without w_i     target w_i
//! skip-gram   context {w_i}                                  targets w_{i−b}, .., w_{i+b} without w_i
//! ```
//!
//! Mikolov et al., "Efficient Estimation of Word Representations in Vector Space", 2013. As in the authors' program,
//! CBOW scores the mean of the window and gives every word in it the whole gradient instead of its share.

use rand::RngExt;
use senv_core::{RowId, TokenId, rng::Stream};

use super::Examples;
use crate::{plan::Plan, subsampling::Subsampling};

/// CBOW: the mean of the words around a word predicts it.
#[derive(Debug, Clone)]
pub struct ContinuousBagOfWords {
    window: usize,
    subsampling: Subsampling,
    n_tokens: usize,
}

/// Skip-gram: a word predicts the words around it.
#[derive(Debug, Clone)]
pub struct SkipGram {
    window: usize,
    subsampling: Subsampling,
    n_tokens: usize,
}

impl ContinuousBagOfWords {
    /// Creates examples for a vocabulary of `n_tokens`, with windows of at most `window` words per side (at least 1).
    #[must_use]
    pub fn new(window: usize, subsampling: Subsampling, n_tokens: usize) -> Self {
        Self { window: window.max(1), subsampling, n_tokens }
    }
}

impl SkipGram {
    /// Creates examples for a vocabulary of `n_tokens`, with windows of at most `window` words per side (at least 1).
    #[must_use]
    pub fn new(window: usize, subsampling: Subsampling, n_tokens: usize) -> Self {
        Self { window: window.max(1), subsampling, n_tokens }
    }
}

/// The kept tokens, as rows.
pub(super) fn subsample(sentence: &[TokenId], subsampling: &Subsampling, rng: &mut Stream, kept: &mut Vec<RowId>) {
    kept.clear();
    kept.extend(sentence.iter().filter(|token| subsampling.keeps(token.0, rng)).map(|token| RowId(token.0)));
}

/// Calls `f` with every kept word, the words before it in the window and the words after it.
fn windows(kept: &[RowId], window: usize, rng: &mut Stream, mut f: impl FnMut(RowId, &[RowId], &[RowId])) {
    for (i, &focus) in kept.iter().enumerate() {
        let b = rng.random_range(1..=window);
        let (before, after) = (&kept[i.saturating_sub(b)..i], &kept[i + 1..(i + 1 + b).min(kept.len())]);
        if !(before.is_empty() && after.is_empty()) {
            f(focus, before, after);
        }
    }
}

impl Examples for ContinuousBagOfWords {
    type Scratch = Vec<RowId>;

    fn n_source_rows(&self) -> usize {
        self.n_tokens
    }

    fn n_target_rows(&self) -> usize {
        self.n_tokens
    }

    fn plan(&self, sentence: &[TokenId], _number: u64, rng: &mut Stream, kept: &mut Self::Scratch, plan: &mut Plan) {
        subsample(sentence, &self.subsampling, rng, kept);
        windows(kept, self.window, rng, |focus, before, after| {
            plan.open_group(before.iter().chain(after).copied());
            plan.push_target(focus, false);
        });
    }
}

impl Examples for SkipGram {
    type Scratch = Vec<RowId>;

    fn n_source_rows(&self) -> usize {
        self.n_tokens
    }

    fn n_target_rows(&self) -> usize {
        self.n_tokens
    }

    fn plan(&self, sentence: &[TokenId], _number: u64, rng: &mut Stream, kept: &mut Self::Scratch, plan: &mut Plan) {
        subsample(sentence, &self.subsampling, rng, kept);
        windows(kept, self.window, rng, |focus, before, after| {
            plan.open_group([focus]);
            for &context in before.iter().chain(after) {
                plan.push_target(context, true);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use senv_core::rng::stream;

    use super::*;

    const WINDOW: usize = 5;
    const WORDS: usize = 40_000;

    /// Counts how often each window size was drawn, for words far enough from both ends, given the number of words on
    /// both sides.
    fn reaches(sizes: impl Iterator<Item = usize>) -> [f64; WINDOW] {
        let mut counts = [0.0; WINDOW];
        for size in sizes.skip(WINDOW).take(WORDS - 2 * WINDOW) {
            assert!(size % 2 == 0 && (2..=2 * WINDOW).contains(&size), "{size}");
            counts[size / 2 - 1] += 1.0;
        }
        counts
    }

    #[test]
    fn the_reach_of_a_window_is_drawn_anew_for_every_word_and_uniformly() {
        let subsampling = || Subsampling::new(&[5; 10], 50, f64::INFINITY, 1).unwrap();
        let sentence: Vec<TokenId> = (0..WORDS as u32).map(|i| TokenId(i % 10)).collect();
        let (mut cbow, mut skip_gram) = (Plan::default(), Plan::default());
        let rng = || stream(2, "windows", &[]);
        ContinuousBagOfWords::new(WINDOW, subsampling(), 10).plan(&sentence, 0, &mut rng(), &mut vec![], &mut cbow);
        SkipGram::new(WINDOW, subsampling(), 10).plan(&sentence, 0, &mut rng(), &mut vec![], &mut skip_gram);
        assert_eq!((cbow.groups.len(), skip_gram.groups.len()), (WORDS, WORDS));
        for counts in [
            reaches(cbow.groups.iter().map(|group| group.rows.len())),
            reaches(skip_gram.groups.iter().map(|group| group.targets.len())),
        ] {
            let expected = (WORDS - 2 * WINDOW) as f64 / WINDOW as f64;
            // Five standard deviations of a binomial count.
            let tolerance = 5.0 * (expected * (1.0 - 1.0 / WINDOW as f64)).sqrt();
            assert!(counts.iter().all(|count| (count - expected).abs() < tolerance), "{counts:?}");
        }
    }

    #[test]
    fn a_window_of_one_word_holds_the_two_neighbours() {
        let subsampling = Subsampling::new(&[5; 10], 50, f64::INFINITY, 1).unwrap();
        let mut plan = Plan::default();
        let sentence = [7, 8, 9].map(TokenId);
        let examples = ContinuousBagOfWords::new(1, subsampling, 10);
        examples.plan(&sentence, 0, &mut stream(2, "windows", &[]), &mut vec![], &mut plan);
        let contexts: Vec<&[u32]> = plan.groups.iter().map(|group| &plan.rows[group.rows.clone()]).collect();
        assert_eq!(contexts, [&[8][..], &[7, 9], &[8]]);
        assert_eq!(plan.targets.iter().map(|t| t.row).collect::<Vec<_>>(), [7, 8, 9]);
    }

    #[test]
    fn cbow_gives_every_word_of_the_window_the_whole_gradient_and_skip_gram_has_one_word() {
        let subsampling = || Subsampling::new(&[5; 10], 50, f64::INFINITY, 1).unwrap();
        let sentence = [7, 8, 9].map(TokenId);
        let (mut cbow, mut skip_gram) = (Plan::default(), Plan::default());
        let rng = || stream(2, "windows", &[]);
        ContinuousBagOfWords::new(1, subsampling(), 10).plan(&sentence, 0, &mut rng(), &mut vec![], &mut cbow);
        SkipGram::new(1, subsampling(), 10).plan(&sentence, 0, &mut rng(), &mut vec![], &mut skip_gram);
        let weights = |plan: &Plan| plan.targets.iter().map(|t| (t.mean, t.share)).collect::<Vec<_>>();
        assert_eq!(weights(&cbow), [(1.0, 1.0), (0.5, 1.0), (1.0, 1.0)]);
        assert_eq!(weights(&skip_gram), [(1.0, 1.0); 4]);
    }

    #[test]
    fn both_tables_have_a_row_for_each_word() {
        let subsampling = || Subsampling::new(&[5; 10], 50, f64::INFINITY, 1).unwrap();
        let cbow = ContinuousBagOfWords::new(1, subsampling(), 10);
        let skip_gram = SkipGram::new(1, subsampling(), 10);
        assert_eq!((cbow.n_source_rows(), cbow.n_target_rows()), (10, 10));
        assert_eq!((skip_gram.n_source_rows(), skip_gram.n_target_rows()), (10, 10));
    }
}
