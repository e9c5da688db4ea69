//! The experiment of "Unsupervised Learning of Sentence Embeddings using Compositional n-Gram Features" (Pagliardini,
//! Gupta and Jaggi, NAACL 2018), Table 2, on your text. It trains Sent2Vec and the other systems of the table on the
//! same sentences, at the same dimension. It evaluates all of them on STS and compares with the published numbers.
//!
//! ```text
//! cargo run --release -p senv-examples --example sent2vec -- --input TEXT... --sts FILE.tsv...
//! ```
//!
//! Files of pairs have lines of `score<TAB>sentence<TAB>sentence`, or the original format of SemEval. The folder name,
//! a year, identifies the task. The paper's text is the Toronto Book Corpus (70 million sentences). Smaller text gives
//! lower scores, but the comparison of the systems is still fair. A first run that needs no other files:
//!
//! ```text
//! cargo run --release -p senv-examples --example sent2vec -- --input examples/data/quickstart.txt \
//!     --sts examples/data/sts-sample.tsv --epochs 20 --subsample 1e-3 --min-count 2 --buckets 50000
//! ```

#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::{
    error::Error,
    io::{IsTerminal, Write},
    path::PathBuf,
    sync::Mutex,
};

use clap::{Parser, ValueEnum};
use senv::{
    Architecture, PvDbowParams, Sent2VecParams, TextSystem, TrainOptions, Trained, Word2VecParams,
    average::UnknownWords, data::TfIdfParams,
};
use senv_core::{Control, Corpus, CorpusOptions, Observer, Progress, SentenceEncoder, Vocabulary};
use senv_eval::{
    Align, Correlations, PublishedSystem, StsComparison, StsResult, StsTask, TextTable, compare_sts, evaluate_sts,
    evaluate_sts_scorer, published_sts,
};
use senv_negative_sampling::NegativeSamplingParams;

/// Trains the systems of the Sent2Vec paper on the same text and evaluates them on STS.
#[derive(Debug, Parser)]
struct Args {
    /// Text, one sentence per line; plain, .gz or .zst.
    #[arg(long, required = true, num_args = 1.., value_name = "FILE")]
    input: Vec<PathBuf>,
    /// Scored pairs: score, sentence, sentence, separated by tabs.
    #[arg(long, required = true, num_args = 1.., value_name = "FILE")]
    sts: Vec<PathBuf>,
    /// The systems to train.
    #[arg(long, value_enum, num_args = 1.., default_values_t = System::ALL)]
    systems: Vec<System>,
    /// Embedding dimension.
    #[arg(long, default_value_t = 100)]
    dim: usize,
    /// Number of epochs.
    #[arg(long, default_value_t = 5)]
    epochs: u32,
    /// Minimum count of a known word.
    #[arg(long, default_value_t = 5)]
    min_count: u64,
    /// Minimum count of a target word of Sent2Vec.
    #[arg(long, default_value_t = 8)]
    min_target_count: u64,
    /// Subsampling threshold; halved for Sent2Vec with bigrams, as in the paper.
    #[arg(long, default_value_t = 1e-5)]
    subsample: f64,
    /// Hash buckets for bigrams.
    #[arg(long, default_value_t = 2_000_000)]
    buckets: u32,
    /// Tokens dropped from a sentence's bigrams in training.
    #[arg(long, default_value_t = 4)]
    dropout: usize,
    /// L1 penalty of the system that has one (the paper's value).
    #[arg(long, default_value_t = 5e-4)]
    l1: f32,
    /// Number of threads; the result does not depend on it.
    #[arg(long, default_value_t = std::thread::available_parallelism().map_or(1, usize::from))]
    threads: usize,
    /// Seed of all random choices.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum System {
    Uni,
    UniBi,
    UniBiL1,
    Cbow,
    SkipGram,
    PvDbow,
    TfIdf,
}

impl System {
    const ALL: [Self; 7] =
        [Self::Uni, Self::UniBi, Self::UniBiL1, Self::Cbow, Self::SkipGram, Self::PvDbow, Self::TfIdf];

    fn name(self) -> &'static str {
        match self {
            Self::Uni => "Sent2Vec uni",
            Self::UniBi => "Sent2Vec uni+bi",
            Self::UniBiL1 => "Sent2Vec uni+bi L1",
            Self::Cbow => "CBOW",
            Self::SkipGram => "skip-gram",
            Self::PvDbow => "PV-DBOW",
            Self::TfIdf => "TF-IDF",
        }
    }

    /// The row of the paper's table; the paper trained all of them on books.
    fn published(self) -> Option<PublishedSystem> {
        let name = match self {
            Self::Uni | Self::UniBi | Self::UniBiL1 => format!("{} books", self.name()),
            Self::Cbow | Self::SkipGram | Self::PvDbow | Self::TfIdf => self.name().to_owned(),
        };
        published_sts().into_iter().find(|system| system.system == name)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let args = Args::parse();
    let tasks: Vec<StsTask> = args.sts.iter().map(StsTask::read).collect::<Result<_, _>>()?;
    let reading = CorpusOptions { min_count: args.min_count, threads: args.threads, ..CorpusOptions::default() };
    let (vocabulary, corpus) = Corpus::read(&args.input, &reading, &Line::new("reading"))?;
    println!(
        "{} sentences, {} known tokens of {} words; {} dimensions, {} epochs, seed {}\n",
        corpus.n_sentences(),
        corpus.n_tokens(),
        vocabulary.len(),
        args.dim,
        args.epochs,
        args.seed
    );

    let mut results = Vec::new();
    for &system in &args.systems {
        let result = train_and_judge(system, &args, &vocabulary, &corpus, &tasks)?;
        let published: Vec<_> = system.published().into_iter().collect();
        println!("{}\n\n{}", system.name(), result.to_text_beside(&published));
        results.push((system, result));
    }
    println!(
        "Pearson's r x 100 of all systems, and of the published systems of the same name\n\n{}",
        summary(&results)?
    );
    Ok(())
}

/// Trains one system on the corpus, and prints its progress and its scores on the tasks.
fn train_and_judge(
    system: System,
    args: &Args,
    vocabulary: &Vocabulary,
    corpus: &Corpus,
    tasks: &[StsTask],
) -> Result<StsResult, Box<dyn Error>> {
    let line = Line::new(system.name());
    let common = NegativeSamplingParams {
        epochs: Some(args.epochs),
        lr: Some(0.2),
        seed: args.seed,
        ..NegativeSamplingParams::default()
    };
    let options = TrainOptions { threads: args.threads, observer: &line, ..Default::default() };
    let (dim, min_count, subsample) = (args.dim, args.min_count, args.subsample);
    let word2vec = |architecture| Word2VecParams {
        dim,
        min_count: Some(min_count),
        subsample: Some(subsample),
        architecture,
        training: NegativeSamplingParams {
            lr: Some(Word2VecParams::default_lr(architecture)),
            negatives: 5,
            ..common.clone()
        },
        ..Word2VecParams::paper()
    };
    let encoder = match system {
        System::Uni | System::UniBi | System::UniBiL1 => {
            let bigrams = system != System::Uni;
            let params = Sent2VecParams {
                dim,
                min_count: Some(min_count),
                min_target_count: Some(args.min_target_count),
                subsample: Some(if bigrams { subsample / 2.0 } else { subsample }),
                word_ngrams: if bigrams { 2 } else { 1 },
                buckets: Some(args.buckets),
                dropout: args.dropout,
                training: NegativeSamplingParams {
                    l1: if system == System::UniBiL1 { args.l1 } else { 0.0 },
                    ..common
                },
                placeholder: true,
                initial_length: None,
                weighting: None,
                unknown_words: UnknownWords::Skip,
                ..Sent2VecParams::default()
            };
            line.done(params.fit(vocabulary.clone(), corpus, &options)?)
        }
        System::Cbow => line.done(word2vec(Architecture::Cbow).fit(vocabulary.clone(), corpus, &options)?),
        System::SkipGram => line.done(word2vec(Architecture::SkipGram).fit(vocabulary.clone(), corpus, &options)?),
        System::PvDbow => {
            let params = PvDbowParams {
                dim,
                min_count: Some(min_count),
                subsample: Some(subsample),
                training: NegativeSamplingParams { lr: Some(0.05), negatives: 5, ..common },
                ..PvDbowParams::large_text()
            };
            line.done(params.fit(vocabulary.clone(), corpus, &options)?)
        }
        System::TfIdf => {
            let words = TfIdfParams::default().fit(vocabulary.clone(), corpus)?;
            let score = |pairs: &[(&str, &str)]| Ok(pairs.iter().map(|(a, b)| words.similarity(a, b)).collect());
            return Ok(evaluate_sts_scorer(&score, tasks)?);
        }
    };
    Ok(evaluate_sts(encoder.as_ref(), tasks)?)
}

/// One row per task, one column per system; `†` if the cosines differ from those of CBOW.
fn summary(results: &[(System, StsResult)]) -> Result<String, Box<dyn Error>> {
    let Some((_, first)) = results.first() else { return Ok(String::new()) };
    let cbow = results.iter().find(|(system, _)| *system == System::Cbow).map(|(_, result)| result);
    let compare = |(system, result): &(System, StsResult)| -> senv_eval::Result<Option<StsComparison>> {
        let Some(cbow) = cbow.filter(|_| *system != System::Cbow) else { return Ok(None) };
        compare_sts(result, cbow).map(Some)
    };
    let comparisons: Vec<Option<StsComparison>> = results.iter().map(compare).collect::<Result<_, _>>()?;

    let mut columns = vec![("task".to_owned(), Align::Left)];
    for (system, _) in results {
        let name = system.name().replace(' ', "\n");
        columns.extend([(name, Align::Right), (String::new(), Align::Left), ("paper".to_owned(), Align::Right)]);
    }
    let mut table = TextTable::new(columns);
    for (i, task) in first.tasks.iter().enumerate() {
        let mut cells = vec![task.year.map_or(task.name.clone(), |year| format!("{year} {}", task.name))];
        for ((system, result), comparison) in results.iter().zip(&comparisons) {
            let mark = comparison.as_ref().is_some_and(|c| c.is_significant(c.tasks[i].p_pearson_holm));
            let published = system.published().and_then(|p| p.value(task.year, &task.name)).unwrap_or_default();
            cells.extend([r(result.tasks[i].correlations), if mark { "†" } else { "" }.to_owned(), r(published)]);
        }
        table.row(cells);
    }
    table.rule();
    let mut mean = |name: &str, of: &dyn Fn(&StsResult) -> Correlations| {
        let cells = results.iter().flat_map(|(_, result)| [r(of(result)), String::new(), String::new()]);
        table.row(std::iter::once(name.to_owned()).chain(cells));
    };
    mean("mean over tasks", &|result| result.overall.plain_mean_over_tasks);
    if first.years.len() > 1 {
        mean("mean of year means", &|result| result.overall.plain_mean_of_year_means.unwrap_or_default());
    }
    mean("mean weighted by pairs", &|result| result.overall.mean_weighted_by_pairs);
    let note = comparisons.iter().flatten().next().map_or_else(String::new, |comparison| {
        format!(
            "† r differs from CBOW's: Meng, Rosenthal and Rubin's test, two-sided, Holm's correction, p < {}\n",
            comparison.level
        )
    });
    Ok(format!("{table}{note}"))
}

fn r(correlations: Correlations) -> String {
    correlations.pearson_r_x100.map_or_else(|| "-".to_owned(), |r| format!("{r:.1}"))
}

/// A progress line on the terminal.
struct Line {
    what: &'static str,
    wide: Mutex<usize>,
}

impl Line {
    fn new(what: &'static str) -> Self {
        Self { what, wide: Mutex::new(0) }
    }

    fn show(&self, text: &str) {
        if let Ok(mut wide) = self.wide.lock() {
            *wide = (*wide).max(text.len());
            eprint!("\r{text:<0$}\r", *wide);
            let _ = std::io::stderr().flush();
        }
    }

    /// Prints how training went and lends the model as an encoder.
    fn done<M: SentenceEncoder + 'static>(&self, trained: Trained<M>) -> Box<dyn SentenceEncoder> {
        self.clear();
        let (seconds, rate) = (trained.training.as_secs_f64(), trained.units_per_second() / 1e6);
        eprintln!("{}: loss {:.3}, {seconds:.1} s, {rate:.2} million words/s", self.what, trained.loss);
        Box::new(trained.model)
    }

    fn clear(&self) {
        if std::io::stderr().is_terminal() {
            self.show("");
        }
    }
}

impl Observer for Line {
    fn progress(&self, p: &Progress) -> Control {
        if std::io::stderr().is_terminal() {
            let (done, rate) = (100.0 * p.done, p.units_per_second / 1e6);
            self.show(&format!("{}: {done:.0} %, loss {:.3}, {rate:.2} million words/s", self.what, p.loss));
        }
        Control::Continue
    }

    fn note(&self, message: &str) {
        self.clear();
        eprintln!("{}: {message}", self.what);
    }
}
