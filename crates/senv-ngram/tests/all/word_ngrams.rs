//! Rows of words and n-grams: reference numbers, counts, spans, ranges.

use proptest::prelude::*;
use senv_core::{FeatureList, RowId, TokenId, Vocabulary};
use senv_ngram::{DropoutMask, Error, NgramScheme, WordNgramParams, WordNgrams};

fn ids(tokens: &[u32]) -> Vec<TokenId> {
    tokens.iter().copied().map(TokenId).collect()
}

fn features(n_grams: &WordNgrams, tokens: &[TokenId]) -> Vec<(u32, usize, usize)> {
    let mut out = FeatureList::default();
    n_grams.features_into(tokens, &mut out);
    out.iter().map(|(row, start, end)| (row.0, start, end)).collect()
}

/// Start, end, bucket of the n-grams of a sentence.
fn buckets(n_grams: &WordNgrams, tokens: &[TokenId]) -> Vec<(usize, usize, u32)> {
    let first = n_grams.params().first_row + n_grams.n_tokens() as u32;
    features(n_grams, tokens).into_iter().filter(|f| f.1 != f.2).map(|(row, s, e)| (s, e, row - first)).collect()
}

// Reference numbers made with Python integers by the project's generator make_golden.py (sent2vec.json,
// ngram_bucket).
const IDS: [u32; 6] = [3087, 2233, 1946, 379, 3463, 4357];
const BIGRAMS: [(usize, usize, u32); 5] =
    [(0, 1, 410510), (1, 2, 247389), (2, 3, 76345), (3, 4, 715072), (4, 5, 976130)];
const TRIGRAMS: [(usize, usize, u32); 9] =
    [(0, 1, 510), (0, 2, 924), (1, 2, 389), (1, 3, 82), (2, 3, 345), (2, 4, 842), (3, 4, 72), (3, 5, 69), (4, 5, 130)];

#[test]
fn buckets_are_those_of_the_sent2vec_release() {
    let bi = WordNgrams::from_ids(5000, WordNgramParams::default()).unwrap();
    assert_eq!(buckets(&bi, &ids(&IDS)), BIGRAMS);
    let tri = WordNgrams::from_ids(5000, WordNgramParams { max_n: 3, n_buckets: 1000, ..Default::default() }).unwrap();
    assert_eq!(buckets(&tri, &ids(&IDS)), TRIGRAMS);
}

#[test]
fn with_a_placeholder_in_row_0_the_shifted_numbers_are_hashed() {
    // The release counts its placeholder as word 0: our token i is its word i + 1.
    let params = WordNgramParams { first_row: 1, ..Default::default() };
    let n_grams = WordNgrams::from_ids(5000, params).unwrap();
    let shifted: Vec<TokenId> = IDS.iter().map(|&id| TokenId(id - 1)).collect();
    assert_eq!(buckets(&n_grams, &shifted), BIGRAMS);
    assert_eq!(features(&n_grams, &shifted)[0], (IDS[0], 0, 0));
    assert_eq!((n_grams.n_rows(), n_grams.placeholder_row()), (1 + 5000 + 2_000_000, Some(RowId(0))));
}

#[test]
fn the_fasttext_scheme_hashes_spellings_and_forgets_the_order_of_the_vocabulary() {
    // Python integers: the recurrence of the documentation over the reference hashes of the three words, of which
    // the first and the last are negative as 32-bit integers.
    let expected = [(0, 1, 284_411), (0, 2, 822_116), (1, 2, 1_614_248)];
    let params = WordNgramParams { max_n: 3, scheme: NgramScheme::TokenHashes, ..Default::default() };
    for order in [["the", "cat", "naïve"], ["naïve", "the", "cat"]] {
        let vocabulary = Vocabulary::from_counts(order.map(|word| (word, 1)), 3).unwrap();
        let tokens = ["the", "cat", "naïve"].map(|word| vocabulary.id(word).unwrap());
        assert_eq!(buckets(&WordNgrams::new(&vocabulary, params).unwrap(), &tokens), expected);
    }
}

#[test]
fn words_alone_set_no_bucket_aside() {
    let words = WordNgrams::from_ids(7, WordNgramParams { max_n: 1, ..Default::default() }).unwrap();
    assert_eq!((words.n_rows(), words.max_span(), words.params().n_buckets), (7, 1, 0));
    assert_eq!(features(&words, &ids(&[6, 0, 6])), [(6, 0, 0), (0, 1, 1), (6, 2, 2)]);
}

#[test]
fn parameters_out_of_range_are_refused() {
    let with = |n_tokens, max_n, n_buckets, first_row| {
        WordNgrams::from_ids(n_tokens, WordNgramParams { max_n, n_buckets, first_row, ..Default::default() })
    };
    assert!(matches!(with(5, 0, 10, 0), Err(Error::InvalidOrder { got: 0, highest: 255 })));
    assert!(matches!(with(5, 256, 10, 0), Err(Error::InvalidOrder { got: 256, .. })));
    assert!(with(5, 255, 10, 0).is_ok());
    assert!(matches!(with(5, 2, 0, 0), Err(Error::InvalidBuckets { got: 0 })));
    assert!(with(5, 1, 0, 0).is_ok());
    let last = u32::MAX - 5;
    assert!(with(5, 2, last, 0).is_ok());
    assert!(matches!(with(5, 2, last, 1), Err(Error::TooManyRows { first_row: 1, n_tokens: 5, .. })));
    assert!(matches!(with(usize::MAX, 2, 10, 0), Err(Error::TooManyRows { .. })));
}

#[test]
#[should_panic(expected = "token 5 in a vocabulary of 5 tokens")]
fn a_token_without_a_row_is_not_taken_for_another() {
    features(&WordNgrams::from_ids(5, WordNgramParams::default()).unwrap(), &ids(&[4, 5]));
}

#[test]
fn a_grown_list_is_written_in_place() {
    for max_n in 1..5 {
        let n_grams = WordNgrams::from_ids(50, WordNgramParams { max_n, ..Default::default() }).unwrap();
        let mut out = FeatureList::default();
        n_grams.features_into(&ids(&[1; 40]), &mut out);
        let warm = out.rows().as_ptr();
        for n in [0, 1, 2, 39, 7, 40] {
            n_grams.features_into(&ids(&vec![2; n]), &mut out);
            assert_eq!((out.rows().as_ptr(), out.n_tokens()), (warm, n));
        }
    }
}

#[test]
fn without_a_row_set_aside_there_is_no_placeholder() {
    let n_grams = WordNgrams::from_ids(5, WordNgramParams::default()).unwrap();
    assert_eq!(n_grams.placeholder_row(), None);
    n_grams.placeholder_n_grams(&ids(&[1, 2, 3]), 1, None, |_, _, _| panic!("no placeholder, no n-gram of it"));
}

/// All targets of a sentence take a time linear in its length only if each looks only at its neighbours. Tokens without
/// a row show what is looked at: they are refused where they are seen.
#[test]
fn a_target_looks_at_the_tokens_within_reach_alone() {
    let n_grams =
        WordNgrams::from_ids(5, WordNgramParams { max_n: 3, first_row: 1, ..WordNgramParams::default() }).unwrap();
    let mut sentence = vec![TokenId(9); 20];
    sentence[8..=12].fill(TokenId(2));
    let mut spans = Vec::new();
    n_grams.placeholder_n_grams(&sentence, 10, None, |_, start, end| spans.push((start, end)));
    assert_eq!(spans, [(8, 10), (9, 10), (9, 11), (10, 11), (10, 12)]);
    let within_reach = || n_grams.placeholder_n_grams(&sentence, 9, None, |_, _, _| {});
    assert!(std::panic::catch_unwind(within_reach).is_err(), "token 7 has no row");
}

fn scheme() -> impl Strategy<Value = NgramScheme> {
    prop_oneof![Just(NgramScheme::TokenIds), Just(NgramScheme::TokenHashes)]
}

fn any_n_grams(n_tokens: usize) -> impl Strategy<Value = WordNgrams> {
    (1..6_usize, 1..3000_u32, scheme(), 0..3_u32).prop_map(move |(max_n, n_buckets, scheme, first_row)| {
        let vocabulary = Vocabulary::from_counts((0..n_tokens).map(|i| (format!("wörd{i}"), 1)), 9).unwrap();
        WordNgrams::new(&vocabulary, WordNgramParams { max_n, n_buckets, scheme, first_row }).unwrap()
    })
}

proptest! {
    #[test]
    fn every_run_comes_once_in_order_and_in_its_row(
        n_grams in any_n_grams(50),
        tokens in proptest::collection::vec(0..50_u32, 0..30),
    ) {
        let tokens = ids(&tokens);
        let n = tokens.len();
        let seen = features(&n_grams, &tokens);
        let mut expected = Vec::new();
        for start in 0..n {
            for end in start..(start + n_grams.max_span()).min(n) {
                expected.push((n_grams.n_gram_row(&tokens[start..=end]).unwrap().0, start, end));
            }
        }
        prop_assert_eq!(&seen, &expected);
        prop_assert_eq!(seen.len(), (1..=n_grams.max_span().min(n)).map(|k| n - k + 1).sum::<usize>());
        prop_assert_eq!(seen.len(), n_grams.n_features(n));
        let first_bucket = n_grams.params().first_row as usize + 50;
        for (row, start, end) in seen {
            let range = if start == end { 0..first_bucket } else { first_bucket..n_grams.n_rows() };
            prop_assert!(range.contains(&(row as usize)), "row {} of tokens {} to {}", row, start, end);
            if start == end {
                prop_assert_eq!(RowId(row), n_grams.token_row(tokens[start]));
            }
        }
    }

    #[test]
    fn features_are_grouped_by_their_first_token(
        n_grams in any_n_grams(50),
        tokens in proptest::collection::vec(0..50_u32, 0..30),
    ) {
        let tokens = ids(&tokens);
        let mut out = FeatureList::default();
        n_grams.features_into(&ids(&[1; 40]), &mut out); // Any old content of the list.
        n_grams.features_into(&tokens, &mut out);
        prop_assert_eq!(out.n_tokens(), tokens.len());
        let mut next = 0;
        for token in 0..tokens.len() {
            let group = out.starting_at(token);
            prop_assert_eq!(group.start, next);
            prop_assert_eq!(out.end_of(group.start), token);
            next = group.end;
        }
        prop_assert_eq!(next, out.rows().len());
    }

    #[test]
    fn placeholder_n_grams_are_those_of_the_sentence_with_word_0_at_the_target(
        max_n in 1..6_usize,
        tokens in proptest::collection::vec(0..50_u32, 1..15),
        target in any::<prop::sample::Index>(),
    ) {
        let target = target.index(tokens.len());
        let params = WordNgramParams { max_n, n_buckets: 1000, ..Default::default() };
        let ours = WordNgrams::from_ids(50, WordNgramParams { first_row: 1, ..params }).unwrap();
        // The release's view: 51 words, of which word 0 is the placeholder.
        let release = WordNgrams::from_ids(51, params).unwrap();
        let mut replaced: Vec<u32> = tokens.iter().map(|id| id + 1).collect();
        replaced[target] = 0;
        let expected: Vec<_> = features(&release, &ids(&replaced))
            .into_iter()
            .filter(|&(_, start, end)| start != end && (start..=end).contains(&target))
            .collect();
        let mut seen = Vec::new();
        ours.placeholder_n_grams(&ids(&tokens), target, Some(&DropoutMask::default()), |row, start, end| {
            seen.push((row.0, start, end));
        });
        prop_assert_eq!(seen, expected);
    }
}
