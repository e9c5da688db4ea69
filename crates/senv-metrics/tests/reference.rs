//! Reference numbers of tests/data, made with NumPy in f64 by the project's generator make_golden.py.

use senv_metrics::{mean, pearson_r, ranks, spearman_rho, weighted_mean, wilcoxon, wilcoxon_of_differences};
use serde_json::Value;

const TOLERANCE: f64 = 1e-9; // As the files say.

fn cases(text: &str) -> Vec<Value> {
    let file: Value = serde_json::from_str(text).unwrap();
    assert_eq!((file["tolerance_abs"].as_f64(), file["tolerance_rel"].as_f64()), (Some(TOLERANCE), Some(TOLERANCE)));
    file["cases"].as_array().unwrap().clone()
}

fn list(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

#[track_caller]
fn assert_close(got: Option<f64>, expected: &Value) {
    match (got, expected.as_f64()) {
        (None, None) => assert!(expected.is_null()),
        (Some(got), Some(expected)) => {
            assert!((got - expected).abs() <= TOLERANCE * (1.0 + expected.abs()), "{got} instead of {expected}");
        }
        _ => panic!("{got:?} instead of {expected}"),
    }
}

#[test]
fn correlations_and_means() {
    let mut seen = 0;
    for case in cases(include_str!("data/correlation.json")) {
        seen += 1;
        if case["name"] == "task_means" {
            let (r, n) = (list(&case["r"]), list(&case["n"]));
            assert_close(mean(&r), &case["mean"]);
            assert_close(weighted_mean(&r, &n).unwrap(), &case["weighted_mean"]);
            continue;
        }
        let (x, y) = (list(&case["x"]), list(&case["y"]));
        assert_close(pearson_r(&x, &y).unwrap(), &case["pearson"]);
        assert_close(spearman_rho(&x, &y).unwrap(), &case["spearman"]);
        assert_eq!(ranks(&x).unwrap(), list(&case["rank_x"]), "exact: halves of integers");
        assert_eq!(ranks(&y).unwrap(), list(&case["rank_y"]));
    }
    assert_eq!(seen, 6);
}

#[test]
fn signed_rank_tests() {
    let mut seen = 0;
    for case in cases(include_str!("data/wilcoxon.json")) {
        seen += 1;
        let differences = list(&case["d"]);
        let test = wilcoxon_of_differences(&differences).unwrap();
        assert_eq!(test.n_used as u64, case["n_used"].as_u64().unwrap());
        assert_eq!(test.n_pairs, differences.len());
        assert_close(Some(test.w_plus), &case["W_plus"]);
        assert_close(Some(test.w_minus), &case["W_minus"]);
        assert_close(Some(test.w()), &case["W"]);
        assert_close(Some(test.variance), &case["variance"]);
        assert_close(test.z, &case["z"]);
        assert_close(test.p_value, &case["p_two_sided_normal"]);
        assert_close(test.p_value_with_continuity(), &case["p_two_sided_normal_continuity"]);
        if let Some(exact) = case.get("p_two_sided_exact") {
            assert_close(test.exact_p_value(), exact);
        }
        // As two lists: 2^-20 steps keep the sums exact, so that the differences come back.
        let rounded: Vec<f64> = differences.iter().map(|d| (d * 1_048_576.0).round() / 1_048_576.0).collect();
        let shifted: Vec<f64> = rounded.iter().map(|d| d + 3.0).collect();
        let paired = wilcoxon(&shifted, &vec![3.0; rounded.len()]).unwrap();
        assert_eq!(paired, wilcoxon_of_differences(&rounded).unwrap());
    }
    assert_eq!(seen, 3);
}
