//! Training throughput of Sent2Vec, ours and the release's, on the same text with the same settings.
//!
//! ```text
//! cargo run --release -p senv-benches --bin against-sent2vec -- --text FILE --peer PATH --peer PATH --threads 1,2
//! ```
//!
//! FILE holds a sentence a line, tokens separated by blanks. PATH is a program built from
//! <https://github.com/epfml/sent2vec>; without one, ours runs alone. Every run is a process of its own, one at a time:
//! for each setting all programs take turns, each round begun by another one, so that what else the machine does hits
//! all alike. Ratios are taken within a round. What is timed, and how, stands under the tables.

#![allow(clippy::print_stdout, clippy::print_stderr)]
#![forbid(unsafe_code)]

mod ours;
mod peer;
mod report;
mod run;
mod text;

use std::{error::Error, path::PathBuf, process::ExitCode};

use clap::Parser;
use senv_negative_sampling::{NegativeSamplingParams, NegativeSharing, Schedule};
use serde::de::{DeserializeOwned, IntoDeserializer, value::StrDeserializer};

use crate::{
    report::{Record, Report},
    run::{Case, Program, Settings, Workload},
    text::Text,
};

type Result<T, E = Box<dyn Error>> = std::result::Result<T, E>;

/// Trains Sent2Vec with senv and, where given, with programs of the release in turn; prints words a second.
#[derive(Debug, Parser)]
#[command(name = "against-sent2vec")]
struct Options {
    /// Text to train on: a sentence a line, tokens separated by blanks.
    #[arg(long, value_name = "FILE")]
    text: PathBuf,
    /// A program of the release to run in turn with ours; may be given several times.
    #[arg(long, value_name = "PATH")]
    peer: Vec<PathBuf>,
    /// Dimensions.
    #[arg(long, value_delimiter = ',', default_value = "100,300,700")]
    dims: Vec<usize>,
    /// Longest n-grams: 1 for words, 2 for words and bigrams.
    #[arg(long, value_delimiter = ',', default_value = "1,2")]
    word_ngrams: Vec<usize>,
    /// Numbers of threads.
    #[arg(long, value_delimiter = ',', default_value = "1")]
    threads: Vec<usize>,
    /// Runs of each program at each setting.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// Use the first lines of the text alone, up to the one that reaches so many tokens.
    #[arg(long, value_name = "N")]
    max_tokens: Option<u64>,
    /// Our schedules (hogwild, deterministic); the library's default unless given.
    #[arg(long, value_delimiter = ',', value_parser = named::<Schedule>)]
    parallel: Vec<Schedule>,
    /// Who shares our negatives (none, sentence, block); the library's default unless given.
    #[arg(long, value_delimiter = ',', value_parser = named::<NegativeSharing>)]
    negatives_shared: Vec<NegativeSharing>,
    /// Leave ours out.
    #[arg(long, requires = "peer")]
    peer_only: bool,
    #[command(flatten)]
    settings: Settings,
    /// Print every measurement as JSON instead of tables.
    #[arg(long)]
    json: bool,
}

/// A value by the name it has in parameter files.
fn named<T: DeserializeOwned>(name: &str) -> Result<T, String> {
    let name: StrDeserializer<'_, serde::de::value::Error> = name.into_deserializer();
    T::deserialize(name).map_err(|e| e.to_string())
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    let outcome = match arguments.as_slice() {
        [_, flag, workload] if flag == ours::JOB_FLAG => ours::serve(workload),
        _ => compare(&Options::parse()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Ours in every variant asked for, then the peers.
fn programs(options: &Options) -> Vec<Program> {
    let defaults = NegativeSamplingParams::default();
    let schedules = match options.parallel.as_slice() {
        [] => vec![defaults.schedule],
        given => given.to_vec(),
    };
    let sharings = match options.negatives_shared.as_slice() {
        [] => vec![defaults.negatives_shared],
        given => given.to_vec(),
    };
    let ours = sharings.iter().flat_map(|&sharing| schedules.iter().map(move |&schedule| (schedule, sharing)));
    let ours = ours.map(|(schedule, sharing)| Program::Ours { schedule, sharing });
    let peers = options.peer.iter().cloned().map(Program::Peer);
    ours.filter(|_| !options.peer_only).chain(peers).collect()
}

fn compare(options: &Options) -> Result<()> {
    let text = Text::open(&options.text, options.max_tokens)?;
    let programs = programs(options);
    let mut report = Report::new(&text, &options.settings, &programs);
    let n_runs = options.word_ngrams.len() * options.dims.len() * options.threads.len();
    let n_runs = n_runs * options.repeat as usize * programs.len();
    for &word_ngrams in &options.word_ngrams {
        for &dim in &options.dims {
            for round in 0..options.repeat as usize {
                for &threads in &options.threads {
                    let case = Case { dim, word_ngrams, threads };
                    let workload = Workload { text: text.path().to_owned(), settings: options.settings.clone(), case };
                    for turn in 0..programs.len() {
                        let program = (turn + round) % programs.len();
                        eprint!("run {} of {n_runs}: {case}, {} ... ", report.len() + 1, programs[program]);
                        let run = match &programs[program] {
                            &Program::Ours { schedule, sharing } => ours::run(&workload, schedule, sharing)?,
                            Program::Peer(path) => peer::run(&workload, path, text.n_tokens_and_lines())?,
                        };
                        eprintln!("{:.0} words/s", run.words_per_second());
                        report.add(Record { program, case, round, run });
                    }
                }
            }
        }
    }
    if options.json {
        println!("{}", serde_json::to_string_pretty(&report.to_json())?);
    } else {
        print!("{report}");
    }
    Ok(())
}
