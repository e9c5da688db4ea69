//! `senv eval sick` and `senv eval stsb`: agreement with graded relatedness.

use std::path::PathBuf;

use senv_core::SentenceEncoder;
use senv_eval::{
    PublishedRelatedness, RelatednessResult, SickSet, StsTask, evaluate_relatedness, evaluate_scorer, published_sick,
    published_stsb,
};
use senv_models::Model;
use serde::Serialize;

use crate::{commands::ModelArg, failure::Result, output};

/// Correlate cosines with the relatedness scores of SICK.
///
/// Pearson's r and Spearman's rho, times 100, of the cosines, and the mean squared error of 1 + 4 max(0, cos). A file
/// holds lines of RELATEDNESS (1 to 5), LABEL, FIRST and SECOND separated by tabs, or is a published SICK_*.txt with
/// its header. Several files are also scored as one list.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  senv eval sick --model model.senv SICK_test_annotated.txt --published
  senv eval sick --model model.senv sick/trial.tsv --json")]
pub(super) struct Sick {
    #[command(flatten)]
    shared: Shared,
}

/// Correlate cosines with the scores of the STS benchmark.
///
/// Pearson's r and Spearman's rho, times 100, of the cosines, and the mean squared error of 5 max(0, cos). A file
/// holds lines of SCORE (0 to 5), FIRST and SECOND separated by tabs, or is a published sts-*.csv. Several files are
/// also scored as one list.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  senv eval stsb --model model.senv sts-dev.csv
  senv eval stsb --model model.senv stsb/dev.tsv --json")]
pub(super) struct Stsb {
    #[command(flatten)]
    shared: Shared,
}

#[derive(Debug, clap::Args)]
struct Shared {
    #[command(flatten)]
    model: ModelArg,
    /// Parts of the data set.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Print what papers reported on the test part below the results.
    #[arg(long)]
    published: bool,
    /// Write JSON.
    #[arg(long)]
    json: bool,
}

/// All that was asked for, as JSON.
#[derive(Debug, Serialize)]
struct Report {
    model: String,
    results: Vec<RelatednessResult>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    published: Vec<PublishedRelatedness>,
}

impl Sick {
    pub(super) fn run(self) -> Result {
        let read = |path: &PathBuf| SickSet::read(path).map(|set| set.task);
        let tasks = self.shared.files.iter().map(read).collect::<senv_eval::Result<Vec<_>>>()?;
        self.shared.run(&tasks, published_sick)
    }
}

impl Stsb {
    pub(super) fn run(self) -> Result {
        let tasks = self.shared.files.iter().map(StsTask::read_stsb).collect::<senv_eval::Result<Vec<_>>>()?;
        self.shared.run(&tasks, published_stsb)
    }
}

impl Shared {
    fn run(self, tasks: &[StsTask], published: fn() -> Vec<PublishedRelatedness>) -> Result {
        let results = results(&self.model.open_for_many()?, tasks)?;
        let published = if self.published { published() } else { Vec::new() };
        if self.json {
            let model = self.model.model.display().to_string();
            return output::print_json(&Report { model, results, published });
        }
        let last = results.len().saturating_sub(1);
        // What papers report stands once, below the last table.
        let texts = results.iter().enumerate();
        let texts = texts.map(|(i, result)| result.to_text_beside(if i == last { &published } else { &[] }));
        output::print(&texts.collect::<Vec<_>>().join("\n"))
    }
}

/// What the model reaches, in each way in which it can score a pair: by cosine, and by its head if it has one.
fn results(model: &Model, tasks: &[StsTask]) -> Result<Vec<RelatednessResult>> {
    let mut results = vec![evaluate_relatedness(model, tasks)?];
    if let Model::Relatedness(tuned) = model {
        let score = |(first, second): &(&str, &str)| match tuned.score(first, second) {
            Ok(score) => Ok(score),
            Err(senv_models::Error::Core(error)) => Err(error),
            // A head reads two vectors of its own encoder: nothing but memory can be lacking.
            Err(_) => Err(senv_core::Error::TooLarge { rows: 2, dim: tuned.dim() }),
        };
        let scorer = |pairs: &[(&str, &str)]| pairs.iter().map(score).collect::<senv_core::Result<Vec<f64>>>();
        results.push(evaluate_scorer(&scorer, tasks)?);
    }
    Ok(results)
}
