//! Tests with small texts whose vectors are known.

use senv_core::{Coverage, Scratch, SentenceEncoder};

use super::{
    compare::{CompareParams, Counterpart, compare},
    mine::{MineParams, mine},
    outliers::outliers,
    sample::diverse_sample,
};

/// Counts of the letters a, b and c.
struct Letters;

impl SentenceEncoder for Letters {
    fn dim(&self) -> usize {
        3
    }

    fn encode_sentence(&self, sentence: &str, _: &mut Scratch, out: &mut [f32]) -> Coverage {
        for (value, letter) in out.iter_mut().zip(["a", "b", "c"]) {
            *value = sentence.matches(letter).count() as f32;
        }
        Coverage::default()
    }
}

const NO_OTHERS: Option<&[&str]> = None;

#[test]
fn equal_texts_and_near_ones_are_found_in_the_other_text() {
    let first = ["aab", "c", "x", "aab", "bc"];
    let second = ["x", "ab", "aaab", "y", "c"];
    let found = compare(&Letters, &first, &second, &CompareParams::new(0.9), |_, _| {}).unwrap();
    let position =
        |found: &[Option<Counterpart>]| -> Vec<_> { found.iter().map(|of| of.map(|of| of.position)).collect() };
    // cos(aab, aaab) = 7 / √50 = 0.99, cos(aab, ab) = 3 / √10 = 0.95.
    assert_eq!(position(&found.first), [Some(2), Some(4), Some(0), Some(2), None]);
    assert_eq!(position(&found.second), [Some(2), Some(0), Some(0), None, Some(1)]);
    assert!((found.first[0].unwrap().cosine - 7.0 / 50.0_f32.sqrt()).abs() < 1e-6);
    assert!((found.second[1].unwrap().cosine - 3.0 / 10.0_f32.sqrt()).abs() < 1e-6);
    assert_eq!(found.first[2].unwrap().cosine, 1.0);
    let none = compare(&Letters, &first, &[] as &[&str], &CompareParams::new(0.9), |_, _| {}).unwrap();
    assert!(none.first.iter().all(Option::is_none) && none.second.is_empty());
}

fn positions(pairs: &[super::mine::MinedPair]) -> Vec<(usize, usize)> {
    pairs.iter().map(|pair| (pair.first, pair.second)).collect()
}

#[test]
fn pairs_are_ranked_by_cosine_or_margin_and_a_sentence_is_used_once_if_asked() {
    let sentences = ["aab", "aab", "ab", "aabc", "c", "x"];
    let params = MineParams { min_cosine: 0.3, ..MineParams::default() };
    let found = mine(&Letters, &sentences, NO_OTHERS, &params, |_, _| {}).unwrap();
    // cos: aab ab 0.949, aab aabc 0.913, ab aabc 0.866, aabc c 0.408.
    assert_eq!(positions(&found), [(0, 2), (0, 3), (2, 3), (3, 4)]);
    let once = MineParams { once: true, ..params };
    assert_eq!(positions(&mine(&Letters, &sentences, NO_OTHERS, &once, |_, _| {}).unwrap()), [(0, 2), (3, 4)]);
    // The second best comes after a pair that shares a sentence with the first.
    let two = MineParams { once: true, n: 2, ..params };
    assert_eq!(positions(&mine(&Letters, &sentences, NO_OTHERS, &two, |_, _| {}).unwrap()), [(0, 2), (3, 4)]);
    // With one neighbour each, the means are 0.949, 0.949, 0.913, 0.408; aabc and c: 0.408 / ((0.913 + 0.408) / 2) =
    // 0.618.
    let margin = MineParams { margin: Some(1), ..params };
    let found = mine(&Letters, &sentences, NO_OTHERS, &margin, |_, _| {}).unwrap();
    assert_eq!(positions(&found), [(0, 2), (0, 3), (3, 4)]);
    for (pair, score) in found.iter().zip([1.0, 0.913 / 0.931, 0.408 / 0.6605]) {
        assert!((pair.score - score).abs() < 1e-3, "{pair:?}");
    }
    assert!(mine(&Letters, &sentences, NO_OTHERS, &MineParams { margin: Some(0), ..params }, |_, _| {}).is_err());
}

#[test]
fn pairs_between_two_texts_are_of_one_sentence_of_each() {
    let first = ["aab", "c", "x"];
    let others = ["cc", "ab", "aab"];
    for margin in [None, Some(2)] {
        let params = MineParams { min_cosine: 0.5, margin, ..MineParams::default() };
        let found = mine(&Letters, &first, Some(&others), &params, |_, _| {}).unwrap();
        let mut of_pairs = positions(&found);
        of_pairs.sort_unstable();
        assert_eq!(of_pairs, [(0, 1), (0, 2), (1, 0)], "{margin:?}");
        let once = MineParams { once: true, ..params };
        let mut of_pairs = positions(&mine(&Letters, &first, Some(&others), &once, |_, _| {}).unwrap());
        of_pairs.sort_unstable();
        assert_eq!(of_pairs, [(0, 2), (1, 0)], "{margin:?}");
    }
}

#[test]
fn outliers_are_like_nothing_and_a_sample_has_one_of_each() {
    let sentences = ["aab", "ab", "aab", "abb", "c", "x"];
    let likeness = outliers(&Letters, &sentences, 2, |_, _| {}).unwrap();
    assert_eq!(likeness[0], likeness[2]);
    // cos(aab, ab) = 0.949, cos(aab, abb) = 0.8.
    assert!((likeness[0] - (3.0 / 10.0_f32.sqrt() + 0.8) / 2.0).abs() < 1e-5, "{likeness:?}");
    assert_eq!(likeness[4..], [0.0, 0.0]);
    assert_eq!(outliers(&Letters, &["ab"], 2, |_, _| {}).unwrap(), [0.0]);
    let chosen = diverse_sample(&Letters, &sentences, 2, 0.0, |_, _| {}).unwrap();
    // "ab" is nearest to the middle.
    assert_eq!(chosen, [1, 4]);
    assert_eq!(diverse_sample(&Letters, &sentences, 99, 0.0, |_, _| {}).unwrap().len(), 4);
}
