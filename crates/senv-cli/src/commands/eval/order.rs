//! `senv eval order`: evaluates word order, negation and numbers.

use std::path::{Path, PathBuf};

use senv::{Model, evaluation::Untrained};
use senv_eval::{
    NliSet, OrderData, OrderPhenomenon, OrderResult, OrderTemplates, PairScorer, ParaphraseSet, Scoring,
    SentenceVectors, evaluate_order,
};
use senv_metrics::Bootstrap;
use serde::Serialize;

use super::{
    check,
    shared::{Evaluated, ResamplesArg},
    write,
};
use crate::{
    commands::{ModelArg, file_name},
    destination::{Content, ForceArg},
    failure::Result,
};

/// Test whether the model reads word order, negation and numbers.
///
/// For English sentences from templates, prints by phenomenon how often a sentence with the same meaning is nearer to
/// an anchor than one with a different meaning; ties count half. Both share the same words with the anchor, so a bag of
/// words scores 0.5, as chance does. The row contractions, below the mean, has "wasn't" typed in four ways. --pairs
/// adds pairs with the same or a different meaning (PAWS): the area under the ROC curve and the average precision of
/// their cosines. --nli adds premises and hypotheses (SICK, SNLI): the area under the ROC curve of entailments against
/// contradictions. Each number has half of its 95 % interval (bootstrap over pairs and items; --json has both ends),
/// next to methods that need no training.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  senv eval order
  senv eval order --model model.senv --pairs paws-val.tsv --nli SICK_test_annotated.txt
  senv eval order --model model.senv --svg order.svg --json")]
pub(super) struct Order {
    /// Pairs with nearly the same words: LABEL, FIRST, SECOND, separated by tabs.
    ///
    /// LABEL is 1 if both mean the same thing, else 0.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pairs: Vec<PathBuf>,
    /// Premises and hypotheses, as for `senv eval nli`.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    nli: Vec<PathBuf>,
    /// Leave out methods that need no training: word overlap, and TF-IDF counted on the evaluated sentences.
    #[arg(long)]
    no_floor: bool,
    #[command(flatten)]
    resamples: ResamplesArg,
    /// Draw the phenomena of the templates to this file.
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

#[derive(Debug, Serialize)]
struct Report<'a> {
    #[serde(flatten)]
    result: &'a OrderResult,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    floor: &'a [FloorSystem],
}

/// A method that needs no training, without intervals.
#[derive(Debug, Serialize)]
struct FloorSystem {
    system: &'static str,
    #[serde(flatten)]
    result: OrderResult,
}

impl Order {
    pub(super) fn run(self) -> Result {
        let inputs = self.pairs.iter().chain(&self.nli).chain([&self.model.model]);
        let inputs: Vec<&Path> = inputs.map(PathBuf::as_path).collect();
        check(self.svg.as_ref(), "--svg", Content::Drawing, self.force, &inputs)?;
        let data = OrderData {
            pairs: self.pairs.iter().map(ParaphraseSet::read).collect::<senv_data::Result<_>>()?,
            nli: self.nli.iter().map(NliSet::read).collect::<senv_data::Result<_>>()?,
            templates: templates(),
        };
        let model = self.model.open_for_many()?;
        let evaluated = Evaluated::on(&self.model, &model, data.sentences());
        let vectors = SentenceVectors::encode(&model, data.sentences())?;
        let result = evaluate_order(&Scoring::Vectors(&vectors), &data, self.resamples.bootstrap())?;
        let floor = if self.no_floor { Vec::new() } else { floor(&model, &data, &vectors)? };
        let others: Vec<(&str, &OrderResult)> = floor.iter().map(|of| (of.system, &of.result)).collect();
        write(self.svg.as_ref(), || result.to_svg(&file_name(&self.model.model), &others))?;
        evaluated.show_result(self.json, &Report { result: &result, floor: &floor }, || result.to_text(&others))
    }
}

/// The phenomena of word order, and contractions in several typings.
fn templates() -> Vec<OrderTemplates> {
    let contractions = OrderTemplates::built_in(OrderPhenomenon::Contractions);
    OrderTemplates::all_built_in().into_iter().chain([contractions]).collect()
}

/// Evaluates word overlap and TF-IDF, without a bootstrap.
fn floor(model: &Model, data: &OrderData, vectors: &SentenceVectors) -> Result<Vec<FloorSystem>> {
    let sentences: Vec<&str> = vectors.sentences().collect();
    let floor = Untrained::beside(model, &sentences)?;
    let no_draws = Bootstrap { resamples: 0, ..Bootstrap::default() };
    let judge = |system, scorer: &dyn PairScorer| -> Result<FloorSystem> {
        Ok(FloorSystem { system, result: evaluate_order(&Scoring::Pairs(scorer), data, no_draws)? })
    };
    Ok(vec![judge("word overlap", &floor.overlap())?, judge("TF-IDF", &floor.tf_idf())?])
}
