//! What a task gives for a system: the score of each item, and what else is worth printing.

use serde::{Deserialize, Serialize};

use super::figure::Figure;

/// A number beside the headline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Detail {
    /// What it is, with its unit.
    pub name: String,
    /// Its value; `None` where it is undefined.
    pub value: Option<f64>,
}

/// What a task gives for a system.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TaskOutcome {
    /// One score an item, in the order of the data; with the gold values of the task they give the headline. Kept in
    /// f32, which is what cosines are computed in.
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
