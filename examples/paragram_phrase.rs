//! The experiment of "Towards Universal Paraphrastic Sentence Embeddings" (Wieting, Bansal, Gimpel and Livescu, ICLR
//! 2016) on your pairs. It moves word vectors until the averages of paraphrases are close, evaluates them on STS before
//! and after, and compares with the published numbers of PP.
//!
//! ```text
//! cargo run --release -p senv-examples --example paragram_phrase -- --pairs PAIRS... --init-vectors VECTORS \
//!     --sts sts/2014/*.tsv
//! ```
//!
//! The paper starts from paragram vectors and has three million phrase pairs of PPDB. Without vectors, `--text` first
//! trains some (skip-gram). Without arguments, it uses the samples of this repository, which are far too small to
//! compare anything.

#![allow(clippy::print_stdout, clippy::print_stderr)]

mod line;

use std::{error::Error, path::PathBuf};

use clap::Parser;
use line::Line;
use senv::{
    Architecture, Model, PairSystem, PpParams, TextSystem, TrainOptions, Word2VecParams,
    data::{HeldOut, PairData, PairInput, PairKind, PairOptions},
    forms::NegativeSamplingParams,
    gradient::FitParams,
};
use senv_core::SentenceEncoder;
use senv_eval::{StsResult, StsTask, compare_sts, evaluate_sts, published_sts};

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data");

/// Trains PP and evaluates it on STS.
#[derive(Debug, Parser)]
struct Args {
    /// Paraphrase pairs [default: the sample]
    #[arg(long, num_args = 1.., value_name = "FILE", requires = "sts")]
    pairs: Vec<PathBuf>,
    /// Scored pairs: score, sentence, sentence. The folder name, a year, identifies the task. Training skips pairs that
    /// contain one of these sentences.
    #[arg(long, num_args = 1.., value_name = "FILE", requires = "pairs")]
    sts: Vec<PathBuf>,
    /// Word vectors to start from.
    #[arg(long, value_name = "FILE", conflicts_with = "text")]
    init_vectors: Option<PathBuf>,
    /// Text to train vectors on, if no file of vectors is given.
    #[arg(long, num_args = 1.., value_name = "FILE")]
    text: Vec<PathBuf>,
    /// Dimension of the vectors of --text.
    #[arg(long, default_value_t = 300)]
    dim: usize,
    /// Number of epochs.
    #[arg(long, default_value_t = 10)]
    epochs: u32,
    /// L2 penalty on the distance of words from their initial vectors.
    #[arg(long, default_value_t = PpParams::default().fit.l2_words)]
    l2_words: f64,
    /// Pairs per step.
    #[arg(long, default_value_t = 100)]
    batch: usize,
    /// Number of threads; the result does not depend on it.
    #[arg(long, default_value_t = std::thread::available_parallelism().map_or(1, usize::from))]
    threads: usize,
    /// Seed of all random choices.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = Args::parse();
    let small = args.pairs.is_empty();
    if small {
        let file = |name: &str| PathBuf::from(format!("{DATA}/{name}"));
        args.pairs = vec![file("phrase-pairs-sample.tsv"), file("sentence-pairs-sample.tsv")];
        (args.text, args.sts) = (vec![file("quickstart.txt")], vec![file("sts-sample.tsv")]);
        (args.dim, args.batch) = (50, 20);
    }
    let tasks: Vec<StsTask> = args.sts.iter().map(StsTask::read).collect::<Result<_, _>>()?;

    let before = match (&args.init_vectors, args.text.is_empty()) {
        (Some(path), _) => Some(Model::open(path)?),
        (None, false) => Some(skip_gram(&args, small)?),
        (None, true) => None,
    };
    let vectors = before.as_ref().map(Model::to_embeddings).transpose()?;
    let options = PairOptions {
        held_out: HeldOut::read(&args.sts)?,
        keep: vectors.iter().flat_map(|v| v.vocabulary().iter().map(|(_, word, _)| word.to_owned())).collect(),
        threads: args.threads,
        ..PairOptions::default()
    };
    let input = |path: &PathBuf| PairInput { path: path.clone(), kind: PairKind::Pairs, weight: None };
    let inputs: Vec<PairInput> = args.pairs.iter().map(input).collect();
    let data = PairData::read(&inputs, &options, &Line("pairs"))?;
    for report in &data.reports {
        println!("{}: {} pairs, {} held out", report.path.display(), report.groups, report.contaminated);
    }

    let defaults = PpParams::default();
    let (threads, seed) = (args.threads, args.seed);
    let fit = FitParams { epochs: Some(args.epochs), batch: args.batch, l2_words: args.l2_words, seed, ..defaults.fit };
    let dim = vectors.as_ref().map_or(args.dim, |vectors| vectors.dim());
    let trained = PpParams { dim, fit, ..defaults }.fit(
        &data,
        &TrainOptions { threads, observer: &Line("PP"), vectors: vectors.as_ref(), ..Default::default() },
    )?;
    let (found, words, rate) = (trained.initial.found, trained.initial.words, trained.units_per_second());
    println!("PP: {found} of {words} words had a vector, {rate:.0} pairs/s, loss {:.4}\n", trained.loss);

    let after = evaluate("PP", &trained.model, &tasks, true)?;
    if let Some(before) = &before {
        let before = evaluate("the vectors it started from", before, &tasks, false)?;
        println!("{}", compare_sts(&after, &before)?.to_text("PP", "before"));
    }
    Ok(())
}

/// Vectors trained on the text, if no file is given.
fn skip_gram(args: &Args, small: bool) -> Result<Model, Box<dyn Error>> {
    let architecture = Architecture::SkipGram;
    let (epochs, min_count, subsample) = if small { (40, 2, 1e-2) } else { (5, 5, 1e-4) };
    let lr = Word2VecParams::default_lr(architecture);
    let training = NegativeSamplingParams {
        epochs: Some(epochs),
        lr: Some(lr),
        negatives: 5,
        seed: args.seed,
        ..NegativeSamplingParams::default()
    };
    let params = Word2VecParams {
        dim: args.dim,
        min_count: Some(min_count),
        subsample: Some(subsample),
        architecture,
        training,
        ..Word2VecParams::paper()
    };
    let options = TrainOptions { threads: args.threads, observer: &Line("skip-gram"), ..Default::default() };
    Ok(Model::from(params.fit_files(&args.text, &options)?.model))
}

fn evaluate(
    name: &str,
    encoder: &dyn SentenceEncoder,
    tasks: &[StsTask],
    beside: bool,
) -> Result<StsResult, Box<dyn Error>> {
    let result = evaluate_sts(encoder, tasks)?;
    let published: Vec<_> =
        published_sts().into_iter().filter(|system| beside && system.system == "PP (CSE paper)").collect();
    println!("{name}\n\n{}", result.to_text_beside(&published));
    Ok(result)
}
