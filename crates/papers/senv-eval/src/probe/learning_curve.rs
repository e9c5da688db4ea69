//! Accuracy against the amount of training data, for paraphrase detection with parts of the training set.
//!
//! Paper of the SNLI-finetuned Skip-thoughts, Figure 4, which does not state its sizes. For each seed the pairs of each
//! label are shuffled once. A smaller part is the beginning of a larger one, so labels keep their shares.

use rand::seq::SliceRandom;
use senv_data::ParaphraseSet;
use senv_metrics::{mean, standard_deviation};
use serde::Serialize;

use crate::{
    error::{Error, Result},
    plot::curve::Curve,
    probe::{
        cross_validation::{Classified as _, ProbeOptions, choose},
        logistic::{self, Examples as _},
        paraphrase_detection::{judge, pair_examples},
    },
    report::{Align, TextTable, number},
    score::sentence_vectors::SentenceVectors,
};

/// Options of a learning curve.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LearningCurveOptions {
    /// Shares of the training pairs, above 0 and at most 1.
    pub shares: Vec<f64>,
    /// Number of random draws of each share, with seeds `probe.seed`, `probe.seed` + 1, ..
    pub n_draws: usize,
    /// Number of pairs below which C is `few_c`. With more pairs, cross-validation within the part chooses C.
    pub few: usize,
    /// C for few pairs.
    pub few_c: f64,
    /// How classifiers are trained.
    pub probe: ProbeOptions,
}

impl Default for LearningCurveOptions {
    /// 1, 2, 5, 10, 20, 40, 60, 80 and 100 %, five draws each; C = 4 below 50 pairs; the settings of Skip-thoughts.
    fn default() -> Self {
        let shares = [0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0].to_vec();
        Self { shares, n_draws: 5, few: 50, few_c: 4.0, probe: ProbeOptions::skip_thoughts() }
    }
}

/// Results with one share of the training set.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LearningPoint {
    /// Share of the training pairs.
    pub share: f64,
    /// Number of training pairs.
    pub n_training_pairs: usize,
    /// Accuracy of each draw, in `[0, 1]`.
    pub accuracies: Vec<f64>,
    /// F1 of paraphrases in each draw.
    pub f1s: Vec<f64>,
    /// Mean accuracy.
    pub mean_accuracy: Option<f64>,
    /// Standard deviation of the accuracy over the draws; `None` for a single draw.
    pub accuracy_deviation: Option<f64>,
    /// Mean F1.
    pub mean_f1: Option<f64>,
}

/// Accuracy against the amount of training data.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LearningCurveResult {
    /// Results per share, in the order of the options.
    pub points: Vec<LearningPoint>,
    /// Number of test pairs.
    pub n_pairs: usize,
    /// Options of the curve.
    pub options: LearningCurveOptions,
}

/// Trains on growing parts of one set and tests on another.
///
/// # Errors
/// [`senv_core::Error::InvalidParameter`] for a share that is not above 0 and at most 1, or for no draws. Also the
/// errors of [`crate::evaluate_paraphrase_detection`].
pub fn evaluate_learning_curve(
    embeddings: &SentenceVectors,
    train: &ParaphraseSet,
    test: &ParaphraseSet,
    options: &LearningCurveOptions,
) -> Result<LearningCurveResult> {
    let bad =
        |name, requirement, got: String| Err(senv_core::Error::InvalidParameter { name, requirement, got }.into());
    if let Some(share) = options.shares.iter().find(|share| !(**share > 0.0 && **share <= 1.0)) {
        return bad("share", "above 0 and at most 1", share.to_string());
    }
    if options.n_draws == 0 {
        return bad("n_draws", "at least 1", "0".to_owned());
    }
    options.probe.check()?;
    let (learned, tested) = (pair_examples(embeddings, train)?, pair_examples(embeddings, test)?);
    let of_share = |&share: &f64| -> Result<LearningPoint> {
        let (mut accuracies, mut f1s, mut n_training_pairs) = (Vec::new(), Vec::new(), 0);
        for draw in 0..options.n_draws as u64 {
            let probe = ProbeOptions { seed: options.probe.seed.wrapping_add(draw), ..options.probe.clone() };
            let kept = part(learned.classes(), share, probe.seed)?;
            let examples = learned.subset(&kept);
            n_training_pairs = examples.len();
            let model = if n_training_pairs < options.few {
                logistic::fit::<f32, _>(&examples, probe.link(2), options.few_c)?
            } else {
                choose(&examples, &probe)?.model
            };
            let (confusion, _) = judge(&model, &tested)?;
            accuracies.extend(confusion.accuracy());
            f1s.extend(confusion.class(1).f1());
        }
        Ok(LearningPoint {
            share,
            n_training_pairs,
            mean_accuracy: mean(&accuracies),
            accuracy_deviation: standard_deviation(&accuracies),
            mean_f1: mean(&f1s),
            accuracies,
            f1s,
        })
    };
    let points = options.shares.iter().map(of_share).collect::<Result<Vec<_>>>()?;
    Ok(LearningCurveResult { points, n_pairs: test.pairs.len(), options: options.clone() })
}

/// Returns a share of the examples of each class, at least one.
fn part(classes: &[usize], share: f64, seed: u64) -> Result<Vec<usize>> {
    let mut kept = Vec::new();
    for class in 0..2 {
        let mut of_class: Vec<usize> = (0..classes.len()).filter(|&i| classes[i] == class).collect();
        if of_class.is_empty() {
            return Err(Error::OneClass);
        }
        of_class.shuffle(&mut senv_core::rng::stream(seed, "parts of a training set", &[class as u64]));
        let n = ((of_class.len() as f64 * share).round() as usize).max(1);
        kept.extend_from_slice(&of_class[..n]);
    }
    kept.sort_unstable();
    Ok(kept)
}

impl LearningCurveResult {
    /// Formats one line per share.
    #[must_use]
    pub fn to_text(&self) -> String {
        let columns = ["of training set", "pairs", "accuracy", "sd of draws", "F1"].map(|name| (name, Align::Right));
        let mut table = TextTable::new(columns);
        for point in &self.points {
            let [accuracy, sd, f1] =
                [point.mean_accuracy, point.accuracy_deviation, point.mean_f1].map(|value| number(value, 4));
            let (share, pairs) = (format!("{:.4} %", 100.0 * point.share), point.n_training_pairs.to_string());
            let share = share.replace(".0000", "");
            table.row([share, pairs, accuracy, sd, f1]);
        }
        format!("{table}means of {} draws; {} test pairs\n", self.options.n_draws, self.n_pairs)
    }

    /// Returns mean accuracy against training pairs, as a curve.
    #[must_use]
    pub fn curve(&self) -> Curve {
        let mut curve = Curve::new("training pairs", "accuracy");
        let points = self.points.iter();
        curve.push("accuracy", points.filter_map(|point| Some((point.n_training_pairs as f64, point.mean_accuracy?))));
        curve
    }
}
