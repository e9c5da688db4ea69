//! Measures how long a model takes to open, and how many sentences per second the library call encodes.
//!
//! ```text
//! cargo run --release -p senv-benches --bin encode-speed -- --model MODEL --text FILE [--threads 2]
//! ```
//!
//! The text is read beforehand; tokenizing, lookup and averaging are timed. The time to open depends on where the
//! system keeps the file: in memory after another program has read it, or on disk after a restart.

#![allow(clippy::print_stdout, clippy::print_stderr)]
#![forbid(unsafe_code)]

use std::{error::Error, fs, hint::black_box, path::PathBuf, process::ExitCode, time::Instant};

use clap::Parser;
use senv::Model;
use senv_core::{Scratch, SentenceEncoder};
use serde_json::json;

/// Measures how fast a model opens and encodes sentences.
#[derive(Debug, Parser)]
#[command(name = "encode-speed")]
struct Options {
    /// The model to measure.
    #[arg(long)]
    model: PathBuf,
    /// Sentences, one per line.
    #[arg(long, value_name = "FILE")]
    text: PathBuf,
    /// Encode only the first N sentences.
    #[arg(long, value_name = "N")]
    max_sentences: Option<usize>,
    /// Number of rounds.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// Threads for encoding batches.
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Print every measurement as JSON.
    #[arg(long)]
    json: bool,
}

/// Measurements of a round.
#[derive(Debug, Clone, Copy, Default)]
struct Round {
    open_ms: f64,
    first_ms: f64,
    one_by_one: f64,
    batch: f64,
}

/// Key, title and value of a column.
type Column = (&'static str, &'static str, fn(&Round) -> f64);

fn main() -> ExitCode {
    match measure(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn measure(options: &Options) -> Result<(), Box<dyn Error>> {
    let text = fs::read_to_string(&options.text).map_err(|e| format!("{}: {e}", options.text.display()))?;
    let lines: Vec<&str> = text.lines().take(options.max_sentences.unwrap_or(usize::MAX)).collect();
    let first = *lines.first().ok_or_else(|| format!("{}: no sentences", options.text.display()))?;
    let megabytes = fs::metadata(&options.model)?.len() as f64 / 1e6;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(options.threads).build()?;

    let (mut dim, mut tokens, mut known) = (0, 0, 0);
    let mut rounds = Vec::new();
    for _ in 0..options.repeat {
        let mut round = Round::default();
        let began = Instant::now();
        let model = Model::open(&options.model)?;
        round.open_ms = began.elapsed().as_secs_f64() * 1e3;

        dim = model.dim();
        let (mut scratch, mut out) = (Scratch::default(), vec![0.0; dim]);
        let began = Instant::now();
        model.encode_into(first, &mut scratch, &mut out);
        round.first_ms = began.elapsed().as_secs_f64() * 1e3;

        (tokens, known) = (0, 0);
        let began = Instant::now();
        for line in &lines {
            let coverage = model.encode_into(black_box(line), &mut scratch, &mut out);
            tokens += coverage.tokens;
            known += coverage.known;
            black_box(&out);
        }
        round.one_by_one = lines.len() as f64 / began.elapsed().as_secs_f64();

        let began = Instant::now();
        let (vectors, _) = pool.install(|| model.encode_batch(&lines))?;
        round.batch = lines.len() as f64 / began.elapsed().as_secs_f64();
        if vectors.dim() != (lines.len(), dim) || vectors.iter().any(|x| !x.is_finite()) {
            return Err("the batch call returned vectors of a different shape, or values that are not finite".into());
        }
        rounds.push(round);
    }

    let columns: [Column; 4] = [
        ("open_ms", "open, ms", |r| r.open_ms),
        ("first_vector_ms", "first vector, ms", |r| r.first_ms),
        ("one_by_one_per_second", "encode_into, one thread, sentences/s", |r| r.one_by_one),
        ("batch_per_second", "encode_batch, sentences/s", |r| r.batch),
    ];
    if options.json {
        let mut result = json!({
            "model_megabytes": megabytes, "dim": dim, "sentences": lines.len(), "tokens": tokens, "known": known,
            "batch_threads": options.threads,
        });
        for (key, _, number) in columns {
            result[key] = rounds.iter().map(number).collect();
        }
        println!("{}", serde_json::to_string_pretty(&result)?);
        return Ok(());
    }
    println!(
        "{} sentences of {:.1} tokens ({:.1} % known); model of {megabytes:.1} MB, dim {dim}; batch on {} thread(s).\n",
        lines.len(),
        tokens as f64 / lines.len() as f64,
        100.0 * known as f64 / tokens.max(1) as f64,
        options.threads
    );
    println!("| | median of {} | min | max |\n| --- | --- | --- | --- |", rounds.len());
    for (_, name, number) in columns {
        let mut numbers: Vec<f64> = rounds.iter().map(number).collect();
        numbers.sort_by(f64::total_cmp);
        let decimals = if numbers[0] < 1000.0 { 3 } else { 0 };
        let at = |i: usize| format!("{:.decimals$}", numbers[i]);
        println!("| {name} | {} | {} | {} |", at(numbers.len() / 2), at(0), at(numbers.len() - 1));
    }
    Ok(())
}
