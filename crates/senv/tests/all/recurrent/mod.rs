//! The recurrent and related systems, from files to encoded sentences and back.

mod autoencoders;
mod damaged;
mod p_thought;
mod relatedness;
mod resumed;
mod sdae;
mod skip_thought;
mod snli;
mod validation;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        Mutex,
        atomic::{AtomicU32, Ordering},
    },
};

use senv::{
    BowAutoencoderParams, CheckpointPlan, Error, Model, NliPairs, PThoughtParams, PThoughtStructure, Reconstruction,
    RnnAutoencoderParams, SdaeParams, SkipThought, SkipThoughtParams, Snli, SnliEncoder, SnliParams, TrainOptions,
    data::{PairData, PairInput, PairKind, PairOptions},
    forms::{GruInit, GruStyle, RecurrentTopology},
    gradient::{FitParams, Stopped, WordUpdates},
    model::{DecodeParams, VocabularyExpansion},
    sequence::{LongSentences, OutputForm},
};
use senv_core::{Control, NoObserver, Observer, Progress, SentenceEncoder, Table, Vocabulary, optim::UpdateRule};
use senv_store::Embeddings;
use tempfile::TempDir;

/// Words of three topics.
const TOPICS: [[&str; 5]; 3] = [
    ["boat", "harbour", "sail", "anchor", "tide"],
    ["oven", "bread", "flour", "dough", "crust"],
    ["goal", "match", "league", "referee", "pitch"],
];

/// A pseudo-random number below `below`, from two others.
fn mixed(n: usize, i: usize, below: usize) -> usize {
    let x = (n as u64 * 31 + i as u64 + 1).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    ((x ^ x >> 31).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33) as usize % below
}

/// Sentence number `n` of a topic, with one to four words.
fn sentence(topic: usize, n: usize) -> String {
    let words: Vec<&str> = (0..1 + mixed(n, 9, 4)).map(|i| TOPICS[topic][mixed(n, i, 5)]).collect();
    words.join(" ")
}

struct Files {
    folder: TempDir,
}

impl Files {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        fs::write(self.path(name), text).unwrap();
        self.path(name)
    }
}

/// Same topic: entailment; the first two topics: contradiction; with the third topic: neutral.
fn labelled(n: usize, first: usize) -> NliPairs {
    let pair = |i: usize| {
        let (a, b) = (i % 2, (i / 2) % 3);
        let label = if b == 2 { "neutral" } else { ["contradiction", "entailment"][usize::from(a == b)] };
        (label, sentence(a, i), sentence(b, 3 * i + 1))
    };
    let pairs: Vec<_> = (first..first + n).map(pair).collect();
    NliPairs::new("pairs", pairs.iter().map(|(label, a, b)| (*label, &a[..], &b[..]))).unwrap()
}

/// Vectors such that a known affine map, x to (x + 1) / 2, gives the first three values of each word. They also contain
/// `ship` and a phrase.
fn other_vectors(vocabulary: &Vocabulary, table: &Table) -> Embeddings {
    let own = vocabulary.iter().filter(|(_, word, _)| !["<eos>", "UNK"].contains(word)).map(|(id, word, _)| {
        let row = senv_core::Rows::row(table, id.index());
        (word, [0, 1, 2].map(|i| 2.0 * row[i] - 1.0))
    });
    let all: Vec<(&str, [f32; 3])> = own.chain([("ship", [0.5, -0.25, 1.0]), ("new_york", [0.0; 3])]).collect();
    let words = Vocabulary::from_counts(all.iter().map(|(word, _)| (word, 0)), 0).unwrap();
    let rows: Vec<f32> = all.iter().flat_map(|(_, vector)| *vector).collect();
    Embeddings::new(words, Table::from_vec(all.len(), 3, rows).unwrap()).unwrap()
}

/// A beam search with this decoder.
fn search(decoder: usize, width: usize, longest: usize) -> DecodeParams {
    DecodeParams { decoder, width, longest }
}

fn bits(encoder: &dyn SentenceEncoder) -> Vec<u32> {
    let texts: Vec<String> = (0..12).map(|i| sentence(i % 3, i)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    encoder.encode_batch(&texts).unwrap().0.iter().map(|x| x.to_bits()).collect()
}

/// Alone or in a batch, a sentence has the same vector up to rounding, and one without known words has a zero vector.
fn batches_agree(encoder: &dyn SentenceEncoder) {
    let texts: Vec<String> = (0..9).map(|i| sentence(i % 3, i)).chain(["xyz".into(), String::new()]).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let (many, coverage) = encoder.encode_batch(&texts).unwrap();
    let (mut scratch, mut one) = (senv_core::Scratch::default(), vec![7.0; encoder.dim()]);
    for ((text, row), coverage) in texts.iter().zip(many.rows()).zip(coverage) {
        assert_eq!(encoder.encode_into(text, &mut scratch, &mut one), coverage);
        assert!(row.iter().zip(&one).all(|(a, b)| (a - b).abs() < 1e-5), "{text}");
        assert_eq!(coverage.is_empty(), row.iter().all(|&x| x == 0.0), "{text}");
    }
}

fn at_threads<D>(threads: usize) -> TrainOptions<'static, D> {
    TrainOptions { threads, ..Default::default() }
}

/// A few epochs with one, two and five threads end with the same bits. Hundreds would not test more.
#[track_caller]
fn same_at_any_threads(name: &str, bits: impl Fn(usize) -> Vec<u32>) {
    let one = bits(1);
    for threads in [2, 5] {
        assert!(bits(threads) == one, "{name}, {threads} threads");
    }
}

/// Whether a run was stopped by request.
fn is_stopped<M>(run: &senv::Result<senv::Trained<M>>) -> bool {
    run.as_ref().is_err_and(Error::is_interrupted)
}

/// Stops a run at the n-th progress report of training, after step 2^(n - 1) at the latest.
struct StopAt(AtomicU32);

impl Observer for StopAt {
    fn progress(&self, progress: &Progress) -> Control {
        // On a busy machine, reading the text may send a report, too, but without a learning rate.
        let is_training = progress.lr > 0.0;
        if is_training && self.0.fetch_sub(1, Ordering::Relaxed) <= 1 { Control::Stop } else { Control::Continue }
    }
}

fn snli(encoder: SnliEncoder, fit: FitParams) -> SnliParams {
    SnliParams { encoder, dim: 12, hidden: 64, fit, ..SnliParams::default() }
}

fn rnn() -> SnliEncoder {
    SnliEncoder::Rnn {
        hidden: 10,
        layers: 1,
        topology: RecurrentTopology::Separate,
        style: GruStyle::Paper,
        start: GruInit::Orthogonal,
    }
}

/// Twenty sentences about three topics, in documents of five.
fn text() -> String {
    let line = |i: usize| format!("{}\n{}", sentence(i % 3, 5 * i), if i % 5 == 4 { "\n" } else { "" });
    (0..20).map(line).collect()
}

/// Twenty different sentences of a few words, in documents of five.
fn ordered() -> (String, Vec<String>) {
    let sentences: Vec<String> = (0..20)
        .map(|i| {
            let word = |j: usize| TOPICS[mixed(i, j, 3)][mixed(i, j + 50, 5)];
            (0..3 + i % 4).map(word).collect::<Vec<_>>().join(" ")
        })
        .collect();
    let line = |(i, s): (usize, &String)| format!("{s}\n{}", if i % 5 == 4 { "\n" } else { "" });
    (sentences.iter().enumerate().map(line).collect(), sentences)
}

fn autoencoder(fit: FitParams) -> RnnAutoencoderParams {
    RnnAutoencoderParams { dim: 16, hidden: 32, fit, ..RnnAutoencoderParams::default() }
}

fn skip_thought(bi: bool, fit: FitParams) -> SkipThoughtParams {
    SkipThoughtParams { dim: 16, sentence_dim: 32, bi, fit, ..SkipThoughtParams::default() }
}

/// Collects notes.
#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl Notes {
    /// Notes about long sentences.
    fn of_length(&self) -> Vec<String> {
        let notes = self.0.lock().unwrap();
        notes.iter().filter(|note| note.contains(" tokens were ")).cloned().collect()
    }
}

impl Observer for Notes {
    fn progress(&self, _: &Progress) -> Control {
        Control::Continue
    }

    fn note(&self, note: &str) {
        self.0.lock().unwrap().push(note.to_owned());
    }
}

fn captions(files: &Files) -> PairData {
    let (_, sentences) = ordered();
    let lines: String = (0..20).map(|i| format!("{}\t{}\n", sentences[i], sentences[(i + 10) % 20])).collect();
    let inputs = [PairInput { path: files.write("pairs.tsv", &lines), kind: PairKind::Pairs, weight: None }];
    PairData::read(&inputs, &PairOptions::default(), &NoObserver).unwrap()
}

/// Collects progress reports.
#[derive(Default)]
struct Reports(Mutex<Vec<Progress>>);

impl Observer for Reports {
    fn progress(&self, progress: &Progress) -> Control {
        self.0.lock().unwrap().push(*progress);
        Control::Continue
    }
}
