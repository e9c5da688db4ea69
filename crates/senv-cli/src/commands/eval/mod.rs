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

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use clap::Subcommand;
use senv::{
    Model,
    evaluation::{UntrainedSts, norm_profile_of},
};
use senv_core::files::AtomicFile;
use senv_eval::{
    DEFAULT_BINS, DEFAULT_WARM_UP, ErrorAnalysis, Latency, PairScorer, PublishedSystem, StsComparison, StsResult,
    StsTask, compare_sts, error_analysis, evaluate_sts, evaluate_sts_scorer, measure_latency, published_sts,
};
use serde::Serialize;

use self::shared::{Evaluated, ResamplesArg};
use crate::{
    commands::{ModelArg, file_name, known_words::known_share},
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
    Sts(Sts),
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

/// Correlate cosines with human similarity scores (STS).
///
/// Prints Pearson's r and Spearman's rho, times 100, of each task, and the means under their names. Half of the 95 %
/// interval follows each (bootstrap over the pairs; --json has both ends). A task is a file of lines GOLD, FIRST and
/// SECOND, separated by tabs, with GOLD from 0 to 5 (empty: no score), or STS.input.NAME.txt next to STS.gs.NAME.txt. A
/// folder named after a year groups its tasks. Below are the means of methods that need no training, with
/// the tokenizer, the dimension and the counts of the model.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  senv eval sts --model model.senv sts/2014/*.tsv
  senv eval sts --model bigrams.senv --against unigrams.senv sts/2014/*.tsv
  senv eval sts --model bigrams.senv --against unigrams.senv sts/2014/*.tsv --differences 10")]
struct Sts {
    /// Files of scored pairs.
    #[arg(required = true, value_name = "FILE")]
    tasks: Vec<PathBuf>,
    /// Another model, to test if its correlations differ.
    ///
    /// The p-values are those of Meng, Rosenthal and Rubin's test, with Holm's correction over the tasks. The level of
    /// the cosines does not count, as it does not change a correlation.
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
    /// Show the N pairs that the two models score most differently, with gold scores.
    #[arg(long, value_name = "N", requires = "against")]
    differences: Option<usize>,
    /// Also print the results of papers on these tasks.
    #[arg(long)]
    published: bool,
    /// Leave out methods that need no training: word overlap, TF-IDF (counted on the evaluated sentences), and averages
    /// of random vectors, plain and with SIF weights.
    #[arg(long)]
    no_floor: bool,
    /// Find the common components of SIF or uSIF on each task, separately for first and second sentences, as the SIF
    /// program does. Otherwise, and always for --against, they are those of the model, found on its text.
    #[arg(long)]
    components_per_side: bool,
    #[command(flatten)]
    resamples: ResamplesArg,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    model: ModelArg,
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

#[derive(Debug, Serialize)]
struct StsReport<'a> {
    #[serde(flatten)]
    evaluated: Evaluated,
    #[serde(flatten)]
    result: &'a StsResult,
    #[serde(skip_serializing_if = "Option::is_none")]
    against: Option<Against<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    published: Vec<PublishedSystem>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    floor: Vec<UntrainedSts>,
}

/// The times, and the share of known words in the first sentences, as JSON.
#[derive(Debug, Serialize)]
struct LatencyReport<'a> {
    known_word_share: Option<f64>,
    #[serde(flatten)]
    latency: &'a Latency,
}

#[derive(Debug, Serialize)]
struct Against<'a> {
    model: String,
    /// The share of known words in the first sentences.
    known_word_share: Option<f64>,
    #[serde(flatten)]
    result: &'a StsResult,
    comparison: &'a StsComparison,
    #[serde(skip_serializing_if = "Option::is_none")]
    differences: Option<&'a ErrorAnalysis>,
}

impl Sts {
    fn run(self) -> Result {
        let tasks = read(&self.tasks)?;
        let model = self.model.open_for_many()?;
        let evaluated = Evaluated::on(&self.model, &model, sentences_of(&tasks));
        let scorer = self.components_per_side.then(|| per_side(&model)).transpose()?;
        let mut result = evaluate_sts(&model, &tasks)?;
        if let Some(scorer) = scorer {
            result = evaluate_sts_scorer(&scorer, &tasks)?.with_coverage_of(&result)?;
        }
        let result = result.with_intervals(&tasks, self.resamples.bootstrap())?;
        let floor = if self.no_floor { Vec::new() } else { UntrainedSts::evaluate(&model, &tasks)? };
        let other = match &self.against {
            Some(path) => {
                let other = Model::open(path)?;
                let share = known_share(path, &other, sentences_of(&tasks));
                let other = evaluate_sts(&other, &tasks)?;
                let comparison = compare_sts(&result, &other)?;
                let differences = self.differences.map(|k| error_analysis(&tasks, &result, &other, k)).transpose()?;
                Some((path, share, other, comparison, differences))
            }
            None => None,
        };
        let mut published = if self.published { published_sts() } else { Vec::new() };
        published.retain(|system| tasks.iter().any(|task| system.value(task.year, &task.name).is_some()));
        if self.published && published.is_empty() {
            output::warn(
                "no paper known to senv reports any of these tasks; name the folder after the year, as in sts/2014",
            );
        }
        if self.json {
            let against = other.as_ref().map(|(path, share, result, comparison, differences)| Against {
                model: path.display().to_string(),
                known_word_share: *share,
                result,
                comparison,
                differences: differences.as_ref(),
            });
            return output::print_json(&StsReport { evaluated, result: &result, against, published, floor });
        }
        let mut text = result.to_text_beside(&published);
        if !floor.is_empty() {
            text.push('\n');
            text += &UntrainedSts::to_text(&floor, &file_name(&self.model.model), &result);
        }
        if let Some((path, _, _, comparison, differences)) = &other {
            let (first, second) = (file_name(&self.model.model), file_name(path));
            text.push('\n');
            text += &comparison.to_text(&first, &second);
            if let Some(differences) = differences {
                text.push('\n');
                text += &differences.to_text(&first, &second);
            }
        }
        output::print(&text)
    }
}

/// The cosines of a weighted average, with separate common components for each side.
fn per_side(model: &Model) -> Result<impl PairScorer + '_> {
    let average =
        model.abilities().average.filter(|average| average.weighting().is_some_and(|w| w.components().is_some()));
    match average {
        Some(average) => Ok(|pairs: &[(&str, &str)]| average.similarities_per_side(pairs)),
        None => Err(Failure::Usage(format!(
            "--components-per-side: this {} model removes no common components; make one that does with senv train weighted",
            model.kind()
        ))),
    }
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
