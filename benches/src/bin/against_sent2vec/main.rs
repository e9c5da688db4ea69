//! Compares the training throughput of Sent2Vec in senv and in the authors' release, on the same text with the same
//! settings.
//!
//! ```text
//! cargo run --release -p senv-benches --bin against-sent2vec -- --text FILE --peer PATH --peer PATH --threads 1,2
//! ```
//!
//! FILE contains one sentence per line, with tokens separated by spaces. PATH is a program built from
//! <https://github.com/epfml/sent2vec>; without it, only senv runs. Every run is a separate process, and only one runs
//! at a time. All programs take turns at each setting, and each round starts with another program, so other load on the
//! machine affects all alike. Ratios are taken within a round. Notes under the tables say what is timed, and how.

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

/// Trains Sent2Vec with senv and, if given, with builds of the release in turn. Prints words per second.
#[derive(Debug, Parser)]
#[command(name = "against-sent2vec")]
struct Options {
    /// Training text: one sentence per line, tokens separated by spaces.
    #[arg(long, value_name = "FILE")]
    text: PathBuf,
    /// A build of the release to run in turn with senv. May be repeated.
    #[arg(long, value_name = "PATH")]
    peer: Vec<PathBuf>,
    /// Embedding dimensions.
    #[arg(long, value_delimiter = ',', default_value = "100,300,700")]
    dims: Vec<usize>,
    /// Longest n-grams: 1 for words, 2 for words and bigrams.
    #[arg(long, value_delimiter = ',', default_value = "1,2")]
    word_ngrams: Vec<usize>,
    /// Thread counts.
    #[arg(long, value_delimiter = ',', default_value = "1")]
    threads: Vec<usize>,
    /// Runs of each program at each setting.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// Use only the first lines of the text, up to the line that reaches this number of tokens.
    #[arg(long, value_name = "N")]
    max_tokens: Option<u64>,
    /// Training schedules of senv (hogwild, deterministic); by default the one of the library.
    #[arg(long, value_delimiter = ',', value_parser = named::<Schedule>)]
    parallel: Vec<Schedule>,
    /// How senv shares negatives (none, sentence, block); by default as the library does.
    #[arg(long, value_delimiter = ',', value_parser = named::<NegativeSharing>)]
    negatives_shared: Vec<NegativeSharing>,
    /// Do not run senv.
    #[arg(long, requires = "peer")]
    peer_only: bool,
    #[command(flatten)]
    settings: Settings,
    /// Print every measurement as JSON instead of tables.
    #[arg(long)]
    json: bool,
}

/// Parses a value from its name in parameter files.
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

/// The requested variants of senv, then the peers.
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
