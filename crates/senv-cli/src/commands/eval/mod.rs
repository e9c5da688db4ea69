//! `senv eval`: evaluates models.

mod all;
mod classify;
mod compare;
mod dictionary;
mod histograms;
mod map;
mod msrp;
mod nli;
mod order;
mod p_coherence;
mod ranking;
mod relatedness;
mod retrieval;
mod sentences;
mod shared;
mod sizes;
mod soup;
mod sts;

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use clap::Subcommand;
use senv::evaluation::norm_profile_of;
use senv_core::files::AtomicFile;
use senv_eval::{DEFAULT_BINS, DEFAULT_WARM_UP, Latency, StsTask, measure_latency};
use serde::Serialize;

use crate::{
    commands::ModelArg,
    destination::{Content, Destination, ForceArg},
    failure::{Failure, Result},
    output,
    report::go_on,
};

/// Evaluate a model: benchmarks, retrieval, classification, speed.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  senv eval all --data DIR
  senv eval sts --model model.senv sts/2014/*.tsv")]
pub(crate) struct Eval {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    All(all::All),
    Compare(compare::Compare),
    Protocols(all::Protocols),
    Sentences(sentences::Sentences),
    Sizes(sizes::Sizes),
    Sts(sts::Sts),
    Sick(relatedness::Sick),
    Stsb(relatedness::Stsb),
    PCoherence(p_coherence::PCoherence),
    Ranking(ranking::Ranking),
    Retrieval(retrieval::Retrieval),
    Dictionary(dictionary::Dictionary),
    Soup(soup::Soup),
    Order(order::Order),
    Nli(nli::Nli),
    Classify(classify::Classify),
    Msrp(msrp::Msrp),
    Histograms(histograms::Histograms),
    Map(map::Map),
    Norms(Norms),
    Latency(LatencyArgs),
}

/// Show the norms of word vectors by word frequency (Sent2Vec, Figure 1).
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  senv eval norms --model model.senv
  senv eval norms --model model.senv --svg norms.svg")]
struct Norms {
    /// Number of bins of log frequency, 1 to 10000.
    #[arg(long, value_name = "N", default_value_t = DEFAULT_BINS)]
    bins: usize,
    /// Draw the profile to this file.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    #[command(flatten)]
    force: ForceArg,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    model: ModelArg,
}

/// Measure the time per pair, on one thread.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  senv eval latency sts/2014/*.tsv
  senv eval latency --model model.senv sts/2014/*.tsv")]
struct LatencyArgs {
    /// Files of scored pairs, as for `senv eval sts`.
    #[arg(required = true, value_name = "FILE")]
    tasks: Vec<PathBuf>,
    /// Number of pairs before timing starts.
    #[arg(long, value_name = "N", default_value_t = DEFAULT_WARM_UP)]
    warm_up: usize,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    model: ModelArg,
}

impl Eval {
    pub(crate) fn run(self) -> Result {
        match self.what {
            What::All(command) => command.run(),
            What::Compare(command) => command.run(),
            What::Protocols(command) => command.run(),
            What::Sentences(command) => command.run(),
            What::Sizes(command) => command.run(),
            What::Sts(command) => command.run(),
            What::Sick(command) => command.run(),
            What::Stsb(command) => command.run(),
            What::PCoherence(command) => command.run(),
            What::Ranking(command) => command.run(),
            What::Retrieval(command) => command.run(),
            What::Dictionary(command) => command.run(),
            What::Soup(command) => command.run(),
            What::Order(command) => command.run(),
            What::Nli(command) => command.run(),
            What::Classify(command) => command.run(),
            What::Msrp(command) => command.run(),
            What::Histograms(command) => command.run(),
            What::Map(command) => command.run(),
            What::Norms(command) => command.run(),
            What::Latency(command) => command.run(),
        }
    }
}

/// Refuses, before the work, to replace an input or a file with other content.
fn check(
    path: Option<&PathBuf>,
    option: &'static str,
    content: Content<'_>,
    force: ForceArg,
    inputs: &[&Path],
) -> Result {
    match path {
        Some(path) => Destination { path, option, content, force: Some(force.force) }.check(inputs),
        None => Ok(()),
    }
}

/// Writes a figure or a table, if requested.
fn write(path: Option<&PathBuf>, text: impl FnOnce() -> String) -> Result {
    match path {
        Some(path) => {
            let written = AtomicFile::write_with(path, |file| file.write_all(text().as_bytes()));
            go_on(path, written.map_err(Failure::from))
        }
        None => Ok(()),
    }
}

/// The sentences of all pairs.
fn sentences_of(tasks: &[StsTask]) -> impl Iterator<Item = &str> {
    tasks.iter().flat_map(|task| &task.pairs).flat_map(|pair| [pair.first.as_str(), &pair.second])
}

fn read(tasks: &[PathBuf]) -> Result<Vec<StsTask>> {
    Ok(tasks.iter().map(StsTask::read).collect::<senv_data::Result<_>>()?)
}

/// The times, and the share of known words in the first sentences, as JSON.
#[derive(Debug, Serialize)]
struct LatencyReport<'a> {
    known_word_share: Option<f64>,
    #[serde(flatten)]
    latency: &'a Latency,
}

impl Norms {
    fn run(self) -> Result {
        check(self.svg.as_ref(), "--svg", Content::Drawing, self.force, &[&self.model.model])?;
        let model = self.model.open_for_many()?;
        let profile = norm_profile_of(&model, self.bins)?;
        write(self.svg.as_ref(), || profile.to_svg())?;
        if self.json { output::print_json(&profile) } else { output::print(&profile.to_text()) }
    }
}

impl LatencyArgs {
    fn run(self) -> Result {
        let tasks = read(&self.tasks)?;
        let pairs: Vec<(&str, &str)> =
            tasks.iter().flat_map(|task| &task.pairs).map(|pair| (&pair.first[..], &pair.second[..])).collect();
        let model = self.model.open_for_many()?;
        let known_word_share = self.model.warn_of_unknown(&model, sentences_of(&tasks));
        let latency = measure_latency(&model, &pairs, self.warm_up)?;
        if self.json {
            output::print_json(&LatencyReport { known_word_share, latency: &latency })
        } else {
            output::print(&latency.to_text())
        }
    }
}
