//! `senv eval sick` and `senv eval stsb`: correlation with graded relatedness.

use std::path::{Path, PathBuf};

use senv::{Model, Relatedness};
use senv_eval::{
    FrozenScorer, PublishedRelatedness, RelatednessForm, RelatednessResult, ScorerTraining, SickSet, StsTask,
    evaluate_relatedness, evaluate_scorer, published_sick, published_stsb,
};
use serde::Serialize;

use super::{check, sentences_of, shared::Evaluated, write};
use crate::{
    argument::argument_of,
    commands::ModelArg,
    destination::{Content, ForceArg},
    failure::Result,
    output::{self, grouped},
};

/// Correlate cosines with the relatedness scores of SICK.
///
/// Prints Pearson's r and Spearman's rho, times 100, of the cosines, and the mean squared error of 1 + 4 max(0, cos).
/// --train also trains a regression from |u - v| and u * v to the gold scores, on frozen vectors. A file has lines of
/// RELATEDNESS (1 to 5), LABEL, FIRST and SECOND, separated by tabs, or is a published SICK_*.txt with its header.
/// Several files are also scored as one list.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  senv eval sick --model model.senv SICK_test_annotated.txt --published
  senv eval sick --model model.senv --train SICK_train.txt --dev SICK_trial.txt SICK_test_annotated.txt
  senv eval sick --model model.senv sick/trial.tsv --json")]
pub(super) struct Sick {
    #[command(flatten)]
    shared: Shared,
}

/// Correlate cosines with the scores of the STS benchmark.
///
/// Prints Pearson's r and Spearman's rho, times 100, of the cosines, and the mean squared error of 5 max(0, cos).
/// --train also trains a regression from |u - v| and u * v to the gold scores, on frozen vectors. A file has lines of
/// SCORE (0 to 5), FIRST and SECOND, separated by tabs, or is a published sts-*.csv. Several files are also scored as
/// one list.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  senv eval stsb --model model.senv sts-dev.csv
  senv eval stsb --model model.senv --train sts-train.csv --dev sts-dev.csv sts-test.csv
  senv eval stsb --model model.senv stsb/dev.tsv --json")]
pub(super) struct Stsb {
    #[command(flatten)]
    shared: Shared,
}

#[derive(Debug, clap::Args)]
struct Shared {
    /// Parts of the data set to evaluate on.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Also train a regression on this part; can be repeated.
    #[arg(long, value_name = "FILE")]
    train: Vec<PathBuf>,
    /// Part that selects the regularization of the regression; can be repeated.
    ///
    /// It chooses C from 2^-2 to 2^8.
    #[arg(long, value_name = "FILE", requires = "train")]
    dev: Vec<PathBuf>,
    /// How the regression is trained; the scripts use the --dev part for early stopping.
    #[arg(long, value_name = "FORM", default_value = "regression", requires = "train")]
    form: FormArg,
    /// Draw the scores of the regression, or else the cosines, over the gold scores to this file.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    #[command(flatten)]
    force: ForceArg,
    /// Also print the results of papers on the test part.
    #[arg(long)]
    published: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    model: ModelArg,
}

argument_of! {
    enum FormArg for RelatednessForm {
        /// Cross-entropy with L2 regularization, with C chosen on the --dev part.
        Regression,
        /// As in the script of Skip-thoughts: cross-entropy, Adam.
        SkipThoughts,
        /// As in SentEval: squared error of the distribution, Adam.
        SentEval,
    }
}

#[derive(Debug, Serialize)]
struct Report {
    results: Vec<RelatednessResult>,
    /// How the regression on frozen vectors was trained.
    #[serde(skip_serializing_if = "Option::is_none")]
    trained: Option<ScorerTraining>,
}

impl Sick {
    pub(super) fn run(self) -> Result {
        self.shared.run(|path| SickSet::read(path).map(|set| set.task), published_sick)
    }
}

impl Stsb {
    pub(super) fn run(self) -> Result {
        self.shared.run(|path| StsTask::read_stsb(path), published_stsb)
    }
}

impl Shared {
    fn run(
        self,
        read: fn(&PathBuf) -> senv_data::Result<StsTask>,
        published: fn() -> Vec<PublishedRelatedness>,
    ) -> Result {
        let files = [&self.files, &self.train, &self.dev].into_iter().flatten().map(PathBuf::as_path);
        let inputs: Vec<&Path> = files.chain([&*self.model.model]).collect();
        check(self.svg.as_ref(), "--svg", Content::Drawing, self.force, &inputs)?;
        let all = |paths: &[PathBuf]| paths.iter().map(read).collect::<senv_data::Result<Vec<_>>>();
        let (tasks, train, dev) = (all(&self.files)?, all(&self.train)?, all(&self.dev)?);
        let model = self.model.open_for_many()?;
        let evaluated = Evaluated::on(&self.model, &model, sentences_of(&tasks));
        let (mut results, mut trained) = (results(&model, &tasks)?, None);
        if !train.is_empty() {
            let scorer = FrozenScorer::train_by(self.form.into(), &model, &train, &dev, 1)?;
            results.push(evaluate_scorer(&scorer, &tasks)?);
            let training = scorer.training();
            let pairs = grouped(training.n_pairs as u64);
            let how = training.c.map_or_else(String::new, |c| format!(", C = {c}"));
            output::note(&format!(
                "trained a regression on frozen vectors ({}) on {pairs} pairs{how}",
                training.form.name()
            ));
            trained = Some(training.clone());
        }
        if let Some(last) = results.last() {
            write(self.svg.as_ref(), || last.to_svg(&tasks))?;
        }
        let published = if self.published { published() } else { Vec::new() };
        let report = Report { results, trained };
        evaluated.show(self.json, &report, &published, || {
            let last = report.results.len().saturating_sub(1);
            // Results of papers are printed once, below the last table.
            let texts = report.results.iter().enumerate();
            let texts = texts.map(|(i, result)| result.to_text_beside(if i == last { &published } else { &[] }));
            texts.collect::<Vec<_>>().join("\n")
        })
    }
}

/// The results of the model for each way to score a pair: by cosine, and by its head if it has one.
fn results(model: &Model, tasks: &[StsTask]) -> Result<Vec<RelatednessResult>> {
    let mut results = vec![evaluate_relatedness(model, tasks)?];
    if let Some(tuned) = model.downcast_ref::<Relatedness>() {
        results.push(evaluate_scorer(tuned, tasks)?);
    }
    Ok(results)
}
