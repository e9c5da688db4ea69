//! Measures examples per second of the systems trained by gradient descent, at the sizes at which PyTorch was measured.
//! All have 50,000 words of dimension 300. CSE and PP train on pairs of sentences of 20 words in batches of 128, and
//! Siamese CBOW on seven sentences of 15 words in batches of 100. Words are drawn uniformly or by Zipf's law. Uniform
//! words are the hardest case, because most words in real text repeat.
//!
//! ```text
//! cargo run --release -p senv-benches --bin gradient-speed
//! ```

#![allow(clippy::print_stdout)]

use clap::Parser;
use rand::RngExt;
use rand_distr::{Distribution, Zipf};
use senv::{
    Cse, CseParams, PairSystem, Pp, PpParams, SiameseCbow, SiameseCbowParams, TextSystem, TrainOptions, Trained,
    data::{PairData, PairSource},
    gradient::{FitParams, Phases, WordUpdates},
};
use senv_core::{Corpus, Sentences, TokenId, Vocabulary, rng::stream};

/// Size of the vocabulary.
const WORDS: u32 = 50_000;

/// Examples per second of PyTorch 2.15 for the same work on the same kind of machine, with one and two threads.
const PYTORCH: [(&str, WordUpdates, [f64; 2]); 4] = [
    ("cse", WordUpdates::Sparse, [1337.0, 2196.0]),
    ("cse", WordUpdates::Dense, [500.0, 766.0]),
    ("siamese-cbow", WordUpdates::Sparse, [2209.0, 3749.0]),
    ("siamese-cbow", WordUpdates::Dense, [568.0, 1198.0]),
];

#[derive(Parser)]
struct Args {
    /// Steps per run.
    #[arg(long, default_value_t = 60)]
    steps: u64,
    /// Runs per setting; the median is printed.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Only this system: siamese-cbow, pp, cse-linear, cse-tanh.
    #[arg(long)]
    only: Option<String>,
    /// Only words drawn this way: uniform, zipf.
    #[arg(long)]
    words: Option<String>,
    /// Only row updates of this kind: sparse, dense.
    #[arg(long)]
    rows: Option<String>,
    /// The two thread counts to compare, in turn within each round.
    #[arg(long, num_args = 2, default_values_t = [1, 2])]
    threads: Vec<usize>,
}

type Failure = Box<dyn std::error::Error>;

/// `n` sentences of `words` words each.
fn sentences(n: usize, words: usize, zipf: bool) -> Result<Sentences, Failure> {
    let mut rng = stream(1, "bench", &[n as u64]);
    let law = Zipf::new(f64::from(WORDS), 1.0)?;
    let mut sentences = Sentences::new();
    for _ in 0..n {
        let mut draw = || {
            let word = if zipf { law.sample(&mut rng) as u32 - 1 } else { rng.random_range(0..WORDS) };
            TokenId(word.min(WORDS - 1))
        };
        sentences.push((0..words).map(|_| draw()).collect::<Vec<_>>());
    }
    Ok(sentences)
}

fn vocabulary() -> Result<Vocabulary, Failure> {
    Ok(Vocabulary::from_counts((0..WORDS).map(|i| (format!("w{i}"), 1)), u64::from(WORDS))?)
}

fn pairs(zipf: bool) -> Result<PairData, Failure> {
    let n = 1 << 14;
    let pairs: Vec<[u32; 2]> = (0..n as u32).map(|i| [2 * i, 2 * i + 1]).collect();
    let source = PairSource::from_pairs("drawn", sentences(2 * n, 20, zipf)?, &pairs)?;
    Ok(PairData::new(vocabulary()?, vec![source]))
}

/// Data for all runs.
struct Bench {
    args: Args,
    pairs: [PairData; 2],
    corpora: [Corpus; 2],
}

impl Bench {
    fn fit(&self, fit: &FitParams, words: WordUpdates) -> FitParams {
        FitParams { steps: Some(self.args.steps), words, clip: None, ..fit.clone() }
    }

    fn run(&self, system: &str, zipf: bool, words: WordUpdates, threads: usize) -> Result<(f64, Phases), Failure> {
        let of = usize::from(zipf);
        let options = TrainOptions { threads, ..TrainOptions::default() };
        let rate = match system {
            "siamese-cbow" => {
                let params = SiameseCbowParams { negatives: 4, ..SiameseCbowParams::paper().with_adam() };
                let params = SiameseCbowParams { fit: self.fit(&params.fit, words), ..params };
                let trained: Trained<SiameseCbow> = params.fit(vocabulary()?, &self.corpora[of], &options)?;
                (trained.units_per_second(), trained.phases)
            }
            "pp" => {
                let params = PpParams::default();
                let fit = FitParams { batch: 128, l2_words: 0.0, ..self.fit(&params.fit, words) };
                let trained: Trained<Pp> = PpParams { fit, ..params }.fit(&self.pairs[of], &options)?;
                (trained.units_per_second(), trained.phases)
            }
            _ => {
                let params = CseParams::default();
                let activation = if system == "cse-tanh" { senv::forms::Activation::Tanh } else { params.activation };
                let fit = FitParams { batch: 128, l2_words: 0.0, ..self.fit(&params.fit, words) };
                let params = CseParams { fit, activation, ..params };
                let trained: Trained<Cse> = params.fit(&self.pairs[of], &options)?;
                (trained.units_per_second(), trained.phases)
            }
        };
        Ok(rate)
    }

    /// Medians over all rounds at each number of threads: examples per second with the time of each phase, and the
    /// ratio within a round.
    fn medians(&self, system: &str, zipf: bool, words: WordUpdates) -> Result<(Vec<(f64, Phases)>, f64), Failure> {
        let mut rounds = Vec::new();
        for _ in 0..self.args.rounds.max(1) {
            let threads = self.args.threads.iter();
            let round: Result<Vec<_>, Failure> = threads.map(|&n| self.run(system, zipf, words, n)).collect();
            rounds.push(round?);
        }
        let ratio = median(rounds.iter().map(|round| (round[1].0 / round[0].0, ())).collect()).0;
        let rates = (0..2).map(|i| median(rounds.iter().map(|round| round[i]).collect())).collect();
        Ok((rates, ratio))
    }
}

fn median<T: Copy>(mut runs: Vec<(f64, T)>) -> (f64, T) {
    runs.sort_by(|a, b| a.0.total_cmp(&b.0));
    runs[runs.len() / 2]
}

/// The parts of a step in percent.
fn shares(phases: &Phases) -> String {
    let Phases { draw, encode, loss, backward, update, .. } = *phases;
    let parts = [draw, encode, loss, backward, update].map(|time| time.as_secs_f64());
    let all: f64 = parts.iter().sum();
    parts.map(|part| format!("{:.0}", 100.0 * part / all.max(1e-9))).join(" / ") + " %"
}

fn main() -> Result<(), Failure> {
    let args = Args::parse();
    let corpus = |zipf| sentences(3 << 14, 15, zipf).map(Corpus::from_sentences);
    let bench = Bench { pairs: [pairs(false)?, pairs(true)?], corpora: [corpus(false)?, corpus(true)?], args };
    let [few, many] = [bench.args.threads[0], bench.args.threads[1]];
    println!(
        "examples/s: median of {} runs of {} steps; in brackets, relative to PyTorch",
        bench.args.rounds, bench.args.steps
    );
    println!(
        "{:<14} {:<8} {:<7} {:>18} {:>18} {:>7}",
        "system",
        "words",
        "rows",
        format!("{few} threads"),
        format!("{many} threads"),
        "ratio"
    );
    println!("(then the shares of drawing, encoding, loss, gradients and updates, for each number of threads)");
    let wanted = |option: &Option<String>, name: &str| option.as_deref().is_none_or(|only| only == name);
    for system in ["siamese-cbow", "pp", "cse-linear", "cse-tanh"] {
        for (rows, words) in [("sparse", WordUpdates::Sparse), ("dense", WordUpdates::Dense)] {
            for (drawn, zipf) in [("uniform", false), ("zipf", true)] {
                let args = &bench.args;
                if !(wanted(&args.only, system) && wanted(&args.rows, rows) && wanted(&args.words, drawn)) {
                    continue;
                }
                let (rates, ratio) = bench.medians(system, zipf, words)?;
                let peer = PYTORCH.iter().find(|(name, rule, _)| system.starts_with(name) && *rule == words);
                let cell = |i: usize| match (peer, args.threads[i]) {
                    (Some((_, _, peer)), n @ 1..=2) => format!("{:.0} ({:.1})", rates[i].0, rates[i].0 / peer[n - 1]),
                    _ => format!("{:.0}", rates[i].0),
                };
                let shares: Vec<String> = rates.iter().map(|(_, phases)| shares(phases)).collect();
                println!(
                    "{system:<14} {drawn:<8} {rows:<7} {:>18} {:>18} {ratio:>7.2}  {}",
                    cell(0),
                    cell(1),
                    shares.join(", ")
                );
            }
        }
    }
    Ok(())
}
