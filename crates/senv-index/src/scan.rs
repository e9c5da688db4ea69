//! The first stage of a search: codes of rows are compared with queries, and the rows of highest estimate are kept.

use std::ops::Range;

use rayon::prelude::*;
use senv_core::kernels::{self, NIBBLE_ROWS};

use crate::{
    Result,
    best::{Best, Scored},
    codes::QueryCode,
};

/// Bytes of codes that all queries of a batch go over before the next ones: a quarter of a second-level cache of 1 MiB.
const PIECE_BYTES: usize = 1 << 18;
/// Queries that the kernel takes at once.
const QUERIES: usize = 8;
/// Blocks that are scored before their sums are looked at: 512 bytes of sums a block, in the first-level cache.
const BLOCKS: usize = 16;

/// Codes of rows, where they lie.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Codes<'a> {
    /// Whole blocks.
    pub(crate) bytes: &'a [u8],
    /// A factor for each lane of each block; 0 for a lane without a row, or a row that is never found.
    pub(crate) factors: &'a [f32],
    /// The row of each lane of each block, where they do not stand in the order of the rows.
    pub(crate) lane_rows: Option<&'a [u32]>,
    pub(crate) dim: usize,
    pub(crate) block_bytes: usize,
}

/// Says whether row `.1` may be found for query `.0`.
pub(crate) type Keep<'a> = dyn Fn(usize, usize) -> bool + Sync + 'a;

/// Is called with blocks before they are read.
pub(crate) type Check<'a> = dyn Fn(Range<usize>) -> Result<()> + Sync + 'a;

/// The `wanted` rows of highest estimate for each query, in order, among those in these ranges of blocks. Estimates lack the
/// scale of the query.
///
/// # Errors
/// Those of `check`.
pub(crate) fn scan(
    codes: Codes<'_>,
    ranges: &[Range<usize>],
    queries: &[QueryCode],
    wanted: usize,
    keep: &Keep<'_>,
    check: &Check<'_>,
) -> Result<Vec<Vec<Scored>>> {
    let piece_blocks = (PIECE_BYTES / codes.block_bytes).max(1);
    let pieces: Vec<Range<usize>> = ranges
        .iter()
        .flat_map(|range| {
            let starts = range.clone().step_by(piece_blocks);
            starts.map(|start| start..range.end.min(start + piece_blocks))
        })
        .collect();
    let values: Vec<i8> = queries.iter().flat_map(|query| query.values.iter().copied()).collect();
    let part = |pieces: &[Range<usize>]| -> Result<Vec<Best>> {
        let mut work = Work { codes, queries, values: &values, keep, sums: vec![0; QUERIES * BLOCKS * NIBBLE_ROWS] };
        let mut best = vec![Best::new(wanted); queries.len()];
        for piece in pieces {
            check(piece.clone())?;
            work.piece(piece.clone(), &mut best);
        }
        Ok(best)
    };
    // Which rows are the best does not depend on how the pieces are shared out.
    let n_parts = rayon::current_num_threads();
    let best = if n_parts == 1 || pieces.len() < 2 {
        part(&pieces)?
    } else {
        let parts: Result<Vec<Vec<Best>>> = pieces.par_chunks(pieces.len().div_ceil(n_parts)).map(part).collect();
        let merge = |a: Vec<Best>, b: Vec<Best>| a.into_iter().zip(b).map(|(a, b)| a.merge(b)).collect();
        parts?.into_iter().reduce(merge).unwrap_or_default()
    };
    Ok(best.into_iter().map(Best::into_sorted).collect())
}

struct Work<'a> {
    codes: Codes<'a>,
    queries: &'a [QueryCode],
    /// Of all queries.
    values: &'a [i8],
    keep: &'a Keep<'a>,
    sums: Vec<i32>,
}

impl Work<'_> {
    fn piece(&mut self, piece: Range<usize>, best: &mut [Best]) {
        let Codes { bytes, factors, dim, block_bytes, .. } = self.codes;
        let query_len = kernels::nibble_query_len(dim);
        for (group, queries) in self.queries.chunks(QUERIES).enumerate() {
            let first = group * QUERIES;
            let values = &self.values[first * query_len..][..queries.len() * query_len];
            for start in piece.clone().step_by(BLOCKS) {
                let blocks = start..piece.end.min(start + BLOCKS);
                let (n, lanes) = (blocks.len(), blocks.len() * NIBBLE_ROWS);
                let sums = &mut self.sums[..queries.len() * lanes];
                kernels::nibble_scores(&bytes[start * block_bytes..][..n * block_bytes], values, dim, sums);
                let factors = &factors[start * NIBBLE_ROWS..][..lanes];
                let mut masks = [0; BLOCKS];
                for (q, (query, sums)) in queries.iter().zip(self.sums.chunks_exact(lanes)).enumerate() {
                    let best = &mut best[first + q];
                    kernels::nibble_masks(sums, query.offset, factors, best.floor(), &mut masks[..n]);
                    for (b, mut mask) in masks[..n].iter().copied().enumerate() {
                        while mask != 0 {
                            let lane = b * NIBBLE_ROWS + mask.trailing_zeros() as usize;
                            mask &= mask - 1;
                            let score = kernels::nibble_estimate(sums[lane], query.offset, factors[lane]);
                            let slot = start * NIBBLE_ROWS + lane;
                            let row = self.codes.lane_rows.map_or(slot as u32, |rows| rows[slot]);
                            let scored = Scored { score, row };
                            if factors[lane] != 0.0 && best.wants(&scored) && (self.keep)(first + q, row as usize) {
                                best.push(scored);
                            }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::Rng;
    use senv_core::rng::stream;

    use super::*;

    fn example(rows: usize, dim: usize) -> (Vec<u8>, Vec<f32>, Vec<QueryCode>) {
        let mut stream = stream(4, "test", &[]);
        let blocks = rows.div_ceil(NIBBLE_ROWS);
        let block_bytes = kernels::nibble_block_bytes(dim).unwrap();
        let bytes = (0..blocks * block_bytes).map(|_| stream.next_u64() as u8).collect();
        let factor = |r: usize| if r < rows && r % 11 != 3 { 0.5 + (r % 3) as f32 } else { 0.0 };
        let factors = (0..blocks * NIBBLE_ROWS).map(factor).collect();
        let query = |_| {
            let values: Vec<i8> =
                (0..kernels::nibble_query_len(dim)).map(|_| (stream.next_u64() % 7) as i8 - 3).collect();
            QueryCode { offset: 15 * values.iter().map(|&v| i32::from(v)).sum::<i32>(), values, scale: 1.0 }
        };
        (bytes, factors, (0..19).map(query).collect())
    }

    #[test]
    fn the_rows_of_highest_estimate_are_found_in_ranges_with_filters_and_any_number_of_threads() {
        let (rows, dim) = (5000, 300);
        let (bytes, factors, queries) = example(rows, dim);
        let block_bytes = kernels::nibble_block_bytes(dim).unwrap();
        let reversed: Vec<u32> = (0..factors.len() as u32).rev().collect();
        for lane_rows in [None, Some(&reversed[..])] {
            let codes = Codes { bytes: &bytes, factors: &factors, lane_rows, dim, block_bytes };
            for bounds in [vec![(0, 313)], vec![(2, 3), (9, 170), (200, 201)], vec![]] {
                let ranges: Vec<Range<usize>> = bounds.into_iter().map(|(start, end)| start..end).collect();
                let keep = |query: usize, row: usize| !(row + query).is_multiple_of(5);
                for wanted in [1, 20, 6000] {
                    let expected: Vec<Vec<Scored>> = queries
                        .iter()
                        .enumerate()
                        .map(|(q, query)| {
                            let mut sums = vec![0; factors.len()];
                            kernels::nibble_scores(&bytes, &query.values, dim, &mut sums);
                            let lanes = ranges.iter().flat_map(|range| range.start * 16..range.end * 16);
                            let mut all: Vec<Scored> = lanes
                                .filter(|&lane| factors[lane] != 0.0)
                                .map(|lane| Scored {
                                    score: kernels::nibble_estimate(sums[lane], query.offset, factors[lane]),
                                    row: lane_rows.map_or(lane as u32, |rows| rows[lane]),
                                })
                                .filter(|scored| keep(q, scored.row as usize))
                                .collect();
                            all.sort_by(Scored::order);
                            all.truncate(wanted);
                            all
                        })
                        .collect();
                    for threads in [1, 2, 5] {
                        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                        let found =
                            pool.install(|| scan(codes, &ranges, &queries, wanted, &keep, &|_| Ok(())).unwrap());
                        assert_eq!(found, if ranges.is_empty() { vec![vec![]; 19] } else { expected.clone() });
                    }
                }
            }
        }
    }
}
