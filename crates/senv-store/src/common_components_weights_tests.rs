//! Compares word weights with the papers' formulas.

use super::*;
use serde_json::Value;

fn vocabulary(counts: impl IntoIterator<Item = u64>, corpus_tokens: u64) -> Vocabulary {
    let words = counts.into_iter().enumerate().map(|(i, n)| (format!("w{i}"), n));
    Vocabulary::from_counts(words, corpus_tokens).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

fn rows(value: &Value) -> Vec<Vec<f64>> {
    value.as_array().unwrap().iter().map(numbers).collect()
}

fn case(kind: &str) -> Value {
    let all: Value = serde_json::from_str(include_str!("../tests/data/frequency_weights.json")).unwrap();
    all["cases"].as_array().unwrap().iter().find(|case| case["kind"] == kind).unwrap().clone()
}

#[test]
fn sif_weights_and_sentences_are_the_reference_numbers() {
    let case = case("sif");
    // Counts in a corpus of 10,000 tokens give the frequencies of the case exactly.
    let p = numbers(&case["p"]);
    let vocabulary = vocabulary(p.iter().map(|p| (p * 1e4).round() as u64), 10_000);
    let weights = Sif { a: case["a"].as_f64().unwrap() }.weights(&vocabulary).unwrap();
    for (got, expected) in weights.iter().zip(numbers(&case["weights"])) {
        assert!((f64::from(*got) - expected).abs() <= 1e-7 * expected, "{got} {expected}"); // f32
    }
    let table: Vec<Vec<f32>> = rows(&case["vectors"]).iter().map(|r| r.iter().map(|&x| x as f32).collect()).collect();
    for (tokens, expected) in case["sentences"].as_array().unwrap().iter().zip(rows(&case["before"])) {
        let tokens: Vec<usize> = numbers(tokens).iter().map(|&x| x as usize).collect();
        let mut out = vec![0.0; 4];
        let n = weighted_sentence(tokens.iter().map(|&i| (&table[i][..], weights[i])), false, &mut out).unwrap();
        assert_eq!(n, tokens.len());
        for (got, expected) in out.iter().zip(expected) {
            assert!((f64::from(*got) - expected).abs() < 1e-6, "{got} {expected}");
        }
    }
}

#[test]
fn usif_constants_are_the_reference_numbers() {
    let case = case("usif_constants");
    let of = |key: &str| case[key].as_f64().unwrap();
    let vocabulary = vocabulary(std::iter::once(999).chain(std::iter::repeat_n(1, 999)), 1998);
    let usif = Usif { mean_length: of("n") };
    assert!((usif.a(&vocabulary).unwrap() - of("a")).abs() < 1e-9);
    let weights = usif.weights(&vocabulary).unwrap();
    assert!((f64::from(weights[0]) - of("weight_head")).abs() < 1e-7 * of("weight_head"));
    assert!(weights[1..].iter().all(|w| (f64::from(*w) - of("weight_rest")).abs() < 1e-7 * of("weight_rest")));
}

#[test]
fn words_that_were_not_counted_weigh_one_or_as_the_rarest() {
    let counts = vocabulary(std::iter::once(999).chain(std::iter::repeat_n(1, 999)), 0);
    let words = Vocabulary::from_counts([("new", 0), ("w0", 0), ("w7", 0)], 0).unwrap();
    let sif = Sif::default().weights_by(&words, &counts).unwrap();
    assert_eq!(sif[0], 1.0);
    assert!((sif[1] - 0.001 / 0.501).abs() < 1e-9, "the sum of the counts stands in for the tokens");
    let usif = Usif::default().weights_by(&words, &counts).unwrap();
    assert_eq!(usif[0], usif[2]);
    assert!(usif[1] < usif[0]);
}

#[test]
fn where_no_word_is_in_every_sentence_the_most_frequent_counts_as_one() {
    // α = 1/V: a = (1 − 1/V) / (1/2).
    let flat = vocabulary(std::iter::repeat_n(1, 1000), 0);
    assert!((Usif::default().a(&flat).unwrap() - 2.0 * 0.999).abs() < 1e-12);
    let weights = Usif::default().weights(&vocabulary([3, 2, 1], 6)).unwrap();
    assert!(weights.windows(2).all(|w| w[0] < w[1]) && weights.iter().all(|w| w.is_finite()), "{weights:?}");
}

#[test]
fn bad_parameters_and_vocabularies_are_named() {
    let counted = vocabulary([3, 1], 4);
    for a in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(Sif { a }.weights(&counted).is_err(), "{a}");
    }
    assert!(Sif { a: 1e-300 }.weights(&counted).is_ok());
    let lone = Usif::default().a(&vocabulary([7], 0)).unwrap_err().to_string();
    assert!(lone.starts_with("the number of different words must be at least 2 for uSIF weights"), "{lone}");
    let head = vocabulary(std::iter::once(999).chain(std::iter::repeat_n(1, 999)), 1998);
    for mean_length in [0.999, f64::NAN, f64::INFINITY] {
        assert!(Usif { mean_length }.a(&head).is_err(), "{mean_length}");
    }
    assert!(Usif { mean_length: 1.0 }.a(&head).is_ok() && Usif::default().a(&counted).is_ok(), "two words are enough");
    for none in [vocabulary([0, 0], 0), vocabulary([], 0)] {
        assert!(Sif::default().weights(&none).unwrap_err().to_string().contains("no counts"));
        assert!(Usif::default().weights(&none).is_err());
    }
    let row = [1.0f32, 2.0];
    assert!(weighted_sentence([(&row[..], 1.0)].into_iter(), false, &mut [0.0; 3]).is_err());
}

#[test]
fn dimensions_are_divided_by_their_norms_beyond_a_tile_and_zeros_stay() {
    let dim = 2 * TILE + 5;
    let row = |k: usize| (0..dim).map(|j| if j == 70 { 0.0 } else { (j % 7 + k) as f32 - 2.5 }).collect::<Vec<_>>();
    let table = [(row(0), 0.25f32), (row(3), 1.0), (row(5), 0.0)];
    let rows = table.iter().map(|(row, w)| (&row[..], *w));
    let mut out = vec![7.0; dim];
    assert_eq!(weighted_sentence(rows, true, &mut out).unwrap(), 2, "a weight of 0 does not count");
    for j in 0..dim {
        let norm = table.iter().map(|(row, _)| row[j] * row[j]).sum::<f32>().sqrt();
        let sum: f32 = table.iter().map(|(row, w)| w * row[j]).sum();
        let expected = if j == 70 { 0.0 } else { sum / 2.0 / norm };
        assert!((out[j] - expected).abs() < 1e-6, "{j}: {} {expected}", out[j]);
    }
    assert_eq!(weighted_sentence(std::iter::empty(), true, &mut out).unwrap(), 0);
    assert!(out.iter().all(|&x| x == 0.0), "an empty sentence is the zero vector");
}

#[test]
fn weights_come_back_from_a_model_file_and_wrong_ones_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.safetensors");
    let save = |weights: &[f32]| {
        save_weights_into(weights, ModelWriter::new("test")).save(&path).unwrap();
        ModelFile::open(&path).unwrap()
    };
    let model = save(&[0.5, 1.0, 0.0]);
    assert_eq!(load_weights_from(&model, 3).unwrap(), Some(vec![0.5, 1.0, 0.0]));
    assert!(load_weights_from(&model, 2).unwrap_err().to_string().contains("3 weights for 2 words"));
    for bad in [-0.5, f32::NAN, f32::INFINITY] {
        assert!(load_weights_from(&save(&[1.0, bad]), 2).is_err(), "{bad}");
    }
    ModelWriter::new("test").save(&path).unwrap();
    assert_eq!(load_weights_from(&ModelFile::open(&path).unwrap(), 2).unwrap(), None);
}

#[test]
fn usif_counts_the_words_above_its_threshold_and_no_others() {
    // 100 words and 11 tokens per sentence: τ = 1 − 0.99¹¹ = 0.1047. Three words are more frequent, the fourth is not.
    let counts = [300, 200, 105, 104].into_iter().chain(std::iter::repeat_n(3, 95)).chain([6]);
    let usif = Usif { mean_length: 11.0 };
    let a = usif.a(&vocabulary(counts, 1000)).unwrap();
    assert!((a - (1.0 - 0.03) / (0.03 * 50.0)).abs() < 1e-12, "{a}");
    // Two words and one token: τ = 1/2, which both words have and neither exceeds.
    let a = Usif { mean_length: 1.0 }.a(&vocabulary([1, 1], 2)).unwrap();
    assert_eq!(a, 1.0, "one counts as frequent, as where there is none: (1/2) / (1/2 · 1)");
}

#[test]
fn rows_that_are_known_by_their_sum_are_as_rows_given_one_by_one() {
    // Vectors of unknown words: ±1/4 in every dimension, over more than two tiles; each with the weight 1/2.
    let dim = 2 * TILE + 5;
    let sign =
        |k: usize| (0..dim).map(|j| if (j * j + k).is_multiple_of(3) { 0.25f32 } else { -0.25 }).collect::<Vec<_>>();
    let known = [((0..dim).map(|j| j as f32 * 0.01 - 0.3).collect::<Vec<_>>(), 0.75f32)];
    let unknown = [sign(0), sign(1), sign(4)];
    let known_rows = || known.iter().map(|(row, w)| (&row[..], *w));
    let all = known_rows().chain(unknown.iter().map(|row| (&row[..], 0.5)));
    let weighted: Vec<f32> = (0..dim).map(|j| unknown.iter().map(|row| 0.5 * row[j]).sum()).collect();
    let further = RowSum { n: 3, weighted: &weighted, square: 0.0625 };
    for dimension_norms in [false, true] {
        let (mut expected, mut got) = (vec![7.0; dim], vec![7.0; dim]);
        let n = weighted_sentence(all.clone(), dimension_norms, &mut expected).unwrap();
        assert_eq!((n, weighted_sentence_with(known_rows(), further, dimension_norms, &mut got).unwrap()), (4, 4));
        for (j, (got, expected)) in got.iter().zip(&expected).enumerate() {
            assert!((got - expected).abs() < 1e-6, "{dimension_norms} {j}: {got} {expected}");
        }
    }
    let short = RowSum { weighted: &weighted[1..], ..further };
    assert!(weighted_sentence_with(known_rows(), short, false, &mut vec![0.0; dim]).is_err());
    let none = RowSum { n: 0, weighted: &[], square: 0.0 };
    assert_eq!(weighted_sentence_with(known_rows(), none, false, &mut vec![0.0; dim]).unwrap(), 1);
}

#[test]
fn a_sentence_without_weight_is_zero_and_not_nan() {
    for dimension_norms in [false, true] {
        let mut out = [7.0; 2];
        let rows = [(&[1.0f32, 2.0][..], 0.0)];
        assert_eq!(weighted_sentence(rows.into_iter(), dimension_norms, &mut out).unwrap(), 0);
        assert_eq!(out, [0.0; 2], "{dimension_norms}");
    }
}
