//! What the commands that search say of their answers: equal sentences, and those that are near enough.

use std::io::{self, Write};

use crate::failure::{Failure, Result};

/// Whether what equals the query is an answer.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct EqualArg {
    /// Leave out sentences that are equal to the query.
    #[arg(long)]
    pub(crate) no_equal: bool,
}

impl EqualArg {
    /// Whether a sentence is left out.
    pub(crate) fn leaves_out(self, query: &str, sentence: &str) -> bool {
        self.no_equal && query == sentence
    }
}

/// What to say of a query that equals all that was found.
pub(crate) fn only_equal(query: &str) -> String {
    format!("nothing was found for {query} but what is equal to it (--no-equal)", query = senv_core::quoted(query))
}

/// Writes how often a sentence is there behind it, unless it is there once.
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

/// What to say of a query that has no neighbour near enough.
pub(crate) fn few_near(query: &str, least: f32) -> String {
    format!("no sentence has a cosine of {least} or more with {query} (--min-score)", query = senv_core::quoted(query))
}
