//! Rows shared by several published tables: correlations of a system by task, and results on a relatedness data set.

use serde::Serialize;

use super::table::{Row, Table};
use crate::score::{correlations::Correlations, scoring_method::ScoringMethod};

/// One system as reported by a paper.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PublishedSystem {
    /// The system's name, with its training data if the paper has several.
    pub system: &'static str,
    /// Authors, venue, year and table.
    pub source: &'static str,
    /// The cells of the system.
    pub values: Vec<PublishedValue>,
}

/// One cell of a published table.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PublishedValue {
    /// Year of the STS task; `None` for SICK.
    pub year: Option<u16>,
    /// Name of the task, as in our files.
    pub task: &'static str,
    /// The correlations, times 100.
    #[serde(flatten)]
    pub correlations: Correlations,
}

impl PublishedSystem {
    /// Returns the published values of a task, if the paper has them. Letter case and punctuation of the name are
    /// ignored (`deft_forum` finds `deft-forum`).
    #[must_use]
    pub fn value(&self, year: Option<u16>, task: &str) -> Option<Correlations> {
        let wanted = plain_name(task);
        self.values.iter().find(|v| v.year == year && plain_name(v.task) == wanted).map(|v| v.correlations)
    }
}

/// Returns a name in lower case, without punctuation.
pub(crate) fn plain_name(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// A row of a published table of relatedness.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PublishedRelatedness {
    /// The system's name.
    pub system: &'static str,
    /// The paper and its table.
    pub source: &'static str,
    /// The part of the data set: the test set, except for the Sent2Vec paper.
    pub part: &'static str,
    /// How the pairs were scored.
    pub scored_by: ScoringMethod,
    /// The correlations, times 100; `None` if the paper prints none.
    #[serde(flatten)]
    pub correlations: Correlations,
    /// The mean squared error, if printed.
    pub mse: Option<f64>,
}

/// The part of a data set that most papers report on.
pub(super) const TEST_PART: &str = "test part";

/// Converts a printed share to percent. Rounding removes the error of the multiplication.
pub(super) fn x100(share: f64) -> f64 {
    (10_000.0 * share).round() / 100.0
}

/// Converts printed correlations to percent.
pub(super) fn correlations(r: f64, rho: Option<f64>) -> Correlations {
    Correlations { pearson_r_x100: Some(x100(r)), spearman_rho_x100: rho.map(x100) }
}

impl PublishedRelatedness {
    /// Reads a row with the columns `r`, `rho` and `mse`.
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

/// Reads the systems of a table with one column per system and one row per task.
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
