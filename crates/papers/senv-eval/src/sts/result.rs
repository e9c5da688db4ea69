//! Results of STS: correlations of each task, their means, and the 95 % intervals of both.
//!
//! Papers average correlations in three ways that differ by several points, so each mean here has its own name:
//!
//! ```text
//! plain mean over tasks      Σ r_t / T                 SentEval "all / mean"; the years of Wieting et al. 2016
//! mean weighted by pairs     Σ n_t r_t / Σ n_t         SemEval, SentEval "all / wmean"
//! mean of year means         Σ_y (Σ_{t∈y} r_t / T_y) / Y   each year counts the same, however many tasks it has
//! ```

use std::{collections::BTreeMap, path::PathBuf};

use serde::Serialize;

use crate::{error::Result, score::correlations::Correlations};

/// Result of an encoder on one task.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct StsTaskResult {
    /// Name of the task.
    pub name: String,
    /// Year of the task, where known.
    pub year: Option<u16>,
    /// Path of the file.
    pub path: PathBuf,
    /// Number of scored pairs, which the correlations are computed over.
    pub n_pairs: usize,
    /// Number of pairs without a gold score. They are left out.
    pub n_unscored: usize,
    /// Number of empty sentences among the scored pairs.
    pub n_empty_sentences: usize,
    /// Number of pairs in which a sentence has no known token. Its embedding is zero, so the score is 0.
    pub n_pairs_without_known_token: usize,
    /// Share of the tokens of all scored sentences that the encoder's vocabulary contains, in `[0, 1]`; `None` without
    /// a token.
    pub known_token_share: Option<f64>,
    /// Correlations of gold scores and cosines.
    #[serde(flatten)]
    pub correlations: Correlations,
    /// The cosines, one per scored pair in the order of the file (not part of the JSON).
    #[serde(skip)]
    pub scores: Vec<f64>,
}

/// Means over the tasks of one year.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct StsYearResult {
    /// The year.
    pub year: u16,
    /// Number of tasks of that year.
    pub n_tasks: usize,
    /// Number of their scored pairs.
    pub n_pairs: usize,
    /// Mean over the tasks with equal weights.
    pub plain_mean_over_tasks: Correlations,
    /// Mean weighted by the number of pairs of each task.
    pub mean_weighted_by_pairs: Correlations,
}

/// Means over all tasks.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct StsOverall {
    /// Number of tasks.
    pub n_tasks: usize,
    /// Number of scored pairs.
    pub n_pairs: usize,
    /// Mean over the tasks with equal weights.
    pub plain_mean_over_tasks: Correlations,
    /// Mean of the years' plain means with equal weights; `None` unless every task has a year.
    pub plain_mean_of_year_means: Option<Correlations>,
    /// Mean weighted by the number of pairs of each task.
    pub mean_weighted_by_pairs: Correlations,
}

/// Result of an encoder on STS. Print it with [`StsResult::to_text`] or [`crate::to_json`].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct StsResult {
    /// Results per task, in the order given.
    pub tasks: Vec<StsTaskResult>,
    /// Means per year of the tasks, in ascending order.
    pub years: Vec<StsYearResult>,
    /// Means over all tasks.
    pub overall: StsOverall,
    /// 95 % intervals, if [`StsResult::with_intervals`] added them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intervals: Option<StsIntervals>,
}

/// The ends of the 95 % intervals of two correlations, times 100.
///
/// A field is `None` if the correlation is undefined, or if more than a twentieth of its draws are.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct CorrelationIntervals {
    /// Lower and upper end for Pearson's r times 100.
    pub pearson_r_x100: Option<(f64, f64)>,
    /// Lower and upper end for Spearman's ρ times 100.
    pub spearman_rho_x100: Option<(f64, f64)>,
}

/// The intervals of a task.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct StsTaskIntervals {
    /// Name of the task.
    pub name: String,
    /// Year of the task, where known.
    pub year: Option<u16>,
    /// Intervals of its correlations.
    #[serde(flatten)]
    pub correlations: CorrelationIntervals,
}

/// The intervals of the means of a year, or of all tasks.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct StsMeanIntervals {
    /// The year; `None` for all tasks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub year: Option<u16>,
    /// Intervals of the mean with equal weights of the tasks.
    pub plain_mean_over_tasks: CorrelationIntervals,
    /// Intervals of the mean of the years' plain means; `None` for a year, or unless every task has a year.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plain_mean_of_year_means: Option<CorrelationIntervals>,
    /// Intervals of the mean weighted by the number of pairs of each task.
    pub mean_weighted_by_pairs: CorrelationIntervals,
}

/// The intervals of a result.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct StsIntervals {
    /// Number of draws of the bootstrap.
    pub resamples: usize,
    /// Random seed of the bootstrap.
    pub seed: u64,
    /// Intervals per task, in the order of the result.
    pub tasks: Vec<StsTaskIntervals>,
    /// Intervals of the means per year, in the order of the result.
    pub years: Vec<StsMeanIntervals>,
    /// Intervals of the means over all tasks.
    pub overall: StsMeanIntervals,
}

impl StsResult {
    /// Computes the means of these tasks.
    pub(crate) fn of(tasks: Vec<StsTaskResult>) -> Self {
        let mut by_year: BTreeMap<u16, Vec<&StsTaskResult>> = BTreeMap::new();
        for task in &tasks {
            if let Some(year) = task.year {
                by_year.entry(year).or_default().push(task);
            }
        }
        let year_result = |(year, tasks): (u16, Vec<&StsTaskResult>)| {
            let (plain_mean_over_tasks, mean_weighted_by_pairs, n_pairs) = means(&tasks);
            StsYearResult { year, n_tasks: tasks.len(), n_pairs, plain_mean_over_tasks, mean_weighted_by_pairs }
        };
        let years: Vec<StsYearResult> = by_year.into_iter().map(year_result).collect();
        let year_means: Vec<Correlations> = years.iter().map(|year| year.plain_mean_over_tasks).collect();
        let all_have_years = tasks.iter().all(|task| task.year.is_some());
        let (plain_mean_over_tasks, mean_weighted_by_pairs, n_pairs) = means(&tasks.iter().collect::<Vec<_>>());
        let overall = StsOverall {
            n_tasks: tasks.len(),
            n_pairs,
            plain_mean_over_tasks,
            plain_mean_of_year_means: all_have_years.then(|| Correlations::plain_mean(&year_means)),
            mean_weighted_by_pairs,
        };
        Self { tasks, years, overall, intervals: None }
    }

    /// Replaces the coverage of tokens with that of another result on the same pairs. Use it for a scorer that compares
    /// the vectors of a model in its own way.
    ///
    /// # Errors
    /// [`senv_core::Error::ShapeMismatch`] if the numbers of tasks differ.
    pub fn with_coverage_of(mut self, other: &Self) -> Result<Self> {
        let (expected, got) = (self.tasks.len(), other.tasks.len());
        if got != expected {
            return Err(senv_core::Error::ShapeMismatch { what: "the tasks of two results", expected, got }.into());
        }
        for (task, other) in self.tasks.iter_mut().zip(&other.tasks) {
            task.n_pairs_without_known_token = other.n_pairs_without_known_token;
            task.known_token_share = other.known_token_share;
        }
        Ok(self)
    }
}

/// Plain mean, weighted mean and number of pairs.
fn means(tasks: &[&StsTaskResult]) -> (Correlations, Correlations, usize) {
    let (parts, counts): (Vec<_>, Vec<_>) = tasks.iter().map(|task| (task.correlations, task.n_pairs)).unzip();
    (Correlations::plain_mean(&parts), Correlations::weighted_mean(&parts, &counts), counts.iter().sum())
}
