//! Comparison of two systems by task: the difference with its interval, and two tests, corrected over the tasks.
//!
//! The paired bootstrap tests whether one system has the higher value. Wilcoxon's signed-rank test asks whether their
//! scores of the same items differ in level. It applies only where the value is a mean or a median of these scores. A
//! system can score every pair higher and rank the pairs the same, so the level says nothing about a correlation, a
//! precision or an area under a curve.

use rayon::prelude::*;
use senv_metrics::{Bootstrap, Statistic, bootstrap_p, paired_differences, percentile_interval, wilcoxon};
use serde::Serialize;

use super::record::{BenchRecord, MIN_ITEMS, SystemRecord, TaskRecord, TaskResult};
use crate::{
    error::{Error, Result},
    report::{Align, TOO_FEW, TextTable, number},
    score::p_values::{corrected, p_text},
};

/// Two systems on one task.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TaskDifference {
    /// The key of the task.
    pub task: String,
    /// Year and name of the task.
    pub label: String,
    /// The headline metric.
    pub metric: String,
    /// Number of items.
    pub n_items: usize,
    /// Value of the first system.
    pub first: Option<f64>,
    /// Value of the second system.
    pub second: Option<f64>,
    /// First minus second.
    pub difference: Option<f64>,
    /// The 95 % interval of the difference; like the p-values, `None` for fewer than [`MIN_ITEMS`] items.
    pub interval: Option<(f64, f64)>,
    /// p-value of the paired bootstrap under the hypothesis that the values are equal.
    pub p_bootstrap: Option<f64>,
    /// The same, after Holm's correction over the tasks.
    pub p_bootstrap_holm: Option<f64>,
    /// p-value of Wilcoxon's test under the hypothesis that the item scores do not differ in level; `None` if the value
    /// is not a mean or a median of them.
    pub p_wilcoxon: Option<f64>,
    /// The same, after Holm's correction over the tasks.
    pub p_wilcoxon_holm: Option<f64>,
}

/// Two systems on all tasks that both have.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct BenchComparison {
    /// The name of the first system.
    pub first: String,
    /// The name of the second system.
    pub second: String,
    /// Number of draws of the bootstrap.
    pub resamples: usize,
    /// Random seed of the bootstrap.
    pub seed: u64,
    /// Differences per task.
    pub tasks: Vec<TaskDifference>,
    /// Tasks that only one of the two records has.
    pub left_out: Vec<String>,
}

/// Default number of draws of a comparison: 10,000. The smallest possible p-value is 2 / (draws + 1), and Holm's
/// correction multiplies it by the number of tasks. With the 1,000 draws of an interval, 30 tasks could not show a
/// difference.
pub const DEFAULT_COMPARISON_RESAMPLES: usize = 10_000;

/// Compares two systems, of one record or of two, on the tasks that both have.
///
/// # Errors
/// [`Error::DifferentPairs`] if a task of the same name was read from other files, if there is no task in common, or if
/// the numbers of items differ; [`Error::Metrics`] from the tests.
pub fn compare_systems(
    first: (&BenchRecord, &SystemRecord),
    second: (&BenchRecord, &SystemRecord),
    bootstrap: Bootstrap,
) -> Result<BenchComparison> {
    let mut shared: Vec<(&TaskRecord, &TaskRecord)> = Vec::new();
    let mut left_out = Vec::new();
    for task in first.0.own_first() {
        match second.0.tasks.iter().find(|other| other.key == task.key) {
            Some(other) => {
                check_same(task, other)?;
                shared.push((task, other));
            }
            None => left_out.push(task.key.clone()),
        }
    }
    let only_second = second.0.tasks.iter().filter(|task| first.0.tasks.iter().all(|other| other.key != task.key));
    left_out.extend(only_second.map(|task| task.key.clone()));
    if shared.is_empty() {
        let names = |record: &BenchRecord| record.tasks.iter().map(|t| &t.key[..]).collect::<Vec<_>>().join(", ");
        return Err(Error::DifferentPairs { first: names(first.0), second: names(second.0) });
    }
    let mut tasks = shared
        .par_iter()
        .map(|(task, _)| difference(task, first.1, second.1, bootstrap))
        .collect::<Result<Vec<TaskDifference>>>()?;
    correct(&mut tasks, |task| task.p_bootstrap, |task| &mut task.p_bootstrap_holm)?;
    correct(&mut tasks, |task| task.p_wilcoxon, |task| &mut task.p_wilcoxon_holm)?;
    let (first_name, second_name) = (first.1.name.clone(), second.1.name.clone());
    let Bootstrap { resamples, seed } = bootstrap;
    Ok(BenchComparison { first: first_name, second: second_name, resamples, seed, tasks, left_out })
}

/// Checks that both tasks were read from the same bytes.
fn check_same(first: &TaskRecord, second: &TaskRecord) -> Result<()> {
    let sums = |task: &TaskRecord| task.files.iter().map(|file| file.sha256.clone()).collect::<Vec<_>>();
    if sums(first) == sums(second) && first.gold.len() == second.gold.len() {
        return Ok(());
    }
    let name = |task: &TaskRecord| {
        let files = task.files.iter().map(|file| format!("{} (SHA-256 {:.12})", file.path, file.sha256));
        format!("{} from {}", task.key, files.collect::<Vec<_>>().join(", "))
    };
    Err(Error::DifferentPairs { first: name(first), second: name(second) })
}

fn difference(
    task: &TaskRecord,
    first: &SystemRecord,
    second: &SystemRecord,
    bootstrap: Bootstrap,
) -> Result<TaskDifference> {
    let protocol = task.protocol();
    let (a, b) = (first.result(&task.key), second.result(&task.key));
    let value = |result: Option<&TaskResult>| result.and_then(|result| result.value);
    let mut row = TaskDifference {
        task: task.key.clone(),
        label: format!("{} {}", task.protocol, task.label()),
        metric: protocol.map_or_else(String::new, |protocol| protocol.metric.to_owned()),
        n_items: a.map_or(0, |result| result.scores.len()),
        first: value(a),
        second: value(b),
        difference: value(a).zip(value(b)).map(|(a, b)| a - b),
        interval: None,
        p_bootstrap: None,
        p_bootstrap_holm: None,
        p_wilcoxon: None,
        p_wilcoxon_holm: None,
    };
    let (Some(a), Some(b), Some(protocol), Some(_)) = (a, b, protocol, row.difference) else { return Ok(row) };
    if a.scores.len() != b.scores.len() {
        let items = |n: usize| format!("{} with {n} items", task.key);
        return Err(Error::DifferentPairs { first: items(a.scores.len()), second: items(b.scores.len()) });
    }
    if row.n_items < MIN_ITEMS {
        return Ok(row);
    }
    let differences = paired_differences(&task.draws(a, bootstrap)?, &task.draws(b, bootstrap)?)?;
    row.interval = percentile_interval(&differences).map(|i| (protocol.factor * i.low, protocol.factor * i.high));
    row.p_bootstrap = bootstrap_p(&differences);
    if matches!(protocol.statistic, Statistic::Mean | Statistic::Median) {
        let scores = |result: &TaskResult| result.scores.iter().map(|&score| f64::from(score)).collect::<Vec<_>>();
        row.p_wilcoxon = wilcoxon(&scores(a), &scores(b))?.p_value;
    }
    Ok(row)
}

/// Corrects one kind of p-value over the tasks that have it.
fn correct(
    tasks: &mut [TaskDifference],
    of: impl Fn(&TaskDifference) -> Option<f64>,
    into: impl Fn(&mut TaskDifference) -> &mut Option<f64>,
) -> Result<()> {
    let p_values = corrected(&tasks.iter().map(of).collect::<Vec<_>>())?;
    tasks.iter_mut().zip(p_values).for_each(|(task, p)| *into(task) = p);
    Ok(())
}

impl TaskDifference {
    /// Whether there is a difference, of too few items for an interval and a test.
    fn is_of_too_few(&self) -> bool {
        self.difference.is_some() && self.n_items < MIN_ITEMS
    }
}

impl BenchComparison {
    /// Formats one row per task, in aligned columns.
    #[must_use]
    pub fn to_text(&self) -> String {
        let columns = [
            ("task", Align::Left),
            ("items", Align::Right),
            (&self.first[..], Align::Right),
            (&self.second[..], Align::Right),
            ("difference", Align::Right),
            ("95 % interval", Align::Right),
            ("p, bootstrap\n(Holm)", Align::Right),
            ("p, Wilcoxon\n(Holm)", Align::Right),
        ];
        let mut table = TextTable::new(columns);
        for task in &self.tasks {
            let none = if task.is_of_too_few() { TOO_FEW } else { "-" };
            let interval =
                task.interval.map_or_else(|| none.to_owned(), |(low, high)| format!("{low:+.2} to {high:+.2}"));
            table.row([
                task.label.clone(),
                task.n_items.to_string(),
                number(task.first, 2),
                number(task.second, 2),
                task.difference.map_or_else(|| "-".to_owned(), |d| format!("{d:+.2}")),
                interval,
                p_text(task.p_bootstrap_holm),
                p_text(task.p_wilcoxon_holm),
            ]);
        }
        let mut text = format!(
            "{table}paired bootstrap, {} draws, seed {}: is the number higher? Wilcoxon, for means: do the item \
            scores differ?\nboth corrected over the tasks (Holm)\n",
            self.resamples, self.seed
        );
        if self.tasks.iter().any(TaskDifference::is_of_too_few) {
            text += &format!("{TOO_FEW}: fewer than {MIN_ITEMS} items, so no interval and no test\n");
        }
        if !self.left_out.is_empty() {
            text += &format!("only in one of the two: {}\n", self.left_out.join(", "));
        }
        text
    }
}
