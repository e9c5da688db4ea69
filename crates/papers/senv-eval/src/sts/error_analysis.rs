//! Error analysis of two systems: the pairs that they score most differently, with the gold scores.
//!
//! The format follows Table 6 of the CSE paper: the gold score next to both scores, on its scale. A cosine is converted
//! with [`Scale::of_cosine`](senv_data::Scale::of_cosine), so STS shows 5 max(0, cos).

use senv_data::{StsTask, task_label};
use serde::Serialize;

use crate::{
    error::{Error, Result},
    report::{Align, TextTable},
    sts::result::{StsResult, StsTaskResult},
};

/// A pair that two systems score differently.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PairDifference {
    /// Name of the task.
    pub task: String,
    /// Year of the task, where known.
    pub year: Option<u16>,
    /// The first sentence.
    pub first_sentence: String,
    /// The second sentence.
    pub second_sentence: String,
    /// The gold score.
    pub relatedness: f64,
    /// The first system's cosine, converted to the scale of the gold score.
    pub first: f64,
    /// The second system's cosine, converted likewise.
    pub second: f64,
}

/// The pairs that two systems score most differently.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ErrorAnalysis {
    /// Number of compared pairs.
    pub n_pairs: usize,
    /// Number of pairs on which the first system is closer to the gold score.
    pub n_first_nearer: usize,
    /// Number of pairs on which the second system is closer to the gold score.
    pub n_second_nearer: usize,
    /// The pairs with the largest differences, largest first. Ties keep the order of the tasks.
    pub pairs: Vec<PairDifference>,
}

/// Finds the `k` pairs, over all tasks, that two systems score most differently by their cosines.
///
/// # Errors
/// [`Error::DifferentPairs`] if the results are not of these tasks in this order, with the same numbers of pairs.
///
/// # Examples
/// ```
/// # use senv_core::{Coverage, Scratch, SentenceEncoder};
/// # struct By(fn(&str) -> f32);
/// # impl SentenceEncoder for By {
/// #     fn dim(&self) -> usize { 2 }
/// #     fn encode_sentence(&self, sentence: &str, _: &mut Scratch, out: &mut [f32]) -> Coverage {
/// #         let angle = (self.0)(sentence);
/// #         out.copy_from_slice(&[angle.cos(), angle.sin()]);
/// #         Coverage::new(1, 1)
/// #     }
/// # }
/// # let (by_length, by_nothing) = (By(|s| s.len() as f32), By(|_| 1.0));
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("small.tsv");
/// # std::fs::write(&path, "5\ta\tb\n1\ta\tbb\n2\tccc\td\n")?;
/// use senv_eval::{StsTask, error_analysis, evaluate_sts};
/// let tasks = [StsTask::read(&path)?];
/// let (first, second) = (evaluate_sts(&by_length, &tasks)?, evaluate_sts(&by_nothing, &tasks)?);
/// let analysis = error_analysis(&tasks, &first, &second, 1)?;
/// // The vectors of ccc and d are two radians apart, a negative cosine. The second system's cosines are all 1.
/// assert_eq!(analysis.pairs[0].first_sentence, "ccc");
/// assert_eq!((analysis.pairs[0].first, analysis.pairs[0].second), (0.0, 5.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn error_analysis(tasks: &[StsTask], first: &StsResult, second: &StsResult, k: usize) -> Result<ErrorAnalysis> {
    let different = |first: String, second: String| Err(Error::DifferentPairs { first, second });
    for result in [first, second] {
        if result.tasks.len() != tasks.len() {
            return different(format!("{} tasks", tasks.len()), format!("{} tasks", result.tasks.len()));
        }
        for (task, result) in tasks.iter().zip(&result.tasks) {
            if (task.year, &task.name, task.pairs.len()) != (result.year, &result.name, result.scores.len()) {
                let name = |label: String, n| format!("{label} with {n} pairs");
                let theirs = name(task_label(result.year, &result.name), result.scores.len());
                return different(name(task.label(), task.pairs.len()), theirs);
            }
        }
    }
    let mut analysis = ErrorAnalysis { n_pairs: 0, n_first_nearer: 0, n_second_nearer: 0, pairs: Vec::new() };
    // Task, pair index, and the two scores.
    let mut differences: Vec<(&StsTask, usize, f64, f64)> = Vec::new();
    for ((task, a), b) in tasks.iter().zip(&first.tasks).zip(&second.tasks) {
        let score = |result: &StsTaskResult, i: usize| task.scale.of_cosine(result.scores[i]);
        for (i, pair) in task.pairs.iter().enumerate() {
            let (first, second) = (score(a, i), score(b, i));
            let (first_error, second_error) = ((first - pair.relatedness).abs(), (second - pair.relatedness).abs());
            analysis.n_pairs += 1;
            analysis.n_first_nearer += usize::from(first_error < second_error);
            analysis.n_second_nearer += usize::from(second_error < first_error);
            differences.push((task, i, first, second));
        }
    }
    let size = |(_, _, first, second): &(&StsTask, usize, f64, f64)| (first - second).abs();
    differences.sort_by(|a, b| size(b).total_cmp(&size(a)));
    analysis.pairs.extend(differences.iter().take(k).map(|&(task, i, first, second)| {
        let pair = &task.pairs[i];
        PairDifference {
            task: task.name.clone(),
            year: task.year,
            first_sentence: pair.first.clone(),
            second_sentence: pair.second.clone(),
            relatedness: pair.relatedness,
            first,
            second,
        }
    }));
    Ok(analysis)
}

impl ErrorAnalysis {
    /// Formats the pairs in aligned columns under the two systems' names. The sentences of a pair are on two lines.
    #[must_use]
    pub fn to_text(&self, first: &str, second: &str) -> String {
        let mut table = TextTable::new([
            ("task", Align::Left),
            ("gold", Align::Right),
            (first, Align::Right),
            (second, Align::Right),
            ("sentences", Align::Left),
        ]);
        for pair in &self.pairs {
            let [gold, a, b] = [pair.relatedness, pair.first, pair.second].map(|score| format!("{score:.2}"));
            table.row([task_label(pair.year, &pair.task), gold, a, b, pair.first_sentence.clone()]);
            table.row(["", "", "", "", &pair.second_sentence]);
        }
        format!(
            "{table}closer to the gold score: {first} in {}, {second} in {} of {} pairs\n",
            self.n_first_nearer, self.n_second_nearer, self.n_pairs
        )
    }
}
