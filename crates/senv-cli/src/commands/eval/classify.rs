//! `senv eval classify`: evaluates a classifier of sentences on frozen vectors.

use std::path::PathBuf;

use crate::argument::argument_of;

use senv_eval::{
    ClassificationResult, FoldRule, LabeledSet, LogisticForm, ProbeOptions, SentenceVectors, evaluate_classification,
    evaluate_classification_on_test,
};
use serde::Serialize;

use super::shared::Evaluated;
use crate::{commands::ModelArg, failure::Result};

/// Classify sentences by their vectors (MR, CR, SUBJ, MPQA, TREC).
///
/// Trains a logistic regression on frozen vectors. Each file is tested by cross-validation: each fold with a regression
/// trained on the other folds. An inner cross-validation chooses C from 2^-8 to 2^8 (10 x 10 folds, all 1,870
/// regressions fitted together). A note says if the best C is the smallest or the largest; then try a wider
/// --c-powers. With --test, trains on FILE, chooses C by cross-validation there, and evaluates on the
/// test file. A FILE has lines of LABEL and SENTENCE, separated by a tab, lines LABEL:FINE SENTENCE as in TREC, or
/// objects with text and label. For NAME.pos and NAME.neg (or .objective and .subjective), one sentence per line, give
/// one of them.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  senv eval classify --model model.senv mr/all.tsv subj/all.tsv mpqa/all.tsv
  senv eval classify --model model.senv rt-polarity.pos
  senv eval classify --model model.senv train_5500.label --test TREC_10.label --json")]
pub(super) struct Classify {
    /// Labeled sentences; each file is a data set.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Train on a single FILE and evaluate on this file.
    #[arg(long, value_name = "FILE")]
    test: Option<PathBuf>,
    /// Number of folds to test, at least 2.
    #[arg(long, value_name = "N", default_value_t = 10)]
    folds: usize,
    /// Number of folds used to choose C, at least 2.
    #[arg(long, value_name = "N", default_value_t = 10)]
    inner_folds: usize,
    /// How folds are made.
    #[arg(long, value_name = "RULE", default_value = "stratified")]
    fold_rule: FoldRuleArg,
    /// Smallest and largest power of 2 to try as C, each from -40 to 40.
    #[arg(long, num_args = 2, value_names = ["LOW", "HIGH"], default_values_t = [-8, 8], allow_negative_numbers = true,
          value_parser = clap::value_parser!(i32).range(-40..=40))]
    c_powers: Vec<i32>,
    /// For more than two classes, train each against all others, as the programs of the papers do.
    #[arg(long)]
    one_vs_rest: bool,
    /// Random seed of the folds.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    model: ModelArg,
}

argument_of! {
    pub(super) enum FoldRuleArg for FoldRule {
        /// The same share of each class in each fold.
        Stratified,
        /// Runs of shuffled sentences, as in the script of Skip-thoughts.
        Contiguous,
    }
}

#[derive(Debug, Serialize)]
struct Results<'a> {
    results: &'a [ClassificationResult],
}

impl Classify {
    pub(super) fn run(self) -> Result {
        if self.test.is_some() && self.files.len() > 1 {
            let message = "--test needs a single FILE to train on".to_owned();
            return Err(crate::failure::Failure::Usage(message));
        }
        let path = ProbeOptions::powers_of_two(self.c_powers[0], self.c_powers[self.c_powers.len() - 1]);
        if path.is_empty() {
            return Err(crate::failure::Failure::Usage("--c-powers: LOW is above HIGH; exchange them".to_owned()));
        }
        let options = ProbeOptions {
            path,
            outer_folds: self.folds,
            inner_folds: self.inner_folds,
            fold_rule: self.fold_rule.into(),
            form: if self.one_vs_rest { LogisticForm::OneVsRest } else { LogisticForm::Softmax },
            seed: self.seed,
            ..ProbeOptions::default()
        };
        let sets = self.files.iter().map(LabeledSet::read).collect::<senv_data::Result<Vec<_>>>()?;
        let test = self.test.as_ref().map(LabeledSet::read).transpose()?;
        let model = self.model.open_for_many()?;
        let texts = sets.iter().chain(&test).flat_map(|set| &set.sentences).map(|sentence| &sentence.text[..]);
        let evaluated = Evaluated::on(&self.model, &model, texts.clone());
        let embeddings = SentenceVectors::encode(&model, texts)?;
        let judge = |set: &LabeledSet| match &test {
            Some(test) => evaluate_classification_on_test(&embeddings, set, test, &options),
            None => evaluate_classification(&embeddings, set, &options),
        };
        let results = sets.iter().map(judge).collect::<senv_eval::Result<Vec<_>>>()?;
        evaluated.show_result(self.json, &Results { results: &results }, || ClassificationResult::table(&results))
    }
}
