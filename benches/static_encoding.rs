//! Throughput of a static encoder of `senv-core` on one thread, from raw text.
//!
//! `cargo bench -p senv-benches --bench static_encoding`. The model has 60,000 words of 256 values, and sentences have
//! about 107 characters. Tokenizing, lower-casing, lookup and averaging are all timed. `open` is the time to open the
//! file of such a model.
#![allow(missing_docs)]

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use senv_benches::{SEED, Text};
use senv_core::{
    Scratch, SentenceEncoder, StaticEncoder, Table, Tokenizer, Vocabulary, init,
    static_model::{CompressedRows, RowEncoding},
};

const N_WORDS: usize = 60_000;
const DIM: usize = 256;
const N_SENTENCES: usize = 2_000;
const CHARACTERS: usize = 107;

/// The words of the text, followed by further words to fill the vocabulary.
fn vocabulary(text: &Text) -> Vocabulary {
    let known = text.vocabulary.iter().map(|(_, word, count)| (word.to_owned(), count));
    let more = (0..).map(|i| (format!("rare{i}"), 1));
    Vocabulary::from_counts(known.chain(more).take(N_WORDS), text.vocabulary.corpus_tokens()).expect("distinct words")
}

/// Lines of whole words. Each ends with the word that reaches the required number of characters.
fn sentences(text: &Text) -> Vec<String> {
    let (mut sentences, mut sentence) = (Vec::new(), String::new());
    for word in text.lines(&text.sentences(2 * N_SENTENCES)).iter().flat_map(|line| line.split(' ')) {
        sentence.push_str(word);
        if sentence.len() >= CHARACTERS - 3 {
            sentence.push('.');
            sentences.push(std::mem::take(&mut sentence));
        } else {
            sentence.push(' ');
        }
    }
    sentences.truncate(N_SENTENCES);
    assert_eq!(sentences.len(), N_SENTENCES);
    sentences
}

fn encode(c: &mut Criterion) {
    let text = Text::new().expect("a vocabulary");
    let (vocabulary, sentences) = (vocabulary(&text), sentences(&text));
    let mut table = Table::zeros(N_WORDS, DIM).expect("memory");
    init::uniform_rows(&mut table, 0..N_WORDS, 1.0, SEED).expect("a limit above zero");
    let folder = tempfile::tempdir().expect("a folder");
    let (mut scratch, mut out, mut exact) = (Scratch::default(), vec![0.0; DIM], vec![0.0; DIM]);

    let mut group = c.benchmark_group("static_encoder");
    for encoding in [RowEncoding::F32, RowEncoding::Int8, RowEncoding::Int4] {
        let rows = CompressedRows::compress(&table, encoding).expect("finite rows");
        let length = Some(rows.mean_length());
        let tokenizer = Tokenizer::words().lowercase(true);
        let encoder = StaticEncoder::new(tokenizer, vocabulary.clone(), rows, length).expect("parts that fit");
        let path = folder.path().join(encoding.name());
        encoder.save(&path).expect("a file");
        let encoder = StaticEncoder::open(&path).expect("the file that was written");

        let coverage = encoder.encode_into(&sentences[0], &mut scratch, &mut out);
        assert_eq!((coverage.known + coverage.hashed, coverage.hashed <= 1), (coverage.tokens, true));
        if encoding == RowEncoding::F32 {
            exact.copy_from_slice(&out);
        }
        let error: f32 = out.iter().zip(&exact).map(|(x, y)| (x - y).powi(2)).sum();
        let square: f32 = exact.iter().map(|x| x.powi(2)).sum();
        assert!(square > 0.0 && error.sqrt() < 0.12 * square.sqrt(), "{}: {error} of {square}", encoding.name());

        group.throughput(Throughput::Elements(N_SENTENCES as u64));
        group.bench_function(encoding.name(), |b| {
            b.iter(|| {
                for sentence in &sentences {
                    encoder.encode_into(black_box(sentence), &mut scratch, &mut out);
                    black_box(&out);
                }
            });
        });
        group.throughput(Throughput::Elements(1));
        group.bench_function(format!("open {}", encoding.name()), |b| {
            b.iter(|| StaticEncoder::open(black_box(&path)).expect("the file that was written"));
        });
    }
    group.finish();
}

criterion_group!(benches, encode);
criterion_main!(benches);
