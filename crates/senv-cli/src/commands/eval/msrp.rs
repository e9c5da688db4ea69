//! `senv eval msrp`: paraphrase detection by a classifier on frozen vectors.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use senv_eval::{
    LearningCurveOptions, LearningCurveResult, ParaphraseDetectionResult, ParaphraseSet, ProbeOptions, SentenceVectors,
    evaluate_learning_curve, evaluate_paraphrase_detection,
};
use serde::Serialize;

use super::{check, shared::Evaluated, write};
use crate::{
    commands::ModelArg,
    destination::{Content, ForceArg},
    failure::Result,
};

/// Detect paraphrases with a classifier on the vectors (MSRP).
///
/// Trains a logistic regression from |u - v| and u * v on one file and evaluates it on another; the vectors u and v are
/// frozen. C is chosen by cross-validation on the training file. --learning-curve also trains on parts of the training
/// file, from 1 % to all, with five random draws each. A FILE has lines of LABEL (0 or 1), FIRST and SECOND, separated
/// by tabs, or objects with sentence1, sentence2 and label, or is a published msr_paraphrase_*.txt. Without FILE,
/// --hold-out evaluates on the last quarter of the training file, as `senv eval all` does.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  senv eval msrp --model model.senv --train msr_paraphrase_train.txt msr_paraphrase_test.txt
  senv eval msrp --model model.senv --train train.tsv test.tsv --learning-curve --svg curve.svg
  senv eval msrp --model model.senv --train train.tsv --hold-out")]
pub(super) struct Msrp {
    /// Pairs to train on.
    #[arg(long, value_name = "FILE")]
    train: PathBuf,
    /// Pairs to evaluate on.
    #[arg(value_name = "FILE", required_unless_present = "hold_out")]
    test: Option<PathBuf>,
    /// Evaluate on the last quarter of the training pairs instead of a FILE.
    #[arg(long, conflicts_with = "test")]
    hold_out: bool,
    /// How C is chosen.
    #[arg(long, value_name = "SCRIPT", default_value = "skip-thoughts")]
    script: ScriptArg,
    /// Also train on growing parts of the training file.
    #[arg(long)]
    learning_curve: bool,
    /// Draw the learning curve to this file.
    #[arg(long, value_name = "FILE", requires = "learning_curve")]
    svg: Option<PathBuf>,
    #[command(flatten)]
    force: ForceArg,
    /// Random seed of folds and parts.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    model: ModelArg,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ScriptArg {
    /// From 2^0 to 2^8, by the F1 of 10 folds.
    SkipThoughts,
    /// From 2^-1 to 2^5, by the accuracy of 5 stratified folds.
    SentEval,
}

#[derive(Debug, Serialize)]
struct Report<'a> {
    #[serde(flatten)]
    result: &'a ParaphraseDetectionResult,
    #[serde(skip_serializing_if = "Option::is_none")]
    learning_curve: Option<&'a LearningCurveResult>,
}

impl Msrp {
    pub(super) fn run(self) -> Result {
        let inputs: Vec<&Path> =
            [&self.model.model, &self.train].into_iter().chain(&self.test).map(PathBuf::as_path).collect();
        check(self.svg.as_ref(), "--svg", Content::Drawing, self.force, &inputs)?;
        let options = match self.script {
            ScriptArg::SkipThoughts => ProbeOptions::skip_thoughts(),
            ScriptArg::SentEval => ProbeOptions::sent_eval(),
        };
        let probe = ProbeOptions { seed: self.seed, ..options };
        let mut train = ParaphraseSet::read(&self.train)?;
        let test = match &self.test {
            Some(path) => ParaphraseSet::read(path)?,
            None => train.split_off_last_quarter(),
        };
        let model = self.model.open_for_many()?;
        let pairs = train.pairs.iter().chain(&test.pairs);
        let sentences = pairs.flat_map(|pair| [&pair.first[..], &pair.second[..]]);
        let evaluated = Evaluated::on(&self.model, &model, sentences.clone());
        let embeddings = SentenceVectors::encode(&model, sentences)?;
        let result = evaluate_paraphrase_detection(&embeddings, &train, &test, &probe)?;
        let curve = if self.learning_curve {
            let options = LearningCurveOptions { probe, ..LearningCurveOptions::default() };
            Some(evaluate_learning_curve(&embeddings, &train, &test, &options)?)
        } else {
            None
        };
        if let Some(curve) = &curve {
            write(self.svg.as_ref(), || curve.curve().to_svg())?;
        }
        let report = Report { result: &result, learning_curve: curve.as_ref() };
        evaluated.show_result(self.json, &report, || {
            let curve = curve.as_ref().map_or_else(String::new, |curve| format!("\n{}", curve.to_text()));
            result.to_text() + &curve
        })
    }
}
