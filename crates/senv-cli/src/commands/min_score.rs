//! `--min-score` of the commands that search.

use crate::failure::{Failure, Result};

/// Refuses NaN and infinite numbers.
pub(super) fn check_min_score(least: Option<f32>) -> Result {
    match least.filter(|least| !least.is_finite()) {
        Some(least) => Err(Failure::Usage(format!("--min-score must be a number, got {least}"))),
        None => Ok(()),
    }
}

/// What to say of a query that has no neighbour near enough.
pub(super) fn few_near(query: &str, least: f32) -> String {
    format!("no sentence has a cosine of {least} or more with {query:?} (--min-score)")
}
