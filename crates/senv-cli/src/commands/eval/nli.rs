//! `senv eval nli`: does the second sentence follow from the first?

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

/// Tell entailment, neutral pairs and contradictions apart (SNLI, SICK).
///
/// The share of pairs that get their label, and precision, recall and F1 of each label. An snli model has a classifier
/// of its own; on top of any other, or with --train, a logistic regression is trained on the vectors u and v of a pair,
/// which stay as they are; --dev chooses its C from 2^-2 to 2^8. A FILE holds lines of LABEL, PREMISE and HYPOTHESIS
/// separated by tabs, is a published snli_1.0_*.txt or .jsonl, or is a part of SICK in either of its layouts.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  senv eval nli --model snli-bow.senv snli/test.tsv
  senv eval nli --model skip-thought.senv --train sick/train.tsv --dev sick/trial.tsv SICK_test_annotated.txt --published")]
pub(super) struct Nli {
    /// Labelled pairs.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Train a classifier on these pairs, on frozen vectors.
    #[arg(long, value_name = "FILE")]
    train: Vec<PathBuf>,
    /// Pairs that choose C; without them it is 1.
    #[arg(long, value_name = "FILE", requires = "train")]
    dev: Vec<PathBuf>,
    /// What the classifier sees of a pair [default: symmetric for SICK, all for others]
    #[arg(long, value_name = "FEATURES", requires = "train")]
    features: Option<FeaturesArg>,
    /// Print what the paper of the SNLI-finetuned Skip-thoughts reported for SICK below the results.
    #[arg(long)]
    published: bool,
    /// Write JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    model: ModelArg,
}

argument_of! {
    enum FeaturesArg for PairFeatures {
        /// |u - v| and u * v, which do not tell the first sentence from the second.
        Symmetric,
        /// u, v, u * v and |u - v|.
        All,
    }
}

#[derive(Debug, Serialize)]
struct Report<'a> {
    /// How the classifier was trained; missing for that of the model itself.
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
                let message =
                    format!("a {} model has no classifier of its own; give --train FILE to learn one", model.kind());
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
                chosen.map_or_else(String::new, |(_, share)| format!(", {share:.4} of the held-out pairs right"));
            let pairs = grouped(training.n_pairs as u64);
            output::note(&format!("a classifier trained on {pairs} pairs: C = {}{on_dev}", training.c));
        }
        self.report(&evaluated, evaluate_entailment(&classifier, &sets)?, Some(training))
    }

    fn report(&self, evaluated: &Evaluated, result: EntailmentResult, trained: Option<&FrozenTraining>) -> Result {
        let published = if self.published { published_sick_entailment() } else { Vec::new() };
        let report = Report { trained, result };
        evaluated.show(self.json, &report, &published, || report.result.to_text_beside(&published))
    }
}
