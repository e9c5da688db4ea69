//! The text that a system is trained on, as an argument.

use std::path::PathBuf;

/// Text, given by position or with `--input`.
#[derive(Debug, Clone, clap::Args)]
#[group(required = true, multiple = false)]
pub(crate) struct InputArgs {
    /// The same as --input.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Text, one sentence a line; in order, with a blank line between documents, where the system learns from
    /// neighbouring sentences; plain, .gz or .zst; - is standard input.
    #[arg(long, short, value_name = "FILE", num_args = 1.., help_heading = "Files")]
    input: Vec<PathBuf>,
}

impl InputArgs {
    /// The files, one at least.
    pub(crate) fn paths(&self) -> &[PathBuf] {
        if self.files.is_empty() { &self.input } else { &self.files }
    }
}
