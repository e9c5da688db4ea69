//! One epoch of Sent2Vec through `senv-negative-sampling`: words per second of the training phase.
//!
//! `cargo bench -p senv-benches --bench trainer`; select a part by name, as in `-- uni/300/sentence`. The time is what
//! `fit` reports for training alone. Before the clock starts, tables are created and the pages of the source table are
//! touched.
//!
//! The corpus is small (10,000 sentences, about 210 thousand tokens), so a run takes a fraction of a second. Its rows
//! therefore stay in the caches more than those of a real corpus. For figures to publish, use `against-sent2vec` on
//! text of millions of tokens.
#![allow(missing_docs)]

use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use senv::{NgramStart, Sent2VecParams, TextSystem, TrainOptions, average::UnknownWords};
use senv_benches::Text;
use senv_core::Corpus;
use senv_negative_sampling::{NegativeSamplingParams, NegativeSharing, Schedule};

const N_SENTENCES: usize = 10_000;
const N_BUCKETS: u32 = 100_000;

fn one_epoch(c: &mut Criterion) {
    let text = Text::new().expect("a vocabulary");
    let sentences = text.sentences(N_SENTENCES);
    let n_tokens = sentences.n_tokens() as u64;
    let corpus = Corpus::from_sentences(sentences);

    for (name, word_ngrams) in [("uni", 1), ("uni+bi, 100k buckets", 2)] {
        let mut group = c.benchmark_group(name);
        group.sample_size(10).throughput(Throughput::Elements(n_tokens));
        for dim in [100, 300, 700] {
            for sharing in [NegativeSharing::None, NegativeSharing::Sentence, NegativeSharing::Block] {
                for schedule in [Schedule::Hogwild, Schedule::Deterministic] {
                    let params = Sent2VecParams {
                        dim,
                        word_ngrams,
                        buckets: Some(N_BUCKETS),
                        dropout: 2,
                        ngram_start: NgramStart::Uniform,
                        training: NegativeSamplingParams {
                            epochs: Some(1),
                            lr: Some(0.2),
                            negatives_shared: sharing,
                            schedule,
                            ..NegativeSamplingParams::default()
                        },
                        placeholder: true,
                        initial_length: None,
                        weighting: None,
                        unknown_words: UnknownWords::Skip,
                        subsample: Some(1e-5),
                        ..Sent2VecParams::default()
                    };
                    let options = TrainOptions::default();
                    let train = || params.fit(text.vocabulary.clone(), &corpus, &options).expect("a corpus to learn");
                    let id = BenchmarkId::new(dim.to_string(), format!("{sharing:?}/{schedule:?}").to_lowercase());
                    let mut checked = false;
                    group.bench_function(id, |b| {
                        b.iter_custom(|n| {
                            let mut total = Duration::ZERO;
                            for _ in 0..n {
                                let trained = train();
                                if !checked {
                                    assert_eq!(trained.units, n_tokens);
                                    assert!(
                                        trained.loss < 11.0 * 2f64.ln(),
                                        "no better than at the start: {}",
                                        trained.loss
                                    );
                                    checked = true;
                                }
                                total += trained.training;
                            }
                            total
                        });
                    });
                }
            }
        }
        group.finish();
    }
}

criterion_group!(benches, one_epoch);
criterion_main!(benches);
