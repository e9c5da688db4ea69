//! Significance test of two systems: do they score the same pairs differently?
//!
//! Per task, Wilcoxon's signed-rank test is applied to the paired cosines of two systems. It is two-sided, drops zero
//! differences, and uses the normal approximation with the tie term and no continuity correction. Kenter, Borisov and
//! de Rijke (Siamese CBOW, ACL 2016) mark their table this way. The test says that the scores differ in level, not that
//! one system is better, so the correlations are printed next to it.

use senv_data::task_label;
use serde::Serialize;

use crate::{
    error::{Error, Result},
    report::{Align, TextTable, number},
    score::correlations::Correlations,
    sts::result::{StsResult, StsTaskResult},
};

/// Differences with a p-value below this are marked, as in Kenter et al. 2016.
pub(crate) const SIGNIFICANCE_LEVEL: f64 = 1e-4;

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
    /// Number of pairs that the two systems score differently. The test drops the others.
    pub n_different: usize,
    /// Correlations of the first system.
    pub first: Correlations,
    /// Correlations of the second system.
    pub second: Correlations,
    /// Two-sided p-value, in `[0, 1]`; `None` if no pair differs.
    pub p_value: Option<f64>,
    /// Whether the p-value is below the level of the comparison.
    pub significant: bool,
}

/// Two systems on the tasks of STS.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct StsComparison {
    /// The level below which a p-value counts as significant.
    pub level: f64,
    /// Comparisons per task, in the order of the results.
    pub tasks: Vec<TaskComparison>,
}

/// Compares the scores of two systems on the same tasks.
///
/// # Errors
/// [`Error::DifferentPairs`] if the results are not of the same tasks in the same order, with the same numbers of
/// pairs; [`Error::Metrics`] from the test.
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
        let test = senv_metrics::wilcoxon(&a.scores, &b.scores)?;
        let p_value = test.p_value;
        tasks.push(TaskComparison {
            name: a.name.clone(),
            year: a.year,
            n_pairs: a.n_pairs,
            n_different: test.n_used,
            first: a.correlations,
            second: b.correlations,
            p_value,
            significant: p_value.is_some_and(|p| p < SIGNIFICANCE_LEVEL),
        });
    }
    Ok(StsComparison { level: SIGNIFICANCE_LEVEL, tasks })
}

impl StsComparison {
    /// Formats the comparison in aligned columns under the two systems' names; `†` marks a significant difference.
    #[must_use]
    pub fn to_text(&self, first: &str, second: &str) -> String {
        let number_of = |system: &str, what: &str| (format!("{system}\n{what}"), Align::Right);
        let mut table = TextTable::new([
            ("task".to_owned(), Align::Left),
            ("pairs".to_owned(), Align::Right),
            number_of(first, "pearson r x100"),
            number_of(first, "spearman rho x100"),
            number_of(second, "pearson r x100"),
            number_of(second, "spearman rho x100"),
            ("p-value".to_owned(), Align::Right),
            (String::new(), Align::Left),
        ]);
        for task in &self.tasks {
            table.row([
                task_label(task.year, &task.name),
                task.n_pairs.to_string(),
                number(task.first.pearson_r_x100, 2),
                number(task.first.spearman_rho_x100, 2),
                number(task.second.pearson_r_x100, 2),
                number(task.second.spearman_rho_x100, 2),
                task.p_value.map_or_else(|| "-".to_owned(), |p| format!("{p:.1e}")),
                if task.significant { "†" } else { "" }.to_owned(),
            ]);
        }
        format!("{table}† the paired cosines differ, Wilcoxon signed rank, two-sided, p < {:e}\n", self.level)
    }
}
