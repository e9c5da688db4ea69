//! Dropout of n-grams: what is dropped, what is kept, and that every choice is equally likely.

use proptest::prelude::*;
use senv_core::{FeatureList, TokenId, rng::stream};
use senv_ngram::{Dropout, DropoutMask, DropoutScheme, WordNgramParams, WordNgrams};
use statrs::distribution::{ChiSquared, ContinuousCDF};
use std::collections::HashMap;

use DropoutScheme::{Paper, Release, Tokens};

type Spans = Vec<(u32, usize, usize)>;

fn list(features: &FeatureList) -> Spans {
    features.iter().map(|(row, start, end)| (row.0, start, end)).collect()
}

fn n_grams(max_n: usize) -> WordNgrams {
    WordNgrams::from_ids(1000, WordNgramParams { max_n, n_buckets: 5000, ..Default::default() }).unwrap()
}

fn full(n_grams: &WordNgrams, tokens: &[TokenId]) -> FeatureList {
    let mut features = FeatureList::default();
    n_grams.features_into(tokens, &mut features);
    features
}

/// Chi-square p-value of the counts against equal shares of `cells` cells.
fn p_of_uniform(counts: impl IntoIterator<Item = u64>, cells: usize, draws: u64) -> f64 {
    let expected = draws as f64 / cells as f64;
    let (mut seen, mut chi2) = (0, 0.0);
    for count in counts {
        seen += 1;
        chi2 += (count as f64 - expected).powi(2) / expected;
    }
    chi2 += (cells - seen) as f64 * expected; // cells that were never drawn
    1.0 - ChiSquared::new((cells - 1) as f64).unwrap().cdf(chi2)
}

#[test]
fn every_set_of_tokens_and_every_set_of_n_grams_is_equally_likely() {
    // 7 tokens, K = 3: 35 sets of tokens; 6 bigrams, K = 2: 15 sets of bigrams; K = 5 of 7: the cut at n − 2.
    for (scheme, k, sets) in
        [(Tokens, 3, 35), (Release, 3, 35), (Paper, 2, 15), (Release, 5, 21), (Release, 9, 21), (Release, 1, 7)]
    {
        let dropout = Dropout { scheme, n_dropped: k };
        let (mut rng, mut mask) = (stream(5, "chi-square", &[k as u64]), DropoutMask::default());
        let mut counts: HashMap<u64, u64> = HashMap::new();
        let draws = 200_000;
        for _ in 0..draws {
            dropout.draw(7, 6, &mut rng, &mut mask);
            let set: u64 = (0..64).filter(|&i| mask.contains(i)).map(|i| 1 << i).sum();
            assert_eq!(set.count_ones() as usize, mask.n_dropped());
            assert_eq!(set, mask.iter().map(|i| 1 << i).sum::<u64>());
            *counts.entry(set).or_default() += 1;
        }
        assert!(counts.len() <= sets);
        let p = p_of_uniform(counts.into_values(), sets, draws);
        assert!(p > 0.01, "{scheme:?} K = {k}: p = {p}");
    }
}

#[test]
fn positions_beyond_one_machine_word_are_drawn_evenly_too() {
    let (n, draws) = (150, 60_000);
    let dropout = Dropout { scheme: Release, n_dropped: 7 };
    let (mut rng, mut mask) = (stream(6, "chi-square", &[]), DropoutMask::default());
    let mut counts = vec![0_u64; n];
    for _ in 0..draws {
        dropout.draw(n, 0, &mut rng, &mut mask);
        mask.iter().for_each(|i| counts[i] += 1);
    }
    assert_eq!(counts.iter().sum::<u64>(), 7 * draws);
    // Draws without repetition vary less than independent ones, by (n − K)/(n − 1): the test is conservative.
    let p = p_of_uniform(counts, n, 7 * draws);
    assert!(p > 0.01, "p = {p}");
}

#[test]
fn the_release_leaves_two_usable_tokens_and_the_paper_counts_n_grams() {
    let bigrams = n_grams(2);
    let tokens: Vec<TokenId> = (0..9).map(TokenId).collect();
    let mut mask = DropoutMask::default();
    for (n, expected) in [(0, 0), (1, 0), (2, 0), (3, 1), (6, 4), (9, 5)] {
        let mut features = full(&bigrams, &tokens[..n]);
        let dropout = Dropout { scheme: Release, n_dropped: 5 };
        dropout.apply(&mut features, &mut stream(1, "k", &[n as u64]), &mut mask);
        assert_eq!(mask.n_dropped(), expected);
        assert_eq!(list(&features).iter().filter(|f| f.1 == f.2).count(), n, "words stay");
    }
    for (n, left) in [(0, 0), (1, 0), (2, 0), (5, 0), (6, 0), (7, 1), (9, 3)] {
        let mut features = full(&bigrams, &tokens[..n]);
        let dropout = Dropout { scheme: Paper, n_dropped: 5 };
        dropout.apply(&mut features, &mut stream(1, "k", &[n as u64]), &mut mask);
        assert_eq!(features.rows().len(), n + left);
    }
}

#[test]
fn the_two_schemes_differ() {
    let bigrams = n_grams(2);
    let tokens: Vec<TokenId> = (0..20).map(TokenId).collect();
    let features = full(&bigrams, &tokens);
    let left = |scheme| -> usize {
        let dropout = Dropout { scheme, n_dropped: 4 };
        let one = |i| {
            let (mut rng, mut out) = (stream(1, "differ", &[i]), FeatureList::default());
            dropout.apply_into(&features, &mut rng, &mut DropoutMask::default(), &mut out);
            out.rows().len() - tokens.len()
        };
        (0..200).map(one).sum()
    };
    assert_eq!(left(Paper), 200 * (19 - 4), "always K bigrams");
    // Four tokens take between four and eight bigrams; on average 19 · (1 − (16/20)(15/19)) = 7 of them.
    let mean = left(Release) as f64 / 200.0;
    assert!((11.5..12.5).contains(&mean), "{mean}");
}

#[test]
fn the_same_stream_gives_the_same_features() {
    let bigrams = n_grams(2);
    let tokens: Vec<TokenId> = (0..40).map(TokenId).collect();
    let draw = |place| {
        let (mut rng, mut out) = (stream(3, "same", &[place]), FeatureList::default());
        let dropout = Dropout { scheme: Release, n_dropped: 7 };
        bigrams.features_with_dropout_into(&tokens, dropout, &mut rng, &mut DropoutMask::default(), &mut out);
        list(&out)
    };
    assert_eq!(draw(0), draw(0));
    assert_ne!(draw(0), draw(1));
    // Fixed: a release that changes these changes every trained model.
    let mut mask = DropoutMask::default();
    Dropout { scheme: Release, n_dropped: 7 }.draw(40, 39, &mut stream(3, "same", &[0]), &mut mask);
    assert_eq!(mask.iter().collect::<Vec<_>>(), [1, 6, 13, 23, 24, 27, 31]);
}

proptest! {
    #[test]
    fn what_is_left_is_what_the_mask_allows_and_all_ways_agree(
        tokens in proptest::collection::vec(0..1000_u32, 0..80),
        max_n in 1..5_usize,
        n_dropped in 0..12_usize,
        scheme in prop_oneof![Just(Tokens), Just(Release), Just(Paper)],
        seed in any::<u64>(),
    ) {
        let (n_grams, dropout) = (n_grams(max_n), Dropout { scheme, n_dropped });
        let tokens: Vec<TokenId> = tokens.into_iter().map(TokenId).collect();
        let before = full(&n_grams, &tokens);
        let rng = || stream(seed, "agree", &[]);
        let mut mask = DropoutMask::default();

        let mut in_place = before.clone();
        dropout.apply(&mut in_place, &mut rng(), &mut mask);
        let mut number = 0;
        let expected: Spans = list(&before)
            .into_iter()
            .filter(|&(_, start, end)| {
                number += usize::from(start != end);
                start == end || match scheme {
                    Tokens | Release => (start..=end).all(|token| !mask.contains(token)),
                    Paper => !mask.contains(number - 1),
                }
            })
            .collect();
        prop_assert_eq!(&list(&in_place), &expected);

        let (mut other, mut fused, mut used) = (full(&n_grams, &tokens), FeatureList::default(), DropoutMask::default());
        dropout.apply_into(&before, &mut rng(), &mut mask, &mut other);
        prop_assert_eq!(&list(&other), &expected);
        let mut fused_rng = rng();
        n_grams.features_with_dropout_into(&tokens, dropout, &mut fused_rng, &mut used, &mut fused);
        prop_assert_eq!(&list(&fused), &expected);
        for features in [&in_place, &other, &fused] {
            prop_assert_eq!(features.n_tokens(), tokens.len());
            for token in 0..tokens.len() {
                prop_assert_eq!(features.end_of(features.starting_at(token).start), token, "its word opens a group");
            }
        }
    }

    #[test]
    fn placeholder_n_grams_respect_the_mask(
        tokens in proptest::collection::vec(0..1000_u32, 1..20),
        max_n in 1..5_usize,
        target in any::<prop::sample::Index>(),
        seed in any::<u64>(),
    ) {
        let params = WordNgramParams { max_n, n_buckets: 5000, first_row: 1, ..Default::default() };
        let n_grams = WordNgrams::from_ids(1000, params).unwrap();
        let target = target.index(tokens.len());
        let tokens: Vec<TokenId> = tokens.into_iter().map(TokenId).collect();
        let mut mask = DropoutMask::default();
        Dropout { scheme: Release, n_dropped: 3 }.draw(tokens.len(), 0, &mut stream(seed, "mask", &[]), &mut mask);
        let collect = |mask: Option<&DropoutMask>| {
            let mut seen = Vec::new();
            n_grams.placeholder_n_grams(&tokens, target, mask, |row, start, end| seen.push((row.0, start, end)));
            seen
        };
        let mut expected = collect(None);
        expected.retain(|&(_, start, end)| (start..=end).all(|token| !mask.contains(token)));
        prop_assert_eq!(collect(Some(&mask)), expected);
    }
}
