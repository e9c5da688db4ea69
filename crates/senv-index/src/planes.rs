//! Codes of rows in two planes: top bits in blocks, in any row order, and lower bits row by row.

use rayon::prelude::*;
use senv_core::{files::SharedBytes, memory::check_memory};

use crate::{
    Result,
    best::{Best, Scored},
    code_kernels::{self, PLANE_ROWS},
    codes::QueryCode,
    scan::{Short, TopCodes},
    values::Values,
};

/// The codes of an index.
#[derive(Debug)]
pub(crate) struct Planes {
    /// The top bits, in blocks of 64 rows.
    pub(crate) top: SharedBytes,
    /// One factor per lane of the blocks; 0 for an empty lane or a row that is never found.
    pub(crate) top_factors: Values<u16>,
    /// The lower bits of each row.
    pub(crate) low: SharedBytes,
    /// One factor per row.
    pub(crate) factors: Values<u16>,
}

impl Planes {
    pub(crate) fn n_blocks(&self) -> usize {
        self.top_factors.as_slice().len() / PLANE_ROWS
    }

    pub(crate) fn top<'a>(&'a self, lane_rows: Option<&'a [u32]>, dim: usize) -> TopCodes<'a> {
        TopCodes { bytes: &self.top, factors: self.top_factors.as_slice(), lane_rows, block_bytes: block_bytes(dim) }
    }

    /// The second stage of a search: adds the lower bits to the top bits of the short list, and returns the `wanted`
    /// rows of highest estimate, in order. `rows` has the number of each row on the list, below the number of rows.
    /// Estimates lack the scale of the query.
    pub(crate) fn refine(&self, short: &[Short], rows: &[u32], query: &QueryCode, wanted: usize) -> Vec<Scored> {
        let mut sums = vec![0; rows.len()];
        code_kernels::low_scores(&self.low, rows, &query.planes, &mut sums);
        // In a separate loop, these reads do not wait for each other.
        let factors = self.factors.as_slice();
        let factors: Vec<u16> = rows.iter().map(|&row| factors[row as usize]).collect();
        let mut best = Best::new(wanted);
        for (((short, &row), low), factor) in short.iter().zip(rows).zip(sums).zip(factors) {
            let score = code_kernels::plane_estimate(8 * short.sum + low, query.offset(), factor);
            let scored = Scored { score, row };
            if best.wants(&scored) {
                best.push(scored);
            }
        }
        best.into_sorted()
    }
}

/// Bytes in a block of top bits.
pub(crate) fn block_bytes(dim: usize) -> usize {
    code_kernels::top_block_bytes(dim).unwrap_or(usize::MAX)
}

/// Bytes of lower bits per row.
pub(crate) fn low_bytes(dim: usize) -> usize {
    code_kernels::low_row_bytes(dim).unwrap_or(usize::MAX)
}

/// The number of blocks for this many rows.
pub(crate) fn blocks_of(rows: usize) -> usize {
    rows.div_ceil(PLANE_ROWS)
}

/// Arranges top bits and their factors in blocks: lane `i` gets row `rows[i]`, or stays empty if that does not exist.
/// `tops` has the bytes of all rows, concatenated.
pub(crate) fn arrange(
    tops: &[u8],
    factors: &[u16],
    rows: &(impl Fn(usize) -> Option<usize> + Sync),
    n_blocks: usize,
    dim: usize,
) -> Result<(Vec<u8>, Vec<u16>)> {
    let row_bytes = dim.div_ceil(8);
    let mut bytes = vec![0; check_memory::<u8>(n_blocks, block_bytes(dim))?];
    let mut lane_factors = vec![0; n_blocks * PLANE_ROWS];
    let blocks = bytes.par_chunks_exact_mut(block_bytes(dim)).zip(lane_factors.par_chunks_exact_mut(PLANE_ROWS));
    blocks.enumerate().for_each(|(number, (block, lane_factors))| {
        for (lane, factor) in lane_factors.iter_mut().enumerate() {
            if let Some(row) = rows(number * PLANE_ROWS + lane) {
                code_kernels::place_top(&tops[row * row_bytes..][..row_bytes], lane, block);
                *factor = factors[row];
            }
        }
    });
    Ok((bytes, lane_factors))
}
