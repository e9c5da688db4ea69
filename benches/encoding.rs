//! Throughput of encoding on one thread, through the library call of `senv`.
//!
//! `cargo bench -p senv-benches --bench encoding`. Sentences have about 21 tokens and are given as text, so tokenizing,
//! lookup, hashing and averaging are all timed. The bigram table has its full 2 million buckets (0.9 GB), all touched
//! before timing.
#![allow(missing_docs)]

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use senv::average::AverageEncoder;
use senv_benches::{SEED, Text};
use senv_core::{Scratch, SentenceEncoder, Table, Tokenizer, init};
use senv_ngram::{WordNgramParams, WordNgrams};

const N_SENTENCES: usize = 2_000;
const DIM: usize = 100;

fn encoder(text: &Text, tokenizer: Tokenizer, max_n: usize) -> AverageEncoder {
    let params = WordNgramParams { max_n, ..Default::default() };
    let features = WordNgrams::new(&text.vocabulary, params).expect("parameters in range");
    let n_rows = features.n_rows();
    let mut rows = Table::zeros(n_rows, DIM).expect("memory");
    init::uniform_rows(&mut rows, 0..n_rows, 1.0, SEED).expect("a limit above zero");
    AverageEncoder::new(tokenizer, text.vocabulary.clone(), features, rows).expect("parts that fit")
}

fn encode(c: &mut Criterion) {
    let text = Text::new().expect("a vocabulary");
    let sentences = text.sentences(N_SENTENCES);
    let lines = text.lines(&sentences);
    let (mut scratch, mut out) = (Scratch::default(), vec![0.0; DIM]);

    let mut group = c.benchmark_group("encode_into");
    group.throughput(Throughput::Elements(N_SENTENCES as u64));
    for (name, tokenizer, max_n) in [
        ("uni, whitespace", Tokenizer::whitespace(), 1),
        ("uni, words in lower case", Tokenizer::words().lowercase(true), 1),
        ("uni+bi 2M, whitespace", Tokenizer::whitespace(), 2),
    ] {
        let encoder = encoder(&text, tokenizer, max_n);
        let coverage = encoder.encode_into(&lines[0], &mut scratch, &mut out);
        assert_eq!((coverage.tokens, coverage.known), (sentences.get(0).len(), sentences.get(0).len()));
        assert!(out.iter().all(|x| x.abs() < 1.0) && out.iter().any(|&x| x != 0.0));
        group.bench_function(BenchmarkId::new(name, DIM), |b| {
            b.iter(|| {
                for line in &lines {
                    encoder.encode_into(black_box(line), &mut scratch, &mut out);
                    black_box(&out);
                }
            });
        });
    }
    group.finish();
}

criterion_group!(benches, encode);
criterion_main!(benches);
