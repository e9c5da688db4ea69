//! `senv eval nli`: evaluates entailment.

use std::path::PathBuf;

use senv::Snli;
use senv_eval::{
    EntailmentResult, FrozenClassifier, FrozenTraining, NliSet, PairFeatures, evaluate_entailment,
    published_sick_entailment,
};
use serde::Serialize;

use super::shared::Evaluated;
use crate::{
    argument::argument_of,
    commands::ModelArg,
    failure::{Failure, Result},
    output::{self, grouped},
};

/// Classify pairs as entailment, neutral or contradiction (SNLI, SICK).
///
/// Prints the accuracy, and precision, recall and F1 of each label. An snli model has its own classifier. For any other
/// model, --train trains a logistic regression on the frozen vectors u and v of a pair, and --dev chooses its C from
/// 2^-2 to 2^8. A FILE has lines of LABEL, PREMISE and HYPOTHESIS, separated by tabs, or is a published snli_1.0_*.txt
/// or .jsonl, or a part of SICK in either of its layouts.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  senv eval nli --model snli-bow.senv snli/test.tsv
  senv eval nli --model skip-thought.senv --train sick/train.tsv --dev sick/trial.tsv SICK_test_annotated.txt --published")]
pub(super) struct Nli {
    /// Labeled pairs to evaluate on.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Train a classifier on these pairs, on frozen vectors.
    #[arg(long, value_name = "FILE")]
    train: Vec<PathBuf>,
    /// Pairs used to choose C; without them C is 1.
    #[arg(long, value_name = "FILE", requires = "train")]
    dev: Vec<PathBuf>,
    /// Features of a pair [default: symmetric for SICK, all for others]
    #[arg(long, value_name = "FEATURES", requires = "train")]
    features: Option<FeaturesArg>,
    /// Also print the SICK results of the paper on SNLI-finetuned Skip-thoughts.
    #[arg(long)]
    published: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    model: ModelArg,
}

argument_of! {
    enum FeaturesArg for PairFeatures {
        /// |u - v| and u * v, which do not distinguish the first sentence from the second.
        Symmetric,
        /// u, v, u * v and |u - v|.
        All,
    }
}

#[derive(Debug, Serialize)]
struct Report<'a> {
    /// How the classifier was trained; missing for the classifier of the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    trained: Option<&'a FrozenTraining>,
    #[serde(flatten)]
    result: EntailmentResult,
}

impl Nli {
    pub(super) fn run(self) -> Result {
        let read = |paths: &[PathBuf]| paths.iter().map(NliSet::read).collect::<senv_data::Result<Vec<_>>>();
        let (sets, train, dev) = (read(&self.files)?, read(&self.train)?, read(&self.dev)?);
        let model = self.model.open_for_many()?;
        let pairs = sets.iter().flat_map(|set| &set.pairs);
        let sentences = pairs.flat_map(|pair| [pair.premise.as_str(), &pair.hypothesis]);
        let evaluated = Evaluated::on(&self.model, &model, sentences);
        if train.is_empty() {
            let Some(model) = model.downcast_ref::<Snli>() else {
                let message = format!("a {} model has no classifier; train one with --train FILE", model.kind());
                return Err(Failure::Usage(message));
            };
            return self.report(&evaluated, evaluate_entailment(model, &sets)?, None);
        }
        let features = self.features.map_or_else(|| PairFeatures::of(train[0].layout), Into::into);
        let classifier = FrozenClassifier::train(&model, &train, &dev, features)?;
        let training = classifier.training();
        if !self.json {
            let chosen = training.dev_accuracies.iter().find(|(c, _)| *c == training.c);
            let on_dev =
                chosen.map_or_else(String::new, |(_, share)| format!(", accuracy {share:.4} on the held-out pairs"));
            let pairs = grouped(training.n_pairs as u64);
            output::note(&format!("trained a classifier on {pairs} pairs, C = {}{on_dev}", training.c));
        }
        self.report(&evaluated, evaluate_entailment(&classifier, &sets)?, Some(training))
    }

    fn report(&self, evaluated: &Evaluated, result: EntailmentResult, trained: Option<&FrozenTraining>) -> Result {
        let published = if self.published { published_sick_entailment() } else { Vec::new() };
        let report = Report { trained, result };
        evaluated.show(self.json, &report, &published, || report.result.to_text_beside(&published))
    }
}
