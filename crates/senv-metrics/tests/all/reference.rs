//! Reference numbers of tests/data, made with NumPy in f64 by the project's generator make_golden.py.

use senv_metrics::{
    Bootstrap, Confusion, Sample, Statistic, WordOverlap, accuracy, accuracy_at, average_precision, holm, mean,
    mean_pairwise_cosine, mean_rank, p_coherence, pearson_r, precision_recall, query_rank, ranks, spearman_rho,
    weighted_mean, wilcoxon, wilcoxon_of_differences,
};
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
    for case in cases(include_str!("../data/correlation.json")) {
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
    for case in cases(include_str!("../data/wilcoxon.json")) {
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
        assert_close(test.normal_p_value(), &case["p_two_sided_normal"]);
        assert_close(test.p_value_with_continuity(), &case["p_two_sided_normal_continuity"]);
        if let Some(exact) = case.get("p_two_sided_exact") {
            assert_close(test.p_value, exact);
        }
        // As two lists: 2^-20 steps keep the sums exact, so that the differences come back.
        let rounded: Vec<f64> = differences.iter().map(|d| (d * 1_048_576.0).round() / 1_048_576.0).collect();
        let shifted: Vec<f64> = rounded.iter().map(|d| d + 3.0).collect();
        let paired = wilcoxon(&shifted, &vec![3.0; rounded.len()]).unwrap();
        assert_eq!(paired, wilcoxon_of_differences(&rounded).unwrap());
    }
    assert_eq!(seen, 3);
}

fn rows(value: &Value) -> Vec<Vec<f64>> {
    value.as_array().unwrap().iter().map(list).collect()
}

fn places(value: &Value) -> Vec<usize> {
    value.as_array().unwrap().iter().map(|i| i.as_u64().unwrap() as usize).collect()
}

fn unit(row: &[f64]) -> Vec<f64> {
    let norm = row.iter().map(|x| x * x).sum::<f64>().sqrt();
    row.iter().map(|x| x / norm).collect()
}

#[test]
fn rankings_and_groups() {
    let mut seen = [0; 4];
    for case in cases(include_str!("../data/ranking.json")) {
        match case["kind"].as_str().unwrap() {
            "average_precision" => {
                seen[0] += 1;
                let relevant: Vec<bool> = places(&case["y"]).iter().map(|&y| y == 1).collect();
                let scores = list(&case["score"]);
                assert_close(average_precision(&relevant, &scores).unwrap(), &case["average_precision"]);
                // Theirs ascend by threshold and end with a point beyond every score, of precision 1 and recall 0.
                let mut points = precision_recall(&relevant, &scores).unwrap().unwrap();
                points.reverse();
                let [thresholds, precision, recall] =
                    ["pr_threshold", "pr_precision", "pr_recall"].map(|key| case[key].as_array().unwrap());
                assert_eq!(
                    (thresholds.len(), precision.len(), recall.len()),
                    (points.len(), points.len() + 1, points.len() + 1)
                );
                for (i, point) in points.iter().enumerate() {
                    assert_close(Some(point.threshold), &thresholds[i]);
                    assert_close(Some(point.precision), &precision[i]);
                    assert_close(Some(point.recall), &recall[i]);
                }
            }
            "f1" => {
                seen[1] += 1;
                let (gold, predicted) = (places(&case["y"]), places(&case["yhat"]));
                let confusion = Confusion::new(&gold, &predicted, 2).unwrap();
                assert_close(confusion.class(1).f1(), &case["f1"]);
                assert_close(confusion.accuracy(), &case["accuracy"]);
                assert_close(accuracy(&gold, &predicted).unwrap(), &case["accuracy"]);
            }
            "paraphrase_ranking" => {
                seen[2] += 1;
                let units: Vec<Vec<f64>> = rows(&case["embeddings"]).iter().map(|row| unit(row)).collect();
                let rank = |query: usize| {
                    let dot = |row: &Vec<f64>| row.iter().zip(&units[query]).map(|(x, y)| x * y).sum::<f64>();
                    let cosines: Vec<f64> = units.iter().map(dot).collect();
                    let partners = places(&case["partners"][query.to_string()]);
                    query_rank(&cosines, &partners, &[query]).unwrap().unwrap().rank
                };
                let ranks: Vec<usize> = (0..units.len()).map(rank).collect();
                assert_eq!(ranks, places(&case["rank_of_best_partner"]));
                assert_close(mean_rank(&ranks), &case["mean_rank"]);
                for k in 1..=3 {
                    assert_close(accuracy_at(&ranks, k), &case["accuracy_at"][k.to_string()]);
                }
            }
            "p_coherence" => {
                seen[3] += 1;
                let embeddings = rows(&case["embeddings"]);
                let sets = case["sets"].as_array().unwrap().iter();
                let groups: Vec<Vec<&[f64]>> =
                    sets.map(|set| places(set).iter().map(|&i| &embeddings[i][..]).collect()).collect();
                for (group, expected) in groups.iter().zip(case["per_set"].as_array().unwrap()) {
                    assert_close(mean_pairwise_cosine(group).unwrap(), expected);
                }
                assert_close(p_coherence(groups.iter().map(Vec::as_slice)).unwrap(), &case["total"]);
            }
            kind => panic!("nothing checks {kind}"),
        }
    }
    assert_eq!(seen, [2, 1, 1, 1]);
}

#[test]
fn shared_words() {
    let words = |value: &Value| -> Vec<String> {
        value.as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_owned()).collect()
    };
    let mut seen = 0;
    for case in cases(include_str!("../data/word_overlap.json")) {
        for (i, pair) in case["pairs"].as_array().unwrap().iter().enumerate() {
            seen += 1;
            let overlap = WordOverlap::of(words(&pair[0]), words(&pair[1]));
            assert_close(Some(overlap.jaccard()), &case["jaccard"][i]);
            assert_close(Some(overlap.over_mean_length()), &case["over_mean_length"][i]);
        }
    }
    assert_eq!(seen, 3);
}

/// Intervals of SciPy with so many draws that theirs and ours differ only by the noise of drawing. The standard error
/// of a 2.5 % quantile of 40,000 draws is about 0.007 standard deviations of the number.
#[test]
fn bootstrap_intervals_are_those_of_scipy() {
    let file: Value = serde_json::from_str(include_str!("../data/significance.json")).unwrap();
    let (gold, scores) = (list(&file["gold"]), list(&file["scores"]));
    let cases = file["bootstrap"].as_array().unwrap();
    assert_eq!(cases.len(), 3);
    for case in cases {
        let statistic = match case["statistic"].as_str().unwrap() {
            "pearson" => Statistic::Pearson,
            "spearman" => Statistic::Spearman,
            _ => Statistic::Mean,
        };
        let sample = Sample::new(statistic, &gold, &scores).unwrap();
        assert_close(sample.value(), &case["value"]);
        let interval = Bootstrap { resamples: 40_000, seed: 3 }.interval("scipy", &sample).unwrap();
        let (low, high) = (case["low"].as_f64().unwrap(), case["high"].as_f64().unwrap());
        // Four standard errors; the interval is about four standard deviations wide.
        let tolerance = 4.0 * 0.01 * (high - low) / 4.0;
        assert!(
            (interval.low - low).abs() < tolerance && (interval.high - high).abs() < tolerance,
            "{interval:?} {case}"
        );
    }
}

#[test]
fn corrected_p_values_are_those_of_statsmodels() {
    let file: Value = serde_json::from_str(include_str!("../data/significance.json")).unwrap();
    let cases = file["holm"].as_array().unwrap();
    assert_eq!(cases.len(), 4);
    for case in cases {
        let corrected = holm(&list(&case["p"])).unwrap();
        for (got, expected) in corrected.iter().zip(list(&case["corrected"])) {
            assert!((got - expected).abs() < 1e-12, "{got} instead of {expected}");
        }
    }
}
