//! Relatedness: agreement of the scores of a system with gold scores on SICK and the STS benchmark.
//!
//! ```text
//! cosine       r and ρ of the cosines; squared error of low + (high − low) max(0, cos)
//! supervised   r, ρ and squared error of scores that a trained head predicts, on the scale of the gold scores
//! ```
//!
//! The first measures an encoder as it is. The second measures any [`PairScorer`] trained on the training set of the
//! data set. Papers print both for SICK, so each result states which it is.

use senv_core::SentenceEncoder;
use senv_data::StsTask;
use serde::Serialize;

use crate::{
    error::Result,
    plot::scatter::scatter_svg,
    score::{
        correlations::Correlations,
        pairs::{PairScorer, PairSource},
        scoring_method::ScoringMethod,
    },
    sts::{
        protocol::{self, evaluate_sts, evaluate_sts_scorer},
        result::StsTaskResult,
    },
};

/// Agreement of scores with gold scores.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct Agreement {
    /// Number of pairs.
    pub n_pairs: usize,
    /// Pearson's r and Spearman's ρ.
    #[serde(flatten)]
    pub correlations: Correlations,
    /// Mean squared error on the scale of the gold scores; `None` without a pair.
    pub mse: Option<f64>,
}

impl Agreement {
    /// Compares gold scores with scores that a system predicts on the same scale.
    ///
    /// ```
    /// let agreement = senv_eval::Agreement::between(&[1.0, 3.0, 5.0], &[1.0, 2.0, 3.0])?;
    /// assert_eq!(agreement.mse, Some(5.0 / 3.0)); // (0 + 1 + 4) / 3
    /// assert!(agreement.correlations.pearson_r_x100.is_some_and(|r| (r - 100.0).abs() < 1e-9));
    /// # Ok::<(), senv_eval::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`crate::Error::Metrics`] if the lists differ in length or contain a value that is not finite.
    pub fn between(gold: &[f64], predicted: &[f64]) -> Result<Self> {
        Ok(Self {
            n_pairs: gold.len(),
            correlations: Correlations::between(gold, predicted)?,
            mse: senv_metrics::mse(gold, predicted)?,
        })
    }
}

/// Result of a system on one file of pairs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RelatednessTaskResult {
    /// Counts, correlations and scores, as for STS. The scores of a supervised system are on the scale of the gold
    /// scores, and its coverage of tokens is unknown.
    #[serde(flatten)]
    pub result: StsTaskResult,
    /// Mean squared error on the scale of the gold scores.
    pub mse: Option<f64>,
}

/// Result of a system on files of scored pairs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RelatednessResult {
    /// How the pairs were scored.
    pub scored_by: ScoringMethod,
    /// Results per file, in the order given.
    pub tasks: Vec<RelatednessTaskResult>,
    /// Agreement over the pairs of all files as one list (not a mean over files); `None` for a single file.
    pub together: Option<Agreement>,
}

impl RelatednessResult {
    /// Plots the scores against the gold scores as a self-contained SVG. `tasks` are the tasks of this result. Cosines
    /// are converted to the scale of the gold scores; 0 and below become its minimum.
    #[must_use]
    pub fn to_svg(&self, tasks: &[StsTask]) -> String {
        let of_task = |(task, result): (&StsTask, &RelatednessTaskResult)| {
            let on_scale = |score: f64| match self.scored_by {
                ScoringMethod::Cosine => task.scale.of_cosine(score),
                ScoringMethod::Supervised => score,
            };
            task.gold().into_iter().zip(result.result.scores.iter().map(|&score| on_scale(score))).collect::<Vec<_>>()
        };
        let points: Vec<(f64, f64)> = tasks.iter().zip(&self.tasks).flat_map(of_task).collect();
        scatter_svg(&points, &format!("{} pairs, {}", points.len(), self.scored_by.name()))
    }
}

/// Scores the pairs of SICK or the STS benchmark by the cosine of their embeddings.
///
/// # Errors
/// Returns the errors of [`evaluate_sts`].
///
/// # References
/// Marelli et al., SemEval-2014 Task 1; Cer et al., SemEval-2017 Task 1.
pub fn evaluate_relatedness(encoder: &dyn SentenceEncoder, tasks: &[StsTask]) -> Result<RelatednessResult> {
    summary(ScoringMethod::Cosine, tasks, evaluate_sts(encoder, tasks)?.tasks)
}

/// Scores the pairs of SICK or the STS benchmark with a trained head.
///
/// # Errors
/// Returns the errors of [`evaluate_sts_scorer`].
///
/// # Examples
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("trial.tsv");
/// # std::fs::write(&path, "5\tENTAILMENT\ta\ta\n1\tNEUTRAL\ta\tb c\n2\tNEUTRAL\ta\tb\n")?;
/// use senv_eval::{SickSet, evaluate_scorer};
/// let trial = SickSet::read(&path)?.task;
/// // 5 minus the difference of the lengths in bytes.
/// let scorer = |pairs: &[(&str, &str)]| Ok(pairs.iter().map(|(a, b)| 5.0 - a.len().abs_diff(b.len()) as f64).collect());
/// let result = evaluate_scorer(&scorer, &[trial])?;
/// assert_eq!(result.tasks[0].mse, Some(13.0 / 3.0)); // scores 5, 3, 5: (0 + 4 + 9) / 3
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn evaluate_scorer(scorer: &dyn PairScorer, tasks: &[StsTask]) -> Result<RelatednessResult> {
    summary(ScoringMethod::Supervised, tasks, evaluate_sts_scorer(scorer, tasks)?.tasks)
}

/// Runs the protocol without training on scores from any source, which are treated as cosines.
pub(crate) fn evaluate(source: PairSource<'_>, tasks: &[StsTask]) -> Result<RelatednessResult> {
    summary(ScoringMethod::Cosine, tasks, protocol::evaluate(source, tasks)?.tasks)
}

fn summary(scored_by: ScoringMethod, tasks: &[StsTask], results: Vec<StsTaskResult>) -> Result<RelatednessResult> {
    let (mut all_gold, mut all_scores, mut all_predicted) = (Vec::new(), Vec::new(), Vec::new());
    let mut parts = Vec::with_capacity(results.len());
    for (task, result) in tasks.iter().zip(results) {
        let (gold, mut predicted) = (task.gold(), result.scores.clone());
        if scored_by == ScoringMethod::Cosine {
            predicted.iter_mut().for_each(|score| *score = task.scale.of_cosine(*score));
        }
        let mse = senv_metrics::mse(&gold, &predicted)?;
        all_gold.extend(gold);
        all_scores.extend_from_slice(&result.scores);
        all_predicted.extend(predicted);
        parts.push(RelatednessTaskResult { result, mse });
    }
    let together = if parts.len() > 1 {
        // The correlations are those of the cosines, as for each file. Only the error needs the scale.
        let mse = senv_metrics::mse(&all_gold, &all_predicted)?;
        Some(Agreement { mse, ..Agreement::between(&all_gold, &all_scores)? })
    } else {
        None
    };
    Ok(RelatednessResult { scored_by, tasks: parts, together })
}
