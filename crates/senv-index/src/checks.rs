//! Checksums for the blocks of a memory-mapped file. Each block is checked when it is first used.

use std::{
    ops::Range,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
};

use rayon::prelude::*;
use senv_core::files::SharedBytes;

use crate::code_kernels::PLANE_ROWS;

use crate::{Error, Result};

/// The maximum block size in bytes, unless a row is larger.
const BLOCK: usize = 1 << 16;

/// Bytes in a block of a tensor: as many whole rows as fit in [`BLOCK`], at least one.
pub(crate) fn block_len(row_bytes: usize) -> usize {
    let row_bytes = row_bytes.max(1);
    (BLOCK / row_bytes).max(1) * row_bytes
}

/// The checksums of the blocks of a tensor.
pub(crate) fn sums(bytes: &[u8], row_bytes: usize) -> Vec<u32> {
    bytes.par_chunks(block_len(row_bytes)).map(crc32fast::hash).collect()
}

/// A tensor in a file, with the checksums of its blocks.
#[derive(Debug)]
pub(crate) struct Checked {
    path: PathBuf,
    name: &'static str,
    bytes: SharedBytes,
    block: usize,
    sums: Vec<u32>,
    /// One bit per block, set once its checksum matched.
    fits: Vec<AtomicU64>,
    /// Set once all blocks matched.
    is_whole: AtomicBool,
}

impl Checked {
    /// `sums` has one checksum per block of the tensor.
    pub(crate) fn new(path: &Path, name: &'static str, bytes: SharedBytes, row_bytes: usize, sums: Vec<u32>) -> Self {
        let fits = (0..sums.len().div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        Self {
            path: path.to_owned(),
            name,
            bytes,
            block: block_len(row_bytes),
            sums,
            fits,
            is_whole: AtomicBool::new(false),
        }
    }

    /// Checks the blocks of these bytes that were not checked before.
    ///
    /// # Errors
    /// [`Error::Damaged`] for the first block that does not match, or if the bytes are out of range.
    #[inline]
    pub(crate) fn check(&self, bytes: Range<usize>) -> Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        for block in bytes.start / self.block..=(bytes.end - 1) / self.block {
            let fits = self.fits.get(block / 64).is_some_and(|fits| fits.load(Relaxed) >> (block % 64) & 1 == 1);
            if !fits {
                self.compare(block)?;
            }
        }
        Ok(())
    }

    #[cold]
    fn compare(&self, block: usize) -> Result<()> {
        let start = block.saturating_mul(self.block);
        let end = self.bytes.len().min(start.saturating_add(self.block));
        let damaged = |reason: String| Error::Damaged {
            path: self.path.clone(),
            what: format!("block {block} of tensor {:?}", self.name),
            reason,
        };
        let (Some(bytes), Some(&recorded)) = (self.bytes.get(start..end), self.sums.get(block)) else {
            return Err(damaged(format!("there are only {} blocks", self.sums.len())));
        };
        let found = crc32fast::hash(bytes);
        if found != recorded {
            return Err(damaged(format!("its checksum is {found:08x}, expected {recorded:08x}")));
        }
        self.fits[block / 64].fetch_or(1 << (block % 64), Relaxed);
        Ok(())
    }

    /// Checks all blocks that were not checked before, on all threads.
    ///
    /// # Errors
    /// The errors of [`Checked::check`].
    pub(crate) fn all(&self) -> Result<()> {
        // Look-ups of ids ask each time.
        if self.is_whole.load(Relaxed) {
            return Ok(());
        }
        let starts = (0..self.sums.len()).into_par_iter();
        let results: Vec<Result<()>> =
            starts.map(|block| self.check(block * self.block..block * self.block + 1)).collect();
        results.into_iter().collect::<Result<()>>()?;
        self.is_whole.store(true, Relaxed);
        Ok(())
    }
}

/// The checked parts of an index in a file.
#[derive(Debug)]
pub(crate) struct Checks {
    pub(crate) top: Checked,
    pub(crate) top_factors: Checked,
    pub(crate) lane_rows: Option<Checked>,
    /// Bytes of lower bits per row.
    pub(crate) low_bytes: usize,
    pub(crate) low: Checked,
    pub(crate) factors: Checked,
    pub(crate) rows: Option<RowChecks>,
}

/// The rows for rescoring.
#[derive(Debug)]
pub(crate) struct RowChecks {
    pub(crate) row_bytes: usize,
    pub(crate) rows: Checked,
    /// The scales of rows stored with fewer bits.
    pub(crate) scales: Option<Checked>,
}

impl Checks {
    /// Checks blocks of top bits before they are scanned.
    pub(crate) fn blocks(&self, blocks: Range<usize>, block_bytes: usize) -> Result<()> {
        self.top.check(blocks.start * block_bytes..blocks.end * block_bytes)?;
        let lanes = blocks.start * PLANE_ROWS..blocks.end * PLANE_ROWS;
        self.top_factors.check(lanes.start * 2..lanes.end * 2)?;
        self.lane_rows.as_ref().map_or(Ok(()), |rows| rows.check(lanes.start * 4..lanes.end * 4))
    }

    /// Checks the lower bits of an existing row before they are compared.
    #[inline]
    pub(crate) fn codes_of(&self, row: usize) -> Result<()> {
        self.factors.check(row * 2..row * 2 + 2)?;
        self.low.check(row * self.low_bytes..(row + 1) * self.low_bytes)
    }

    /// The error if a row does not exist among `n`.
    pub(crate) fn no_such_row(&self, row: usize, n: usize) -> Error {
        let what = "tensor \"cells.rows\"".to_owned();
        Error::Damaged { path: self.top.path.clone(), what, reason: format!("it refers to row {row} of {n}") }
    }

    /// Checks an existing row before it is rescored.
    pub(crate) fn row(&self, row: usize) -> Result<()> {
        let Some(RowChecks { row_bytes, rows, scales }) = &self.rows else { return Ok(()) };
        scales.as_ref().map_or(Ok(()), |scales| scales.check(row * 4..row * 4 + 4))?;
        rows.check(row * row_bytes..(row + 1) * row_bytes)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.top.path
    }

    /// Checks all rows before an exact search.
    pub(crate) fn all_rows(&self) -> Result<()> {
        let Some(RowChecks { rows, scales, .. }) = &self.rows else { return Ok(()) };
        scales.as_ref().map_or(Ok(()), Checked::all)?;
        rows.all()
    }

    pub(crate) fn all(&self) -> Result<()> {
        for part in [&self.top, &self.top_factors, &self.low, &self.factors].into_iter().chain(&self.lane_rows) {
            part.all()?;
        }
        self.all_rows()
    }
}
