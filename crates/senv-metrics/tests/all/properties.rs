//! Properties for any input, and errors.

use proptest::prelude::*;
use senv_metrics::{
    Error, PValueMethod, Wilcoxon, average_precision, mean, mse, pearson_r, query_rank, ranks, spearman_rho, wilcoxon,
    wilcoxon_of_differences,
};

type Pairs = Vec<(f64, f64)>;

fn pairs() -> impl Strategy<Value = Pairs> {
    // Coarse steps make ties, as human scores have them.
    let value = || prop_oneof![-10.0..10.0, (-8..8_i32).prop_map(|i| f64::from(i) / 4.0)];
    proptest::collection::vec((value(), value()), 2..40)
}

/// The pairs, and the same in a different order.
fn shuffled() -> impl Strategy<Value = (Pairs, Pairs)> {
    pairs().prop_flat_map(|pairs| (Just(pairs.clone()), Just(pairs).prop_shuffle()))
}

fn split(pairs: &[(f64, f64)]) -> (Vec<f64>, Vec<f64>) {
    pairs.iter().copied().unzip()
}

fn close(a: Option<f64>, b: Option<f64>, tolerance: f64) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() <= tolerance,
        (a, b) => a == b,
    }
}

/// Ranks by their definition.
fn ranks_by_counting(values: &[f64]) -> Vec<f64> {
    let rank = |x: &f64| {
        let below = values.iter().filter(|y| *y < x).count() as f64;
        let equal = values.iter().filter(|y| *y == x).count() as f64;
        below + (equal + 1.0) / 2.0
    };
    values.iter().map(rank).collect()
}

/// Items with coarse scores, at least one of them relevant.
fn ranked() -> impl Strategy<Value = Vec<(bool, f64)>> {
    let item = (any::<bool>(), (-4..4_i32).prop_map(|i| f64::from(i) / 4.0));
    proptest::collection::vec(item, 1..30).prop_map(|mut items| {
        items[0].0 = true;
        items
    })
}

proptest! {
    #[test]
    fn average_precision_is_blind_to_the_order_of_items_and_to_rising_maps(
        (items, other) in ranked().prop_flat_map(|items| (Just(items.clone()), Just(items).prop_shuffle())),
    ) {
        let of = |items: &[(bool, f64)], map: fn(f64) -> f64| {
            let (relevant, scores): (Vec<bool>, Vec<f64>) = items.iter().map(|&(r, s)| (r, map(s))).unzip();
            average_precision(&relevant, &scores).unwrap().unwrap()
        };
        let ap = of(&items, |x| x);
        prop_assert!((0.0..=1.0 + 1e-15).contains(&ap));
        prop_assert_eq!(ap, of(&other, |x| x));
        prop_assert_eq!(ap, of(&items, f64::exp));
        // By the definition: the mean over relevant items of the precision at their score.
        let precision = |score: f64| {
            let called: Vec<bool> = items.iter().filter(|item| item.1 >= score).map(|item| item.0).collect();
            called.iter().filter(|&&relevant| relevant).count() as f64 / called.len() as f64
        };
        let at: Vec<f64> = items.iter().filter(|item| item.0).map(|item| precision(item.1)).collect();
        prop_assert!((ap - at.iter().sum::<f64>() / at.len() as f64).abs() < 1e-14);
    }

    #[test]
    fn the_rank_of_a_query_is_the_place_after_sorting(items in ranked(), excluded in 0..30_usize) {
        let scores: Vec<f64> = items.iter().map(|item| item.1).collect();
        let relevant: Vec<usize> = (0..items.len()).filter(|&i| items[i].0).collect();
        let excluded: Vec<usize> = (excluded < items.len()).then_some(excluded).into_iter().collect();
        // Best first; among equal scores, the relevant ones.
        let mut order: Vec<usize> = (0..items.len()).filter(|i| !excluded.contains(i)).collect();
        order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]).then(items[b].0.cmp(&items[a].0)));
        let expected = order.iter().position(|&i| items[i].0);
        let got = query_rank(&scores, &relevant, &excluded).unwrap();
        prop_assert_eq!(got.map(|found| found.rank - 1), expected);
        if let (Some(found), Some(place)) = (got, expected) {
            let best = scores[order[place]];
            let tied = order.iter().filter(|&&i| scores[i] == best && !items[i].0).count();
            prop_assert_eq!(found.n_tied, tied);
        }
    }
}

proptest! {
    #[test]
    fn correlations_are_symmetric_bounded_and_blind_to_the_order_of_pairs((pairs, other) in shuffled()) {
        let ((x, y), (x2, y2)) = (split(&pairs), split(&other));
        for correlation in [pearson_r, spearman_rho] {
            let r = correlation(&x, &y).unwrap();
            prop_assert!(r.is_none_or(|r| (-1.0..=1.0).contains(&r)));
            prop_assert!(close(r, correlation(&y, &x).unwrap(), 1e-14));
            prop_assert!(close(r, correlation(&x2, &y2).unwrap(), 1e-13));
            let itself = correlation(&x, &x).unwrap();
            prop_assert!(itself.is_none_or(|r| (r - 1.0).abs() < 1e-14));
        }
    }

    #[test]
    fn pearson_keeps_under_affine_maps_and_spearman_under_rising_ones(
        pairs in pairs(),
        scale in 1e-3..1e3_f64,
        shift in -1e3..1e3_f64,
    ) {
        let (x, y) = split(&pairs);
        // Values that a shift would merge by rounding are no test of the metric.
        let mut sorted = x.clone();
        sorted.sort_by(f64::total_cmp);
        prop_assume!(sorted.windows(2).all(|w| w[0] == w[1] || w[1] - w[0] > 1e-3));
        let up: Vec<f64> = x.iter().map(|x| scale * x + shift).collect();
        let down: Vec<f64> = x.iter().map(|x| -scale * x + shift).collect();
        // A shift of 10^3 against deviations of 10^-6 (scale 10^-3, steps 10^-3) leaves 10^-7 of relative rounding.
        let r = pearson_r(&x, &y).unwrap();
        prop_assert!(close(r, pearson_r(&up, &y).unwrap(), 1e-6));
        prop_assert!(close(r.map(|r| -r), pearson_r(&down, &y).unwrap(), 1e-6));
        let rho = spearman_rho(&x, &y).unwrap();
        let curved: Vec<f64> = x.iter().map(|x| x.powi(3) + x).collect();
        prop_assert!(close(rho, spearman_rho(&curved, &y).unwrap(), 0.0));
    }

    #[test]
    fn a_unit_of_any_size_leaves_pearson_as_it_is(pairs in pairs(), exponent in -900..1000_i32) {
        let (x, y) = split(&pairs);
        let unit = 2_f64.powi(exponent);
        let scaled: Vec<f64> = x.iter().map(|x| x * unit).collect();
        prop_assert!(close(pearson_r(&x, &y).unwrap(), pearson_r(&scaled, &y).unwrap(), 1e-14));
    }

    #[test]
    fn ranks_are_those_of_the_definition(pairs in pairs()) {
        let (x, _) = split(&pairs);
        prop_assert_eq!(ranks(&x).unwrap(), ranks_by_counting(&x));
        let n = x.len() as f64;
        prop_assert_eq!(ranks(&x).unwrap().iter().sum::<f64>(), n * (n + 1.0) / 2.0);
    }

    #[test]
    fn the_squared_error_is_symmetric_and_that_of_the_definition((pairs, other) in shuffled()) {
        let ((x, y), (x2, y2)) = (split(&pairs), split(&other));
        let expected = x.iter().zip(&y).map(|(x, y)| (x - y).powi(2)).sum::<f64>() / x.len() as f64;
        let got = mse(&x, &y).unwrap();
        prop_assert!(close(got, Some(expected), 1e-12 * (1.0 + expected)));
        prop_assert_eq!(got, mse(&y, &x).unwrap());
        prop_assert!(close(got, mse(&x2, &y2).unwrap(), 1e-12 * (1.0 + expected)));
    }

    #[test]
    fn exchanging_the_systems_exchanges_the_rank_sums_and_keeps_p((pairs, other) in shuffled()) {
        let ((x, y), (x2, y2)) = (split(&pairs), split(&other));
        let test = wilcoxon(&x, &y).unwrap();
        let exchanged = wilcoxon(&y, &x).unwrap();
        let swapped = Wilcoxon { w_plus: exchanged.w_minus, w_minus: exchanged.w_plus, ..exchanged };
        prop_assert_eq!(test, swapped);
        prop_assert_eq!(test, wilcoxon(&x2, &y2).unwrap());
        let n = test.n_used as f64;
        prop_assert_eq!(test.w_plus + test.w_minus, n * (n + 1.0) / 2.0);
        prop_assert!(test.z.is_none_or(|z| z <= 0.0));
        prop_assert!(test.p_value.is_none_or(|p| (0.0..=1.0).contains(&p)));
    }

    #[test]
    fn up_to_fifty_differences_p_is_that_of_all_assignments_of_signs(
        differences in proptest::collection::vec(-4_i32..5, 1..12),
    ) {
        let differences: Vec<f64> = differences.into_iter().map(f64::from).collect();
        let test = wilcoxon_of_differences(&differences).unwrap();
        let sizes: Vec<f64> = differences.iter().filter(|&&d| d != 0.0).map(|d| d.abs()).collect();
        prop_assert_eq!(test.method, PValueMethod::Exact);
        if sizes.is_empty() {
            prop_assert_eq!(test.p_value, None);
        } else {
            let ranks = ranks(&sizes).unwrap();
            let sum_of = |set: u32| ranks.iter().enumerate().filter(|(i, _)| set >> i & 1 == 1).map(|(_, r)| r).sum::<f64>();
            let as_low = (0..1_u32 << ranks.len()).filter(|&set| sum_of(set) <= test.w()).count() as f64;
            let expected = (2.0 * as_low / 2_f64.powi(ranks.len() as i32)).min(1.0);
            prop_assert!(close(test.p_value, Some(expected), 1e-14));
        }
    }
}

#[test]
fn five_pairs_cannot_give_less_than_one_sixteenth() {
    // 2 · 1/2⁵ and 2 · 1/2²; the same as SciPy, which counts up to fifty differences, too.
    for (differences, p) in [(vec![1.0, 2.0, 3.0, 4.0, 5.0], 0.0625), (vec![1.0, 2.0], 0.5)] {
        let test = wilcoxon_of_differences(&differences).unwrap();
        assert_eq!((test.p_value, test.method), (Some(p), PValueMethod::Exact));
        assert!(test.normal_p_value() < Some(p), "the approximation is too sure");
    }
}

#[test]
fn beyond_fifty_differences_p_is_the_normal_approximation() {
    // Two of five differences negative; no ties.
    let of = |n| {
        let differences: Vec<f64> = (1..=n).map(|i| f64::from(if i % 5 < 2 { -i } else { i })).collect();
        wilcoxon_of_differences(&differences).unwrap()
    };
    let (exact, normal) = (of(50), of(51));
    assert_eq!((exact.method, normal.method), (PValueMethod::Exact, PValueMethod::Normal));
    let ratio = exact.p_value.unwrap() / exact.normal_p_value().unwrap();
    assert!((0.95..1.05).contains(&ratio), "{exact:?}");
    assert_eq!(normal.p_value, normal.normal_p_value());
    let corrected = normal.p_value_with_continuity().unwrap() / normal.p_value.unwrap();
    assert!((1.0..1.02).contains(&corrected), "{corrected}");
    // All on one side: 2 / 2^50; zeros are dropped before they are counted.
    let one_side: Vec<f64> = (0..=50).map(f64::from).collect();
    let p = wilcoxon_of_differences(&one_side).unwrap().p_value.unwrap();
    assert!((p / 2_f64.powi(-49) - 1.0).abs() < 1e-12);
}

#[test]
fn where_the_ranks_balance_the_continuity_correction_leaves_a_p_of_one() {
    // Ranks 1 and 4 against 2 and 3: W is its mean, and half a rank less than nothing is nothing.
    let test = wilcoxon_of_differences(&[1.0, -2.0, -3.0, 4.0]).unwrap();
    assert_eq!((test.w(), test.p_value_with_continuity()), (5.0, Some(1.0)));
}

#[test]
fn equal_systems_have_no_p_value() {
    for equal in [vec![], vec![0.0, -0.0]] {
        let test = wilcoxon_of_differences(&equal).unwrap();
        assert_eq!((test.n_used, test.z, test.p_value, test.normal_p_value()), (0, None, None, None));
        assert_eq!(test.p_value_with_continuity(), None);
    }
}

#[test]
fn undefined_correlations_are_none() {
    for correlation in [pearson_r, spearman_rho] {
        assert_eq!(correlation(&[], &[]), Ok(None));
        assert_eq!(correlation(&[1.0], &[2.0]), Ok(None));
        // The mean of ten times 0.1 is not 0.1.
        assert_eq!(correlation(&[0.1; 10], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0]), Ok(None));
    }
    assert_eq!(mse(&[], &[]), Ok(None));
    assert_eq!(mse(&[1e200], &[-1e200]), Ok(None));
    assert_eq!(mean(&[]), None);
}

#[test]
fn extreme_units_are_no_obstacle() {
    let r = pearson_r(&[1.7e308, -1.7e308, 1.7e308], &[1.0, 0.0, 1.0]).unwrap().unwrap();
    assert!((r - 1.0).abs() < 1e-15);
    let r = pearson_r(&[5e-324, 0.0, 1e-323], &[1.0, 0.0, 2.0]).unwrap().unwrap();
    assert!((r - 1.0).abs() < 1e-15);
    assert_eq!(
        spearman_rho(&[f64::NEG_INFINITY, 0.0, f64::INFINITY], &[3.0, 2.0, 1.0]).unwrap().map(f64::round),
        Some(-1.0)
    );
}

#[test]
fn lists_that_cannot_be_compared_are_named() {
    let (two, three) = ([1.0, 2.0], [1.0, 2.0, 3.0]);
    let errors = [
        pearson_r(&two, &three).unwrap_err(),
        spearman_rho(&two, &three).unwrap_err(),
        mse(&two, &three).unwrap_err(),
        wilcoxon(&two, &three).unwrap_err(),
    ];
    for error in errors {
        assert!(matches!(error, Error::LengthMismatch { first: 2, second: 3, .. }));
        assert!(error.to_string().contains("2 values cannot be paired with 3"), "{error}");
    }
    let bad = [1.0, f64::NAN];
    let errors = [
        pearson_r(&two, &bad).unwrap_err(),
        spearman_rho(&two, &bad).unwrap_err(),
        mse(&two, &bad).unwrap_err(),
        wilcoxon(&two, &bad).unwrap_err(),
        ranks(&bad).unwrap_err(),
        wilcoxon_of_differences(&bad).unwrap_err(),
        wilcoxon(&[0.0, 1.7e308], &[0.0, -1.7e308]).unwrap_err(),
        pearson_r(&two, &[0.0, f64::INFINITY]).unwrap_err(),
    ];
    for error in errors {
        assert!(matches!(error, Error::BadValue { position: 1, .. }), "{error}");
    }
}
