//! Systems that score pairs of sentences directly: trained heads, sparse words, any function of two sentences. The
//! STS protocol for them.

use crate::{
    StsTask,
    error::{Error, Result},
    score::correlations::Correlations,
    sts::protocol::{StsResult, StsTaskResult},
};

/// Scores the relatedness of pairs of sentences. A trained head scores on the scale of the gold scores.
///
/// A closure over a batch of pairs is one.
pub trait PairScorer {
    /// One score for each pair, in their order.
    ///
    /// # Errors
    /// Any error of the scorer.
    fn score_batch(&self, pairs: &[(&str, &str)]) -> senv_core::Result<Vec<f64>>;
}

impl<S: Fn(&[(&str, &str)]) -> senv_core::Result<Vec<f64>>> PairScorer for S {
    fn score_batch(&self, pairs: &[(&str, &str)]) -> senv_core::Result<Vec<f64>> {
        self(pairs)
    }
}

/// [`evaluate_sts`](crate::evaluate_sts) of a system that has no vectors: its scores replace the cosines.
/// The coverage of tokens is unknown.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("small.tsv");
/// std::fs::write(&path, "5\ta dog\ta dog\n2\ta dog\ta cat\n0\ta dog\tno rain\n")?;
/// use senv_eval::{StsTask, evaluate_sts_scorer};
/// use senv_metrics::WordOverlap;
/// let shared = |a: &str, b: &str| WordOverlap::of(a.split(' '), b.split(' ')).over_mean_length();
/// let scorer = |pairs: &[(&str, &str)]| Ok(pairs.iter().map(|(a, b)| shared(a, b)).collect());
/// let result = evaluate_sts_scorer(&scorer, &[StsTask::read(&path)?])?;
/// assert_eq!(result.tasks[0].scores, [1.0, 0.5, 0.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Error::NothingToDo`] without a task or a pair; [`Error::Core`] of the scorer, or if it gives another number of
/// scores than there are pairs; [`Error::NotFinite`] if a score is NaN or infinite, with the pair named.
pub fn evaluate_sts_scorer(scorer: &dyn PairScorer, tasks: &[StsTask]) -> Result<StsResult> {
    if tasks.is_empty() {
        return Err(Error::NothingToDo { what: "files of pairs" });
    }
    let results = tasks.iter().map(|task| evaluate_task(scorer, task)).collect::<Result<Vec<_>>>()?;
    Ok(StsResult::of(results))
}

impl StsResult {
    /// The same scores with the coverage of tokens of another result on the same pairs: that of the model whose vectors a
    /// scorer compares in its own way.
    ///
    /// # Errors
    /// [`senv_core::Error::ShapeMismatch`] for another number of tasks.
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

fn evaluate_task(scorer: &dyn PairScorer, task: &StsTask) -> Result<StsTaskResult> {
    if task.pairs.is_empty() {
        return Err(Error::NothingToDo { what: "scored pairs in a task" });
    }
    let pairs: Vec<(&str, &str)> = task.pairs.iter().map(|pair| (&pair.first[..], &pair.second[..])).collect();
    let scores = scorer.score_batch(&pairs)?;
    if scores.len() != pairs.len() {
        let (what, expected) = ("the scores of a batch of pairs", pairs.len());
        return Err(senv_core::Error::ShapeMismatch { what, expected, got: scores.len() }.into());
    }
    if let Some(i) = scores.iter().position(|score| !score.is_finite()) {
        return Err(Error::NotFinite { what: format!("the score of scored pair {} of {}", i + 1, task.label()) });
    }
    Ok(StsTaskResult {
        name: task.name.clone(),
        year: task.year,
        path: task.path.clone(),
        n_pairs: pairs.len(),
        n_unscored: task.n_unscored,
        n_empty_sentences: task.n_empty_sentences,
        n_pairs_without_known_token: 0,
        known_token_share: None,
        correlations: Correlations::between(&task.gold(), &scores)?,
        scores,
    })
}
