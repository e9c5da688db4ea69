//! Entailment against contradiction by cosine alone. A contradiction often shares more words with its premise than an
//! entailed sentence does, and differs in a negation or in who does what.

use std::path::PathBuf;

use senv_data::{Entailment, NliPair, NliSet};
use senv_metrics::{Bootstrap, Sample, Statistic, mean};
use serde::Serialize;

use crate::{
    error::Result,
    score::{pairs::PairSource, with_interval::WithInterval},
};

/// The pairs of one label.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LabelCosine {
    /// The label.
    pub label: Entailment,
    /// Number of pairs.
    pub n_pairs: usize,
    /// Mean of their scores; `None` without a pair.
    pub mean_cosine: Option<f64>,
}

/// How well the scores of a file of premises and hypotheses agree with its labels.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct OrderEntailmentResult {
    /// Path of the file.
    pub path: PathBuf,
    /// The pairs by label: contradiction, neutral, entailment.
    pub labels: [LabelCosine; 3],
    /// Number of pairs without a majority label. They are left out.
    pub n_unlabeled: usize,
    /// Number of pairs in which a sentence has no known token. Their cosine is 0.
    pub n_pairs_without_known_token: usize,
    /// Area under the ROC curve of entailments against contradictions, in `[0, 1]`: how often an entailment scores
    /// higher than a contradiction. Chance is 0.5. `None` unless both labels occur. Neutral pairs are left out.
    pub roc_auc: Option<WithInterval>,
    /// The score of each entailment and contradiction, in the order of the file (not part of the JSON).
    #[serde(skip)]
    pub scores: Vec<f64>,
}

/// Returns the gold value of each entailment (1) and contradiction (0).
pub(crate) fn gold(set: &NliSet) -> Vec<f64> {
    judged(set).map(|(_, pair)| f64::from(u8::from(pair.label == Entailment::Entailment))).collect()
}

/// Iterates over the entailments and contradictions, each with its index among all pairs.
fn judged(set: &NliSet) -> impl Iterator<Item = (usize, &NliPair)> {
    set.pairs.iter().enumerate().filter(|(_, pair)| pair.label != Entailment::Neutral)
}

pub(crate) fn evaluate(source: PairSource<'_>, set: &NliSet, bootstrap: Bootstrap) -> Result<OrderEntailmentResult> {
    let pairs: Vec<(&str, &str)> = set.pairs.iter().map(|pair| (&pair.premise[..], &pair.hypothesis[..])).collect();
    let name = set.path.display().to_string();
    let found = source.score(&pairs, |i| format!("pair {} of {name}", i + 1))?;
    let labels = Entailment::ALL.map(|label| {
        let scored = set.pairs.iter().zip(&found.scores).filter(|(pair, _)| pair.label == label);
        let scores: Vec<f64> = scored.map(|(_, &score)| score).collect();
        LabelCosine { label, n_pairs: scores.len(), mean_cosine: mean(&scores) }
    });
    let scores: Vec<f64> = judged(set).map(|(place, _)| found.scores[place]).collect();
    let sample = Sample::new(Statistic::Auc, &gold(set), &scores)?;
    Ok(OrderEntailmentResult {
        path: set.path.clone(),
        labels,
        n_unlabeled: set.n_unlabeled,
        n_pairs_without_known_token: found.n_without_known_token,
        roc_auc: WithInterval::of(&sample, &name, bootstrap),
        scores,
    })
}
