//! PV-DM: the row of a document and the words around a word predict it.
//!
//! Equation: `pv-dm-context`

use rand::RngExt;
use senv_core::{RowId, TokenId, hyperparameters::named_values, rng::Stream};
use serde::{Deserialize, Serialize};

use super::{Examples, window::subsample};
use crate::{objective::Composition, plan::Plan, subsampling::Subsampling};

/// The words around a word that are its context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum WindowSide {
    /// The words before and after it.
    Both,
    /// The words before it.
    Before,
}

named_values!(WindowSide {
    Both = "both": "The words before and after a word",
    Before = "before": "The words before it, as in the paper",
});

/// The words that together with the document predict a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Surroundings {
    /// The maximum number of words per side; 0 counts as 1.
    pub window: usize,
    /// The sides.
    pub side: WindowSide,
    /// How document and words are combined into one vector.
    pub combine: Composition,
    /// Whether every row of a mean receives the whole gradient instead of its share.
    pub whole_gradient: bool,
    /// The number of words in the vocabulary. Their rows start at 0; the next is the null row of concatenation.
    pub n_words: usize,
}

impl Surroundings {
    /// The number of rows in a concatenated context, including the document's; 1 if rows are summed.
    #[must_use]
    pub fn n_places(&self) -> usize {
        match (self.combine, self.side) {
            (Composition::Mean | Composition::Sum, _) => 1,
            (Composition::Concatenation, WindowSide::Both) => 1 + 2 * self.reach(),
            (Composition::Concatenation, WindowSide::Before) => 1 + self.reach(),
        }
    }

    /// The maximum number of words per side.
    fn reach(&self) -> usize {
        self.window.max(1)
    }

    /// The number of word rows, plus the null row if there is one.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.n_words + usize::from(self.combine == Composition::Concatenation)
    }

    /// Replaces `out` with the word rows in the context of word `i`, in order.
    pub(crate) fn around(&self, words: &[RowId], i: usize, rng: &mut Stream, out: &mut Vec<RowId>) {
        out.clear();
        let is_fixed = self.combine == Composition::Concatenation;
        let reach = if is_fixed { self.reach() } else { rng.random_range(1..=self.reach()) };
        let (before, after) = (&words[i.saturating_sub(reach)..i], &words[i + 1..(i + 1 + reach).min(words.len())]);
        let outside = |n: usize| std::iter::repeat_n(RowId(self.n_words as u32), if is_fixed { n } else { 0 });
        out.extend(outside(reach - before.len()).chain(before.iter().copied()));
        if self.side == WindowSide::Both {
            out.extend(after.iter().copied().chain(outside(reach - after.len())));
        }
    }

    /// The factor of the sum of `n` rows and the document's, and the share of the gradient each receives.
    pub(crate) fn weights(&self, n: usize) -> (f32, f32) {
        let mean = 1.0 / (n + 1) as f32;
        match self.combine {
            Composition::Mean => (mean, if self.whole_gradient { 1.0 } else { mean }),
            Composition::Sum | Composition::Concatenation => (1.0, 1.0),
        }
    }
}

/// Examples with one row per document, which together with the surrounding words predicts the document's words.
///
/// ```text
/// w_1, .., w_n        the words of document D that subsampling keeps
/// mean, sum           context {d_D, w_{i−b}, .., w_{i+b}} without w_i, b ~ uniform{1..k} for every word      target w_i
/// concatenation       context (d_D; w_{i−k}; ..; w_{i−1}; w_{i+1}; ..; w_{i+k}), the null row outside D      target w_i
/// window before       the words after w_i are left out
/// ```
///
/// Le and Mikolov, "Distributed Representations of Sentences and Documents", 2014, section 2.2, with negative sampling
/// instead of the softmax. The paper predicts the word after the window (window before); later programs use both sides.
/// With a mean, every row receives its share `1/|R|` of the gradient. In word2vec and gensim every row receives all of
/// it, as with [`Surroundings::whole_gradient`]. In a document of one word, only the document's row predicts it.
#[derive(Debug, Clone)]
pub struct DistributedMemory {
    surroundings: Surroundings,
    n_documents: usize,
    subsampling: Subsampling,
}

/// Scratch memory for planning.
#[derive(Debug, Default)]
pub struct MemoryScratch {
    kept: Vec<RowId>,
    around: Vec<RowId>,
}

impl DistributedMemory {
    /// Creates examples for a corpus of `n_documents`. Source rows are those of [`Surroundings::n_rows`], then one per
    /// document. There are [`Surroundings::n_places`] target rows per word.
    #[must_use]
    pub fn new(surroundings: Surroundings, n_documents: usize, subsampling: Subsampling) -> Self {
        Self { surroundings, n_documents, subsampling }
    }
}

impl Examples for DistributedMemory {
    type Scratch = MemoryScratch;

    fn n_source_rows(&self) -> usize {
        self.surroundings.n_rows().saturating_add(self.n_documents)
    }

    fn n_target_rows(&self) -> usize {
        self.surroundings.n_words.saturating_mul(self.surroundings.n_places())
    }

    fn plan(
        &self,
        sentence: &[TokenId],
        number: u64,
        rng: &mut Stream,
        MemoryScratch { kept, around }: &mut Self::Scratch,
        plan: &mut Plan,
    ) {
        // 32 bits number as many rows as a table can have.
        let Ok(document) = u32::try_from(self.surroundings.n_rows() as u64 + number) else { return };
        plan.concatenate(self.surroundings.n_places());
        subsample(sentence, &self.subsampling, rng, kept);
        for (i, &focus) in kept.iter().enumerate() {
            self.surroundings.around(kept, i, rng, around);
            let rows = std::iter::once(RowId(document)).chain(around.iter().copied());
            if i == 0 {
                plan.open_group(rows);
            } else {
                plan.open_sharing_group(rows);
            }
            let (mean, share) = self.surroundings.weights(around.len());
            plan.push_weighted_target(focus, mean, share);
        }
    }
}

#[cfg(test)]
mod tests {
    use senv_core::rng::stream;

    use super::*;

    const N: usize = 10;

    fn surroundings(combine: Composition, side: WindowSide) -> Surroundings {
        Surroundings { window: 2, side, combine, whole_gradient: false, n_words: N }
    }

    fn planned(surroundings: Surroundings, sentence: &[u32]) -> Plan {
        let everything = Subsampling::new(&[5; N], 50, f64::INFINITY, 1).unwrap();
        let examples = DistributedMemory::new(surroundings, 7, everything);
        let mut plan = Plan::default();
        let tokens: Vec<TokenId> = sentence.iter().copied().map(TokenId).collect();
        examples.plan(&tokens, 5, &mut stream(2, "memory", &[]), &mut MemoryScratch::default(), &mut plan);
        plan
    }

    fn contexts(plan: &Plan) -> Vec<(u32, Vec<u32>)> {
        let targets = plan.groups.iter().map(|group| plan.targets[group.targets.start].row);
        targets.zip(plan.groups.iter().map(|group| plan.rows[group.rows.clone()].to_vec())).collect()
    }

    #[test]
    fn a_concatenated_context_has_fixed_places_and_the_null_row_outside() {
        let both = planned(surroundings(Composition::Concatenation, WindowSide::Both), &[7, 8, 9]);
        // The null row is 10, documents start at 11, and this is number 5.
        let expected = [(7, vec![16, 10, 10, 8, 9]), (8, vec![16, 10, 7, 9, 10]), (9, vec![16, 7, 8, 10, 10])];
        assert_eq!((contexts(&both), both.n_places()), (expected.to_vec(), 5));
        let before = planned(surroundings(Composition::Concatenation, WindowSide::Before), &[7, 8, 9]);
        let expected = [(7, vec![16, 10, 10]), (8, vec![16, 10, 7]), (9, vec![16, 7, 8])];
        assert_eq!((contexts(&before), before.n_places()), (expected.to_vec(), 3));
        let places =
            |window, side| Surroundings { window, ..surroundings(Composition::Concatenation, side) }.n_places();
        assert_eq!([0, 1, 5].map(|window| places(window, WindowSide::Both)), [3, 3, 11]);
        assert_eq!([0, 1, 5].map(|window| places(window, WindowSide::Before)), [2, 2, 6]);
        assert!(before.targets.iter().all(|t| (t.mean, t.share) == (1.0, 1.0)));
    }

    #[test]
    fn a_mean_has_the_words_of_a_window_of_random_reach_and_no_null_row() {
        let plan = planned(surroundings(Composition::Mean, WindowSide::Both), &[1, 2, 3, 4, 5, 6, 7, 8, 9]);
        let mut reaches = [0; 3];
        for (word, rows) in contexts(&plan) {
            assert_eq!(rows[0], 15, "documents follow the words");
            let reach = rows[1..].iter().map(|&row| row.abs_diff(word)).max().unwrap();
            let expected: Vec<u32> =
                (word.saturating_sub(reach).max(1)..=(word + reach).min(9)).filter(|&w| w != word).collect();
            assert_eq!(rows[1..], expected);
            reaches[reach as usize] += 1;
        }
        assert!(reaches[1] > 0 && reaches[2] > 0, "{reaches:?}");
        for (context, target) in contexts(&plan).iter().zip(&plan.targets) {
            let mean = 1.0 / context.1.len() as f32;
            assert_eq!((target.mean, target.share), (mean, mean));
        }
    }

    #[test]
    fn a_sum_has_weights_of_one_and_a_mean_can_pass_the_whole_gradient() {
        let sum = planned(surroundings(Composition::Sum, WindowSide::Before), &[1, 2, 3]);
        assert!(sum.targets.iter().all(|t| (t.mean, t.share) == (1.0, 1.0)));
        let whole = Surroundings { whole_gradient: true, ..surroundings(Composition::Mean, WindowSide::Before) };
        let plan = planned(whole, &[1, 2]);
        assert_eq!(plan.targets.iter().map(|t| (t.mean, t.share)).collect::<Vec<_>>(), [(1.0, 1.0), (0.5, 1.0)]);
    }

    #[test]
    fn a_document_of_one_word_predicts_it_and_an_empty_one_nothing() {
        let one = planned(surroundings(Composition::Mean, WindowSide::Both), &[4]);
        assert_eq!(contexts(&one), [(4, vec![15])]);
        assert!(planned(surroundings(Composition::Mean, WindowSide::Both), &[]).is_empty());
        let one = planned(surroundings(Composition::Concatenation, WindowSide::Before), &[4]);
        assert_eq!(contexts(&one), [(4, vec![16, 10, 10])]);
    }

    #[test]
    fn the_tables_have_a_row_for_each_word_document_and_place() {
        let of = |combine, side| {
            let subsampling = Subsampling::new(&[5; N], 50, f64::INFINITY, 1).unwrap();
            let examples = DistributedMemory::new(surroundings(combine, side), 7, subsampling);
            (examples.n_source_rows(), examples.n_target_rows())
        };
        assert_eq!(of(Composition::Mean, WindowSide::Both), (17, 10));
        assert_eq!(of(Composition::Concatenation, WindowSide::Both), (18, 50));
        assert_eq!(of(Composition::Concatenation, WindowSide::Before), (18, 30));
    }

    #[test]
    fn the_words_of_a_document_make_steps_that_its_row_can_take() {
        use crate::{noise::Noise, plan::NegativeSharing};
        let whole = Surroundings { whole_gradient: true, ..surroundings(Composition::Mean, WindowSide::Both) };
        let mut plan = planned(whole, &[1; 12]);
        let noise = Noise::new(&[5; N], 1.0).unwrap();
        plan.draw_negatives(2, NegativeSharing::Block, 0.1, &noise, usize::MAX, &mut stream(1, "negatives", &[]))
            .unwrap();
        let steps = |plan: &Plan| plan.steps.iter().map(|step| step.targets.len()).collect::<Vec<_>>();
        // The document's row receives whole gradients: five at a rate of 0.1.
        assert_eq!(steps(&plan), [5, 5, 2]);
        // In a sum of three to five rows, the vector receives one gradient per row, so targets come singly.
        let mut plan = planned(surroundings(Composition::Sum, WindowSide::Both), &[1; 12]);
        plan.draw_negatives(2, NegativeSharing::Block, 0.3, &noise, usize::MAX, &mut stream(1, "negatives", &[]))
            .unwrap();
        assert_eq!(steps(&plan), [1; 12]);
    }
}
