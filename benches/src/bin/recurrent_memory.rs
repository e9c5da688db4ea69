//! Measures the memory of two training steps of Skip-thoughts in a separate process, and compares it with the
//! documented bound:
//!
//! ```text
//! 4 × parameters                       themselves, their gradient, two moments of Adam
//! + 16 units + 6 dim values per token  activations of one batch, encoder and decoder
//! + 3 × 32 MB                          logits of a block, probabilities and gradients
//! ```
//!
//! ```text
//! cargo run --release -p senv-benches --bin recurrent-memory -- --units 2400
//! ```

#![allow(clippy::print_stdout)]

use std::fmt::Write as _;

use clap::Parser;
use senv::{SkipThoughtParams, TrainOptions, gradient::FitParams};
use senv_benches::peak_of;

const LENGTH: usize = 12;

#[derive(Parser)]
struct Args {
    /// Units of the encoder and of each decoder.
    #[arg(long, default_value_t = 1200)]
    units: usize,
    /// Size of the vocabulary.
    #[arg(long, default_value_t = 20_000)]
    words: usize,
    /// Triples per step.
    #[arg(long, default_value_t = 128)]
    batch: usize,
    /// Threads.
    #[arg(long, default_value_t = 2)]
    threads: usize,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args = Args::parse();
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("text.txt");
    let mut text = String::new();
    for word in 0..args.words.max(LENGTH * (args.batch + 2)) {
        let end = if word % LENGTH == LENGTH - 1 { "\n" } else { " " };
        write!(text, "w{}{end}", word % args.words)?;
    }
    std::fs::write(&path, text)?;
    let dim = 620;
    let fit = FitParams { batch: args.batch, steps: Some(2), ..FitParams::default() };
    let params =
        SkipThoughtParams { dim, sentence_dim: args.units, max_vocabulary: None, fit, ..SkipThoughtParams::default() };
    let options = TrainOptions { threads: args.threads, ..TrainOptions::default() };
    let before = peak_of("self").ok_or("the system does not report the memory of a process")?;
    let trained = params.fit_files([&path], &options)?;
    let peak = peak_of("self").ok_or("the system does not report the memory of a process")? - before;
    let model = folder.path().join("model.senv");
    trained.model.save(&model)?;
    let model = std::fs::metadata(model)?.len();
    let tokens = (3 * args.batch * (LENGTH + 1)) as u64;
    let activations = 4 * tokens * (16 * args.units + 6 * dim) as u64;
    let bound = 4 * model + activations + (96 << 20);
    let mb = |bytes: u64| bytes as f64 / 1e6;
    println!("model {:.0} MB, four times {:.0}", mb(model), mb(4 * model));
    println!("peak resident memory {:.0} MB, bound {:.0}", mb(peak), mb(bound));
    println!(
        "in addition to four times the model: {:.0} values per token",
        (peak as f64 - 4.0 * model as f64) / 4.0 / tokens as f64
    );
    assert!(peak <= bound, "more memory than the bound");
    Ok(())
}
