//! What several published tables give: correlations of a system task by task, and on a data set of relatedness.

use serde::Serialize;

use super::table::{Row, Table};
use crate::score::{correlations::Correlations, scoring_method::ScoringMethod};

/// One system as a paper reports it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PublishedSystem {
    /// The system's name, with its training data where the paper has several.
    pub system: &'static str,
    /// Authors, venue, year, table.
    pub source: &'static str,
    /// The cells.
    pub values: Vec<PublishedValue>,
}

/// One cell of a published table.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PublishedValue {
    /// Year of the STS task; `None` for SICK.
    pub year: Option<u16>,
    /// Name of the task as our files name it.
    pub task: &'static str,
    /// The numbers, times 100.
    #[serde(flatten)]
    pub correlations: Correlations,
}

impl PublishedSystem {
    /// The published numbers of a task, if the paper has them. Letter case and punctuation of the name do not
    /// matter (`deft_forum` finds `deft-forum`).
    #[must_use]
    pub fn value(&self, year: Option<u16>, task: &str) -> Option<Correlations> {
        let plain = |name: &str| -> String {
            name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
        };
        let wanted = plain(task);
        self.values.iter().find(|v| v.year == year && plain(v.task) == wanted).map(|v| v.correlations)
    }
}

/// A row of a published table of relatedness.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PublishedRelatedness {
    /// The system's name.
    pub system: &'static str,
    /// The paper and its table.
    pub source: &'static str,
    /// The part of the data set: the test part, but for the Sent2Vec paper.
    pub part: &'static str,
    /// Where the scores come from.
    pub scored_by: ScoringMethod,
    /// The correlations, times 100; `None` where the paper prints none.
    #[serde(flatten)]
    pub correlations: Correlations,
    /// The mean squared error, where printed.
    pub mse: Option<f64>,
}

/// The part of a data set that most papers report on.
pub(super) const TEST_PART: &str = "test part";

/// A share as printed, times 100. Rounding undoes the noise of the multiplication.
pub(super) fn x100(share: f64) -> f64 {
    (10_000.0 * share).round() / 100.0
}

/// Correlations as printed, times 100.
pub(super) fn correlations(r: f64, rho: Option<f64>) -> Correlations {
    Correlations { pearson_r_x100: Some(x100(r)), spearman_rho_x100: rho.map(x100) }
}

impl PublishedRelatedness {
    /// A row with the columns `r`, `rho` and `mse`.
    pub(super) fn of(row: Row<'_>, scored_by: ScoringMethod) -> Option<Self> {
        Some(Self {
            system: row.system()?,
            source: row.source(),
            part: TEST_PART,
            scored_by,
            correlations: correlations(row.number("r")?, row.number("rho")),
            mse: row.number("mse"),
        })
    }
}

/// The systems of a table that has a column for each of them, and a row for each task.
pub(super) fn systems_by_column(
    table: &Table,
    cell: impl Fn(Row<'_>, &str) -> Option<Correlations>,
) -> Vec<PublishedSystem> {
    let systems = table.columns().iter().filter(|column| !["year", "task"].contains(column));
    let system = |system: &&'static str| {
        let value = |row: Row<'_>| {
            let year = row.text("year").and_then(|year| year.parse().ok());
            Some(PublishedValue { year, task: row.text("task")?, correlations: cell(row, system)? })
        };
        let source = table.rows().next().map_or("", |row| row.source());
        PublishedSystem { system, source, values: table.rows().filter_map(value).collect() }
    };
    systems.map(system).collect()
}
