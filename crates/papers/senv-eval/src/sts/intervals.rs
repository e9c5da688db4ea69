//! 95 % intervals of STS correlations and all their means, by the bootstrap ([`senv_metrics::Bootstrap`]).
//!
//! The pairs of each task are drawn with replacement, independently of other tasks. The mean of a draw is computed from
//! the correlations drawn for each task, as the mean itself is from theirs. For Pearson's r, draws and intervals equal
//! those of the bench.

use std::path::PathBuf;

use rayon::prelude::*;
use senv_data::{StsTask, task_label};
use senv_metrics::{Bootstrap, Sample, Statistic, percentile_interval};

use crate::{
    error::{Error, Result},
    score::correlations::Correlations,
    sts::result::{CorrelationIntervals, StsIntervals, StsMeanIntervals, StsResult, StsTaskIntervals, StsTaskResult},
};

impl CorrelationIntervals {
    /// Computes the intervals of `value` from its draws.
    fn of(value: Correlations, draws: impl Iterator<Item = Correlations> + Clone) -> Self {
        let ends = |get: fn(Correlations) -> Option<f64>| {
            let draws: Vec<Option<f64>> = draws.clone().map(get).collect();
            get(value).and_then(|_| percentile_interval(&draws)).map(|interval| (interval.low, interval.high))
        };
        Self { pearson_r_x100: ends(|c| c.pearson_r_x100), spearman_rho_x100: ends(|c| c.spearman_rho_x100) }
    }
}

impl StsResult {
    /// Adds an interval for each correlation and each mean; 0 draws remove them. `tasks` are the evaluated tasks, for
    /// their gold scores. Time: draws times pairs, on all threads.
    ///
    /// ```
    /// use senv_eval::{SentenceVectors, StsTask, evaluate_sts};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("small.tsv");
    /// # std::fs::write(&path, "5\ta\tb\n4\ta\tc\n3\ta\td\n3\tb\tc\n1\tb\td\n2\tc\td\n5\tb\tb\n4\ta\ta\n")?;
    /// let vectors = ndarray::array![[1.0, 0.1], [0.9, 0.4], [0.5, 0.8], [0.1, 1.0]];
    /// let embeddings = SentenceVectors::from_vectors(["a", "b", "c", "d"], vectors)?;
    /// let tasks = [StsTask::read(&path)?];
    /// let result = evaluate_sts(&embeddings, &tasks)?.with_intervals(&tasks, senv_metrics::Bootstrap::default())?;
    /// let intervals = result.intervals.ok_or("none")?;
    /// let (low, high) = intervals.tasks[0].correlations.pearson_r_x100.ok_or("undefined")?;
    /// let r = result.tasks[0].correlations.pearson_r_x100.ok_or("undefined")?;
    /// assert!(low < r && r <= high);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::DifferentPairs`] if `tasks` are not the tasks of this result, in its order.
    pub fn with_intervals(mut self, tasks: &[StsTask], bootstrap: Bootstrap) -> Result<Self> {
        let different = |first: String, second: String| Err(Error::DifferentPairs { first, second });
        if tasks.len() != self.tasks.len() {
            return different(format!("{} tasks", self.tasks.len()), format!("{} tasks", tasks.len()));
        }
        for (task, result) in tasks.iter().zip(&self.tasks) {
            if (task.year, &task.name, task.pairs.len()) != (result.year, &result.name, result.scores.len()) {
                let name = |label: String, n| format!("{label} with {n} pairs");
                let ours = name(task_label(result.year, &result.name), result.scores.len());
                return different(ours, name(task.label(), task.pairs.len()));
            }
        }
        let Bootstrap { resamples, seed } = bootstrap;
        if resamples == 0 {
            self.intervals = None;
            return Ok(self);
        }
        let pairs: Vec<(&StsTask, &StsTaskResult)> = tasks.iter().zip(&self.tasks).collect();
        let drawn: Vec<Vec<Correlations>> =
            pairs.into_par_iter().map(|(task, result)| draws(task, result, bootstrap)).collect::<Result<_>>()?;
        let means = self.means_of_draws(&drawn, resamples);
        let tasks = self.tasks.iter().zip(&drawn).map(|(task, drawn)| StsTaskIntervals {
            name: task.name.clone(),
            year: task.year,
            correlations: CorrelationIntervals::of(task.correlations, drawn.iter().copied()),
        });
        let years = self.years.iter().enumerate().map(|(i, year)| StsMeanIntervals {
            year: Some(year.year),
            plain_mean_over_tasks: CorrelationIntervals::of(
                year.plain_mean_over_tasks,
                means.iter().map(|draw| draw.years[i].plain_mean_over_tasks),
            ),
            plain_mean_of_year_means: None,
            mean_weighted_by_pairs: CorrelationIntervals::of(
                year.mean_weighted_by_pairs,
                means.iter().map(|draw| draw.years[i].mean_weighted_by_pairs),
            ),
        });
        let all = &self.overall;
        let overall = StsMeanIntervals {
            year: None,
            plain_mean_over_tasks: CorrelationIntervals::of(
                all.plain_mean_over_tasks,
                means.iter().map(|draw| draw.overall.plain_mean_over_tasks),
            ),
            plain_mean_of_year_means: all.plain_mean_of_year_means.map(|value| {
                let draws = means.iter().map(|draw| draw.overall.plain_mean_of_year_means.unwrap_or_default());
                CorrelationIntervals::of(value, draws)
            }),
            mean_weighted_by_pairs: CorrelationIntervals::of(
                all.mean_weighted_by_pairs,
                means.iter().map(|draw| draw.overall.mean_weighted_by_pairs),
            ),
        };
        let intervals = StsIntervals { resamples, seed, tasks: tasks.collect(), years: years.collect(), overall };
        self.intervals = Some(intervals);
        Ok(self)
    }

    /// Computes the means of each draw, without the tasks.
    fn means_of_draws(&self, drawn: &[Vec<Correlations>], resamples: usize) -> Vec<Self> {
        let without_scores = |task: &StsTaskResult| StsTaskResult {
            name: String::new(),
            path: PathBuf::new(),
            scores: Vec::new(),
            ..task.clone()
        };
        let tasks: Vec<StsTaskResult> = self.tasks.iter().map(without_scores).collect();
        let draw = |b: usize| {
            let drawn = tasks.iter().zip(drawn);
            let drawn = drawn.map(|(task, drawn)| StsTaskResult { correlations: drawn[b], ..task.clone() });
            Self { tasks: Vec::new(), ..Self::of(drawn.collect()) }
        };
        (0..resamples).into_par_iter().map(draw).collect()
    }
}

/// Computes the correlations of each draw of the pairs of a task.
fn draws(task: &StsTask, result: &StsTaskResult, bootstrap: Bootstrap) -> Result<Vec<Correlations>> {
    // The name under which the bench draws it.
    let data = match task.year {
        Some(year) => format!("sts/{year}/{}", task.name),
        None => format!("sts/{}", task.name),
    };
    let gold = task.gold();
    let of = |statistic| -> Result<Vec<Option<f64>>> {
        let sample = Sample::new(statistic, &gold, &result.scores)?;
        let x100 = |value: Option<f64>| value.map(|value| 100.0 * value);
        Ok(bootstrap.replicates(&data, &sample).into_iter().map(x100).collect())
    };
    let both = of(Statistic::Pearson)?.into_iter().zip(of(Statistic::Spearman)?);
    let pair = |(pearson_r_x100, spearman_rho_x100)| Correlations { pearson_r_x100, spearman_rho_x100 };
    Ok(both.map(pair).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sts::protocol::evaluate_sts_scorer;
    use senv_data::{Scale, StsPair};

    const DRAWS: Bootstrap = Bootstrap { resamples: 400, seed: 1 };

    /// Pairs whose score is the gold score plus a deviation.
    fn task(name: &str, year: u16, n: usize) -> StsTask {
        let pair = |i: usize| StsPair {
            relatedness: (i % 6) as f64,
            first: "a".repeat(i % 6 + 1),
            second: "b".repeat(i * 7 % 5),
        };
        let (path, pairs) = (PathBuf::from(name), (0..n).map(pair).collect());
        let (name, year, scale) = (name.to_owned(), Some(year), Scale::STS);
        StsTask { name, year, path, scale, pairs, n_unscored: 0, n_empty_sentences: 0 }
    }

    fn result(tasks: &[StsTask]) -> StsResult {
        let scorer =
            |pairs: &[(&str, &str)]| Ok(pairs.iter().map(|(a, b)| (a.len() as f64 + b.len() as f64) / 20.0).collect());
        evaluate_sts_scorer(&scorer, tasks).unwrap()
    }

    #[test]
    fn intervals_hold_their_values_and_narrow_with_more_pairs_and_more_tasks() {
        let tasks = [task("small", 2013, 60), task("large", 2013, 600), task("other", 2014, 60)];
        let plain = result(&tasks);
        let with = plain.clone().with_intervals(&tasks, DRAWS).unwrap();
        assert_eq!(with, plain.clone().with_intervals(&tasks, DRAWS).unwrap(), "the same draws");
        let intervals = with.intervals.clone().unwrap();
        let width = |of: CorrelationIntervals, value: Correlations| {
            let (r, rho) = (value.pearson_r_x100, value.spearman_rho_x100);
            for (interval, value) in [(of.pearson_r_x100, r), (of.spearman_rho_x100, rho)] {
                let ((low, high), value) = (interval.unwrap(), value.unwrap());
                assert!(low < value && value < high, "{low} {value} {high}");
            }
            let (low, high) = of.pearson_r_x100.unwrap();
            high - low
        };
        let of_task = |i: usize| width(intervals.tasks[i].correlations, with.tasks[i].correlations);
        let (small, large, other) = (of_task(0), of_task(1), of_task(2));
        assert!(large < 0.6 * small, "{large} {small}");
        let (years, all) = (&with.years, &with.overall);
        let of_year = width(intervals.years[0].plain_mean_over_tasks, years[0].plain_mean_over_tasks);
        // Half the root of the sum of squares, up to the noise of 400 draws.
        let expected = small.hypot(large) / 2.0;
        assert!((of_year / expected - 1.0).abs() < 0.2, "{of_year} {expected}");
        let weighted = width(intervals.years[0].mean_weighted_by_pairs, years[0].mean_weighted_by_pairs);
        let expected = (60.0 * small).hypot(600.0 * large) / 660.0;
        assert!((weighted / expected - 1.0).abs() < 0.2, "{weighted} {expected}");
        // The only task of its year.
        assert_eq!(intervals.years[1].plain_mean_over_tasks, intervals.tasks[2].correlations);
        let of_all = width(intervals.overall.plain_mean_over_tasks, all.plain_mean_over_tasks);
        assert!(of_all < small && of_all < other);
        width(intervals.overall.plain_mean_of_year_means.unwrap(), all.plain_mean_of_year_means.unwrap());
        width(intervals.overall.mean_weighted_by_pairs, all.mean_weighted_by_pairs);
        let text = with.to_text();
        assert!(text.contains(" ±") && text.contains("bootstrap over the pairs, 400 draws, seed 1"), "{text}");
        assert!(!plain.to_text().contains('±'));
    }

    #[test]
    fn no_draws_undefined_correlations_and_other_tasks() {
        let tasks = [task("a", 2013, 60)];
        assert_eq!(result(&tasks).with_intervals(&tasks, Bootstrap { resamples: 0, seed: 1 }).unwrap(), result(&tasks));
        for other in [vec![task("b", 2013, 60)], vec![task("a", 2013, 59)], vec![]] {
            let error = result(&tasks).with_intervals(&other, DRAWS).unwrap_err();
            assert!(matches!(error, Error::DifferentPairs { .. }), "{error}");
        }
        let flat = |pairs: &[(&str, &str)]| Ok(vec![0.5; pairs.len()]);
        let undefined = evaluate_sts_scorer(&flat, &tasks).unwrap().with_intervals(&tasks, DRAWS).unwrap();
        let intervals = undefined.intervals.unwrap();
        assert_eq!(intervals.tasks[0].correlations, CorrelationIntervals::default());
        assert_eq!(intervals.overall.plain_mean_over_tasks, CorrelationIntervals::default());
    }
}
