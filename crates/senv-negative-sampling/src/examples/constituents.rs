//! C-PHRASE: every constituent of a sentence predicts the words around it.
//!
//! Equation: `c-phrase-context`

use senv_core::{RowId, TokenId, rng::Stream};

use super::Examples;
use crate::{plan::Plan, subsampling::Subsampling};

/// A constituent: consecutive words of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Constituent {
    /// Its first word, counted from 0.
    pub start: u32,
    /// The position after its last word.
    pub end: u32,
    /// The number of constituents on the longest path down to a word; 0 for a word.
    pub height: u32,
}

/// The constituents of the sentences of a corpus, in corpus order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Constituents {
    all: Vec<Constituent>,
    /// The end of each sentence's constituents.
    ends: Vec<usize>,
}

impl Constituents {
    /// Appends a sentence, given the spans of its constituents. They are ordered by end, inner ones first. Empty spans
    /// and spans equal to the previous one are skipped. A word is a constituent only if its span is given.
    ///
    /// ```
    /// use senv_negative_sampling::Constituents;
    /// let mut trees = Constituents::default();
    /// // ((the cat) sat), with a phrase of a single word.
    /// trees.push([(0, 1), (1, 2), (0, 2), (2, 3), (2, 3), (0, 3)]);
    /// let heights: Vec<u32> = trees.of(0).iter().map(|constituent| constituent.height).collect();
    /// assert_eq!(heights, [0, 0, 1, 0, 2]);
    /// ```
    pub fn push(&mut self, spans: impl IntoIterator<Item = (u32, u32)>) {
        let first = self.all.len();
        // Constituents without a parent so far, in order.
        let mut open: Vec<usize> = Vec::new();
        for (start, end) in spans {
            if start >= end || self.all[first..].last().is_some_and(|last| (last.start, last.end) == (start, end)) {
                continue;
            }
            let mut height = 0;
            while let Some(inner) = open.pop_if(|inner| self.all[*inner].start >= start) {
                height = height.max(self.all[inner].height + 1);
            }
            open.push(self.all.len());
            self.all.push(Constituent { start, end, height });
        }
        self.ends.push(self.all.len());
    }

    /// The constituents of sentence `number`, counted from 0, inner ones first; empty past the last sentence.
    #[must_use]
    pub fn of(&self, number: u64) -> &[Constituent] {
        let Ok(number) = usize::try_from(number) else { return &[] };
        let Some(&end) = self.ends.get(number) else { return &[] };
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.all[start..end]
    }

    /// All constituents, sentence by sentence.
    pub fn iter(&self) -> impl Iterator<Item = &Constituent> + '_ {
        self.all.iter()
    }

    /// The number of sentences.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no sentences.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}

/// Examples in which every constituent predicts the words around it.
///
/// ```text
/// h(P) = 0 for a word, else 1 + the largest h of the constituents in P
/// v_P = Σ_{l ≤ i ≤ r} v_{w_i}        P spans the words l..r; single words are constituents
/// targets: w_{l−j} and w_{r+j}, 1 ≤ j ≤ c_1 + h(P) c_2, where there is such a word and subsampling keeps it
/// ```
///
/// N. T. Pham, G. Kruszewski, A. Lazaridou and M. Baroni, "Jointly optimizing word representations for lexical and
/// sentential tasks with the C-PHRASE model", ACL 2015. A constituent with the same span as its only child is skipped.
/// Only targets are subsampled, once per sentence; constituents need all their words. A sentence without a tree has
/// only its words as constituents, as the whole has no surrounding words.
#[derive(Debug, Clone)]
pub struct ConstituentTargets<'c> {
    constituents: &'c Constituents,
    window: usize,
    growth: usize,
    subsampling: Subsampling,
    n_tokens: usize,
}

/// Scratch memory for planning.
#[derive(Debug, Default)]
pub struct ConstituentScratch {
    kept: Vec<bool>,
    flat: Vec<Constituent>,
}

impl<'c> ConstituentTargets<'c> {
    /// Creates examples over a vocabulary of `n_tokens`. A word predicts `window` (c_1) words on each side, and a
    /// constituent `growth` (c_2) more per level above a word.
    #[must_use]
    pub fn new(
        constituents: &'c Constituents,
        window: usize,
        growth: usize,
        subsampling: Subsampling,
        n_tokens: usize,
    ) -> Self {
        Self { constituents, window, growth, subsampling, n_tokens }
    }
}

impl Examples for ConstituentTargets<'_> {
    type Scratch = ConstituentScratch;

    fn n_source_rows(&self) -> usize {
        self.n_tokens
    }

    fn n_target_rows(&self) -> usize {
        self.n_tokens
    }

    fn plan(
        &self,
        sentence: &[TokenId],
        number: u64,
        rng: &mut Stream,
        ConstituentScratch { kept, flat }: &mut Self::Scratch,
        plan: &mut Plan,
    ) {
        kept.clear();
        kept.extend(sentence.iter().map(|token| self.subsampling.keeps(token.0, rng)));
        let mut constituents = self.constituents.of(number);
        if constituents.is_empty() {
            let n = sentence.len() as u32;
            flat.clear();
            flat.extend((0..n).map(|start| Constituent { start, end: start + 1, height: 0 }));
            constituents = flat;
        }
        for (i, constituent) in constituents.iter().enumerate() {
            let (start, end) = (constituent.start as usize, constituent.end as usize);
            // Skips trees of another text.
            let Some(words) = sentence.get(start..end) else { return };
            let rows = words.iter().map(|token| RowId(token.0));
            if i == 0 {
                plan.open_group(rows);
            } else {
                plan.open_sharing_group(rows);
            }
            let reach = self.growth.saturating_mul(constituent.height as usize).saturating_add(self.window);
            for j in 1..=reach.min(start.max(sentence.len() - end)) {
                let around = [start.checked_sub(j), end.checked_add(j - 1).filter(|&after| after < sentence.len())];
                for target in around.into_iter().flatten().filter(|&target| kept[target]) {
                    plan.push_weighted_target(RowId(sentence[target].0), 1.0, 1.0);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use senv_core::rng::stream;

    use super::*;

    fn planned(
        constituents: &Constituents,
        window: usize,
        growth: usize,
        sentence: &[u32],
    ) -> Vec<(Vec<u32>, Vec<u32>)> {
        let everything = Subsampling::new(&[5; 10], 50, f64::INFINITY, 1).unwrap();
        let examples = ConstituentTargets::new(constituents, window, growth, everything, 10);
        let mut plan = Plan::default();
        let tokens: Vec<TokenId> = sentence.iter().copied().map(TokenId).collect();
        examples.plan(&tokens, 0, &mut stream(1, "t", &[]), &mut ConstituentScratch::default(), &mut plan);
        assert!(plan.targets.iter().all(|t| (t.mean, t.share) == (1.0, 1.0)), "sums");
        let context = |group: &crate::plan::Group| plan.rows[group.rows.clone()].to_vec();
        let targets = |group: &crate::plan::Group| plan.targets[group.targets.clone()].iter().map(|t| t.row).collect();
        let groups = plan.groups.iter().filter(|group| !group.targets.is_empty());
        groups.map(|group| (context(group), targets(group))).collect()
    }

    #[test]
    fn a_constituent_predicts_the_words_outside_it_in_a_window_that_grows_with_its_height() {
        let mut trees = Constituents::default();
        // ((1 2) (3 (4 5)))
        trees.push([(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (4, 5), (3, 5), (2, 5), (0, 5)]);
        let expected = [
            (vec![1], vec![2]),
            (vec![2], vec![1, 3]),
            (vec![1, 2], vec![3, 4]),
            (vec![3], vec![2, 4]),
            (vec![4], vec![3, 5]),
            (vec![5], vec![4]),
            (vec![4, 5], vec![3, 2]),
            (vec![3, 4, 5], vec![2, 1]),
        ];
        assert_eq!(planned(&trees, 1, 1, &[1, 2, 3, 4, 5]), expected, "the whole has no words around it");
        let words_alone: Vec<_> = planned(&trees, 1, 0, &[1, 2, 3, 4, 5]).into_iter().map(|(_, t)| t.len()).collect();
        assert_eq!(words_alone, [1, 2, 1, 2, 2, 1, 1, 1]);
    }

    #[test]
    fn a_sentence_without_a_tree_is_flat_and_one_word_predicts_nothing() {
        let none = Constituents::default();
        assert_eq!(planned(&none, 1, 9, &[7, 8]), [(vec![7], vec![8]), (vec![8], vec![7])]);
        assert!(planned(&none, 5, 2, &[7]).is_empty() && planned(&none, 5, 2, &[]).is_empty());
    }

    #[test]
    fn a_window_as_wide_as_the_sentence_has_every_other_word_nearest_first() {
        let expected = [
            (vec![1], vec![2, 3, 4, 5, 6]),
            (vec![2], vec![1, 3, 4, 5, 6]),
            (vec![3], vec![2, 4, 1, 5, 6]),
            (vec![4], vec![3, 5, 2, 6, 1]),
            (vec![5], vec![4, 6, 3, 2, 1]),
            (vec![6], vec![5, 4, 3, 2, 1]),
        ];
        let none = Constituents::default();
        for window in [5, 6, usize::MAX] {
            assert_eq!(planned(&none, window, 1, &[1, 2, 3, 4, 5, 6]), expected);
        }
    }

    #[test]
    fn the_constituents_of_a_sentence_share_rows_with_those_before_and_not_with_another_sentence() {
        let none = Constituents::default();
        let everything = Subsampling::new(&[5; 10], 50, f64::INFINITY, 1).unwrap();
        let examples = ConstituentTargets::new(&none, 1, 1, everything, 10);
        let (mut plan, mut scratch) = (Plan::default(), ConstituentScratch::default());
        for (number, sentence) in [[1, 2, 3], [4, 5, 6]].into_iter().enumerate() {
            let mut rng = stream(1, "t", &[]);
            examples.plan(&sentence.map(TokenId), number as u64, &mut rng, &mut scratch, &mut plan);
        }
        let shares: Vec<bool> = plan.groups.iter().map(|group| group.shares_row).collect();
        assert_eq!(shares, [false, true, true, false, true, true]);
    }

    #[test]
    fn spans_are_kept_once_with_their_heights_and_empty_ones_are_not() {
        let mut trees = Constituents::default();
        trees.push([(0, 1), (0, 1), (1, 1), (1, 2), (0, 2), (0, 2), (2, 3), (0, 3)]);
        trees.push([]);
        let spans: Vec<_> = trees.of(0).iter().map(|c| (c.start, c.end, c.height)).collect();
        assert_eq!(spans, [(0, 1, 0), (1, 2, 0), (0, 2, 1), (2, 3, 0), (0, 3, 2)]);
        assert_eq!((trees.len(), trees.of(1).len(), trees.of(2).len()), (2, 0, 0));
        trees.push([(0, 1)]);
        assert!(trees.iter().eq(trees.of(0).iter().chain(trees.of(2))), "all of them, in order");
        assert!(!trees.is_empty() && Constituents::default().is_empty());
    }

    #[test]
    fn targets_alone_are_subsampled() {
        // Word 2 is too rare to be a target.
        let subsampling = Subsampling::new(&[9, 9, 1, 9], 28, f64::INFINITY, 2).unwrap();
        let none = Constituents::default();
        let examples = ConstituentTargets::new(&none, 1, 0, subsampling, 4);
        assert_eq!((examples.n_source_rows(), examples.n_target_rows()), (4, 4));
        let mut plan = Plan::default();
        let sentence = [1, 2, 3].map(TokenId);
        examples.plan(&sentence, 0, &mut stream(1, "t", &[]), &mut ConstituentScratch::default(), &mut plan);
        let targets: Vec<u32> = plan.targets.iter().map(|t| t.row).collect();
        assert_eq!((plan.rows[0], targets), (2, vec![1, 3]), "words 1 and 3 have no target left");
    }
}
