//! Significance test of two systems: does one correlate better with the gold scores?
//!
//! Per task, [`correlation_difference_p`] tests the difference of Pearson's r, and [`rank_correlation_difference_p`]
//! that of Spearman's ρ. Holm's correction over the tasks follows. Wilcoxon's signed-rank test of the cosines is there
//! for the table of Kenter, Borisov and de Rijke (Siamese CBOW, ACL 2016), which is marked by it. It only says that the
//! cosines differ in level, which does not change a correlation.

use senv_data::task_label;
use senv_metrics::{correlation_difference_p, rank_correlation_difference_p};
use serde::Serialize;

use crate::{
    error::{Error, Result},
    report::{Align, TextTable, number},
    score::{
        correlations::Correlations,
        p_values::{corrected, p_text},
    },
    sts::result::{StsResult, StsTaskResult},
};

/// Differences with a corrected p-value below this are marked.
pub(crate) const SIGNIFICANCE_LEVEL: f64 = 0.05;

/// Two systems on one task.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TaskComparison {
    /// Name of the task.
    pub name: String,
    /// Year of the task, where known.
    pub year: Option<u16>,
    /// Number of scored pairs.
    pub n_pairs: usize,
    /// Correlations of the first system.
    pub first: Correlations,
    /// Correlations of the second system.
    pub second: Correlations,
    /// Correlations of the cosines of the two systems with each other.
    pub between: Correlations,
    /// Two-sided p-value under the hypothesis that Pearson's r is the same, in `[0, 1]`; `None` if it is undefined.
    pub p_pearson: Option<f64>,
    /// The same, after Holm's correction over the tasks.
    pub p_pearson_holm: Option<f64>,
    /// Two-sided p-value under the hypothesis that Spearman's ρ is the same, in `[0, 1]`; `None` if it is undefined.
    pub p_spearman: Option<f64>,
    /// The same, after Holm's correction over the tasks.
    pub p_spearman_holm: Option<f64>,
    /// Two-sided p-value of Wilcoxon's test under the hypothesis that the cosines do not differ in level, in `[0, 1]`;
    /// `None` if no pair differs.
    pub p_wilcoxon: Option<f64>,
}

/// Two systems on the tasks of STS.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct StsComparison {
    /// The level below which a corrected p-value counts as significant.
    pub level: f64,
    /// Comparisons per task, in the order of the results.
    pub tasks: Vec<TaskComparison>,
}

/// Compares the correlations of two systems on the same tasks.
///
/// # Errors
/// [`Error::DifferentPairs`] if the results are not of the same tasks in the same order, with the same numbers of
/// pairs; [`Error::Metrics`] from the tests.
pub fn compare_sts(first: &StsResult, second: &StsResult) -> Result<StsComparison> {
    let different = |first: String, second: String| Err(Error::DifferentPairs { first, second });
    if first.tasks.len() != second.tasks.len() {
        return different(format!("{} tasks", first.tasks.len()), format!("{} tasks", second.tasks.len()));
    }
    let mut tasks = Vec::with_capacity(first.tasks.len());
    for (a, b) in first.tasks.iter().zip(&second.tasks) {
        let name =
            |task: &StsTaskResult| format!("{} with {} pairs", task_label(task.year, &task.name), task.scores.len());
        if (a.year, &a.name, a.scores.len()) != (b.year, &b.name, b.scores.len()) {
            return different(name(a), name(b));
        }
        let (first, second) = (a.correlations, b.correlations);
        let between = Correlations::between(&a.scores, &b.scores)?;
        let n_pairs = a.scores.len();
        let test = |of: fn(&Correlations) -> Option<f64>, test: Test| match (of(&first), of(&second), of(&between)) {
            (Some(a), Some(b), Some(s)) => {
                // Times 100 and back, a correlation can leave the range by rounding.
                let [a, b, s] = [a, b, s].map(|x100| (x100 / 100.0).clamp(-1.0, 1.0));
                test(a, b, s, n_pairs)
            }
            _ => Ok(None),
        };
        tasks.push(TaskComparison {
            name: a.name.clone(),
            year: a.year,
            n_pairs: a.n_pairs,
            first,
            second,
            between,
            p_pearson: test(|c| c.pearson_r_x100, correlation_difference_p)?,
            p_pearson_holm: None,
            p_spearman: test(|c| c.spearman_rho_x100, rank_correlation_difference_p)?,
            p_spearman_holm: None,
            p_wilcoxon: senv_metrics::wilcoxon(&a.scores, &b.scores)?.p_value,
        });
    }
    let p_values = |of: fn(&TaskComparison) -> Option<f64>| corrected(&tasks.iter().map(of).collect::<Vec<_>>());
    let (of_pearson, of_spearman) = (p_values(|task| task.p_pearson)?, p_values(|task| task.p_spearman)?);
    for (task, (pearson, spearman)) in tasks.iter_mut().zip(of_pearson.into_iter().zip(of_spearman)) {
        (task.p_pearson_holm, task.p_spearman_holm) = (pearson, spearman);
    }
    Ok(StsComparison { level: SIGNIFICANCE_LEVEL, tasks })
}

/// A test of two correlations: that of each system, that between the two, and the number of pairs.
type Test = fn(f64, f64, f64, usize) -> senv_metrics::Result<Option<f64>>;

impl StsComparison {
    /// Whether a corrected p-value is below the level.
    #[must_use]
    pub fn is_significant(&self, p: Option<f64>) -> bool {
        p.is_some_and(|p| p < self.level)
    }

    /// Formats the comparison in aligned columns under the two systems' names; `†` marks a significant difference.
    #[must_use]
    pub fn to_text(&self, first: &str, second: &str) -> String {
        let number_of = |system: &str, what: &str| (format!("{system}\n{what}"), Align::Right);
        let mark_column = || (String::new(), Align::Left);
        let mut table = TextTable::new([
            ("task".to_owned(), Align::Left),
            ("pairs".to_owned(), Align::Right),
            number_of(first, "pearson r x100"),
            number_of(second, "pearson r x100"),
            ("p".to_owned(), Align::Right),
            mark_column(),
            number_of(first, "spearman rho x100"),
            number_of(second, "spearman rho x100"),
            ("p".to_owned(), Align::Right),
            mark_column(),
        ]);
        let mark = |p| if self.is_significant(p) { "†" } else { "" }.to_owned();
        for task in &self.tasks {
            table.row([
                task_label(task.year, &task.name),
                task.n_pairs.to_string(),
                number(task.first.pearson_r_x100, 2),
                number(task.second.pearson_r_x100, 2),
                p_text(task.p_pearson_holm),
                mark(task.p_pearson_holm),
                number(task.first.spearman_rho_x100, 2),
                number(task.second.spearman_rho_x100, 2),
                p_text(task.p_spearman_holm),
                mark(task.p_spearman_holm),
            ]);
        }
        format!(
            "{table}p: the correlations are equal (Meng, Rosenthal and Rubin 1992, two-sided, Holm's correction over the \
            tasks); † p < {}\n",
            self.level
        )
    }
}
