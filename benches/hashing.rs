//! Converts sentences to rows with the n-grams of `senv-ngram`, with and without dropout.
//!
//! `cargo bench -p senv-benches --bench hashing`. Sentences have 21 tokens (the mean of novels), and there are 2
//! million buckets. Throughput counts tokens.
#![allow(missing_docs)]

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use senv_benches::{SEED, Text};
use senv_core::{FeatureList, rng::stream};
use senv_ngram::{CharNgrams, Dropout, DropoutMask, DropoutScheme, NgramScheme, WordNgramParams, WordNgrams};

const N_SENTENCES: usize = 1000;
const N_TOKENS: usize = 21;

fn word_n_grams(c: &mut Criterion) {
    let text = Text::new().expect("a vocabulary");
    let sentences = text.sentences_of(N_TOKENS, N_SENTENCES);
    let mut features = FeatureList::default();
    let mut group = c.benchmark_group("features of a sentence");
    group.throughput(Throughput::Elements(sentences.n_tokens() as u64));
    for (name, max_n, scheme, expected) in [
        ("words", 1, NgramScheme::TokenIds, 21),
        ("bigrams", 2, NgramScheme::TokenIds, 21 + 20),
        ("bigrams as fastText hashes them", 2, NgramScheme::TokenHashes, 21 + 20),
        ("trigrams", 3, NgramScheme::TokenIds, 21 + 20 + 19),
    ] {
        let params = WordNgramParams { max_n, scheme, ..Default::default() };
        let n_grams = WordNgrams::new(&text.vocabulary, params).expect("parameters in range");
        n_grams.features_into(sentences.get(0), &mut features);
        assert_eq!(features.rows().len(), expected);
        group.bench_function(BenchmarkId::new(name, format!("{N_TOKENS} tokens")), |b| {
            b.iter(|| {
                for sentence in sentences.iter() {
                    n_grams.features_into(black_box(sentence), &mut features);
                }
            });
        });
    }

    let n_grams = WordNgrams::new(&text.vocabulary, WordNgramParams::default()).expect("parameters in range");
    let (mut rng, mut mask) = (stream(SEED, "dropout", &[]), DropoutMask::default());
    for (name, scheme) in [("tokens", DropoutScheme::Tokens), ("paper", DropoutScheme::Paper)] {
        let dropout = Dropout { scheme, n_dropped: 4 };
        n_grams.features_with_dropout_into(sentences.get(0), dropout, &mut rng, &mut mask, &mut features);
        assert_eq!(mask.n_dropped(), 4);
        assert!((21 + 20 - 8..=21 + 20 - 4).contains(&features.rows().len()));
        group.bench_function(
            BenchmarkId::new(format!("bigrams, dropout 4 ({name})"), format!("{N_TOKENS} tokens")),
            |b| {
                b.iter(|| {
                    for sentence in sentences.iter() {
                        let sentence = black_box(sentence);
                        n_grams.features_with_dropout_into(sentence, dropout, &mut rng, &mut mask, &mut features);
                    }
                });
            },
        );
    }
    group.finish();
}

fn character_n_grams(c: &mut Criterion) {
    let words = ["the", "of", "sentence", "embedding", "neighbourhood", "naïveté"];
    let n_grams = CharNgrams::new(3, 6, 2_000_000).expect("parameters in range");
    let mut buckets = Vec::new();
    n_grams.buckets_into("the", &mut buckets);
    assert_eq!(buckets.len(), 3 + 2 + 1, "the parts of <the> with 3, 4 and 5 characters");
    let mut group = c.benchmark_group("character n-grams of a word");
    group.throughput(Throughput::Elements(words.len() as u64));
    group.bench_function("3 to 6 characters", |b| {
        b.iter(|| {
            for word in words {
                buckets.clear();
                n_grams.buckets_into(black_box(word), &mut buckets);
            }
        });
    });
    group.finish();
}

criterion_group!(benches, word_n_grams, character_n_grams);
criterion_main!(benches);
