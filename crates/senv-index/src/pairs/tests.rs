//! Pairs found by bounds, compared with all pairs.

use rand::Rng;
use senv_core::{Rows, Table, kernels, rng::stream};

use super::*;

/// Rows in groups of about ten at different distances, with some zero rows and equal rows.
fn table(n: usize, dim: usize) -> Table {
    let mut stream = stream(11, "test", &[n as u64, dim as u64]);
    let mut next = || (stream.next_u64() >> 40) as f32 / (1 << 23) as f32 - 1.0;
    let mut values = Vec::new();
    let centres: Vec<f32> = (0..(n / 10 + 1) * dim).map(|_| next()).collect();
    for i in 0..n {
        let centre = &centres[i * 7919 % (n / 10 + 1) * dim..][..dim];
        let (scale, noise) = (0.5 + (i % 5) as f32, (i % 8) as f32 * 0.15);
        match i % 100 {
            17 => values.extend(vec![0.0; dim]),
            18 => values.extend_from_slice(centre),
            _ => values.extend(centre.iter().map(|x| scale * (x + noise * next()))),
        }
    }
    Table::from_vec(n, dim, values).unwrap()
}

fn is_zero(row: &[f32]) -> bool {
    kernels::norm(row) < 1e-12
}

/// Every cosine, computed naively.
fn all_pairs(rows: &Table, n_fixed: usize, threshold: f32) -> Vec<Option<Duplicate>> {
    let mut found: Vec<Option<Duplicate>> = vec![None; rows.n_rows()];
    let threshold = threshold.min(EQUAL_COSINE);
    for second in n_fixed..rows.n_rows() {
        for of in (0..second).filter(|&of| !is_zero(rows.row(of)) && !is_zero(rows.row(second))) {
            let cosine = kernels::cosine(rows.row(of), rows.row(second));
            if found[of].is_none() && cosine >= threshold {
                found[second] = Some(Duplicate { of, cosine });
                break;
            }
        }
    }
    found
}

#[test]
fn rows_that_no_directions_tell_apart_are_compared_by_their_signs_or_whole() {
    // Random signs, as in the vectors of unknown words, and some that differ from them in a few. Then values close to
    // these, and a tail that does not belong to the signs.
    let (n, dim) = (2600, 250);
    for (spread, tail) in [(0.0, 0), (0.001, 0), (0.0, 22)] {
        let mut stream = stream(12, "test", &[]);
        let mut values: Vec<f32> = Vec::new();
        for i in 0..n {
            let start = values.len();
            if i % 9 == 8 {
                values.extend_from_within(start - 5 * dim..start - 4 * dim);
                (0..dim / 4).for_each(|_| values[start + (stream.next_u64() % dim as u64) as usize] *= -1.0);
            } else {
                values.extend((0..dim).map(|_| if stream.next_u64() & 1 == 0 { 0.1 } else { -0.1 }));
            }
            let mut next = || (stream.next_u64() >> 40) as f32 / (1 << 23) as f32 - 1.0;
            values[start..].iter_mut().for_each(|x| *x *= 1.0 + spread * next());
            values[start + dim - tail..].iter_mut().for_each(|x| *x = 0.2 * next());
        }
        let rows = Table::from_vec(n, dim, values).unwrap();
        for threshold in [0.3, 0.5] {
            let found = duplicates(&rows, 0, threshold, |_| {}).unwrap();
            assert_eq!(found, all_pairs(&rows, 0, threshold), "{threshold}, {spread} {tail}");
            assert!(found.iter().flatten().count() > n / 20);
        }
    }
}

#[test]
fn duplicates_are_those_of_comparing_all_pairs_at_any_number_of_threads() {
    for (n, dim) in [(5000, 64), (4500, 20), (300, 64), (1, 8), (0, 8)] {
        let rows = table(n, dim);
        for (threshold, n_fixed) in [(-1.0, 0), (0.0, n / 3), (0.7, 0), (0.9, 0), (0.9, n / 3), (1.0, 0)] {
            {
                let expected = all_pairs(&rows, n_fixed, threshold);
                for threads in [1, 3] {
                    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                    let mut done = 0;
                    let found = pool.install(|| duplicates(&rows, n_fixed, threshold, |n| done = n)).unwrap();
                    assert_eq!(found, expected, "{n} x {dim}, {threshold}, {n_fixed} fixed");
                    assert!(done == n || n == 0);
                }
            }
        }
        let n_found = all_pairs(&rows, 0, 0.9).iter().flatten().count();
        assert!(n < 100 || n_found > n / 10 && n_found < n, "the test says something: {n_found} of {n}");
    }
}

/// Every cosine and every answer of a rule, computed naively.
fn all_pairs_where(
    rows: &Table,
    n_fixed: usize,
    threshold: f32,
    is_same: impl Fn(usize, usize) -> bool,
) -> DuplicatesApart {
    let mut found = DuplicatesApart { repeated: vec![None; rows.n_rows()], apart: vec![None; rows.n_rows()] };
    for second in n_fixed..rows.n_rows() {
        for of in (0..second).filter(|&of| !is_zero(rows.row(of)) && !is_zero(rows.row(second))) {
            let cosine = kernels::cosine(rows.row(of), rows.row(second));
            if found.repeated[of].is_some() || cosine < threshold.min(EQUAL_COSINE) {
                continue;
            }
            if is_same(of, second) {
                found.repeated[second] = Some(Duplicate { of, cosine });
                found.apart[second] = None;
                break;
            }
            found.apart[second].get_or_insert(Duplicate { of, cosine });
        }
    }
    found
}

#[test]
fn rows_that_a_rule_keeps_apart_are_compared_with_every_kept_row_at_any_number_of_threads() {
    let rows = table(3000, 24);
    // A row is the same as others of its kind; and every 50th as none.
    let is_same = |a: usize, b: usize| a % 3 == b % 3 && !b.is_multiple_of(50);
    for (threshold, n_fixed) in [(0.7, 0), (0.9, 0), (0.9, 1000), (0.0, 0)] {
        let expected = all_pairs_where(&rows, n_fixed, threshold, is_same);
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let found = pool.install(|| duplicates_where(&rows, n_fixed, threshold, is_same, |_| {})).unwrap();
            assert_eq!(found, expected, "{threshold}, {n_fixed} fixed");
        }
        // Some rows are near a row of a different kind, and repeat a later row of their kind.
        let second_choice = (0..3000).filter(|&row| {
            let first = (0..row).find(|&of| {
                expected.repeated[of].is_none() && kernels::cosine(rows.row(of), rows.row(row)) >= threshold
            });
            expected.repeated[row].is_some_and(|of| Some(of.of) != first)
        });
        assert!(second_choice.count() > 20 && expected.apart.iter().flatten().count() > 20, "{threshold}");
    }
}

#[test]
fn pairs_and_counterparts_that_a_rule_keeps_apart_are_left_out() {
    let rows = table(600, 24);
    let is_same = |a: usize, b: usize| a % 3 == b % 3;
    let search = PairSearch::new(usize::MAX, 0.7);
    let all = nearest_pairs(&rows, &search, |_| {}).unwrap();
    let expected: Vec<Pair> = all.iter().copied().filter(|pair| is_same(pair.first, pair.second)).collect();
    assert!(!expected.is_empty() && expected.len() < all.len());
    assert_eq!(nearest_pairs_where(&rows, &search, is_same, |_| {}).unwrap(), expected);
    let found = counterparts_where(&rows, 200, 0.7, is_same, |_| {}).unwrap();
    for (row, near) in found.iter().enumerate() {
        let others = if row < 200 { 200..600 } else { 0..200 };
        let cosines = others.filter(|&other| is_same(row, other)).filter(|&other| !is_zero(rows.row(other)));
        let cosines = cosines
            .map(|other| if is_zero(rows.row(row)) { -2.0 } else { kernels::cosine(rows.row(row), rows.row(other)) });
        let highest = cosines.reduce(f32::max).filter(|&cosine| cosine >= 0.7);
        assert_eq!(near.is_some(), highest.is_some(), "{row}");
        assert!(near.is_none_or(|near| is_same(row, near.row) && highest.unwrap() - near.cosine < 1e-6), "{row}");
    }
    assert!(found.iter().flatten().count() > 20);
}

#[test]
fn the_nearest_pairs_are_those_of_comparing_all_pairs() {
    for (n, dim) in [(4500, 64), (300, 20), (0, 8)] {
        let rows = table(n, dim);
        for (wanted, min, max, between) in [
            (10, 0.9, 2.0, None),
            (5000, 0.7, 2.0, None),
            (usize::MAX, 0.8, 0.95, None),
            (700, -1.0, 2.0, Some(n / 3)),
            (0, 0.5, 1.0, None),
        ] {
            if n > 1000 && min < 0.0 && dim > 64 {
                continue;
            }
            let mut expected = Vec::new();
            for second in 0..n {
                for first in (0..second).filter(|&first| between.is_none_or(|n| first < n && second >= n)) {
                    let (x, y) = (rows.row(first), rows.row(second));
                    let cosine = kernels::cosine(x, y);
                    if cosine >= EQUAL_COSINE.min(min) && cosine <= max && !is_zero(x) && !is_zero(y) {
                        expected.push(Pair { first, second, cosine });
                    }
                }
            }
            expected.sort_by(|a, b| b.cosine.total_cmp(&a.cosine).then((a.first, a.second).cmp(&(b.first, b.second))));
            expected.truncate(wanted);
            let search = PairSearch { n: wanted, min_cosine: min, max_cosine: max, between };
            assert_eq!(nearest_pairs(&rows, &search, |_| {}).unwrap(), expected, "{n} {wanted} {min} {between:?}");
            assert!(n < 1000 || wanted == 0 || !expected.is_empty());
        }
    }
}

#[test]
fn counterparts_are_the_nearest_of_all_pairs_between_two_sets() {
    for (n, dim) in [(4500, 64), (300, 20), (1, 8), (0, 8)] {
        let rows = table(n, dim);
        for (threshold, n_first) in [(-1.0, n / 3), (0.7, n / 2), (0.9, n / 5), (0.5, 0), (0.5, n)] {
            let found = counterparts(&rows, n_first, threshold, |_| {}).unwrap();
            for (row, &near) in found.iter().enumerate() {
                let others = if row < n_first { n_first..n } else { 0..n_first };
                let cosines = others
                    .filter(|&other| !is_zero(rows.row(row)) && !is_zero(rows.row(other)))
                    .map(|other| kernels::cosine(rows.row(row), rows.row(other)))
                    .filter(|&cosine| cosine >= threshold.min(EQUAL_COSINE));
                let highest = cosines.reduce(f32::max);
                let cosine = near.map(|near| near.cosine);
                // Cosines that differ only by rounding are the same.
                let is_right =
                    cosine == highest || cosine.zip(highest).is_some_and(|(a, b)| a > 0.999_999 && b - a < 1e-6);
                assert!(is_right, "{n} {threshold} {n_first} {row}: {cosine:?} {highest:?}");
                if let Some(near) = near {
                    assert!((near.row < n_first) != (row < n_first));
                    assert_eq!(near.cosine, kernels::cosine(rows.row(row), rows.row(near.row)));
                }
            }
        }
    }
}

#[test]
fn diverse_rows_are_those_of_the_equation() {
    let rows = table(700, 24);
    let units: Vec<Vec<f64>> = rows
        .iter()
        .map(|row| row.iter().map(|&x| f64::from(x) / f64::from(kernels::norm(row)).max(1e-12)).collect())
        .collect();
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    let sum: Vec<f64> = (0..24).map(|d| units.iter().map(|unit| unit[d]).sum()).collect();
    let middle: Vec<f64> = sum.iter().map(|x| x / dot(&sum, &sum).sqrt()).collect();
    for typical in [0.0, 0.3, 1.0] {
        let chosen = diverse_rows(&rows, 40, typical, |_| {}).unwrap();
        assert_eq!(chosen.len(), 40);
        for (n, &row) in chosen.iter().enumerate() {
            let score = |i: usize| {
                let highest = chosen[..n].iter().map(|&j| dot(&units[i], &units[j])).reduce(f64::max);
                let typical = f64::from(typical);
                highest.map_or(dot(&units[i], &middle), |highest| {
                    typical * dot(&units[i], &middle) - (1.0 - typical) * highest
                })
            };
            let open = |&i: &usize| {
                !is_zero(rows.row(i)) && chosen[..n].iter().all(|&j| dot(&units[i], &units[j]) < 1.0 - 2e-6)
            };
            let best = (0..700).filter(open).map(score).reduce(f64::max).unwrap();
            assert!(score(row) >= best - 1e-5, "{typical} {n}: {} {best}", score(row));
        }
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        assert_eq!(pool.install(|| diverse_rows(&rows, 40, typical, |_| {})).unwrap(), chosen);
    }
    // Equal rows are chosen once, zero rows never.
    let rows = Table::from_vec(4, 2, vec![1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 1.0]).unwrap();
    assert_eq!(diverse_rows(&rows, 9, 0.5, |_| {}).unwrap().len(), 2);
    assert!(diverse_rows(&rows, 9, 1.5, |_| {}).is_err());
}

#[test]
fn a_threshold_that_no_cosine_has_and_values_that_are_no_numbers_are_errors() {
    let rows = table(20, 8);
    for threshold in [1.5, -1.01, f32::NAN] {
        assert!(duplicates(&rows, 0, threshold, |_| {}).is_err());
        assert!(nearest_pairs(&rows, &PairSearch::new(3, threshold), |_| {}).is_err());
    }
    let rows = Table::from_vec(2, 1, vec![1.0, f32::NAN]).unwrap();
    assert!(matches!(duplicates(&rows, 0, 0.5, |_| {}), Err(crate::Error::NonFinite { row: 1, .. })));
}
