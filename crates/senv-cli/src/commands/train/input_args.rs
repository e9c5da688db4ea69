//! The text that a system is trained on, as an argument.

use std::path::PathBuf;

/// Text, given by position or with `--input`.
#[derive(Debug, Clone, clap::Args)]
#[group(required = true, multiple = false)]
pub(crate) struct InputArgs {
    /// Text, one sentence per line; plain, .gz or .zst; - is standard input.
    ///
    /// For a system that learns from neighboring sentences, in order and with a blank line between documents.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The same as FILE.
    #[arg(long, short, value_name = "FILE", num_args = 1.., help_heading = "Files")]
    input: Vec<PathBuf>,
}

impl InputArgs {
    /// The files, at least one.
    pub(crate) fn paths(&self) -> &[PathBuf] {
        if self.files.is_empty() { &self.input } else { &self.files }
    }
}
