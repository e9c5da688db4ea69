//! The supervised experiment of the CSE paper, Table 3: tunes a trained CSE on SICK with a head that predicts the score
//! from two sentence vectors.
//!
//! It compares two variants with the published figures. "Universal" is regularized towards its initial values, and
//! "random" has random filters on the word vectors that CSE was trained from (section 4.2).
//!
//! ```text
//! cargo run --release -p senv-examples --example cse_sick -- --model cse.senv --words words.senv \
//!     --train SICK_train.txt --dev SICK_trial.txt --test SICK_test_annotated.txt
//! ```
//!
//! The model is one of `senv train cse`, or the output of `cse_transfer --output`; the words are its `--init-vectors`.
//! Without arguments, it trains a model on the samples of this repository, which are far too small to compare anything.

#![allow(clippy::print_stdout, clippy::print_stderr)]

mod line;

use std::{error::Error, path::PathBuf};

use clap::Parser;
use line::Line;
use senv::{
    CseParams, FilterStart, Model, PairSystem, Relatedness, RelatednessParams, TrainOptions,
    data::{PairData, PairInput, PairKind, PairOptions},
    gradient::{FitParams, ScoredPairs},
    system::Initial,
};
use senv_encoders::Window;
use senv_eval::{
    PairScorer, PublishedRelatedness, ScoringMethod, SickSet, evaluate_relatedness, evaluate_scorer, published_sick,
};
use senv_store::Embeddings;

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data");

/// Tunes a CSE on SICK.
#[derive(Debug, Parser)]
struct Args {
    /// A trained CSE [default: the samples]
    #[arg(long, value_name = "MODEL", requires_all = ["words", "train", "dev", "test"])]
    model: Option<PathBuf>,
    /// The word vectors that it was trained from: a model, word2vec, GloVe or fastText.
    #[arg(long, value_name = "FILE", requires = "model")]
    words: Option<PathBuf>,
    /// The training part of SICK.
    #[arg(long, value_name = "FILE", requires = "model")]
    train: Option<PathBuf>,
    /// Pairs to select the best weights with.
    #[arg(long, value_name = "FILE", requires = "model")]
    dev: Option<PathBuf>,
    /// The test part.
    #[arg(long, value_name = "FILE", requires = "model")]
    test: Option<PathBuf>,
    /// Hidden units of the head.
    #[arg(long, default_value_t = RelatednessParams::default().hidden)]
    hidden: usize,
    /// Number of epochs.
    #[arg(long, default_value_t = RelatednessParams::default().fit.n_epochs())]
    epochs: u32,
    /// Learning rate.
    #[arg(long, default_value_t = RelatednessParams::default().fit.full_lr())]
    lr: f64,
    /// L2 penalty of words and filters.
    #[arg(long, default_value_t = RelatednessParams::default().l2_filters)]
    l2: f64,
    /// Number of seeds, with one run each. The last run is shown, and the correlations of all are listed.
    #[arg(long, default_value_t = 3)]
    seeds: u64,
    /// Number of threads; the result does not depend on it.
    #[arg(long, default_value_t = std::thread::available_parallelism().map_or(1, usize::from))]
    threads: usize,
}

fn main() -> Result<(), Box<dyn Error>> {
    let args = Args::parse();
    let sample = |name: &str| PathBuf::from(format!("{DATA}/{name}-sample.tsv"));
    let read = |path: &Option<PathBuf>, name: &str| SickSet::read(path.clone().unwrap_or_else(|| sample(name)));
    let [train, dev, test] =
        [read(&args.train, "sick-train")?, read(&args.dev, "sick-trial")?, read(&args.test, "sick-test")?];
    let (base, words) = match (&args.model, &args.words) {
        (Some(model), Some(words)) => (Model::open(model)?, Model::open(words)?.to_embeddings()?),
        _ => small_model(&[sample("phrase-pairs"), sample("sentence-pairs")], args.threads)?,
    };
    let test = [test.task];
    println!("before, by cosine\n\n{}", evaluate_relatedness(&base, &test)?.to_text());

    let (train, dev) = (ScoredPairs::from(train.task), ScoredPairs::from(dev.task));
    let starts = [(FilterStart::Universal, None, "CSE-universal"), (FilterStart::Random, Some(&words), "CSE-random")];
    for (filters, vectors, name) in starts {
        let (mut results, mut correlations) = (Vec::new(), Vec::new());
        for seed in 1..=args.seeds.max(1) {
            let defaults = RelatednessParams::default();
            let (epochs, lr, l2_words) = (args.epochs, args.lr, args.l2);
            let params = RelatednessParams {
                hidden: args.hidden,
                filters,
                l2_filters: args.l2,
                fit: FitParams { epochs: Some(epochs), lr: Some(lr), seed, l2_words, ..defaults.fit },
                ..defaults
            };
            let threads = args.threads;
            let trained = params.fit(
                &base,
                &train,
                &TrainOptions { threads, observer: &Line(name), dev: Some(&dev), vectors, ..Default::default() },
            )?;
            let result = evaluate_scorer(&Head(trained.model), &test)?;
            let r = result.tasks[0].result.correlations.pearson_r_x100.unwrap_or(f64::NAN);
            let trial = trained.best.map_or(f64::NAN, |(_, score)| 100.0 * score);
            correlations.push(format!("seed {seed}: trial {trial:.2}, test {r:.2}"));
            results.push(result);
        }
        let last = results.last().ok_or("no run")?;
        println!("{name} ({})\n\n{}", correlations.join("; "), last.to_text_beside(&published(name)));
    }
    Ok(())
}

/// The row of the paper's table, on the test part.
fn published(name: &str) -> Vec<PublishedRelatedness> {
    published_sick()
        .into_iter()
        .filter(|row| row.scored_by == ScoringMethod::Supervised && row.system == name)
        .collect()
}

/// A tuned model that scores pairs.
struct Head(Relatedness);

impl PairScorer for Head {
    fn score_batch(&self, pairs: &[(&str, &str)]) -> senv_core::Result<Vec<f64>> {
        let score = |(first, second): &(&str, &str)| match self.0.score(first, second) {
            Ok(score) => Ok(score),
            Err(senv::Error::Core(error)) => Err(error),
            Err(error) => {
                let (name, requirement, got) = ("pair", "one that can be scored", error.to_string());
                Err(senv_core::Error::InvalidParameter { name, requirement, got })
            }
        };
        pairs.iter().map(score).collect()
    }
}

/// A CSE trained on the samples, and the word vectors that it started from, which are random here.
fn small_model(files: &[PathBuf], threads: usize) -> Result<(Model, Embeddings), Box<dyn Error>> {
    let sick = ["train", "trial", "test"].map(|part| format!("{DATA}/sick-{part}-sample.tsv"));
    // A few pairs contain few words, so the words of the scored pairs are added with random vectors.
    let mut keep: Vec<String> = Vec::new();
    for path in sick {
        let set = SickSet::read(path)?.task.pairs;
        let words = set.iter().flat_map(|pair| pair.first.split(' ').chain(pair.second.split(' ')));
        keep.extend(words.map(str::to_lowercase));
    }
    keep.sort_unstable();
    keep.dedup();
    let input = |path: &PathBuf| PairInput { path: path.clone(), kind: PairKind::Pairs, weight: None };
    let options = PairOptions { keep, ..PairOptions::default() };
    let data = PairData::read(&files.iter().map(input).collect::<Vec<_>>(), &options, &Line("pairs"))?;
    let windows = [1, 2, 3].map(|width| Window { width, n_filters: 20 }).into();
    let defaults = CseParams::default();
    let fit = FitParams { batch: 20, ..defaults.fit };
    let params = CseParams { dim: 50, windows, fit, ..defaults };
    let vocabulary = &data.vocabulary;
    let rows = Initial { sd: 0.1, frequency_weight: None }.rows(vocabulary, params.dim, None, 1)?.0;
    let words = Embeddings::new(vocabulary.clone(), rows)?;
    let vectors = Some(&words);
    let options = TrainOptions { threads, observer: &Line("CSE"), vectors, ..Default::default() };
    let model = Model::from(params.fit(&data, &options)?.model);
    Ok((model, words))
}
