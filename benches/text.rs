//! Tokenizing text and counting a vocabulary with `senv-core`.
//!
//! `cargo bench -p senv-benches --bench text`. The tokenizers run over the sentences in `examples/data`, real English
//! with punctuation. The vocabulary is counted in synthetic text of 2 million tokens.
#![allow(missing_docs)]

use std::{fs, hint::black_box, path::Path};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use senv_benches::Text;
use senv_core::{Corpus, CorpusOptions, NoObserver, Tokenizer};

fn tokenizers(c: &mut Criterion) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/data/quickstart.txt");
    let text = fs::read_to_string(path).expect("the text that ships with the examples");
    let lines: Vec<&str> = text.lines().collect();
    let mut scratch = String::new();
    let tokenizers = [
        ("whitespace", Tokenizer::whitespace()),
        ("words", Tokenizer::words()),
        ("words, lower case", Tokenizer::words().lowercase(true)),
    ];
    let mut group = c.benchmark_group("tokenizer");
    group.throughput(Throughput::Bytes(text.len() as u64));
    for (name, tokenizer) in tokenizers {
        let mut count = || {
            let mut n = 0;
            for line in &lines {
                tokenizer.for_each(line, &mut scratch, |token| n += black_box(token).len());
            }
            n
        };
        let letters = text.bytes().filter(|b| !b.is_ascii_whitespace()).count();
        assert_eq!(count(), letters, "every character that is not white space is in a token");
        group.bench_function(BenchmarkId::new(name, format!("{} lines", lines.len())), |b| b.iter(&mut count));
    }
    group.finish();
}

fn counting(c: &mut Criterion) {
    let text = Text::new().expect("a vocabulary");
    let sentences = text.sentences(95_000);
    let n_tokens = sentences.n_tokens();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("text.txt");
    fs::write(&path, text.lines(&sentences).join("\n")).expect("room for the text");

    let mut group = c.benchmark_group("counting a vocabulary and coding the text");
    group.sample_size(10).throughput(Throughput::Elements(n_tokens as u64));
    for threads in [1, 2] {
        let options = CorpusOptions { tokenizer: Tokenizer::whitespace(), threads, ..Default::default() };
        let read = || Corpus::read(std::slice::from_ref(&path), &options, &NoObserver).expect("plain text");
        let (vocabulary, corpus) = read();
        assert_eq!((vocabulary.corpus_tokens(), corpus.n_sentences()), (n_tokens as u64, sentences.len() as u64));
        let id = BenchmarkId::new(format!("{n_tokens} tokens"), format!("{threads} threads"));
        group.bench_function(id, |b| b.iter(read));
    }
    group.finish();
}

criterion_group!(benches, tokenizers, counting);
criterion_main!(benches);
