//! Equal sentences in the answers of the commands that search.

use std::io::{self, Write};

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
    format!("nothing was found for {query:?} but what is equal to it (--no-equal)")
}

/// Writes how often a sentence is there behind it, unless it is there once.
pub(crate) fn write_times(out: &mut impl Write, count: usize) -> io::Result<()> {
    if count > 1 { write!(out, "\t({count} times)") } else { Ok(()) }
}
