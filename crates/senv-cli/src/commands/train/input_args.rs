//! The text that a system is trained on, as an argument.

use std::{path::PathBuf, sync::OnceLock};

use senv::jobs::FolderContent;

use crate::{
    failure::Result,
    folders::{Collections, open_folders},
};

/// Text, given by position or with `--input`.
#[derive(Debug, Clone, clap::Args)]
#[group(required = true, multiple = false)]
pub(crate) struct InputArgs {
    /// Text, one sentence per line; plain, .gz or .zst; a folder of .txt and .md files; - is standard input.
    ///
    /// For a system that learns from neighboring sentences, in order and with a blank line between documents.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The same as FILE.
    #[arg(long, short, value_name = "FILE", num_args = 1.., help_heading = "Files")]
    input: Vec<PathBuf>,
    /// The files with those of folders, once these are opened.
    #[arg(skip)]
    opened: OnceLock<Vec<PathBuf>>,
}

impl InputArgs {
    /// Puts the files of folders in their place.
    pub(crate) fn open_folders(&self, content: FolderContent) -> Result {
        let mut paths = self.paths().to_vec();
        open_folders(&mut paths, content, Collections::Refused)?;
        self.opened.get_or_init(|| paths);
        Ok(())
    }

    /// The files, at least one.
    pub(crate) fn paths(&self) -> &[PathBuf] {
        let given = if self.files.is_empty() { &self.input } else { &self.files };
        self.opened.get().unwrap_or(given)
    }
}
