//! The plan of a block of sentences: which rows make up which contexts, which targets they predict, and against which
//! negatives. Planning uses only token ids and random numbers, before any row is read.

mod steps;

use std::ops::Range;

use senv_core::{RowId, hyperparameters::named_values};

/// The targets that share a set of negatives. The gradient's expectation is the same; its noise and its cost differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum NegativeSharing {
    /// Every target draws its own negatives, as in the releases.
    None,
    /// The targets of one sentence share negatives.
    Sentence,
    /// The targets of a block of sentences share negatives.
    Block,
}

named_values!(NegativeSharing {
    None = "none": "Every target draws its own, as in the released code",
    Sentence = "sentence": "The targets of a sentence share negatives",
    Block = "block": "The targets of a block of sentences share negatives: fastest",
});

/// A context: consecutive source rows, and the targets predicted from it.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    pub(crate) rows: Range<usize>,
    pub(crate) targets: Range<usize>,
    /// Whether it continues the group before it, and so belongs to a later step.
    pub(crate) follows: bool,
    /// Whether it shares a row with the group before it by design.
    pub(crate) shares_row: bool,
}

/// One target of a group: its row, and how its context differs from the group's.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) row: u32,
    /// Weight of the sum of rows: `1 / |R|`.
    pub(crate) mean: f32,
    /// Weight of the gradient that every row of the context receives.
    pub(crate) share: f32,
    /// Positions in [`Plan::rows`] that are not part of this target's context; in [`Plan::excluded`].
    pub(crate) excluded: Range<usize>,
    /// Source rows that are part of this target's context only; in [`Plan::added`].
    pub(crate) added: Range<usize>,
}

/// Targets scored against the same negatives.
#[derive(Debug, Clone)]
pub(crate) struct SharedNegatives {
    pub(crate) targets: Range<usize>,
    pub(crate) negatives: Range<usize>,
    /// Whether any row occurs more than once, as target or negative.
    pub(crate) has_repeats: bool,
}

/// Several groups and the shared negatives of their targets, computed from the same tables before any row is updated.
#[derive(Debug, Clone)]
pub(crate) struct PlannedStep {
    pub(crate) groups: Range<usize>,
    pub(crate) targets: Range<usize>,
    pub(crate) shared: Range<usize>,
}

/// The examples of several sentences, in consecutive steps. It is reused, so planning allocates only while it grows.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    pub(crate) steps: Vec<PlannedStep>,
    pub(crate) rows: Vec<u32>,
    pub(crate) groups: Vec<Group>,
    pub(crate) targets: Vec<Target>,
    pub(crate) excluded: Vec<u32>,
    pub(crate) added: Vec<u32>,
    pub(crate) negatives: Vec<u32>,
    pub(crate) shared: Vec<SharedNegatives>,
    /// The number of places of a context beyond the first.
    more_places: usize,
}

impl Plan {
    /// Clears the plan and keeps its memory.
    pub fn clear(&mut self) {
        self.more_places = 0;
        self.rows.clear();
        self.groups.clear();
        self.targets.clear();
        self.excluded.clear();
        self.added.clear();
        self.negatives.clear();
        self.shared.clear();
        self.steps.clear();
    }

    /// Opens a context with these source rows, each repeated as often as it occurs.
    pub fn open_group(&mut self, rows: impl IntoIterator<Item = RowId>) {
        self.drop_idle_group();
        let start = self.rows.len();
        self.rows.extend(rows.into_iter().map(|row| row.0));
        let targets = self.targets.len()..self.targets.len();
        self.groups.push(Group { rows: start..self.rows.len(), targets, follows: false, shares_row: false });
    }

    /// [`Plan::open_group`] for a context that by design shares a row with the previous one, as the words of a document
    /// share its row. A step then has only as many of them as that row can take.
    pub fn open_sharing_group(&mut self, rows: impl IntoIterator<Item = RowId>) {
        self.open_group(rows);
        let is_first = self.groups.len() == 1;
        if let Some(group) = self.groups.last_mut() {
            group.shares_row = !is_first;
        }
    }

    /// Makes all following contexts of this plan concatenated. Each has `n` rows, one per place, and a target's row is
    /// as wide as all of them. The target table then has `n` rows per target, one per place. Nothing is excluded from
    /// such contexts; add their targets with [`Plan::push_weighted_target`] and weights of 1.
    pub fn concatenate(&mut self, n: usize) {
        self.more_places = n.saturating_sub(1);
    }

    /// The number of places in a context.
    pub(crate) fn n_places(&self) -> usize {
        self.more_places + 1
    }

    /// The row of a target in the target table, for this place.
    pub(crate) fn target_row(&self, row: u32, place: usize) -> u32 {
        row * self.n_places() as u32 + place as u32
    }

    /// The rows of a group in this place, as positions in [`Plan::rows`].
    pub(crate) fn rows_in_place(&self, group: &Group, place: usize) -> Range<usize> {
        if self.more_places == 0 {
            return group.rows.clone();
        }
        group.rows.start + place..group.rows.start + place + 1
    }

    /// Adds a target predicted from the whole open context. With `true_mean` every row of the context receives its
    /// share `1/|R|` of the gradient, otherwise all of it (as in word2vec's CBOW).
    pub fn push_target(&mut self, row: RowId, true_mean: bool) {
        self.push_masked_target(row, true_mean, |_| {}, |_| {});
    }

    /// Adds a target predicted from the sum of the open context instead of its mean; every row receives `1/|R|` of the
    /// gradient.
    pub fn push_target_of_sum(&mut self, row: RowId) {
        let n = self.groups.last().map_or(0, |group| group.rows.len());
        self.push_weighted_target(row, 1.0, 1.0 / n as f32);
    }

    /// Adds a target predicted from `mean` times the sum of the open context; every row receives `share` of the
    /// gradient.
    pub fn push_weighted_target(&mut self, row: RowId, mean: f32, share: f32) {
        let position = self.targets.len();
        self.push_target(row, true);
        if let Some(target) = self.targets.get_mut(position) {
            (target.mean, target.share) = (mean, share);
        }
    }

    /// Adds a target whose context lacks some rows of the group and has additional rows. The excluded positions follow
    /// the order of [`Plan::open_group`], ascending and distinct. The target is skipped if its context is empty.
    pub fn push_masked_target(
        &mut self,
        row: RowId,
        true_mean: bool,
        exclude: impl FnOnce(&mut dyn FnMut(usize)),
        add: impl FnOnce(&mut dyn FnMut(RowId)),
    ) {
        let Some(group) = self.groups.last_mut() else { return };
        let (excluded_start, added_start) = (self.excluded.len(), self.added.len());
        let base = group.rows.start;
        exclude(&mut |position| self.excluded.push((base + position) as u32));
        add(&mut |row| self.added.push(row.0));
        let excluded = excluded_start..self.excluded.len();
        let added = added_start..self.added.len();
        let n_rows = group.rows.len() + added.len() - excluded.len();
        if n_rows == 0 {
            self.excluded.truncate(excluded_start);
            self.added.truncate(added_start);
            return;
        }
        let mean = 1.0 / n_rows as f32;
        self.targets.push(Target { row: row.0, mean, share: if true_mean { mean } else { 1.0 }, excluded, added });
        group.targets.end = self.targets.len();
    }

    /// Drops the last group if it has no target, to avoid summing its rows for nothing.
    fn drop_idle_group(&mut self) {
        if let Some(group) = self.groups.last()
            && group.targets.is_empty()
        {
            self.rows.truncate(group.rows.start);
            self.groups.pop();
        }
    }

    /// The target rows to be updated, once per target and per draw of a negative.
    pub(crate) fn moving_rows(&self) -> impl Iterator<Item = u32> + '_ {
        self.targets.iter().map(|t| t.row).chain(self.negatives.iter().copied())
    }

    /// The number of targets.
    #[must_use]
    pub fn n_targets(&self) -> usize {
        self.targets.len()
    }

    /// Whether there are no targets.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::Noise;

    pub(super) fn rows(ids: &[u32]) -> impl Iterator<Item = RowId> + '_ {
        ids.iter().map(|&id| RowId(id))
    }

    #[test]
    fn masked_targets_know_the_size_of_their_context() {
        let mut plan = Plan::default();
        plan.open_group(rows(&[10, 11, 12]));
        plan.push_masked_target(RowId(1), true, |skip| skip(1), |_| {});
        plan.push_masked_target(RowId(2), true, |skip| skip(2), |add| add(RowId(0)));
        plan.push_target(RowId(3), false);
        let weights: Vec<(f32, f32)> = plan.targets.iter().map(|t| (t.mean, t.share)).collect();
        assert_eq!(weights, [(0.5, 0.5), (1.0 / 3.0, 1.0 / 3.0), (1.0 / 3.0, 1.0)]);
    }

    #[test]
    fn groups_without_target_and_targets_without_context_disappear() {
        let mut plan = Plan::default();
        plan.open_group(rows(&[1, 2]));
        plan.open_group(rows(&[3]));
        plan.push_masked_target(RowId(3), true, |skip| skip(0), |_| {});
        plan.open_group(rows(&[4, 5]));
        plan.push_target(RowId(4), true);
        assert_eq!((plan.groups.len(), plan.rows.as_slice(), plan.n_targets()), (1, [4, 5].as_slice(), 1));
    }

    #[test]
    fn a_cleared_plan_is_empty_and_one_with_a_target_is_not() {
        let mut plan = Plan::default();
        assert!(plan.is_empty());
        plan.open_group(rows(&[1, 2]));
        plan.push_masked_target(RowId(3), true, |skip| skip(0), |add| add(RowId(7)));
        plan.draw_negatives(
            2,
            NegativeSharing::Block,
            0.1,
            &Noise::new(&[5; 8], 0.5).unwrap(),
            8,
            &mut senv_core::rng::stream(1, "test", &[]),
        )
        .unwrap();
        assert!(!plan.is_empty());
        plan.clear();
        assert!(plan.is_empty() && plan.steps.is_empty() && plan.rows.is_empty() && plan.groups.is_empty());
        assert!(
            plan.excluded.is_empty() && plan.added.is_empty() && plan.negatives.is_empty() && plan.shared.is_empty()
        );
    }
}
