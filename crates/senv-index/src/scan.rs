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

/// Blocks that are compared with some of the queries.
#[derive(Debug, Clone)]
pub(crate) struct Job<'a> {
    pub(crate) blocks: Range<usize>,
    /// By their number, each once.
    pub(crate) queries: &'a [u32],
}

/// The `wanted` rows of highest estimate for each query, in order, among those in the blocks that jobs compare it with; no block
/// is compared with a query twice. Estimates lack the scale of the query.
///
/// # Errors
/// Those of `check`.
pub(crate) fn scan(
    codes: Codes<'_>,
    jobs: &[Job<'_>],
    queries: &[QueryCode],
    wanted: usize,
    keep: &Keep<'_>,
    check: &Check<'_>,
) -> Result<Vec<Vec<Scored>>> {
    let piece_blocks = (PIECE_BYTES / codes.block_bytes).max(1);
    let cut = |job: &Job<'_>| -> Vec<Range<usize>> {
        let starts = job.blocks.clone().step_by(piece_blocks);
        starts.map(|start| start..job.blocks.end.min(start + piece_blocks)).collect()
    };
    let pieces: Vec<Job<'_>> = jobs
        .iter()
        .filter(|job| !job.queries.is_empty())
        .flat_map(|job| cut(job).into_iter().map(|blocks| Job { blocks, queries: job.queries }))
        .collect();
    let part = |pieces: &[Job<'_>]| -> Result<Vec<Best>> {
        let sums = vec![0; QUERIES * BLOCKS * NIBBLE_ROWS];
        let mut work = Work { codes, queries, keep, sums, values: Vec::new() };
        let mut best = vec![Best::new(wanted); queries.len()];
        for piece in pieces {
            check(piece.blocks.clone())?;
            work.piece(piece, &mut best);
        }
        Ok(best)
    };
    // Which rows are the best does not depend on how the pieces are shared out.
    let n_threads = rayon::current_num_threads();
    let best = if n_threads == 1 || pieces.len() < 2 {
        part(&pieces)?
    } else {
        // Jobs of cells differ in how many queries they have.
        let n_parts = if jobs.len() > 1 { 4 * n_threads } else { n_threads };
        let parts: Result<Vec<Vec<Best>>> = pieces.par_chunks(pieces.len().div_ceil(n_parts)).map(part).collect();
        let merge = |a: Vec<Best>, b: Vec<Best>| a.into_iter().zip(b).map(|(a, b)| a.merge(b)).collect();
        parts?.into_iter().reduce(merge).unwrap_or_default()
    };
    Ok(best.into_iter().map(Best::into_sorted).collect())
}

struct Work<'a> {
    codes: Codes<'a>,
    queries: &'a [QueryCode],
    keep: &'a Keep<'a>,
    sums: Vec<i32>,
    /// Of the queries that are compared at once.
    values: Vec<i8>,
}

impl Work<'_> {
    fn piece(&mut self, piece: &Job<'_>, best: &mut [Best]) {
        let Codes { bytes, factors, dim, block_bytes, .. } = self.codes;
        for queries in piece.queries.chunks(QUERIES) {
            self.values.clear();
            queries.iter().for_each(|&query| self.values.extend_from_slice(&self.queries[query as usize].values));
            for start in piece.blocks.clone().step_by(BLOCKS) {
                let blocks = start..piece.blocks.end.min(start + BLOCKS);
                let (n, lanes) = (blocks.len(), blocks.len() * NIBBLE_ROWS);
                let sums = &mut self.sums[..queries.len() * lanes];
                kernels::nibble_scores(&bytes[start * block_bytes..][..n * block_bytes], &self.values, dim, sums);
                let factors = &factors[start * NIBBLE_ROWS..][..lanes];
                let mut masks = [0; BLOCKS];
                for (&q, sums) in queries.iter().zip(self.sums.chunks_exact(lanes)) {
                    let (q, query) = (q as usize, &self.queries[q as usize]);
                    let best = &mut best[q];
                    kernels::nibble_masks(sums, query.offset, factors, best.floor(), &mut masks[..n]);
                    for (b, mut mask) in masks[..n].iter().copied().enumerate() {
                        while mask != 0 {
                            let lane = b * NIBBLE_ROWS + mask.trailing_zeros() as usize;
                            mask &= mask - 1;
                            let score = kernels::nibble_estimate(sums[lane], query.offset, factors[lane]);
                            let slot = start * NIBBLE_ROWS + lane;
                            let row = self.codes.lane_rows.map_or(slot as u32, |rows| rows[slot]);
                            let scored = Scored { score, row };
                            if factors[lane] != 0.0 && best.wants(&scored) && (self.keep)(q, row as usize) {
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
                // The second range is for the queries of even number alone.
                let (all, even): (Vec<u32>, Vec<u32>) = ((0..19).collect(), (0..19).step_by(2).collect());
                let of = |number| if number == 1 { &even[..] } else { &all[..] };
                let jobs: Vec<Job<'_>> = ranges
                    .iter()
                    .enumerate()
                    .map(|(number, blocks)| Job { blocks: blocks.clone(), queries: of(number) })
                    .collect();
                let keep = |query: usize, row: usize| !(row + query).is_multiple_of(5);
                for wanted in [1, 20, 6000] {
                    let expected: Vec<Vec<Scored>> = queries
                        .iter()
                        .enumerate()
                        .map(|(q, query)| {
                            let mut sums = vec![0; factors.len()];
                            kernels::nibble_scores(&bytes, &query.values, dim, &mut sums);
                            let mine = jobs.iter().filter(|job| job.queries.contains(&(q as u32)));
                            let lanes = mine.flat_map(|job| job.blocks.start * 16..job.blocks.end * 16);
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
                        let found = pool.install(|| scan(codes, &jobs, &queries, wanted, &keep, &|_| Ok(())).unwrap());
                        assert_eq!(found, if ranges.is_empty() { vec![vec![]; 19] } else { expected.clone() });
                    }
                }
            }
        }
    }
}
