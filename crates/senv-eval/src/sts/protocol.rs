//! The unsupervised protocol of STS 2012-2016: cosine against gold scores.
//!
//! The score of a pair is the cosine of its two embeddings; a zero vector has cosine 0. Correlations are taken per
//! task. Papers average them in three ways that differ by several points, so each mean here carries its own name:
//!
//! ```text
//! plain mean over tasks      Σ r_t / T                 SentEval "all / mean"; the years of Wieting et al. 2016
//! mean weighted by pairs     Σ n_t r_t / Σ n_t         SemEval, SentEval "all / wmean"
//! mean of year means         Σ_y (Σ_{t∈y} r_t / T_y) / Y   each year counts the same, however many tasks it has
//! ```

use std::collections::BTreeMap;
use std::path::PathBuf;

use senv_core::{SentenceEncoder, kernels};
use serde::Serialize;

use crate::{
    StsTask,
    error::{Error, Result},
    score::{correlations::Correlations, embeddings::Embeddings},
    sts::intervals::StsIntervals,
};

/// Result of an encoder on one task.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StsTaskResult {
    /// Name of the task.
    pub name: String,
    /// Year of the task, where known.
    pub year: Option<u16>,
    /// The file.
    pub path: PathBuf,
    /// Scored pairs: what the correlations are over.
    pub n_pairs: usize,
    /// Pairs without a gold score, left out.
    pub n_unscored: usize,
    /// Empty sentences among the scored pairs.
    pub n_empty_sentences: usize,
    /// Pairs of which a sentence has no known token: its embedding is zero, so the score is 0.
    pub n_pairs_without_known_token: usize,
    /// Share of the tokens of all scored sentences in the vocabulary of the encoder, in `[0, 1]`; undefined without a
    /// token.
    pub known_token_share: Option<f64>,
    /// Correlations of gold scores and cosines.
    #[serde(flatten)]
    pub correlations: Correlations,
    /// The cosines, one a scored pair in the order of the file (not part of the JSON).
    #[serde(skip)]
    pub scores: Vec<f64>,
}

/// Means over the tasks of one year.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StsYearResult {
    /// The year.
    pub year: u16,
    /// Tasks of that year.
    pub n_tasks: usize,
    /// Their scored pairs.
    pub n_pairs: usize,
    /// Mean with equal weights of the tasks.
    pub plain_mean_over_tasks: Correlations,
    /// Mean weighted by the pairs of the tasks.
    pub mean_weighted_by_pairs: Correlations,
}

/// Means over everything.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StsOverall {
    /// Tasks.
    pub n_tasks: usize,
    /// Scored pairs.
    pub n_pairs: usize,
    /// Mean with equal weights of the tasks.
    pub plain_mean_over_tasks: Correlations,
    /// Mean of the years' plain means with equal weights; `None` unless every task has a year.
    pub plain_mean_of_year_means: Option<Correlations>,
    /// Mean weighted by the pairs of the tasks.
    pub mean_weighted_by_pairs: Correlations,
}

/// Result of an encoder on STS. Print it with [`StsResult::to_text`] or [`crate::to_json`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StsResult {
    /// Each task, in the order given.
    pub tasks: Vec<StsTaskResult>,
    /// Each year that a task has, in ascending order.
    pub years: Vec<StsYearResult>,
    /// Everything together.
    pub overall: StsOverall,
    /// 95 % intervals, where [`StsResult::with_intervals`] added them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intervals: Option<StsIntervals>,
}

/// Scores every pair of every task by the cosine of its embeddings and correlates with the gold scores.
///
/// Each distinct sentence is encoded once, on all threads of the current rayon pool. The result does not depend on
/// the number of threads. Memory: distinct sentences times the dimension, in f32.
///
/// # Errors
/// [`Error::NothingToDo`] without a task or a pair; [`Error::NotFinite`] if a score is NaN or infinite, with the pair
/// named; [`Error::Core`] if the embeddings do not fit into memory or the encoder returns another shape than declared.
///
/// # References
/// Agirre et al., SemEval-2012 Task 6 to SemEval-2016 Task 1; Conneau and Kiela, SentEval, LREC 2018.
pub fn evaluate_sts(encoder: &dyn SentenceEncoder, tasks: &[StsTask]) -> Result<StsResult> {
    if tasks.is_empty() {
        return Err(Error::NothingToDo { what: "STS tasks" });
    }
    let pairs = tasks.iter().flat_map(|task| &task.pairs);
    let embeddings = Embeddings::encode(encoder, pairs.flat_map(|pair| [&pair.first[..], &pair.second[..]]))?;
    let results = tasks.iter().map(|task| evaluate_task(task, &embeddings)).collect::<Result<Vec<_>>>()?;
    Ok(StsResult::of(results))
}

fn evaluate_task(task: &StsTask, embeddings: &Embeddings) -> Result<StsTaskResult> {
    if task.pairs.is_empty() {
        return Err(Error::NothingToDo { what: "scored pairs in a task" });
    }
    let (mut tokens, mut known, mut n_pairs_without_known_token) = (0, 0, 0);
    let mut scores = Vec::with_capacity(task.pairs.len());
    for (i, pair) in task.pairs.iter().enumerate() {
        let [first, second] = [embeddings.number(&pair.first)?, embeddings.number(&pair.second)?];
        let ([a, b], [u, v]) =
            ([first, second].map(|n| embeddings.coverage(n)), [first, second].map(|n| embeddings.vector(n)));
        tokens += a.tokens + b.tokens;
        known += a.known + b.known;
        n_pairs_without_known_token += usize::from(a.is_empty() || b.is_empty());
        let score = f64::from(kernels::cosine(u, v));
        if !score.is_finite() {
            return Err(Error::NotFinite { what: format!("the score of scored pair {} of {}", i + 1, task.label()) });
        }
        scores.push(score);
    }
    Ok(StsTaskResult {
        name: task.name.clone(),
        year: task.year,
        path: task.path.clone(),
        n_pairs: task.pairs.len(),
        n_unscored: task.n_unscored,
        n_empty_sentences: task.n_empty_sentences,
        n_pairs_without_known_token,
        known_token_share: (tokens > 0).then(|| known as f64 / tokens as f64),
        correlations: Correlations::between(&task.gold(), &scores)?,
        scores,
    })
}

impl StsResult {
    /// The means of these tasks.
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
}

/// Plain mean, weighted mean and number of pairs.
fn means(tasks: &[&StsTaskResult]) -> (Correlations, Correlations, usize) {
    let (parts, counts): (Vec<_>, Vec<_>) = tasks.iter().map(|task| (task.correlations, task.n_pairs)).unzip();
    (Correlations::plain_mean(&parts), Correlations::weighted_mean(&parts, &counts), counts.iter().sum())
}
