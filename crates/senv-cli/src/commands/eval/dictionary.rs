//! `senv eval dictionary`: evaluates a reverse dictionary.

use std::path::PathBuf;

use senv::{Model, evaluation::definition_sets};
use senv_eval::{Definitions, DictionaryResult, evaluate_dictionary};
use serde::Serialize;

use super::shared::ResamplesArg;
use crate::{
    commands::{ModelArg, file_name, named},
    failure::{Failure, Result},
    output,
};

/// Evaluate a reverse dictionary (senv train dict-rep).
///
/// Looks up definitions among all target words of the model. Prints the median rank of the defined word, the share of
/// definitions whose word is among the first 10 and 100, times 100, and the variance of the rank. Half of the 95 %
/// interval follows (bootstrap over the definitions; --json has both ends). Words that the model was trained on (seen)
/// and held-out words (unseen) are separate. The baseline is the mean vector of those words of the definition that are
/// target words.
#[derive(Debug, clap::Args)]
#[command(
    mut_arg("model", named),
    after_help = "\
Examples:
  senv eval dictionary --model dict.senv dictionary.tsv
  senv eval dictionary --model dict.senv --against words.senv --sample 0 dictionary.tsv --json"
)]
pub(super) struct Dictionary {
    /// Dictionaries: WORD, DEFINITION, separated by a tab.
    ///
    /// To look up seen definitions, give the dictionaries that the model was trained on.
    #[arg(required = true, value_name = "FILE")]
    definitions: Vec<PathBuf>,
    /// Another model to compare with; can be repeated.
    ///
    /// It must encode into the same space: its word vectors were the targets.
    #[arg(long, value_name = "MODEL")]
    against: Vec<PathBuf>,
    /// Number of random definitions of each kind; 0 for all of them.
    #[arg(long, value_name = "N", default_value_t = 500)]
    sample: usize,
    /// Random seed of the sample.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    resamples: ResamplesArg,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    model: ModelArg,
}

#[derive(Debug, Serialize)]
struct Report {
    model: String,
    /// The number of definitions whose word is not a target word.
    left_out: usize,
    #[serde(flatten)]
    result: DictionaryResult,
    floor: DictionaryResult,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    against: Vec<Against>,
}

#[derive(Debug, Serialize)]
struct Against {
    model: String,
    #[serde(flatten)]
    result: DictionaryResult,
}

impl Dictionary {
    pub(super) fn run(self) -> Result {
        let read = self.definitions.iter().map(Definitions::read).collect::<std::result::Result<Vec<_>, _>>()?;
        let model = self.model.open_for_many()?;
        let Some(dictionary) = model.abilities().reverse_dictionary else {
            return Err(senv::Error::NoDictionary { kind: model.kind() }.into());
        };
        let words = dictionary.target_words();
        let (sets, left_out) = definition_sets(dictionary, read.iter().flat_map(|set| &set.entries));
        if left_out > 0 {
            let all = left_out + sets.iter().map(|set| set.definitions.len()).sum::<usize>();
            output::note(&format!(
                "{left_out} of {all} definitions left out, because the model has no vector for their words"
            ));
        }
        let sets = sets.map(|set| set.drawn(self.sample, self.seed));
        let evaluate = |model: &Model| evaluate_dictionary(model, words.table(), &sets, self.resamples.bootstrap());
        let (result, floor) = (evaluate(&model)?, evaluate(&Model::from_embeddings(words.clone())?)?);
        let mut against = Vec::new();
        for path in &self.against {
            let other = Model::open(path)?;
            let dim = senv_core::SentenceEncoder::dim(&other);
            if dim != words.dim() {
                let (name, wanted) = (path.display(), words.dim());
                let message =
                    format!("--against {name}: its vectors have {dim} dimensions, expected {wanted} as for the words");
                return Err(Failure::Usage(message));
            }
            against.push(Against { model: file_name(path), result: evaluate(&other)? });
        }
        let model = file_name(&self.model.model);
        if self.json {
            return output::print_json(&Report { model, left_out, result, floor, against });
        }
        let mut others = vec![("mean of the words", &floor)];
        others.extend(against.iter().map(|other| (&other.model[..], &other.result)));
        output::print(&result.to_text(&model, &others))
    }
}
