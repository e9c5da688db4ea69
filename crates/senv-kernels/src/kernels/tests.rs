//! Tests of every SIMD level of this processor against the portable kernels, its scalar reference ("twin" here), and of
//! the public functions.

use super::{Level, SharedTable, dispatch, level::InstructionSet, portable};
use crate::Table;
use rand::RngExt;
use senv_core::rng::stream;

/// Values in [-1, 1), from a seed.
fn numbers(n: usize, seed: u64) -> Vec<f32> {
    let mut rng = stream(seed, "kernel tests", &[]);
    (0..n).map(|_| rng.random_range(-1.0..1.0)).collect()
}

/// Lengths around every vector and unrolling boundary, each with several unaligned starts.
fn cases() -> impl Iterator<Item = (usize, usize)> {
    (0..=130).flat_map(|n| [0, 1, 3, 7].map(|start| (n, start)))
}

/// Two sums of the same terms in f32 can differ by the rounding of each partial sum. The worst-case bound is n ε
/// Σ|terms|; here terms are below 1, and lengths are below 131 for single sums.
fn assert_close(got: &[f32], expected: &[f32], bound: f32, what: &str) {
    assert_eq!(got.len(), expected.len());
    for (i, (g, e)) in got.iter().zip(expected).enumerate() {
        assert!((g - e).abs() <= bound, "{what}: {g} at {i}, expected {e}");
    }
}

fn bound(n: usize) -> f32 {
    f32::EPSILON * (n * n) as f32 / 4.0 + f32::EPSILON
}

#[test]
fn the_best_level_is_the_first_available_and_the_portable_one_is_always_there() {
    let levels = Level::available();
    assert_eq!(levels[0], Level::best());
    assert_eq!(Level::best(), Level::best());
    assert_eq!(levels.last().unwrap().kind(), InstructionSet::Portable);
}

#[test]
fn reductions_agree_with_the_twin_and_repeat_their_bits() {
    for level in Level::available() {
        for (n, start) in cases() {
            let (a, b) = (numbers(n + start, 1), numbers(n + start, 2));
            let (a, b) = (&a[start..], &b[start..]);
            let what = format!("{level:?} {n} from {start}");
            let got = dispatch::dot(level, a, b);
            assert_close(&[got], &[portable::dot(a, b)], bound(n), &what);
            let got3 = dispatch::squares(level, a, b);
            assert_close(&got3, &portable::squares(a, b), bound(n), &what);
            // The same numbers elsewhere in memory give the same bits.
            let (copy_a, copy_b) = (a.to_vec(), b.to_vec());
            assert_eq!(got.to_bits(), dispatch::dot(level, &copy_a, &copy_b).to_bits(), "{what}");
            assert_eq!(got3, dispatch::squares(level, &copy_a, &copy_b), "{what}");
        }
    }
}

#[test]
fn a_dot_product_by_hand() {
    let a: Vec<f32> = (1..=100).map(|i| i as f32).collect();
    for level in Level::available() {
        // 1² + 2² + ... + 100² = 100 · 101 · 201 / 6; exact, because all partial sums are integers below 2^24.
        assert_eq!(dispatch::dot(level, &a, &a), 338_350.0);
        assert_eq!(dispatch::dot(level, &[], &[]), 0.0);
    }
}

#[test]
fn updates_agree_with_the_twin_and_touch_nothing_else() {
    type Update = (&'static str, fn(Level, &[f32], &mut [f32]), fn(&[f32], &mut [f32]));
    let updates: [Update; 4] = [
        ("axpy", |l, x, y| dispatch::axpy(l, 0.7, x, y), |x, y| portable::axpy(0.7, x, y)),
        ("add", |l, x, y| dispatch::add(l, x, y), portable::add),
        ("scale", |l, _, y| dispatch::scale(l, -1.3, y), |_, y| portable::scale(-1.3, y)),
        ("shrink", |l, _, y| dispatch::soft_threshold(l, 0.3, y), |_, y| portable::soft_threshold(0.3, y)),
    ];
    for level in Level::available() {
        for (n, start) in cases() {
            let x = numbers(n + start, 3);
            let before = numbers(n + start + 5, 4);
            for (name, update, twin) in &updates {
                let (mut got, mut expected) = (before.clone(), before.clone());
                update(level, &x[start..], &mut got[start..start + n]);
                twin(&x[start..], &mut expected[start..start + n]);
                // A fused multiply-add rounds once, the twin twice: one unit in the last place of a value below 2.
                assert_close(&got, &expected, 2.0 * f32::EPSILON, &format!("{level:?} {name} {n} from {start}"));
                assert_eq!(got[..start], before[..start], "{name} wrote before its start");
                assert_eq!(got[start + n..], before[start + n..], "{name} wrote past its end");
            }
        }
    }
}

#[test]
fn soft_threshold_shrinks_towards_zero_and_keeps_nan() {
    let x = [2.0, -2.0, 0.5, -0.5, 0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, 0.25];
    let expected = [1.5, -1.5, 0.0, 0.0, 0.0, 0.0, f32::INFINITY, f32::NEG_INFINITY, 0.0];
    for level in Level::available() {
        for copies in [1, 5] {
            let mut y = x.repeat(copies);
            dispatch::soft_threshold(level, 0.5, &mut y);
            assert_eq!(y, expected.repeat(copies), "{level:?}");
            let mut nan = [f32::NAN; 17];
            dispatch::soft_threshold(level, 0.5, &mut nan);
            assert!(nan.iter().all(|x| x.is_nan()), "{level:?}");
        }
    }
}

const STRIDES: [usize; 8] = [1, 5, 16, 21, 48, 112, 129, 304];

#[test]
fn scores_agree_with_the_twin_and_do_not_depend_on_their_neighbours() {
    for level in Level::available() {
        for stride in STRIDES {
            let (a, b) = (numbers(23 * stride + 1, 5), numbers(23 * stride + 3, 6));
            let (a, b) = (&a[1..], &b[3..]);
            let mut all = vec![0.0; 23 * 23];
            dispatch::scores(level, a, 23, b, 23, stride, 0..stride, &mut all);
            for (m, n) in (0..=23).flat_map(|m| (0..=23).map(move |n| (m, n))) {
                let mut got = vec![f32::NAN; m * n + 1];
                dispatch::scores(level, a, m, b, n, stride, 0..stride, &mut got);
                assert!(got.pop().unwrap().is_nan(), "wrote past the end");
                for (i, row) in got.chunks(n.max(1)).enumerate() {
                    assert_eq!(row, &all[i * 23..][..n], "{level:?} {m} x {n} x {stride}");
                }
            }
            let mut expected = vec![0.0; 23 * 23];
            portable::scores(a, 23, b, 23, stride, 0..stride, &mut expected);
            assert_close(&all, &expected, bound(stride), &format!("{level:?} stride {stride}"));
        }
    }
}

#[test]
fn scores_of_columns_and_the_lower_half_of_a_gram_matrix_are_those_of_rows_cut_out() {
    let (m, stride) = (19, 112);
    let (a, b) = (numbers(m * stride, 21), numbers(m * stride, 22));
    for level in Level::available() {
        for columns in [0..112, 0..16, 48..112, 32..71, 7..7] {
            let cut = |rows: &[f32]| -> Vec<f32> {
                rows.chunks_exact(stride).flat_map(|row| &row[columns.clone()]).copied().collect()
            };
            let (cut_a, cut_b, width) = (cut(&a), cut(&b), columns.len());
            let (mut got, mut expected) = (vec![0.0; m * m], vec![0.0; m * m]);
            dispatch::scores(level, &a, m, &b, m, stride, columns.clone(), &mut got);
            dispatch::scores(level, &cut_a, m, &cut_b, m, width, 0..width, &mut expected);
            assert_eq!(got, expected, "{level:?} {columns:?}");
            dispatch::scores(level, &cut_a, m, &cut_a, m, width, 0..width, &mut expected);
            for m in 0..=m {
                let mut got = vec![f32::NAN; m * m + 1];
                dispatch::gram(level, &a, m, stride, columns.clone(), &mut got);
                assert!(got.pop().unwrap().is_nan(), "wrote past the end");
                for (i, row) in got.chunks(m.max(1)).enumerate() {
                    assert_eq!(row[..=i], expected[i * 19..][..=i], "{level:?} {columns:?} row {i} of {m}");
                }
            }
        }
    }
}

#[test]
fn products_with_a_panel_are_chains_of_fused_multiply_adds_on_every_level() {
    for level in Level::available() {
        for (k, width) in [(0, 16), (1, 64), (3, 32), (37, 48), (130, 64), (130, 32)] {
            let (stride, m) = (k + 3, 29);
            let (rows, panel) = (numbers(m * stride, 14), numbers(k * width, 15));
            let before = numbers(m * width, 16);
            let mut expected = before.clone();
            portable::add_panel_products(&rows, stride, m, &panel, width, width, &mut expected);
            for m in 0..=29 {
                for lanes in [1, 4, 5, 8, 15, 16, 17, 31, 32, 33, 47, 48, 49, 63, 64] {
                    if lanes > width {
                        continue;
                    }
                    let mut got = before.clone();
                    dispatch::add_panel_products(level, &rows, stride, m, &panel, width, lanes, &mut got);
                    for (i, row) in got.chunks_exact(width).enumerate() {
                        let expected = if i < m { &expected } else { &before };
                        let what = format!("{level:?} {m} x {k}, {lanes} lanes of {width}, row {i}");
                        assert_eq!(row[..lanes], expected[i * width..][..lanes], "{what}");
                    }
                }
            }
        }
    }
}

#[test]
fn sums_of_rows_agree_with_the_twin_in_both_orders_of_the_factors() {
    for level in Level::available() {
        for stride in STRIDES {
            for (m, n) in (0..=12).flat_map(|m| (0..=12).map(move |n| (m, n))) {
                let (s, b) = (numbers(m * n, 7), numbers(n * stride, 8));
                let before = numbers(m * stride + 4, 9);
                for steps in [(n, 1), (1, m)] {
                    let (mut got, mut expected) = (before.clone(), before.clone());
                    dispatch::add_product(level, &s, steps, m, n, &b, stride, &mut got);
                    portable::add_product(&s, steps, m, n, &b, stride, &mut expected);
                    let what = format!("{level:?} {m} x {n} x {stride} {steps:?}");
                    assert_close(&got, &expected, bound(n + 1), &what);
                    assert_eq!(got[m * stride..], before[m * stride..], "{what}: wrote past the end");
                }
            }
        }
    }
}

#[test]
fn shared_rows_agree_with_the_twin_and_leave_the_others_alone() {
    for level in Level::available() {
        for dim in 0..=130 {
            for padded in [true, false] {
                let mut table = if padded {
                    Table::zeros(4, dim).unwrap()
                } else {
                    Table::from_vec(4, dim, vec![0.0; 4 * dim]).unwrap()
                };
                let stride = table.stride();
                let before = numbers(4 * stride, 10);
                table.values_mut().copy_from_slice(&before);
                let (x, n) = (numbers(stride, 11), 5);
                let (s, b) = (numbers(2 * n, 12), numbers(n * stride, 13));
                let mut expected = before.clone();
                let mut expected_acc = x.clone();
                {
                    let row = &mut expected[stride..2 * stride];
                    portable::axpy(-0.4, &x, row);
                    portable::add_product(&s, (0, 2), 1, n, &b, stride, row);
                    portable::axpy(0.8, row, &mut expected_acc);
                    portable::soft_threshold(0.1, row);
                }
                let shared = SharedTable::with_level(&mut table, level);
                let (mut acc, mut copy) = (x.clone(), vec![f32::NAN; stride]);
                shared.prefetch_row(1);
                shared.add_to_row(1, -0.4, &x);
                shared.add_product_to_row(1, &s, 2, n, &b);
                shared.add_row(1, 0.8, &mut acc);
                shared.soft_threshold_row(1, 0.1);
                shared.copy_row(1, &mut copy);
                let what = format!("{level:?} dim {dim} stride {stride}");
                assert_close(&acc, &expected_acc, bound(8), &what);
                assert_close(table.values(), &expected, bound(8), &what);
                assert_eq!(copy, &table.values()[stride..2 * stride], "{what}");
                assert_eq!(table.values()[..stride], before[..stride], "{what}");
                assert_eq!(table.values()[2 * stride..], before[2 * stride..], "{what}");
            }
        }
    }
}

#[test]
fn threads_that_race_for_a_row_leave_numbers_that_some_order_explains() {
    const ROUNDS: usize = 20_000;
    for level in Level::available() {
        let mut table = Table::zeros(2, 100).unwrap();
        let shared = SharedTable::with_level(&mut table, level);
        let one = vec![1.0; shared.stride()];
        std::thread::scope(|scope| {
            for thread in 0..2 {
                let (shared, one) = (&shared, &one);
                scope.spawn(move || {
                    let mut seen = vec![0.0; shared.stride()];
                    for _ in 0..ROUNDS {
                        shared.add_to_row(0, 1.0, one);
                        shared.copy_row(thread, &mut seen);
                        assert!(seen.iter().all(|&x| x.fract() == 0.0 && x <= 2.0 * ROUNDS as f32));
                    }
                });
            }
        });
        // Both threads added 1 to each value. Updates may be lost, but torn values must not appear.
        for &x in table.values()[..100].iter() {
            assert!(x.fract() == 0.0 && (1.0..=2.0 * ROUNDS as f32).contains(&x), "{level:?}: {x}");
        }
        assert!(table.values()[112..].iter().all(|&x| x == 0.0));
    }
}

#[test]
fn a_cosine_by_hand_and_at_the_edges() {
    use super::{cosine, l2_normalize, norm};
    // (3, 4)·(4, 3) / 25
    assert!((cosine(&[3.0, 4.0], &[4.0, 3.0]) - 0.96).abs() < 1e-7);
    assert_eq!(cosine(&[1.0, 2.0], &[-2.0, -4.0]), -1.0);
    assert_eq!(cosine(&[], &[]), 0.0);
    assert_eq!(cosine(&[0.0; 3], &[1.0; 3]), 0.0);
    assert_eq!(cosine(&[9e-13], &[1.0]), 0.0);
    assert_eq!(cosine(&[1.1e-12], &[1.0]), 1.0);
    assert_eq!(cosine(&[1e30, 1e30], &[1e30, 1e30]), 1.0);
    assert_eq!(cosine(&[1e30, 0.0], &[0.0, 1e-10]), 0.0);
    assert!(cosine(&[f32::NAN], &[1.0]).is_nan());
    assert_eq!(norm(&[3.0, 4.0]), 5.0);
    assert_eq!(norm(&[3e30, 4e30]), 5e30);
    assert!((norm(&[3e-30, 4e-30]) / 5e-30 - 1.0).abs() < 1e-6);
    let mut y = [3.0, 4.0];
    assert_eq!(l2_normalize(&mut y), 5.0);
    assert_eq!(y, [0.6, 0.8]);
    let mut zero = [0.0; 4];
    assert_eq!(l2_normalize(&mut zero), 0.0);
    assert_eq!(zero, [0.0; 4]);
}

#[test]
fn slices_that_do_not_fit_are_refused() {
    let refused = |f: &dyn Fn()| {
        let f = std::panic::AssertUnwindSafe(f);
        assert!(std::panic::catch_unwind(f).is_err());
    };
    refused(&|| _ = super::dot(&[1.0], &[]));
    refused(&|| _ = super::cosine(&[1.0], &[]));
    refused(&|| super::axpy(1.0, &[1.0], &mut []));
    refused(&|| super::add(&[], &mut [1.0]));
    refused(&|| super::scores(&[0.0; 7], 2, &[0.0; 4], 1, 4, &mut [0.0; 2]));
    refused(&|| super::scores(&[0.0; 8], 2, &[0.0; 3], 1, 4, &mut [0.0; 2]));
    refused(&|| super::scores(&[0.0; 8], 2, &[0.0; 4], 1, 4, &mut [0.0; 1]));
    refused(&|| super::scores(&[0.0; 8], usize::MAX, &[0.0; 4], 1, 4, &mut [0.0; 1]));
    refused(&|| super::add_product(&[0.0; 5], 3, 1, 2, 3, &[0.0; 12], 4, &mut [0.0; 8]));
    refused(&|| super::add_product(&[0.0; 6], 3, 1, 2, 3, &[0.0; 11], 4, &mut [0.0; 8]));
    refused(&|| super::add_product(&[0.0; 6], 3, 1, 2, 3, &[0.0; 12], 4, &mut [0.0; 7]));
    refused(&|| super::add_product(&[0.0; 6], usize::MAX, 1, 2, 3, &[0.0; 12], 4, &mut [0.0; 8]));
    super::add_product(&[0.0; 6], 3, 1, 2, 3, &[0.0; 12], 4, &mut [0.0; 8]);
    super::add_product(&[], 3, 1, 0, 3, &[0.0; 12], 4, &mut []);
    refused(&|| super::add_panel_products(&[0.0; 6], 4, 2, &[0.0; 96], 32, 32, &mut [0.0; 64]));
    refused(&|| super::add_panel_products(&[0.0; 7], 4, 2, &[0.0; 96], 32, 32, &mut [0.0; 63]));
    refused(&|| super::add_panel_products(&[0.0; 7], 4, 2, &[0.0; 96], 32, 33, &mut [0.0; 64]));
    super::add_panel_products(&[0.0; 7], 4, 2, &[0.0; 96], 32, 32, &mut [0.0; 64]);
    let mut table = Table::zeros(2, 4).unwrap();
    let shared = SharedTable::new(&mut table);
    refused(&|| shared.copy_row(2, &mut [0.0; 16]));
    refused(&|| shared.copy_row(0, &mut [0.0; 4]));
    refused(&|| shared.add_row(0, 1.0, &mut [0.0; 17]));
    refused(&|| shared.add_to_row(0, 1.0, &[0.0; 15]));
    refused(&|| shared.add_product_to_row(0, &[0.0; 2], 1, 3, &[0.0; 48]));
    refused(&|| shared.add_product_to_row(0, &[0.0; 3], 1, 3, &[0.0; 47]));
    refused(&|| shared.soft_threshold_row(2, 0.1));
    refused(&|| shared.prefetch_row(2));
}
