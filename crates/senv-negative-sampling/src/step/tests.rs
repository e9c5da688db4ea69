//! Compares the step with the plain objective.

// The columns of one thread: a list of one range is intended.
#![allow(clippy::single_range_in_vec_init)]

use ndarray::Array2;
use rand::RngExt;
use senv_core::{RowId, Rows, Table, kernels::SharedTable};

use super::*;
use crate::{
    coefficients::Coefficients,
    examples::{DistributedMemory, Examples, MemoryScratch, Surroundings, WindowSide},
    noise::Noise,
    objective::{Composition, Example, gradient_composed, soft_threshold},
    plan::NegativeSharing,
    subsampling::Subsampling,
};

const DIM: usize = 21;
const SOURCE: usize = 30;
const TARGET: usize = 12;

fn random_table(n_rows: usize, name: &str) -> Table {
    let mut rng = senv_core::rng::stream(3, name, &[]);
    let mut table = Table::zeros(n_rows, DIM).unwrap();
    for i in 0..n_rows {
        table.row_mut(i).fill_with(|| rng.random_range(-1.0..1.0));
    }
    table
}

fn as_array(table: &Table) -> Array2<f64> {
    Array2::from_shape_fn((table.n_rows(), DIM), |(i, j)| f64::from(table.row(i)[j]))
}

/// Two sentences. Neighboring targets exclude a common n-gram, and one target has additional rows.
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
    plan.draw_negatives(5, sharing, 0.1, &noise, usize::MAX, &mut senv_core::rng::stream(8, "negatives", &[])).unwrap();
    plan
}

/// The loss and both tables after the steps of a plan, by the plain objective. The rows of a group of shared negatives
/// are updated from target to target; all else is as it was when the step began.
fn expected(plan: &Plan, source: &Table, target: &Table, lr: f64) -> (f64, Array2<f64>, Array2<f64>) {
    expected_with(plan, source, target, lr, &[])
}

/// The same if every context row of these targets receives the whole gradient, as in word2vec's CBOW.
fn expected_with(
    plan: &Plan,
    source: &Table,
    target: &Table,
    lr: f64,
    whole: &[u32],
) -> (f64, Array2<f64>, Array2<f64>) {
    expected_composed(plan, source, target, lr, whole, Composition::Mean)
}

/// The same if contexts have this composition.
fn expected_composed(
    plan: &Plan,
    source: &Table,
    target: &Table,
    lr: f64,
    whole: &[u32],
    composition: Composition,
) -> (f64, Array2<f64>, Array2<f64>) {
    let (mut new_s, mut new_t, mut loss) = (as_array(source), as_array(target), 0.0);
    let n_places = plan.n_places();
    new_t = new_t.into_shape_with_order((target.n_rows() / n_places, DIM * n_places)).unwrap();
    for step in &plan.steps {
        let (s, t) = (new_s.clone(), new_t.clone());
        for shared_negatives in &plan.shared[step.shared.clone()] {
            let negatives: Vec<usize> =
                plan.negatives[shared_negatives.negatives.clone()].iter().map(|&n| n as usize).collect();
            let mut moved = t.clone();
            for index in shared_negatives.targets.clone() {
                let one = &plan.targets[index];
                let group = plan.groups.iter().find(|g| g.targets.contains(&index)).unwrap();
                let mut context: Vec<usize> = group
                    .rows
                    .clone()
                    .filter(|p| !plan.excluded[one.excluded.clone()].contains(&(*p as u32)))
                    .map(|p| plan.rows[p] as usize)
                    .collect();
                context.extend(plan.added[one.added.clone()].iter().map(|&r| r as usize));
                let negatives: Vec<usize> = negatives.iter().copied().filter(|&n| n != one.row as usize).collect();
                let example = Example { context: &context, target: one.row as usize, negatives: &negatives };
                // Scores use the updated rows, the context's update the rows at the start.
                let g = gradient_composed(&s, &moved, example, composition);
                loss += g.loss;
                let mut d_h = ndarray::Array1::<f64>::zeros(DIM * n_places);
                for (row, label) in std::iter::once((one.row as usize, 1.0)).chain(negatives.iter().map(|&n| (n, 0.0)))
                {
                    let a = 1.0 / (1.0 + (-moved.row(row).dot(&g.hidden)).exp()) - label;
                    d_h.scaled_add(a, &t.row(row));
                }
                let is_mean = composition == Composition::Mean && !whole.contains(&one.row);
                let share = if is_mean { 1.0 / context.len() as f64 } else { 1.0 };
                for (place, &r) in context.iter().enumerate() {
                    let first = if n_places > 1 { place * DIM } else { 0 };
                    new_s.row_mut(r).scaled_add(-lr * share, &d_h.slice(ndarray::s![first..first + DIM]));
                }
                moved.scaled_add(-lr, &g.d_target);
                new_t.scaled_add(-lr, &g.d_target);
            }
        }
    }
    (loss, new_s, new_t.into_shape_with_order((target.n_rows(), DIM)).unwrap())
}

fn part<'a>(table: &SharedTable<'a>, range: &Range<usize>) -> Overlay<'a> {
    Overlay::shared_only(table.columns(range.clone()))
}

/// Runs the steps of a plan with the columns of the tables in these ranges, each of `n_parts` equal parts.
fn train(plan: &Plan, tables: &mut (Table, Table), rate: Rate, ranges: &[Range<usize>], n_parts: usize) -> f64 {
    let (source, target) = (SharedTable::new(&mut tables.0), SharedTable::new(&mut tables.1));
    let (mut coefficients, mut loss) = (Coefficients::default(), 0.0);
    let mut columns: Vec<Columns> = ranges.iter().map(|_| Columns::default()).collect();
    for step in &plan.steps {
        for (columns, range) in columns.iter_mut().zip(ranges) {
            let width = range.len() / n_parts;
            let parts: Vec<_> = (0..n_parts).map(|i| i * width..(i + 1) * width).collect();
            columns.forward(plan, step, &part(&source, range), &part(&target, range), &parts);
        }
        loss += coefficients.combine(plan, step, columns.iter().flat_map(Columns::products), rate, true);
        for (columns, range) in columns.iter_mut().zip(ranges) {
            columns.backward(plan, step, &coefficients, rate, &part(&source, range), &part(&target, range));
        }
    }
    loss
}

fn tables() -> (Table, Table) {
    (random_table(SOURCE, "source"), random_table(TARGET, "target"))
}

fn assert_close(got: &Table, expected: &Array2<f64>) {
    for ((i, j), &e) in expected.indexed_iter() {
        let g = f64::from(got.row(i)[j]);
        assert!((g - e).abs() < 2e-6, "row {i} column {j}: {g} {e}");
    }
}

#[test]
fn a_step_follows_the_plain_objective_however_negatives_are_shared_and_columns_divided() {
    for sharing in [NegativeSharing::None, NegativeSharing::Sentence, NegativeSharing::Block] {
        let plan = plan(sharing);
        // With twelve rows and five negatives, some row occurs twice eventually.
        assert!(
            sharing == NegativeSharing::None || plan.shared.iter().any(|shared_negatives| shared_negatives.has_repeats)
        );
        let [_, in_lanes, in_parts] =
            [(vec![0..32], 1), (vec![0..16, 16..32], 1), (vec![0..32], 2)].map(|(ranges, n)| {
                let mut tables = tables();
                let (loss, new_source, new_target) = expected(&plan, &tables.0, &tables.1, 0.3);
                let got = train(&plan, &mut tables, Rate { lr: 0.3, l1: 0.0 }, &ranges, n);
                assert!((got - loss).abs() < 1e-5 * loss, "{got} {loss}");
                assert_close(&tables.0, &new_source);
                assert_close(&tables.1, &new_target);
                (tables.0.values().to_vec(), tables.1.values().to_vec())
            });
        assert!(in_lanes == in_parts, "the same parts, the same bits, whoever computes them");
    }
}

#[test]
fn a_long_sentence_is_divided_into_steps_that_see_each_other() {
    let mut plan = Plan::default();
    plan.open_group([3, 4, 5, 6].map(RowId));
    for t in 0..40 {
        plan.push_masked_target(RowId(t % 12), true, |skip| skip(t as usize % 4), |_| {});
    }
    let noise = Noise::new(&[4; TARGET], 0.5).unwrap();
    plan.draw_negatives(3, NegativeSharing::Block, 0.1, &noise, usize::MAX, &mut senv_core::rng::stream(8, "n", &[]))
        .unwrap();
    assert_eq!(plan.steps.len(), 3);
    let mut tables = tables();
    let (loss, new_source, new_target) = expected(&plan, &tables.0, &tables.1, 0.1);
    let got = train(&plan, &mut tables, Rate { lr: 0.1, l1: 0.0 }, &[0..32], 1);
    assert!((got - loss).abs() < 1e-5 * loss, "{got} {loss}");
    assert_close(&tables.0, &new_source);
    assert_close(&tables.1, &new_target);
}

#[test]
fn the_l1_penalty_thresholds_a_row_by_its_share_of_every_target() {
    let mut tables = tables();
    let mut plan = Plan::default();
    // The positions of the second group's rows do not start at 0.
    plan.open_group([8, 9, 10, 11].map(RowId));
    plan.push_target(RowId(6), true);
    plan.open_group([3, 4, 5].map(RowId));
    plan.push_masked_target(RowId(1), true, |skip| skip(0), |_| {});
    plan.push_masked_target(RowId(2), true, |skip| skip(1), |_| {});
    let noise = Noise::new(&[4; TARGET], 0.5).unwrap();
    plan.draw_negatives(
        2,
        NegativeSharing::Sentence,
        0.1,
        &noise,
        usize::MAX,
        &mut senv_core::rng::stream(8, "n", &[]),
    )
    .unwrap();
    let (lr, l1) = (0.3, 0.2);
    let (_, plain, _) = expected(&plan, &tables.0, &tables.1, f64::from(lr));
    train(&plan, &mut tables, Rate { lr, l1 }, &[0..32], 1);
    // Each of the two contexts has two rows. A row in one of them is reduced by τ·lr/2, a row in both by τ·lr.
    let tau = f64::from(lr * l1);
    for (row, tau) in [(3, tau / 2.0), (4, tau / 2.0), (5, tau)] {
        for j in 0..DIM {
            let e = soft_threshold(plain[[row, j]], tau);
            assert!((f64::from(tables.0.row(row)[j]) - e).abs() < 2e-6, "row {row}");
        }
    }
}

#[test]
fn the_l1_penalty_counts_a_negative_once_for_every_target_it_is_shared_by() {
    const MANY: usize = 400;
    let mut tables = (random_table(SOURCE, "source"), random_table(MANY, "many targets"));
    let mut plan = Plan::default();
    plan.open_group([3, 4, 5].map(RowId));
    for row in [1, 2, 3] {
        plan.push_target(RowId(row), true);
    }
    let noise = Noise::new(&[4; MANY], 0.5).unwrap();
    plan.draw_negatives(
        8,
        NegativeSharing::Sentence,
        0.1,
        &noise,
        usize::MAX,
        &mut senv_core::rng::stream(9, "n", &[]),
    )
    .unwrap();
    let (lr, l1) = (0.3, 0.2);
    let (_, _, plain) = expected(&plan, &tables.0, &tables.1, f64::from(lr));
    train(&plan, &mut tables, Rate { lr, l1 }, &[0..32], 1);
    // Each row takes part once as a target, or as a negative, drawn once, in the sums of three targets.
    let tau = f64::from(lr * l1);
    let once = |row: &u32| plan.moving_rows().filter(|other| other == row).count() == 1;
    let negatives = plan.negatives.iter().copied().filter(once).map(|row| (row, 3.0 * tau));
    let targets = [1, 2, 3].into_iter().filter(once).map(|row| (row, tau));
    let rows: Vec<(u32, f64)> = negatives.chain(targets).collect();
    assert!(rows.len() >= 8, "{rows:?}");
    for (row, tau) in rows {
        for j in 0..DIM {
            let e = soft_threshold(plain[[row as usize, j]], tau);
            assert!((f64::from(tables.1.row(row as usize)[j]) - e).abs() < 2e-6, "row {row}");
        }
    }
}

#[test]
fn the_rows_of_a_cbow_window_receive_the_whole_gradient_each() {
    let mut plan = Plan::default();
    for (window, focus) in [(&[3, 4, 5, 6][..], 10), (&[7, 8, 7], 11)] {
        plan.open_group(window.iter().copied().map(RowId));
        plan.push_target(RowId(focus), false);
    }
    plan.open_group([9, 3].map(RowId));
    plan.push_target(RowId(1), true);
    let noise = Noise::new(&[4; TARGET], 0.5).unwrap();
    plan.draw_negatives(3, NegativeSharing::None, 0.1, &noise, usize::MAX, &mut senv_core::rng::stream(8, "n", &[]))
        .unwrap();
    let mut tables = tables();
    let (loss, new_source, new_target) = expected_with(&plan, &tables.0, &tables.1, 0.1, &[10, 11]);
    let got = train(&plan, &mut tables, Rate { lr: 0.1, l1: 0.0 }, &[0..32], 1);
    assert!((got - loss).abs() < 1e-5 * loss, "{got} {loss}");
    assert_close(&tables.0, &new_source);
    assert_close(&tables.1, &new_target);
}

#[test]
fn targets_of_different_contexts_see_the_negatives_moved_by_those_before() {
    const MANY: usize = 400;
    // With one negative and with several, without and with a repeated row.
    for (n_negatives, targets) in [(1, [1, 2, 3, 4]), (6, [1, 2, 3, 4]), (1, [1, 2, 1, 3]), (6, [1, 2, 1, 3])] {
        let mut tables = (random_table(SOURCE, "source"), random_table(MANY, "many targets"));
        let mut plan = Plan::default();
        plan.open_group([3, 4, 5, 6].map(RowId));
        for (i, row) in targets.into_iter().enumerate() {
            plan.push_masked_target(RowId(row), true, |skip| skip(i), |_| {});
        }
        let noise = Noise::new(&[4; MANY], 0.5).unwrap();
        plan.draw_negatives(
            n_negatives,
            NegativeSharing::Sentence,
            0.1,
            &noise,
            MANY,
            &mut senv_core::rng::stream(9, "n", &[]),
        )
        .unwrap();
        assert_eq!((plan.shared.len(), plan.shared[0].has_repeats), (1, targets[2] == 1));
        let (loss, new_source, new_target) = expected(&plan, &tables.0, &tables.1, 0.3);
        let got = train(&plan, &mut tables, Rate { lr: 0.3, l1: 0.0 }, &[0..32], 1);
        assert!((got - loss).abs() < 1e-5 * loss, "{n_negatives} {targets:?}: {got} {loss}");
        assert_close(&tables.0, &new_source);
        assert_close(&tables.1, &new_target);
    }
}

/// Two documents of PV-DM over 12 words, in steps.
fn memory_plan(surroundings: Surroundings, sharing: NegativeSharing, lr: f32) -> (Plan, usize, usize) {
    let everything = Subsampling::new(&[4; TARGET], 48, f64::INFINITY, 1).unwrap();
    let examples = DistributedMemory::new(surroundings, 2, everything);
    let (mut plan, mut scratch) = (Plan::default(), MemoryScratch::default());
    let mut rng = senv_core::rng::stream(5, "documents", &[]);
    for (number, document) in [&[1, 2, 3, 2, 4][..], &[5, 1, 6]].into_iter().enumerate() {
        let tokens: Vec<senv_core::TokenId> = document.iter().map(|&id| senv_core::TokenId(id)).collect();
        examples.plan(&tokens, number as u64, &mut rng, &mut scratch, &mut plan);
    }
    let noise = Noise::new(&[4; TARGET], 0.5).unwrap();
    plan.draw_negatives(3, sharing, lr, &noise, usize::MAX, &mut rng).unwrap();
    (plan, examples.n_source_rows(), examples.n_target_rows())
}

#[test]
fn documents_and_words_move_by_the_gradient_of_their_mean_sum_and_concatenation() {
    for (combine, side) in [
        (Composition::Mean, WindowSide::Both),
        (Composition::Sum, WindowSide::Before),
        (Composition::Concatenation, WindowSide::Both),
        (Composition::Concatenation, WindowSide::Before),
    ] {
        for sharing in [NegativeSharing::None, NegativeSharing::Sentence, NegativeSharing::Block] {
            let around = Surroundings { window: 2, side, combine, whole_gradient: false, n_words: TARGET };
            let (plan, n_source, n_target) = memory_plan(around, sharing, 0.2);
            assert!(plan.steps.iter().any(|step| step.targets.len() > 1), "{combine:?} {sharing:?}");
            let tables = || (random_table(n_source, "memory source"), random_table(n_target, "memory target"));
            let mut once = tables();
            let (loss, new_source, new_target) = expected_composed(&plan, &once.0, &once.1, 0.2, &[], combine);
            let rate = Rate { lr: 0.2, l1: 0.0 };
            let got = train(&plan, &mut once, rate, &[0..32], 1);
            assert!((got - loss).abs() < 1e-5 * loss, "{combine:?} {sharing:?}: {got} {loss}");
            assert_close(&once.0, &new_source);
            assert_close(&once.1, &new_target);
            // The same bits for any split of the columns, over the same parts.
            let (mut whole, mut halves) = (tables(), tables());
            train(&plan, &mut whole, rate, &[0..32], 2);
            train(&plan, &mut halves, rate, &[0..16, 16..32], 1);
            assert_eq!((whole.0.values(), whole.1.values()), (halves.0.values(), halves.1.values()));
        }
    }
}
