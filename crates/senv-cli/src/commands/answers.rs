//! Equal sentences and distant neighbors in the answers of the commands that search.

use std::io::{self, Write};

use crate::failure::{Failure, Result};

/// Whether a sentence equal to the query is an answer.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct EqualArg {
    /// Leave out sentences equal to the query.
    #[arg(long)]
    pub(crate) no_equal: bool,
}

impl EqualArg {
    /// Whether a sentence is left out.
    pub(crate) fn leaves_out(self, query: &str, sentence: &str) -> bool {
        self.no_equal && query == sentence
    }
}

/// The warning for a query that finds only sentences equal to it.
pub(crate) fn only_equal(query: &str) -> String {
    format!("found only sentences equal to {query}, which --no-equal leaves out", query = senv_core::quoted(query))
}

/// Appends the number of times that a sentence occurs, if it occurs more than once.
pub(crate) fn write_times(out: &mut impl Write, count: usize) -> io::Result<()> {
    if count > 1 { write!(out, "\t({count} times)") } else { Ok(()) }
}

/// Refuses NaN and infinite numbers.
pub(crate) fn check_min_score(least: Option<f32>) -> Result {
    match least.filter(|least| !least.is_finite()) {
        Some(least) => Err(Failure::Usage(format!("--min-score must be a number, got {least}"))),
        None => Ok(()),
    }
}

/// The warning for a query without a neighbor that reaches the minimum score.
pub(crate) fn few_near(query: &str, least: f32) -> String {
    let most = if least > 1.0 { "; a cosine is at most 1" } else { "" };
    format!(
        "no sentence has cosine {least} or above with {query} (--min-score){most}",
        query = senv_core::quoted(query)
    )
}
