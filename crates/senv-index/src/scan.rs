//! The first stage of a search: compares the top bits of rows with queries, and puts the rows of highest estimate on a
//! short list.

use std::ops::Range;

use rayon::prelude::*;

use crate::{
    Result,
    best::{Best, Ranked, Scored},
    code_kernels::{self, PLANE_ROWS, PlaneQuery},
    codes::QueryCode,
};

/// Bytes of top bits that all queries of a batch read before moving on: a quarter of a second-level cache of 1 MiB.
const PIECE_BYTES: usize = 1 << 18;
/// Queries that the kernel processes at the same time.
const QUERIES: usize = 8;
/// Blocks scored before their sums are checked: two KiB of sums per block, in the first-level cache.
const BLOCKS: usize = 8;

/// One block in this many is scored first, to guess the lowest estimate on the short list.
const SAMPLE: usize = 64;

/// The top bits of rows, in place.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TopCodes<'a> {
    /// Whole blocks.
    pub(crate) bytes: &'a [u8],
    /// One factor per lane of each block; 0 for an empty lane or a row that is never found.
    pub(crate) factors: &'a [u16],
    /// The row of each lane of each block, if lanes are not in row order.
    pub(crate) lane_rows: Option<&'a [u32]>,
    pub(crate) block_bytes: usize,
}

/// A short-list entry. It stores its slot, the lane of its top bits counted over all blocks. Looking up the row reads
/// memory, so only the entries that stay on the list are looked up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Short {
    /// The estimate by its top bits.
    pub(crate) score: f32,
    pub(crate) slot: u32,
    /// The product of the query with its top bits.
    pub(crate) sum: i32,
}

impl Ranked for Short {
    /// Among equals, the first slot is better.
    #[inline]
    fn scored(&self) -> Scored {
        Scored { score: self.score, row: self.slot }
    }
}

/// Tells whether row `.1` can be found for query `.0`. A damaged file can name a row that does not exist.
pub(crate) type Keep<'a> = dyn Fn(usize, usize) -> bool + Sync + 'a;

/// Called with blocks before they are read.
pub(crate) type Check<'a> = dyn Fn(Range<usize>) -> Result<()> + Sync + 'a;

/// Blocks to compare with some of the queries.
#[derive(Debug, Clone)]
pub(crate) struct ScanTask<'a> {
    /// Whether the task runs before the threads divide the others, because it sets a floor for them; such tasks come
    /// first.
    pub(crate) is_first: bool,
    pub(crate) blocks: Range<usize>,
    /// Query numbers, ascending.
    pub(crate) queries: &'a [u32],
}

/// The `wanted` rows of highest estimate for each query, in no particular order, among the blocks that its tasks name.
/// No task repeats a block for the same query. Estimates lack the scale of the query. A query that meets its best rows
/// first finishes sooner.
///
/// # Errors
/// The errors of `check`.
pub(crate) fn scan(
    codes: TopCodes<'_>,
    tasks: &[ScanTask<'_>],
    queries: &[&QueryCode],
    wanted: usize,
    keep: Option<&Keep<'_>>,
    check: &Check<'_>,
) -> Result<Vec<Vec<Short>>> {
    let least = guess(codes, tasks, queries, wanted, keep, check)?;
    let mut best = compare(codes, tasks, queries, wanted, &least, keep, check)?;
    // If the guess was too high, the list is too short.
    let is_short = |q: &u32| !best[*q as usize].is_full() && least[*q as usize] > f32::NEG_INFINITY;
    let again: Vec<u32> = (0..queries.len() as u32).filter(is_short).collect();
    if !again.is_empty() {
        let tasks: Vec<ScanTask<'_>> = tasks.iter().map(|task| ScanTask { queries: &again, ..task.clone() }).collect();
        let all = vec![f32::NEG_INFINITY; queries.len()];
        let whole = compare(codes, &tasks, queries, wanted, &all, keep, check)?;
        for (q, whole) in whole.into_iter().enumerate().filter(|(q, _)| again.contains(&(*q as u32))) {
            best[q] = whole;
        }
    }
    Ok(best.into_iter().map(Best::into_rows).collect())
}

/// For each query, an estimate that most likely more than `wanted` rows reach, from a sample of the blocks; negative
/// infinity if the sample does not pay. Without it, about ten times the wanted rows are temporarily listed; the sample
/// saves two thirds of them.
fn guess(
    codes: TopCodes<'_>,
    tasks: &[ScanTask<'_>],
    queries: &[&QueryCode],
    wanted: usize,
    keep: Option<&Keep<'_>>,
    check: &Check<'_>,
) -> Result<Vec<f32>> {
    let none = vec![f32::NEG_INFINITY; queries.len()];
    let [ScanTask { blocks, queries: numbers, .. }] = tasks else { return Ok(none) };
    if blocks.len() * PLANE_ROWS / 32 < wanted.max(SAMPLE) {
        return Ok(none);
    }
    // The expected number of wanted rows in the sample, plus half, plus three standard deviations.
    let expected = wanted as f64 / SAMPLE as f64;
    let rank = (1.5 * expected + 3.0 * expected.sqrt()) as usize + 4;
    let starts = blocks.clone().step_by(SAMPLE);
    let sample: Vec<ScanTask<'_>> =
        starts.map(|start| ScanTask { is_first: false, blocks: start..start + 1, queries: numbers }).collect();
    let best = compare(codes, &sample, queries, rank, &none, keep, check)?;
    let last = |best: Best<Short>| {
        let rows = best.into_rows();
        let score = |short: &Short| short.score;
        if rows.len() < rank { f32::NEG_INFINITY } else { rows.iter().map(score).fold(f32::INFINITY, f32::min) }
    };
    Ok(best.into_iter().map(last).collect())
}

/// For each query, the best rows with an estimate of at least `least`.
fn compare(
    codes: TopCodes<'_>,
    tasks: &[ScanTask<'_>],
    queries: &[&QueryCode],
    wanted: usize,
    least: &[f32],
    keep: Option<&Keep<'_>>,
    check: &Check<'_>,
) -> Result<Vec<Best<Short>>> {
    let piece_blocks = (PIECE_BYTES / codes.block_bytes).max(1);
    let cut = |task: &ScanTask<'_>| -> Vec<Range<usize>> {
        let starts = task.blocks.clone().step_by(piece_blocks);
        starts.map(|start| start..task.blocks.end.min(start + piece_blocks)).collect()
    };
    let pieces: Vec<ScanTask<'_>> = tasks
        .iter()
        .filter(|task| !task.queries.is_empty())
        .flat_map(|task| cut(task).into_iter().map(|blocks| ScanTask { blocks, ..task.clone() }))
        .collect();
    let part = |pieces: &[ScanTask<'_>], least: &[f32]| -> Result<Vec<Best<Short>>> {
        let mut work = Work { codes, queries, keep, sums: vec![0; QUERIES * BLOCKS * PLANE_ROWS] };
        let mut best: Vec<_> = least.iter().map(|&least| Best::above(wanted, least)).collect();
        for piece in pieces {
            check(piece.blocks.clone())?;
            work.piece(piece, &mut best);
        }
        Ok(best)
    };
    // The best rows do not depend on how the pieces are shared.
    let n_threads = rayon::current_num_threads();
    if n_threads == 1 || pieces.len() < 2 {
        return part(&pieces, least);
    }
    if queries.len() >= QUERIES * n_threads {
        // Threads divide the queries: one thread fills a list, so its floor rises as fast as on a single thread.
        let share = queries.len().div_ceil(n_threads);
        let parts = (0..n_threads).into_par_iter().map(|t| {
            let at = |numbers: &[u32], end: usize| numbers.partition_point(|&q| (q as usize) < end);
            let own = |numbers: &'_ [u32]| at(numbers, t * share)..at(numbers, (t + 1) * share);
            let pieces =
                pieces.iter().map(|task| ScanTask { queries: &task.queries[own(task.queries)], ..task.clone() });
            part(&pieces.filter(|task| !task.queries.is_empty()).collect::<Vec<_>>(), least)
        });
        let parts: Vec<Vec<Best<Short>>> = parts.collect::<Result<_>>()?;
        let own = |(t, best): (usize, Vec<Best<Short>>)| best.into_iter().skip(t * share).take(share);
        return Ok(parts.into_iter().enumerate().flat_map(own).collect());
    }
    let (first, rest) = pieces.split_at(pieces.partition_point(|piece| piece.is_first));
    let mut first = part(first, least)?;
    let least: Vec<f32> = first.iter_mut().map(Best::settled_floor).collect();
    // Tasks of cells differ in their number of queries.
    let n_parts = if tasks.len() > 1 { 4 * n_threads } else { n_threads };
    let parts = rest.par_chunks(rest.len().div_ceil(n_parts).max(1)).map(|pieces| part(pieces, &least));
    let parts: Vec<Vec<Best<Short>>> = parts.collect::<Result<_>>()?;
    let merge = |a: Vec<Best<Short>>, b: Vec<Best<Short>>| a.into_iter().zip(b).map(|(a, b)| a.merge(b)).collect();
    Ok(parts.into_iter().fold(first, merge))
}

struct Work<'a> {
    codes: TopCodes<'a>,
    queries: &'a [&'a QueryCode],
    keep: Option<&'a Keep<'a>>,
    sums: Vec<i32>,
}

impl Work<'_> {
    fn piece(&mut self, piece: &ScanTask<'_>, best: &mut [Best<Short>]) {
        let TopCodes { bytes, factors, block_bytes, .. } = self.codes;
        for numbers in piece.queries.chunks(QUERIES) {
            let mut planes = [&self.queries[numbers[0] as usize].planes; QUERIES];
            planes.iter_mut().zip(numbers).for_each(|(planes, &q)| *planes = &self.queries[q as usize].planes);
            let planes: &[&PlaneQuery] = &planes[..numbers.len()];
            for start in piece.blocks.clone().step_by(BLOCKS) {
                let blocks = start..piece.blocks.end.min(start + BLOCKS);
                let (n, lanes) = (blocks.len(), blocks.len() * PLANE_ROWS);
                let sums = &mut self.sums[..numbers.len() * lanes];
                code_kernels::top_scores(&bytes[start * block_bytes..][..n * block_bytes], planes, sums);
                let factors = &factors[start * PLANE_ROWS..][..lanes];
                let mut masks = [0; BLOCKS];
                for (&q, sums) in numbers.iter().zip(self.sums.chunks_exact(lanes)) {
                    let (q, offset) = (q as usize, self.queries[q as usize].top_offset());
                    let best = &mut best[q];
                    code_kernels::plane_masks(sums, offset, factors, best.floor(), &mut masks[..n]);
                    for (b, mut mask) in masks[..n].iter().copied().enumerate() {
                        while mask != 0 {
                            let lane = b * PLANE_ROWS + mask.trailing_zeros() as usize;
                            mask &= mask - 1;
                            let score = code_kernels::plane_estimate(sums[lane], offset, factors[lane]);
                            let slot = start * PLANE_ROWS + lane;
                            let short = Short { score, slot: slot as u32, sum: sums[lane] };
                            let row = || self.codes.lane_rows.map_or(slot, |rows| rows[slot] as usize);
                            let is_kept = || self.keep.is_none_or(|keep| keep(q, row()));
                            if factors[lane] != 0 && best.wants(&short) && is_kept() {
                                best.push(short);
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
    use crate::values::upper_half;

    fn example(rows: usize, dim: usize) -> (Vec<u8>, Vec<u16>, Vec<QueryCode>) {
        let mut stream = stream(4, "test", &[]);
        let blocks = rows.div_ceil(PLANE_ROWS);
        let block_bytes = code_kernels::top_block_bytes(dim).unwrap();
        let bytes = (0..blocks * block_bytes).map(|_| stream.next_u64() as u8).collect();
        let factor = |r: usize| if r < rows && r % 11 != 3 { upper_half(0.5 + (r % 3) as f32) } else { 0 };
        let factors = (0..blocks * PLANE_ROWS).map(factor).collect();
        let query = |_| {
            let values: Vec<i8> = (0..dim).map(|_| (stream.next_u64() % 7) as i8 - 3).collect();
            let sum = values.iter().map(|&v| i32::from(v)).sum();
            QueryCode { planes: PlaneQuery::new(&values), sum, scale: 1.0 }
        };
        (bytes, factors, (0..19).map(query).collect())
    }

    #[test]
    fn the_rows_of_highest_estimate_are_found_in_ranges_with_filters_and_any_number_of_threads() {
        let (rows, dim) = (20_000, 300);
        let (bytes, factors, queries) = example(rows, dim);
        let queries: Vec<&QueryCode> = queries.iter().collect();
        let block_bytes = code_kernels::top_block_bytes(dim).unwrap();
        let reversed: Vec<u32> = (0..factors.len() as u32).rev().collect();
        for lane_rows in [None, Some(&reversed[..])] {
            let codes = TopCodes { bytes: &bytes, factors: &factors, lane_rows, block_bytes };
            for bounds in [vec![(0, 313)], vec![(5, 300)], vec![(2, 3), (9, 170), (200, 201)], vec![]] {
                let ranges: Vec<Range<usize>> = bounds.into_iter().map(|(start, end)| start..end).collect();
                // The second range is only for even-numbered queries.
                let (all, even): (Vec<u32>, Vec<u32>) = ((0..19).collect(), (0..19).step_by(2).collect());
                let of = |number| if number == 1 { &even[..] } else { &all[..] };
                let tasks: Vec<ScanTask<'_>> = ranges
                    .iter()
                    .enumerate()
                    .map(|(number, blocks)| ScanTask {
                        is_first: number == 0,
                        blocks: blocks.clone(),
                        queries: of(number),
                    })
                    .collect();
                let keep = |query: usize, row: usize| !(row + query).is_multiple_of(5);
                for wanted in [1, 20, 300, 30_000] {
                    let expected: Vec<Vec<Short>> = queries
                        .iter()
                        .enumerate()
                        .map(|(q, query)| {
                            let mut sums = vec![0; factors.len()];
                            code_kernels::top_scores(&bytes, &[&query.planes], &mut sums);
                            let mine = tasks.iter().filter(|task| task.queries.contains(&(q as u32)));
                            let lanes = mine.flat_map(|task| task.blocks.start * 64..task.blocks.end * 64);
                            let mut all: Vec<Short> = lanes
                                .filter(|&lane| factors[lane] != 0)
                                .map(|lane| {
                                    let score = code_kernels::plane_estimate(sums[lane], query.sum, factors[lane]);
                                    Short { score, slot: lane as u32, sum: sums[lane] }
                                })
                                .filter(|short| {
                                    keep(q, lane_rows.map_or(short.slot, |rows| rows[short.slot as usize]) as usize)
                                })
                                .collect();
                            all.sort_by(Short::order);
                            all.truncate(wanted);
                            all
                        })
                        .collect();
                    for threads in [1, 2, 5] {
                        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                        let mut found =
                            pool.install(|| scan(codes, &tasks, &queries, wanted, Some(&keep), &|_| Ok(())).unwrap());
                        found.iter_mut().for_each(|found| found.sort_by(Short::order));
                        assert_eq!(found, if ranges.is_empty() { vec![vec![]; 19] } else { expected.clone() });
                    }
                }
            }
        }
    }

    #[test]
    fn a_guess_that_is_too_high_is_made_good() {
        let (rows, dim) = (313 * 64, 64);
        let (bytes, mut factors, queries) = example(rows, dim);
        // The sampled blocks have estimates ten times as high as the others.
        for (lane, factor) in factors.iter_mut().enumerate() {
            *factor = upper_half(if lane / 64 % SAMPLE == 0 { 10.0 } else { 1.0 });
        }
        let queries: Vec<&QueryCode> = queries.iter().collect();
        let block_bytes = code_kernels::top_block_bytes(dim).unwrap();
        let codes = TopCodes { bytes: &bytes, factors: &factors, lane_rows: None, block_bytes };
        let all: Vec<u32> = (0..19).collect();
        let tasks = [ScanTask { is_first: false, blocks: 0..313, queries: &all }];
        let (none, wanted) = (vec![f32::NEG_INFINITY; 19], 600);
        let check: &Check<'_> = &|_| Ok(());
        let least = guess(codes, &tasks, &queries, wanted, None, check).unwrap();
        let guessed = compare(codes, &tasks, &queries, wanted, &least, None, check).unwrap();
        assert!(guessed.iter().any(|best| !best.is_full()), "the example is to mislead it");
        let expected = compare(codes, &tasks, &queries, wanted, &none, None, check).unwrap();
        let found = scan(codes, &tasks, &queries, wanted, None, check).unwrap();
        for (found, expected) in found.into_iter().zip(expected) {
            let mut found = found;
            found.sort_by(Short::order);
            assert_eq!(found, expected.into_sorted());
        }
    }
}
