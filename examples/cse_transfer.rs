//! The transfer experiments of the CSE paper on your pairs: PP on phrases, and CSE on phrases, on sentences, and on
//! phrases then sentences ("cumulative"). All start from the same word vectors.
//!
//! It evaluates them on STS by year and compares with Table 4; `--sizes` adds filters over windows of one size each,
//! for Table 5.
//!
//! ```text
//! cargo run --release -p senv-examples --example cse_transfer -- --phrases PHRASES.tsv --sentences SENTENCES.tsv \
//!     --init-vectors VECTORS --sts sts/201[234]/*.tsv --sizes
//! ```
//!
//! The paper has three million phrase pairs of PPDB and 168 thousand sentence pairs of Simple and standard English
//! Wikipedia. Without arguments, it uses the samples of this repository, which are far too small to compare anything.

#![allow(clippy::print_stdout, clippy::print_stderr)]

mod line;

use std::{error::Error, path::PathBuf};

use clap::Parser;
use line::Line;
use senv::{
    Cse, CseParams, Model, PairSystem, PpParams, TrainOptions,
    data::{HeldOut, PairData, PairInput, PairKind, PairOptions},
    gradient::{FitParams, ScoredPairs},
};
use senv_core::SentenceEncoder;
use senv_encoders::{Activation, Window};
use senv_eval::{Align, StsTask, TextTable, evaluate_sts, published_cse_ablations};
use senv_store::Embeddings;

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data");

/// Trains PP and CSE on phrases and sentences and evaluates them on STS.
#[derive(Debug, Parser)]
struct Args {
    /// Pairs of phrases that mean the same thing [default: the samples]
    #[arg(long, value_name = "FILE", requires_all = ["sentences", "sts"])]
    phrases: Option<PathBuf>,
    /// Pairs of sentences that mean the same thing.
    #[arg(long, value_name = "FILE", requires = "phrases")]
    sentences: Option<PathBuf>,
    /// Scored pairs; training leaves out pairs with one of their sentences.
    #[arg(long, num_args = 1.., value_name = "FILE", requires = "phrases")]
    sts: Vec<PathBuf>,
    /// Word vectors to start from [default: at random]
    #[arg(long, value_name = "FILE")]
    init_vectors: Option<PathBuf>,
    /// Dimension of the word vectors, if no file is given.
    #[arg(long, default_value_t = 300)]
    dim: usize,
    /// Filters of each window.
    #[arg(long, default_value_t = 100)]
    filters: usize,
    /// Apply tanh to the result of each filter; without it, word order hardly counts.
    #[arg(long)]
    tanh: bool,
    /// Number of epochs per stage.
    #[arg(long, default_value_t = 10)]
    epochs: u32,
    /// Also train filters over windows of one size (Table 5).
    #[arg(long)]
    sizes: bool,
    /// Output file for the cumulative model, the input of `cse_sick`.
    #[arg(long, value_name = "MODEL")]
    output: Option<PathBuf>,
    /// Number of threads; the result does not depend on it.
    #[arg(long, default_value_t = std::thread::available_parallelism().map_or(1, usize::from))]
    threads: usize,
    /// Seed of all random choices.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = Args::parse();
    let file = |name: &str| PathBuf::from(format!("{DATA}/{name}"));
    if args.phrases.is_none() {
        (args.sts, args.dim, args.filters) = (vec![file("sts-sample.tsv")], 50, 20);
    }
    let phrases = args.phrases.clone().unwrap_or_else(|| file("phrase-pairs-sample.tsv"));
    let sentences = args.sentences.clone().unwrap_or_else(|| file("sentence-pairs-sample.tsv"));
    let vectors = args.init_vectors.as_ref().map(|path| Model::open(path)?.to_embeddings()).transpose()?;

    // One vocabulary for both stages.
    let options = PairOptions {
        held_out: HeldOut::read(&args.sts)?,
        keep: vectors.iter().flat_map(|v| v.vocabulary().iter().map(|(_, word, _)| word.to_owned())).collect(),
        threads: args.threads,
        ..PairOptions::default()
    };
    let input = |path| PairInput { path, kind: PairKind::Pairs, weight: None };
    let mut phrases = PairData::read(&[input(phrases), input(sentences)], &options, &Line("pairs"))?;
    let sentences = PairData::new(phrases.vocabulary.clone(), phrases.sources.split_off(1));
    let n = |data: &PairData| data.sources[0].n_groups();
    println!("{} phrase pairs, {} sentence pairs, {} words\n", n(&phrases), n(&sentences), phrases.vocabulary.len());

    let run =
        Trainings { args: &args, vectors: vectors.as_ref(), dim: vectors.as_ref().map_or(args.dim, Embeddings::dim) };
    let all = [1, 2, 3];
    let first = run.cse(&phrases, None, &all, "CSE on phrases")?;
    let cumulative = run.cse(&sentences, Some(&first), &all, "CSE, cumulative")?;
    let mut results: Vec<(&str, Box<dyn SentenceEncoder>)> = vec![
        ("PP (phrases)", Box::new(run.pp(&phrases)?)),
        ("CSE (phrases)", Box::new(first)),
        ("CSE (sentences)", Box::new(run.cse(&sentences, None, &all, "CSE on sentences")?)),
        ("CSE (cumulative)", Box::new(cumulative.clone())),
    ];
    if args.sizes {
        for (width, name) in [(1, "CSE, window 1"), (2, "CSE, window 2"), (3, "CSE, window 3"), (4, "CSE, window 4")] {
            results.push((name, Box::new(run.cse(&sentences, None, &[width], name)?)));
        }
        results.push(("CSE, windows 1 to 3", Box::new(run.cse(&sentences, None, &all, "CSE")?)));
    }
    let tasks: Vec<StsTask> = args.sts.iter().map(StsTask::read).collect::<Result<_, _>>()?;
    println!(
        "Pearson's r x 100, mean over the tasks of each year: our result, and the paper's\n\n{}",
        table(&results, &tasks)?
    );
    if let Some(path) = &args.output {
        cumulative.save(path)?;
    }
    Ok(())
}

/// Settings and data shared by all training runs.
struct Trainings<'a> {
    args: &'a Args,
    vectors: Option<&'a Embeddings>,
    dim: usize,
}

impl Trainings<'_> {
    fn fit(&self, defaults: FitParams) -> FitParams {
        FitParams { epochs: Some(self.args.epochs), seed: self.args.seed, ..defaults }
    }

    fn options<'b>(&'b self, line: &'b Line) -> TrainOptions<'b, &'b [ScoredPairs]> {
        TrainOptions { threads: self.args.threads, observer: line, vectors: self.vectors, ..Default::default() }
    }

    fn pp(&self, data: &PairData) -> Result<senv::Pp, Box<dyn Error>> {
        let defaults = PpParams::default();
        let params = PpParams { dim: self.dim, fit: self.fit(defaults.fit), ..defaults };
        Ok(params.fit(data, &self.options(&Line("PP")))?.model)
    }

    fn cse(
        &self,
        data: &PairData,
        start: Option<&Cse>,
        widths: &[usize],
        name: &'static str,
    ) -> Result<Cse, Box<dyn Error>> {
        let defaults = CseParams::default();
        // Keeps the total number of filters the same for any number of windows.
        let n_filters = 3 * self.args.filters / widths.len();
        let params = CseParams {
            dim: self.dim,
            windows: widths.iter().map(|&width| Window { width, n_filters }).collect(),
            activation: if self.args.tanh { Activation::Tanh } else { Activation::Linear },
            fit: self.fit(defaults.fit),
            ..defaults
        };
        let trained = params.fit_from(data, start, &self.options(&Line(name)))?;
        println!("{name}: {:.0} pairs/s, loss {:.4}", trained.units_per_second(), trained.loss);
        Ok(trained.model)
    }
}

/// One row per system, with our mean and the paper's for each year.
fn table(systems: &[(&str, Box<dyn SentenceEncoder>)], tasks: &[StsTask]) -> Result<TextTable, Box<dyn Error>> {
    let published = published_cse_ablations();
    let mut years: Vec<u16> = tasks.iter().filter_map(|task| task.year).collect();
    years.sort_unstable();
    years.dedup();
    let columns = years.iter().flat_map(|year| [(year.to_string(), Align::Right), ("paper".into(), Align::Right)]);
    let columns = [("system".to_owned(), Align::Left)].into_iter().chain(columns);
    let mut text =
        TextTable::new(columns.chain([("all tasks".to_owned(), Align::Right), ("paper".into(), Align::Right)]));
    let cell = |r: Option<f64>| r.map_or_else(|| "-".to_owned(), |r| format!("{r:.1}"));
    for (name, encoder) in systems {
        let result = evaluate_sts(encoder.as_ref(), tasks)?;
        let printed = published.iter().find(|row| row.system == *name);
        let mut cells = vec![(*name).to_owned()];
        for year in &years {
            let of_year = result.tasks.iter().filter(|task| task.year == Some(*year));
            let r: Vec<f64> = of_year.filter_map(|task| task.correlations.pearson_r_x100).collect();
            let paper = printed.and_then(|row| row.years.iter().find(|(of, _)| of == year)).map(|(_, r)| *r);
            cells.extend([cell(Some(r.iter().sum::<f64>() / r.len().max(1) as f64)), cell(paper)]);
        }
        let all = result.overall.plain_mean_over_tasks.pearson_r_x100;
        cells.extend([cell(all), cell(printed.and_then(|row| row.all_tasks))]);
        text.row(cells);
    }
    Ok(text)
}
