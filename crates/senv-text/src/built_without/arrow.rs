//! Replaces `table/arrow/` if its feature is off: no file consists of record batches.

use std::{
    convert::Infallible,
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicU64},
};

use senv_base::{Error, Result};

use super::{LineBuffers, TableText};
use crate::InvalidUtf8;

pub(crate) fn not_text(path: PathBuf, found: &'static str, _: bool) -> Error {
    let remedy = "use a build with the feature `arrow`, or export its text column to a file with one sentence per \
        line";
    Error::NotText { path, found, remedy }
}

pub(crate) struct ArrowLines(Infallible);

impl ArrowLines {
    pub(crate) fn open(_: &TableText, _: &Path, _: (InvalidUtf8, bool), _: &Arc<AtomicU64>) -> Result<Option<Self>> {
        Ok(None)
    }

    pub(crate) fn next_lines(&mut self, _: &Path, _: usize, _: usize, _: LineBuffers<'_>) -> Result<bool> {
        match self.0 {}
    }
}

pub(crate) fn is_arrow(_: &Path) -> bool {
    false
}

pub(crate) fn titles(_: &Path) -> Result<Option<Vec<String>>> {
    Ok(None)
}

pub(crate) fn n_parquet_rows(_: &Path, _: &TableText) -> Result<Option<u64>> {
    Ok(None)
}
