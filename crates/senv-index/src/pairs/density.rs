//! Finds rows that repeat one with more near rows.

use std::ops::Range;

use rayon::prelude::*;
use senv_core::Table;

use super::{
    Duplicate,
    compare::{BLOCK, Compared, Products},
    duplicates::repeating,
};
use crate::Result;

/// The number of sampled rows among which near rows are counted.
const SAMPLE: usize = 32_768;

/// Like [`duplicates`](super::duplicates), but processes rows by descending number of near rows. For each row, returns
/// the first kept row in that order that is near enough. A row counts as often as `count` says, also as a near row of
/// itself. `progress` receives the approximate share that is done.
pub(crate) fn by_density(
    rows: &Table,
    count: impl Fn(usize) -> u32 + Sync,
    threshold: f32,
    mut progress: impl FnMut(f64),
) -> Result<Vec<Option<Duplicate>>> {
    let mut near = vec![0_u64; rows.n_rows()];
    let mut step = 1;
    let mut n_sample = 0;
    let sample_first = |positions: Vec<u32>| {
        step = positions.len().div_ceil(SAMPLE).max(1);
        let (sample, rest): (Vec<_>, Vec<_>) = positions.into_iter().enumerate().partition(|&(i, _)| i % step == 0);
        n_sample = sample.len();
        sample.into_iter().chain(rest).map(|(_, row)| row).collect()
    };
    let compared = Compared::ordered(rows, threshold, sample_first)?;
    let n_places = compared.positions.len();
    // Comparing the sample with all covers half a square and a rectangle; the rest is at most a square.
    let share = n_sample as f64 / (n_sample + n_places).max(1) as f64;
    let count_of = |place: usize| u64::from(count(compared.positions[place] as usize));
    let mut counts = vec![0_u64; n_places];
    for start in (0..n_sample).step_by(BLOCK) {
        let block = start..n_sample.min(start + BLOCK);
        let chunks = compared.chunks(start..n_places);
        let of_chunk = |scores: &mut Products, chunk: &Range<usize>| {
            let mut found = (vec![0_u64; block.len()], vec![0_u64; chunk.len()]);
            compared.candidates(block.clone(), chunk.clone(), threshold, scores, |a, b, bound| {
                if compared.is_near(a, b, bound) {
                    found.0[a - start] += if b < n_sample { count_of(b) } else { 0 };
                    found.1[b - chunk.start] += count_of(a);
                }
            });
            found
        };
        let found: Vec<_> = chunks.par_iter().map_init(Products::default, of_chunk).collect();
        for (chunk, (of_block, of_chunk)) in chunks.into_iter().zip(found) {
            counts[block.clone()].iter_mut().zip(of_block).for_each(|(count, found)| *count += found);
            counts[chunk].iter_mut().zip(of_chunk).for_each(|(count, found)| *count += found);
        }
        progress(share * block.end as f64 / n_sample as f64);
    }
    // The repetitions of a row are all known, its near rows only in the sample.
    let own = |row: usize| u64::from(count(row)).saturating_sub(1);
    let all = compared.positions.iter().zip(counts);
    all.for_each(|(&row, sampled)| near[row as usize] = sampled * step as u64 + own(row as usize));
    drop(compared);
    let by_count = |mut positions: Vec<u32>| {
        positions.sort_by_key(|&row| std::cmp::Reverse(near[row as usize]));
        positions
    };
    let compared = Compared::ordered(rows, threshold, by_count)?;
    let n = rows.n_rows();
    let mut settled = |done: usize| progress(share + (1.0 - share) * done as f64 / n.max(1) as f64);
    Ok(repeating(compared, n, 0, &|_, _| true, &mut settled).repeated)
}
