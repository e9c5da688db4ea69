//! In the place of `table/arrow/` where its feature is off: no file is one of record batches.

use std::{
    convert::Infallible,
    path::Path,
    sync::{Arc, atomic::AtomicU64},
};

use senv_base::Result;

use super::TableText;
use crate::InvalidUtf8;

pub(crate) const COLUMN_OF_BATCHES: &str =
    "a build with the feature `arrow` reads a column of it; or write that to a file, one sentence a line";
pub(crate) const BATCHES_NEED_A_FILE: &str = COLUMN_OF_BATCHES;

pub(crate) struct ArrowLines(Infallible);

impl ArrowLines {
    pub(crate) fn open(_: &TableText, _: &Path, _: InvalidUtf8, _: &Arc<AtomicU64>) -> Result<Option<Self>> {
        Ok(None)
    }

    pub(crate) fn next_lines(
        &mut self,
        _: &Path,
        _: usize,
        _: usize,
        _: (&mut Vec<u8>, &mut Vec<u64>),
    ) -> Result<bool> {
        match self.0 {}
    }
}

pub(crate) fn n_parquet_rows(_: &Path, _: &TableText) -> Result<Option<u64>> {
    Ok(None)
}
