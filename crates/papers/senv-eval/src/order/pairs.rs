//! Pairs of sentences with nearly the same words: do paraphrases have higher cosines than other pairs?
//!
//! Zhang, Baldridge and He, "PAWS: Paraphrase Adversaries from Word Scrambling", NAACL 2019. The paper reports the area
//! under the precision-recall curve; this module computes average precision.

use std::path::PathBuf;

use senv_data::ParaphraseSet;
use senv_metrics::{Bootstrap, Sample, Statistic};
use serde::Serialize;

use crate::{
    error::Result,
    ranking::zero_shot,
    score::{pairs::PairSource, with_interval::WithInterval},
};

/// How well the scores of a file of pairs agree with its labels.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct OrderPairsResult {
    /// Path of the file.
    pub path: PathBuf,
    /// Number of pairs.
    pub n_pairs: usize,
    /// Number of paraphrases (label 1) among them.
    pub n_paraphrases: usize,
    /// Share of paraphrases, in `[0, 1]`, which is the average precision of chance.
    pub share_of_paraphrases: f64,
    /// Number of pairs in which a sentence has no known token. Their cosine is 0.
    pub n_pairs_without_known_token: usize,
    /// Area under the ROC curve, in `[0, 1]`: how often a paraphrase pair scores higher than another pair. Chance is
    /// 0.5. `None` unless both labels occur.
    pub roc_auc: Option<WithInterval>,
    /// Average precision, in `[0, 1]`; `None` without a paraphrase.
    pub average_precision: Option<WithInterval>,
    /// Mean score of the paraphrases.
    pub mean_cosine_of_paraphrases: Option<f64>,
    /// Mean score of the other pairs.
    pub mean_cosine_of_others: Option<f64>,
    /// One score per pair, in the order of the file (not part of the JSON).
    #[serde(skip)]
    pub scores: Vec<f64>,
}

/// Returns the gold value of each pair: 1 for a paraphrase, 0 otherwise.
pub(crate) fn gold(set: &ParaphraseSet) -> Vec<f64> {
    set.pairs.iter().map(|pair| f64::from(u8::from(pair.is_paraphrase))).collect()
}

pub(crate) fn evaluate(
    source: PairSource<'_>,
    sets: &[ParaphraseSet],
    bootstrap: Bootstrap,
) -> Result<Vec<OrderPairsResult>> {
    let scored = zero_shot::evaluate(source, sets)?;
    let result = |(set, of): (&ParaphraseSet, zero_shot::ZeroShotSet)| -> Result<OrderPairsResult> {
        let (gold, name) = (gold(set), set.path.display().to_string());
        let value = |statistic| -> Result<Option<WithInterval>> {
            Ok(WithInterval::of(&Sample::new(statistic, &gold, &of.cosines)?, &name, bootstrap))
        };
        Ok(OrderPairsResult {
            path: set.path.clone(),
            n_pairs: of.n_pairs,
            n_paraphrases: of.n_paraphrases,
            share_of_paraphrases: of.n_paraphrases as f64 / of.n_pairs.max(1) as f64,
            n_pairs_without_known_token: of.n_pairs_without_known_token,
            roc_auc: value(Statistic::Auc)?,
            average_precision: value(Statistic::AveragePrecision)?,
            mean_cosine_of_paraphrases: of.mean_cosine_of_paraphrases,
            mean_cosine_of_others: of.mean_cosine_of_others,
            scores: of.cosines,
        })
    };
    sets.iter().zip(scored.sets).map(result).collect()
}
