//! The outcome of a task for a system: the score of each item, and further measurements.

use serde::{Deserialize, Serialize};

use super::figure::Figure;

/// A measurement in addition to the headline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Detail {
    /// Name of the measurement, with its unit.
    pub name: String,
    /// Value; `None` if it is undefined.
    pub value: Option<f64>,
}

/// The outcome of a task for a system.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TaskOutcome {
    /// One score per item, in the order of the data. The headline is computed from them and the gold values of the
    /// task. They are f32, the type in which cosines are computed.
    pub(super) scores: Vec<f32>,
    /// Further measurements.
    pub(super) details: Vec<Detail>,
    /// Figures of the task.
    pub(super) figures: Vec<Figure>,
}

impl TaskOutcome {
    pub(super) fn new(scores: impl IntoIterator<Item = f64>, details: &[(&str, Option<f64>)]) -> Self {
        let details = details.iter().map(|&(name, value)| Detail { name: name.to_owned(), value }).collect();
        Self { scores: scores.into_iter().map(|score| score as f32).collect(), details, figures: Vec::new() }
    }
}
