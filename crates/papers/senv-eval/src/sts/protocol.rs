//! The unsupervised protocol of STS 2012-2016: cosine against gold scores.
//!
//! The score of a pair is the cosine of its two embeddings; a zero vector has cosine 0. For a system without vectors it
//! is the score that the system returns. Correlations are computed per task; [`StsResult`] has their means.

use senv_core::SentenceEncoder;
use senv_data::StsTask;

use crate::{
    error::{Error, Result},
    score::{
        correlations::Correlations,
        pairs::{PairScorer, PairSource, texts},
        sentence_vectors::SentenceVectors,
    },
    sts::result::{StsResult, StsTaskResult},
};

/// Scores every pair of every task by the cosine of its embeddings and correlates the scores with the gold scores.
///
/// Each distinct sentence is encoded once, on all threads of the current rayon pool. The result does not depend on
/// the number of threads. Memory: distinct sentences times the dimension, in f32.
///
/// # Errors
/// [`Error::NothingToDo`] without a task or a pair; [`Error::NotFinite`] if a score is NaN or infinite, with the pair
/// named; [`Error::Core`] if the embeddings do not fit into memory or the encoder returns a different shape than
/// declared.
///
/// # References
/// Agirre et al., SemEval-2012 Task 6 to SemEval-2016 Task 1; Conneau and Kiela, SentEval, LREC 2018.
pub fn evaluate_sts(encoder: &dyn SentenceEncoder, tasks: &[StsTask]) -> Result<StsResult> {
    let pairs = tasks.iter().flat_map(|task| &task.pairs);
    let vectors = SentenceVectors::encode(encoder, pairs.flat_map(|pair| [&pair.first[..], &pair.second[..]]))?;
    evaluate(PairSource::Cosines(&vectors), tasks)
}

/// Like [`evaluate_sts`] for a system without vectors: its scores replace the cosines. The coverage of tokens is
/// unknown.
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
/// [`Error::NothingToDo`] without a task or a pair; [`Error::Core`] from the scorer, or if it returns more or fewer
/// scores than there are pairs; [`Error::NotFinite`] if a score is NaN or infinite, with the pair named.
pub fn evaluate_sts_scorer(scorer: &dyn PairScorer, tasks: &[StsTask]) -> Result<StsResult> {
    evaluate(PairSource::Scorer(scorer), tasks)
}

/// Runs the protocol on scores from any source.
pub(crate) fn evaluate(source: PairSource<'_>, tasks: &[StsTask]) -> Result<StsResult> {
    if tasks.is_empty() {
        return Err(Error::NothingToDo { what: "files of scored pairs" });
    }
    let results = tasks.iter().map(|task| evaluate_task(source, task)).collect::<Result<Vec<_>>>()?;
    Ok(StsResult::of(results))
}

fn evaluate_task(source: PairSource<'_>, task: &StsTask) -> Result<StsTaskResult> {
    if task.pairs.is_empty() {
        return Err(Error::NothingToDo { what: "scored pairs in a task" });
    }
    let found = source.score(&texts(task), |i| format!("scored pair {} of {}", i + 1, task.label()))?;
    Ok(StsTaskResult {
        name: task.name.clone(),
        year: task.year,
        path: task.path.clone(),
        n_pairs: task.pairs.len(),
        n_unscored: task.n_unscored,
        n_empty_sentences: task.n_empty_sentences,
        n_pairs_without_known_token: found.n_without_known_token,
        known_token_share: found.known_token_share,
        correlations: Correlations::between(&task.gold(), &found.scores)?,
        scores: found.scores,
    })
}
