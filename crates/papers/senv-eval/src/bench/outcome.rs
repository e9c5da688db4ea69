//! The result of a task for a system: the score of each item, and other numbers and figures.

use serde::{Deserialize, Serialize};

use super::figure::Figure;

/// A number that is reported in addition to the headline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Detail {
    /// The name of the number, with its unit.
    pub name: String,
    /// The value; `None` if it is undefined.
    pub value: Option<f64>,
}

/// The result of a task for a system.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TaskOutcome {
    /// One score per item, in the order of the data. With the gold values of the task they give the headline. Scores
    /// are f32, the type in which cosines are computed.
    pub(super) scores: Vec<f32>,
    /// Other numbers.
    pub(super) details: Vec<Detail>,
    /// Figures.
    pub(super) figures: Vec<Figure>,
}

impl TaskOutcome {
    pub(super) fn new(scores: impl IntoIterator<Item = f64>, details: &[(&str, Option<f64>)]) -> Self {
        let details = details.iter().map(|&(name, value)| Detail { name: name.to_owned(), value }).collect();
        Self { scores: scores.into_iter().map(|score| score as f32).collect(), details, figures: Vec::new() }
    }
}
