//! The experiment of "Siamese CBOW: Optimizing Word Embeddings for Sentence Representations" (Kenter, Borisov and de
//! Rijke, ACL 2016), Table 1, on your text. It trains Siamese CBOW, word2vec CBOW and skip-gram on the same ordered
//! text at the same dimension, and compares them on STS with the published numbers, and tests the differences.
//!
//! ```text
//! cargo run --release -p senv-examples --example siamese_cbow -- --input TEXT... --sts sts/2014/*.tsv
//! ```
//!
//! Text has one sentence per line and a blank line between documents. The paper's text is the Toronto Book Corpus (74
//! million sentences). Without arguments, it uses the sample of this repository, which is far too small to compare
//! anything.

#![allow(clippy::print_stdout, clippy::print_stderr)]

mod line;

use std::{error::Error, path::PathBuf};

use clap::Parser;
use line::Line;
use senv::{
    Architecture, SiameseCbowParams, TextSystem, TrainOptions, Word2VecParams, forms::NegativeSamplingParams,
    gradient::FitParams,
};
use senv_core::{Corpus, CorpusOptions, SentenceEncoder};
use senv_eval::{StsResult, StsTask, compare_sts, evaluate_sts, published_sts};

const TEXT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data/quickstart.txt");
const STS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data/sts-sample.tsv");

/// Trains Siamese CBOW and word2vec on the same text and evaluates them on STS.
#[derive(Debug, Parser)]
struct Args {
    /// Ordered text, one sentence per line, a blank line between documents [default: the sample]
    #[arg(long, num_args = 1.., value_name = "FILE", requires = "sts")]
    input: Vec<PathBuf>,
    /// Scored pairs: score, sentence, sentence. The folder name, a year, identifies the task.
    #[arg(long, num_args = 1.., value_name = "FILE", requires = "input")]
    sts: Vec<PathBuf>,
    /// Embedding dimension [default: 300; 50 for the sample]
    #[arg(long)]
    dim: Option<usize>,
    /// Number of epochs of Siamese CBOW [default: 1, as in the paper; 10 for the sample]
    #[arg(long)]
    epochs: Option<u32>,
    /// Number of epochs of word2vec [default: 5; 40 for the sample]
    #[arg(long)]
    word2vec_epochs: Option<u32>,
    /// Random sentences per example.
    #[arg(long, default_value_t = SiameseCbowParams::paper().negatives)]
    negatives: usize,
    /// Learning rate of Siamese CBOW (Adam).
    #[arg(long, default_value_t = SiameseCbowParams::paper().with_adam().fit.full_lr())]
    lr: f64,
    /// Minimum count of a known word [default: 5; 2 for the sample]
    #[arg(long)]
    min_count: Option<u64>,
    /// Number of threads; the result does not depend on it.
    #[arg(long, default_value_t = std::thread::available_parallelism().map_or(1, usize::from))]
    threads: usize,
    /// Seed of all random choices.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = Args::parse();
    let small = args.input.is_empty();
    if small {
        (args.input, args.sts) = (vec![TEXT.into()], vec![STS.into()]);
    }
    let (dim, epochs) =
        (args.dim.unwrap_or(if small { 50 } else { 300 }), args.epochs.unwrap_or(if small { 10 } else { 1 }));
    let word2vec_epochs = args.word2vec_epochs.unwrap_or(if small { 40 } else { 5 });
    let min_count = args.min_count.unwrap_or(if small { 2 } else { 5 });
    let (threads, seed) = (args.threads, args.seed);

    let tasks: Vec<StsTask> = args.sts.iter().map(StsTask::read).collect::<Result<_, _>>()?;
    let reading = CorpusOptions { min_count, threads, ..CorpusOptions::default() };
    let (vocabulary, corpus) = Corpus::read(&args.input, &reading, &Line("reading"))?;
    let (sentences, words) = (corpus.n_sentences(), vocabulary.len());
    println!("{sentences} sentences, {words} words, {dim} dimensions, seed {seed}\n");

    let defaults = SiameseCbowParams::paper().with_adam();
    let siamese = SiameseCbowParams {
        dim,
        min_count: Some(min_count),
        negatives: args.negatives,
        fit: FitParams { epochs: Some(epochs), lr: Some(args.lr), seed, ..defaults.fit },
        ..defaults
    };
    let siamese = siamese.fit(
        vocabulary.clone(),
        &corpus,
        &TrainOptions { threads, observer: &Line("Siamese CBOW"), ..Default::default() },
    )?;
    println!("Siamese CBOW: {:.0} examples/s, loss {:.4}", siamese.units_per_second(), siamese.loss);
    let mut results = vec![("Siamese CBOW", evaluate("Siamese CBOW", &siamese.model, &tasks, "Siamese CBOW")?)];

    for (architecture, name) in [(Architecture::Cbow, "CBOW"), (Architecture::SkipGram, "skip-gram")] {
        let lr = Word2VecParams::default_lr(architecture);
        let training = NegativeSamplingParams {
            epochs: Some(word2vec_epochs),
            seed,
            lr: Some(lr),
            negatives: 5,
            ..NegativeSamplingParams::default()
        };
        let subsample = if small { 1e-2 } else { 1e-4 };
        let params = Word2VecParams {
            dim,
            min_count: Some(min_count),
            subsample: Some(subsample),
            architecture,
            training,
            ..Word2VecParams::paper()
        };
        let model = params
            .fit(vocabulary.clone(), &corpus, &TrainOptions { threads, observer: &Line(name), ..Default::default() })?
            .model;
        results.push((name, evaluate(name, &model, &tasks, &format!("{name} (Siamese CBOW paper)"))?));
    }

    // The paper's claim: better than word2vec on the same text in 14 of 20 sets.
    let (_, siamese) = &results[0];
    for (name, result) in &results[1..] {
        let comparison = compare_sts(siamese, result)?;
        let r = |result: &StsResult, i: usize| result.tasks[i].correlations.pearson_r_x100.unwrap_or(0.0);
        let better = (0..tasks.len()).filter(|&i| r(siamese, i) > r(result, i)).count();
        println!(
            "{}Siamese CBOW is better in {better} of {} sets\n",
            comparison.to_text("Siamese CBOW", name),
            tasks.len()
        );
    }
    Ok(())
}

/// Evaluates a system and prints its result next to the paper's numbers.
fn evaluate(
    name: &str,
    encoder: &dyn SentenceEncoder,
    tasks: &[StsTask],
    published: &str,
) -> Result<StsResult, Box<dyn Error>> {
    let result = evaluate_sts(encoder, tasks)?;
    let published: Vec<_> = published_sts().into_iter().filter(|system| system.system == published).collect();
    println!("{name}\n\n{}", result.to_text_beside(&published));
    Ok(result)
}
