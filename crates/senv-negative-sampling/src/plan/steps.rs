//! The steps of a plan, and the negatives of each.
//!
//! Equation: `step-limit`
//!
//! ```text
//! m = ⌊U / (lr / |R|)⌋, at least 1, at most 16     targets of one context in a step; U = 1/2, R the rows of the context
//! m = ⌊U / (lr |R|)⌋, likewise                       of a sum that passes its whole gradient to each of its rows
//! Σ lr s_t ≤ U, or a single context                 contexts of a step that share a row; s_t: share of a gradient for that row, or the sum
//! ```
//!
//! All rows of a step are read as they are at its start. The updates of one context by m targets sum to at most U times
//! the update of one target at a learning rate of 1. Without this limit they overshoot what successive updates would
//! reach. The same is true of a row that is in several contexts by design, as the document of PV-DM is in those of all
//! its words.

use std::ops::Range;

use senv_core::{Result, rng::Stream};

use super::{Group, NegativeSharing, Plan, PlannedStep, SharedNegatives, Target};
use crate::noise::{DrawMany, Negatives};

/// The maximum number of targets in a step if they share negatives, as all are computed from the same tables.
const MAX_TARGETS: usize = 16;

/// The largest sum of updates of one context by its targets, in units of one update at a learning rate of 1. All of
/// them are computed from the same context, so together they overshoot what successive updates would reach. Contexts of
/// one row (PV-DBOW, skip-gram) take the whole of every update, a sentence of n words an nth.
const MAX_UPDATE: f32 = 0.5;

/// The maximum number of targets in a step if every target has its own negatives, as they do not see each other's
/// updates.
const MAX_TARGETS_ALONE: usize = 4;

/// The negatives of a plan that is divided into steps.
struct PlannedDraws<'p> {
    plan: &'p mut Plan,
    k: usize,
    sharing: NegativeSharing,
    rng: &'p mut Stream,
}

impl DrawMany for PlannedDraws<'_> {
    fn run(self, mut draw: impl FnMut(&mut Stream) -> u32) {
        let Self { plan, k, sharing, rng } = self;
        let Plan { steps, groups, targets, negatives, shared, .. } = plan;
        for step in steps {
            let first = shared.len();
            let mut shared_negatives = |range: Range<usize>| {
                let start = negatives.len();
                let own = (range.len() == 1).then(|| targets[range.start].row);
                for _ in 0..k {
                    let mut drawn = draw(rng);
                    // If the draw is the target itself, it is repeated, as in the releases; a vocabulary of one word
                    // has no negatives.
                    for _ in 0..64 {
                        if own != Some(drawn) {
                            break;
                        }
                        drawn = draw(rng);
                    }
                    negatives.push(drawn);
                }
                let rows = targets[range.clone()].iter().map(|t| t.row).chain(negatives[start..].iter().copied());
                let has_repeats = range.len() > 1 && has_repeats(rows);
                shared.push(SharedNegatives { targets: range, negatives: start..negatives.len(), has_repeats });
            };
            match sharing {
                NegativeSharing::None => step.targets.clone().for_each(|t| shared_negatives(t..t + 1)),
                NegativeSharing::Sentence => {
                    groups[step.groups.clone()].iter().for_each(|group| shared_negatives(group.targets.clone()));
                }
                NegativeSharing::Block => shared_negatives(step.targets.clone()),
            }
            step.shared = first..shared.len();
        }
    }
}

impl Plan {
    /// Divides the plan into steps, and draws `k` negatives among `n_rows` for each set of targets that shares them.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`](senv_core::Error::InvalidParameter) if a source drew a row out of range.
    pub(crate) fn draw_negatives<'n>(
        &mut self,
        k: usize,
        sharing: NegativeSharing,
        lr: f32,
        noise: impl Into<Negatives<'n>>,
        n_rows: usize,
        rng: &mut Stream,
    ) -> Result<()> {
        self.drop_idle_group();
        self.cut(if sharing == NegativeSharing::None { MAX_TARGETS_ALONE } else { MAX_TARGETS }, lr);
        noise.into().draw_many(n_rows, PlannedDraws { plan: self, k, sharing, rng })
    }

    /// Makes steps of at most `limit` targets. A group with more targets, or with a larger sum of updates than allowed
    /// at the learning rate `lr`, is divided into groups of the same rows.
    fn cut(&mut self, limit: usize, lr: f32) {
        let is_added_up = self.more_places == 0;
        // In a plain sum each row receives the whole gradient, and so its vector receives it once per row.
        let weight = |group: &Group, targets: &[Target]| {
            let first = &targets[group.targets.start];
            let is_whole = first.excluded.is_empty() && first.added.is_empty();
            let is_sum = is_added_up && is_whole && first.mean == 1.0 && first.share == 1.0;
            if is_sum { group.rows.len() as f32 } else { first.share }
        };
        let most =
            |group: &Group, targets: &[Target]| ((MAX_UPDATE / (lr * weight(group, targets))) as usize).clamp(1, limit);
        if self.groups.iter().any(|group| group.targets.len() > most(group, &self.targets)) {
            let whole = std::mem::take(&mut self.groups);
            for group in whole {
                let most = most(&group, &self.targets);
                let Group { rows, targets, shares_row, .. } = group;
                // The parts share their rows, which are in the plan once: a sentence can be a whole book.
                self.groups.extend(split(targets, most).enumerate().map(|(i, targets)| Group {
                    rows: rows.clone(),
                    targets,
                    follows: i > 0,
                    shares_row,
                }));
            }
        }
        let mut update = 0.0;
        for (g, group) in self.groups.iter().enumerate() {
            let own = lr * weight(group, &self.targets) * group.targets.len() as f32;
            update = if group.shares_row { update + own } else { own };
            match self.steps.last_mut() {
                Some(step)
                    if step.targets.len() + group.targets.len() <= limit
                        && !group.follows
                        && !(group.shares_row && update > MAX_UPDATE) =>
                {
                    (step.groups.end, step.targets.end) = (g + 1, group.targets.end);
                }
                _ => {
                    self.steps.push(PlannedStep { groups: g..g + 1, targets: group.targets.clone(), shared: 0..0 });
                    update = own;
                }
            }
        }
    }
}

/// Whether a row occurs twice.
fn has_repeats(rows: impl Iterator<Item = u32> + Clone) -> bool {
    let mut seen = [0_u64; 16];
    rows.clone().enumerate().any(|(i, row)| {
        let hash = row.wrapping_mul(0x9E37_79B9) >> 22;
        let (word, bit) = (hash as usize / 64, 1 << (hash % 64));
        let maybe = seen[word] & bit != 0;
        seen[word] |= bit;
        maybe && rows.clone().take(i).any(|other| other == row)
    })
}

/// Divides a range into equal parts of at most `limit`.
fn split(range: Range<usize>, limit: usize) -> impl Iterator<Item = Range<usize>> {
    let parts = range.len().div_ceil(limit);
    (0..parts).map(move |i| range.start + range.len() * i / parts..range.start + range.len() * (i + 1) / parts)
}

#[cfg(test)]
mod tests {
    use super::{super::tests::rows, *};
    use crate::Noise;
    use senv_core::RowId;

    #[test]
    fn every_target_is_in_one_contest_and_never_its_own_negative_when_alone() {
        let noise = Noise::new(&[5; 8], 0.5).unwrap();
        for sharing in [NegativeSharing::None, NegativeSharing::Sentence, NegativeSharing::Block] {
            let mut rng = senv_core::rng::stream(1, "test", &[]);
            let mut plan = Plan::default();
            for sentence in 0..3 {
                plan.open_group(rows(&[1, 2]));
                for t in 0..sentence * 40 + 1 {
                    plan.push_target(RowId(t % 8), true);
                }
            }
            plan.draw_negatives(10, sharing, 0.1, &noise, usize::MAX, &mut rng).unwrap();
            let mut next = 0;
            for shared_negatives in &plan.shared {
                assert_eq!((shared_negatives.targets.start, shared_negatives.negatives.len()), (next, 10));
                assert!(shared_negatives.targets.len() <= MAX_TARGETS);
                next = shared_negatives.targets.end;
                if shared_negatives.targets.len() == 1 {
                    assert!(!shared_negatives.has_repeats, "one target has no other to see");
                    let own = plan.targets[shared_negatives.targets.start].row;
                    assert!(!plan.negatives[shared_negatives.negatives.clone()].contains(&own));
                }
            }
            assert_eq!(next, plan.n_targets());
        }
    }

    /// The numbers of targets in each group and in each step, for one context of `n_rows` with `n_targets`.
    fn cut(n_rows: u32, n_targets: u32, true_mean: bool, lr: f32) -> (Vec<usize>, Vec<usize>) {
        let mut plan = Plan::default();
        plan.open_group((0..n_rows).map(RowId));
        (0..n_targets).for_each(|t| plan.push_target(RowId(t), true_mean));
        plan.cut(MAX_TARGETS, lr);
        let groups = plan.groups.iter().map(|group| group.targets.len()).collect();
        (groups, plan.steps.iter().map(|step| step.targets.len()).collect())
    }

    #[test]
    fn the_targets_of_a_context_move_it_by_half_an_update_in_a_step() {
        // m = ⌊0.5 / (lr / |R|)⌋ targets, from 1 to 16, in groups as even as possible.
        for (n_rows, lr, parts) in [
            (1, 0.125, vec![3, 3, 4]),      // m = 4
            (1, 0.25, vec![2, 2, 2, 2, 2]), // m = 2
            (1, 0.3, vec![1; 10]),          // 1 after rounding down
            (1, 2.0, vec![1; 10]),          // at least 1
            (2, 0.25, vec![3, 3, 4]),       // twice the rows, half the update of each
            (3, 0.25, vec![5, 5]),          // m = 6
            (1, 0.01, vec![10]),            // m = 16, as ⌊50⌋ is above it
        ] {
            assert_eq!(cut(n_rows, 10, true, lr), (parts.clone(), parts), "{n_rows} rows at {lr}");
        }
        assert_eq!(cut(1, 40, true, 0.001).0, [13, 13, 14], "16 at most");
        // A row in CBOW's window receives the whole of every update, for any length of the window.
        assert_eq!(cut(4, 10, false, 0.125).0, [3, 3, 4]);
    }

    #[test]
    fn the_vector_of_a_plain_sum_moves_once_for_each_of_its_rows() {
        // Weights of 1, ten targets at 0.125: ⌊0.5 / (0.125 · 2)⌋ = 2 for a sum of two rows, 4 for anything else.
        let parts = |n_places: usize, push: &dyn Fn(&mut Plan, u32)| {
            let mut plan = Plan::default();
            plan.concatenate(n_places);
            plan.open_group(rows(&[7, 8]));
            (0..10).for_each(|t| push(&mut plan, t));
            assert!(plan.targets.iter().all(|t| t.share == 1.0));
            plan.cut(MAX_TARGETS, 0.125);
            plan.groups.iter().map(|group| group.targets.len()).collect::<Vec<_>>()
        };
        let whole = |plan: &mut Plan, t: u32| plan.push_weighted_target(RowId(t), 1.0, 1.0);
        assert_eq!(parts(1, &whole), [2; 5]);
        assert_eq!(parts(2, &whole), [3, 3, 4], "rows beside each other");
        let masked = |plan: &mut Plan, t: u32| plan.push_masked_target(RowId(t), true, |skip| skip(0), |_| {});
        assert_eq!(parts(1, &masked), [3, 3, 4], "one row of the two is left");
    }

    #[test]
    fn the_updates_of_groups_that_share_a_row_are_added_up_target_by_target() {
        // Pairs of targets at 0.1: 0.2, 0.4, and the third pair would exceed 0.5.
        let mut plan = Plan::default();
        for g in 0..5 {
            plan.open_sharing_group(rows(&[3]));
            (0..2).for_each(|t| plan.push_weighted_target(RowId(10 * g + t), 1.0, 1.0));
        }
        plan.cut(MAX_TARGETS, 0.1);
        assert_eq!(plan.steps.iter().map(|step| step.targets.clone()).collect::<Vec<_>>(), [0..4, 4..8, 8..10]);
    }

    #[test]
    fn a_step_takes_groups_until_they_would_exceed_its_targets() {
        let mut plan = Plan::default();
        for (g, n) in [5, 5, 5, 2, 16, 1].into_iter().enumerate() {
            plan.open_group(rows(&[g as u32]));
            (0..n).for_each(|t| plan.push_target(RowId(t), true));
        }
        plan.cut(MAX_TARGETS, 0.01);
        let steps: Vec<_> = plan.steps.iter().map(|step| (step.groups.clone(), step.targets.clone())).collect();
        assert_eq!(steps, [(0..3, 0..15), (3..4, 15..17), (4..5, 17..33), (5..6, 33..34)]);
        // A set of steps that is exactly full.
        let mut plan = Plan::default();
        for g in 0..3 {
            plan.open_group(rows(&[g]));
            (0..8).for_each(|t| plan.push_target(RowId(t), true));
        }
        plan.cut(MAX_TARGETS, 0.01);
        assert_eq!(plan.steps.iter().map(|step| step.targets.clone()).collect::<Vec<_>>(), [0..16, 16..24]);
    }

    #[test]
    fn later_parts_of_a_group_have_its_rows_which_are_there_once() {
        let mut plan = Plan::default();
        plan.open_group(rows(&[9, 9]));
        plan.push_target(RowId(0), true);
        plan.open_group(rows(&[4, 5, 6]));
        (0..5).for_each(|t| plan.push_masked_target(RowId(t), true, |skip| skip(t as usize % 3), |_| {}));
        plan.cut(2, 0.01);
        assert_eq!(plan.rows, [9, 9, 4, 5, 6]);
        let groups: Vec<_> = plan.groups.iter().map(|g| (g.rows.clone(), g.targets.clone(), g.follows)).collect();
        assert_eq!(groups, [(0..2, 0..1, false), (2..5, 1..2, false), (2..5, 2..4, true), (2..5, 4..6, true)]);
        let excluded: Vec<u32> =
            plan.targets[1..].iter().map(|t| plan.rows[plan.excluded[t.excluded.clone()][0] as usize]).collect();
        assert_eq!(excluded, [4, 5, 6, 4, 5]);
    }

    #[test]
    fn repeats_are_rows_that_come_twice_and_not_those_of_one_hash() {
        let twice = |ids: &[u32]| has_repeats(ids.iter().copied());
        assert!(!twice(&[]) && !twice(&[5]) && twice(&[5, 5]) && twice(&[7, 5, 6, 5]) && !twice(&[5, 6, 7]));
        // Among 2,000 rows, two with the same ten-bit hash are certain.
        let hash = |row: u32| row.wrapping_mul(0x9E37_79B9) >> 22;
        let (a, b) = (1..2000).flat_map(|b| (0..b).map(move |a| (a, b))).find(|&(a, b)| hash(a) == hash(b)).unwrap();
        assert!(!twice(&[a, b]) && twice(&[a, b, a]) && twice(&[b, a, a]));
    }
}
