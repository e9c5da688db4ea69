//! The step against the plain objective.

use ndarray::Array2;
use rand::RngExt;
use senv_core::{RowId, Rows, Table, kernels::SharedTable};

use super::*;
use crate::{
    noise::Noise,
    objective::{Example, gradient, soft_threshold},
    plan::NegativeSharing,
};

const DIM: usize = 21;
const SOURCE: usize = 30;
const TARGET: usize = 12;

fn random_table(n_rows: usize, name: &str) -> Table {
    let mut rng = senv_core::stream(3, name, &[]);
    let mut table = Table::zeros(n_rows, DIM).unwrap();
    for i in 0..n_rows {
        table.row_mut(i).fill_with(|| rng.random_range(-1.0..1.0));
    }
    table
}

fn as_array(table: &Table) -> Array2<f64> {
    Array2::from_shape_fn((table.n_rows(), DIM), |(i, j)| f64::from(table.row(i)[j]))
}

/// Two sentences; targets next to each other exclude a common n-gram, one has rows of its own.
fn plan(sharing: NegativeSharing) -> Plan {
    let mut plan = Plan::default();
    plan.open_group([3, 4, 5, 5, 6, 20, 21].map(RowId));
    plan.push_masked_target(RowId(1), true, |skip| [0, 5].into_iter().for_each(skip), |_| {});
    plan.push_masked_target(RowId(2), true, |skip| [1, 5, 6].into_iter().for_each(skip), |_| {});
    plan.push_masked_target(
        RowId(3),
        true,
        |skip| [2, 6].into_iter().for_each(skip),
        |add| {
            [0, 25].map(RowId).into_iter().for_each(add);
        },
    );
    plan.open_group([7, 8].map(RowId));
    plan.push_masked_target(RowId(1), true, |skip| skip(0), |_| {});
    plan.open_group([9, 9, 3].map(RowId));
    plan.push_target(RowId(4), true);
    plan.push_target(RowId(5), true);
    let noise = Noise::new(&[4; TARGET], 0.5).unwrap();
    plan.draw_negatives(5, sharing, &noise, &mut senv_core::stream(8, "negatives", &[]));
    plan
}

/// The loss, and both tables after one step of size `lr`, by the plain objective: target rows move from target to
/// target of a contest, contexts and their gradients are those of the start.
fn expected(plan: &Plan, source: &Table, target: &Table, lr: f64) -> (f64, Array2<f64>, Array2<f64>) {
    let (s, t) = (as_array(source), as_array(target));
    let (mut new_s, mut new_t, mut loss) = (s.clone(), t.clone(), 0.0);
    for contest in &plan.contests {
        // Each draw of a negative: its row as this draw alone has moved it so far.
        let negatives = &plan.negatives[contest.negatives.clone()];
        let mut moved: Vec<_> = negatives.iter().map(|&n| t.row(n as usize).to_owned()).collect();
        for index in contest.targets.clone() {
            let one = &plan.targets[index];
            let group = plan.groups.iter().find(|g| g.targets.contains(&index)).unwrap();
            let mut context: Vec<usize> = group
                .rows
                .clone()
                .filter(|p| !plan.excluded[one.excluded.clone()].contains(&(*p as u32)))
                .map(|p| plan.rows[p] as usize)
                .collect();
            context.extend(plan.added[one.added.clone()].iter().map(|&r| r as usize));
            let positive = Example { context: &context, target: one.row as usize, negatives: &[] };
            let g = gradient(&s, &t, positive);
            loss += g.loss;
            new_s.scaled_add(-lr, &g.d_source);
            new_t.scaled_add(-lr, &g.d_target);
            for (&n, moved) in negatives.iter().zip(&mut moved).filter(|(n, _)| **n != one.row) {
                let score = moved.dot(&g.hidden);
                let a = 1.0 / (1.0 + (-score).exp());
                loss += (1.0 + score.exp()).ln();
                for &r in &context {
                    new_s.row_mut(r).scaled_add(-lr * a / context.len() as f64, &t.row(n as usize));
                }
                new_t.row_mut(n as usize).scaled_add(-lr * a, &g.hidden);
                moved.scaled_add(-lr * a, &g.hidden);
            }
        }
    }
    (loss, new_s, new_t)
}

fn assert_close(got: &Table, expected: &Array2<f64>) {
    for ((i, j), &e) in expected.indexed_iter() {
        let g = f64::from(got.row(i)[j]);
        assert!((g - e).abs() < 2e-6, "row {i} column {j}: {g} {e}");
    }
}

#[test]
fn a_step_follows_the_plain_objective_however_negatives_are_shared() {
    for sharing in [NegativeSharing::None, NegativeSharing::Sentence, NegativeSharing::Block] {
        let (mut source, mut target) = (random_table(SOURCE, "source"), random_table(TARGET, "target"));
        let plan = plan(sharing);
        let (loss, new_source, new_target) = expected(&plan, &source, &target, 0.3);
        let mut step = Step::default();
        {
            let s = Overlay::shared_only(SharedTable::new(&mut source));
            let t = Overlay::shared_only(SharedTable::new(&mut target));
            let got = step.compute(&plan, &s, &t, Rate { lr: 0.3, l1: 0.0 }, true);
            assert!((got - loss).abs() < 1e-5 * loss, "{got} {loss}");
            step.apply(&s, &t);
        }
        assert_close(&source, &new_source);
        assert_close(&target, &new_target);
    }
}

#[test]
fn partitions_apply_every_update_once_and_to_each_row_in_order() {
    let plan = plan(NegativeSharing::Sentence);
    let tables = || (random_table(SOURCE, "source"), random_table(TARGET, "target"));
    let (mut whole, mut parts) = (tables(), tables());
    let mut step = Step::default();
    {
        let s = Overlay::shared_only(SharedTable::new(&mut whole.0));
        let t = Overlay::shared_only(SharedTable::new(&mut whole.1));
        step.compute(&plan, &s, &t, Rate { lr: 0.3, l1: 0.01 }, false);
        step.apply(&s, &t);
        step.partition(7);
    }
    {
        let s = Overlay::shared_only(SharedTable::new(&mut parts.0));
        let t = Overlay::shared_only(SharedTable::new(&mut parts.1));
        (0..7).rev().for_each(|p| step.apply_partition(p, &s, &t));
    }
    assert_eq!(whole.0.values(), parts.0.values());
    assert_eq!(whole.1.values(), parts.1.values());
}

#[test]
fn the_l1_penalty_thresholds_a_row_by_its_share_of_every_target() {
    let (mut source, mut target) = (random_table(SOURCE, "source"), random_table(TARGET, "target"));
    let mut plan = Plan::default();
    plan.open_group([3, 4, 5].map(RowId));
    plan.push_masked_target(RowId(1), true, |skip| skip(0), |_| {});
    plan.push_masked_target(RowId(2), true, |skip| skip(1), |_| {});
    let noise = Noise::new(&[4; TARGET], 0.5).unwrap();
    plan.draw_negatives(2, NegativeSharing::Sentence, &noise, &mut senv_core::stream(8, "n", &[]));
    let (lr, l1) = (0.3, 0.2);
    let (_, plain, _) = expected(&plan, &source, &target, f64::from(lr));
    {
        let s = Overlay::shared_only(SharedTable::new(&mut source));
        let t = Overlay::shared_only(SharedTable::new(&mut target));
        let mut step = Step::default();
        step.compute(&plan, &s, &t, Rate { lr, l1 }, false);
        step.apply(&s, &t);
    }
    // Each of the two contexts has two rows: a row in one of them is cut by τ·lr/2, a row in both by τ·lr.
    let tau = f64::from(lr * l1);
    for (row, tau) in [(3, tau / 2.0), (4, tau / 2.0), (5, tau)] {
        for j in 0..DIM {
            let e = soft_threshold(plain[[row, j]], tau);
            assert!((f64::from(source.row(row)[j]) - e).abs() < 2e-6, "row {row}");
        }
    }
}

#[test]
fn the_l1_penalty_counts_a_negative_once_for_every_target_it_is_shared_by() {
    const MANY: usize = 400;
    let (mut source, mut target) = (random_table(SOURCE, "source"), random_table(MANY, "many targets"));
    let mut plan = Plan::default();
    plan.open_group([3, 4, 5].map(RowId));
    for row in [1, 2, 3] {
        plan.push_target(RowId(row), true);
    }
    let noise = Noise::new(&[4; MANY], 0.5).unwrap();
    plan.draw_negatives(8, NegativeSharing::Sentence, &noise, &mut senv_core::stream(9, "n", &[]));
    let (lr, l1) = (0.3, 0.2);
    let (_, _, plain) = expected(&plan, &source, &target, f64::from(lr));
    {
        let s = Overlay::shared_only(SharedTable::new(&mut source));
        let t = Overlay::shared_only(SharedTable::new(&mut target));
        let mut step = Step::default();
        step.compute(&plan, &s, &t, Rate { lr, l1 }, false);
        step.apply(&s, &t);
    }
    // Each row takes part once as a target, or in the sums of three targets as a negative that was drawn once.
    let tau = f64::from(lr * l1);
    let once = |row: &u32| plan.moving_rows().filter(|other| other == row).count() == 1;
    let negatives = plan.negatives.iter().copied().filter(once).map(|row| (row, 3.0 * tau));
    let targets = [1, 2, 3].into_iter().filter(once).map(|row| (row, tau));
    let rows: Vec<(u32, f64)> = negatives.chain(targets).collect();
    assert!(rows.len() >= 8, "{rows:?}");
    for (row, tau) in rows {
        for j in 0..DIM {
            let e = soft_threshold(plain[[row as usize, j]], tau);
            assert!((f64::from(target.row(row as usize)[j]) - e).abs() < 2e-6, "row {row}");
        }
    }
}
