//! Finds rows that repeat an earlier one.

use std::ops::Range;

use rayon::prelude::*;
use senv_core::Table;

use super::compare::{BLOCK, Compared, Products};
use crate::Result;

/// Dropped rows leave the comparisons once they are one in this many of the remaining rows.
const LEAVE_OUT: usize = 32;

/// A row close to an earlier row that is kept.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Duplicate {
    /// The kept row: the first that is near enough.
    pub of: usize,
    /// Their cosine, in `[-1, 1]`, computed by [`senv_core::kernels::cosine`].
    pub cosine: f32,
}

/// Processes the rows in order and drops each whose cosine with a kept row is at least the threshold. Returns for each
/// row what it repeats, or `None` if it is kept.
///
/// A row that is near only to dropped rows is kept. The first `n_fixed` rows are always kept, and not compared with
/// each other. Rows of zeros are kept, and nothing repeats them.
///
/// The result equals that of comparing all pairs, at any number of threads. A bound on the cosine excludes most pairs
/// (`head-bound` in `docs/equations.md`). In addition to the rows it takes about 150 bytes per row, or up to `4 dim` if
/// a low threshold excludes nothing.
///
/// `progress` receives the number of rows decided so far.
///
/// ```
/// use senv_core::Table;
/// let rows = Table::from_vec(3, 2, vec![1.0, 0.0, 0.0, 1.0, 2.0, 0.1])?;
/// let found = senv_index::duplicates(&rows, 0, 0.9, |_| {})?;
/// assert_eq!(found[2].map(|duplicate| duplicate.of), Some(0));
/// assert!(found[0].is_none() && found[1].is_none());
/// # Ok::<(), senv_index::Error>(())
/// ```
///
/// # Errors
/// [`Error::NonFinite`](crate::Error::NonFinite) if a value is not finite; [`senv_core::Error::InvalidParameter`] if
/// the threshold is outside `[-1, 1]`.
pub fn duplicates(
    rows: &Table,
    n_fixed: usize,
    threshold: f32,
    mut progress: impl FnMut(usize),
) -> Result<Vec<Option<Duplicate>>> {
    let left = Compared::new(rows, threshold)?;
    let first_free = left.place_from(n_fixed);
    Ok(repeating(left, rows.n_rows(), first_free, &mut progress))
}

/// Does the same as [`duplicates`] for rows in the order of their places; rows before `first_free` are always kept.
pub(super) fn repeating(
    mut left: Compared<'_>,
    n_rows: usize,
    first_free: usize,
    progress: &mut impl FnMut(usize),
) -> Vec<Option<Duplicate>> {
    let mut found: Vec<Option<Duplicate>> = vec![None; n_rows];
    let (mut start, mut n_dropped) = (0, 0);
    let mut drop_rows = |left: &Compared<'_>, found: &mut Vec<Option<Duplicate>>, new: Vec<(usize, usize, f32)>| {
        for (place, of, cosine) in new {
            let [row, of] = [place, of].map(|place| left.positions[place] as usize);
            // Blocks are processed in order, so the first find stays.
            if found[row].is_none() {
                found[row] = Some(Duplicate { of, cosine });
                n_dropped += 1;
            }
        }
        n_dropped
    };
    let mut n_left_out = 0;
    while start < left.positions.len() {
        let end = left.positions.len().min(start + BLOCK);
        let is_kept = |place: usize, found: &[Option<Duplicate>]| found[left.positions[place] as usize].is_none();
        // Within the block, in order: a row counts once it is known to be kept.
        let block: Vec<usize> = (start..end).filter(|&place| is_kept(place, &found)).collect();
        let new = repeated(&left, start..end, &block, start..end, first_free, true, &mut Products::default());
        drop_rows(&left, &mut found, new);
        let block: Vec<usize> = block.into_iter().filter(|&place| is_kept(place, &found)).collect();
        let of_chunk =
            |scores: &mut Products, chunk| repeated(&left, start..end, &block, chunk, first_free, false, scores);
        let chunks = left.chunks(end.max(first_free)..left.positions.len()).into_par_iter();
        let new: Vec<Vec<(usize, usize, f32)>> = chunks.map_init(Products::default, of_chunk).collect();
        let n_dropped = drop_rows(&left, &mut found, new.into_iter().flatten().collect());
        if n_dropped - n_left_out > (left.positions.len() - end) / LEAVE_OUT {
            left.retain_from(end, |row| found[row as usize].is_none());
            n_left_out = n_dropped;
        }
        progress(n_rows - (left.positions.len() - end));
        start = end;
    }
    found
}

/// The places of a chunk that repeat one of these places of the block, with the first such place and the cosine. If the
/// chunk is the block itself, that place is not dropped.
fn repeated(
    left: &Compared<'_>,
    block: Range<usize>,
    kept: &[usize],
    chunk: Range<usize>,
    first_free: usize,
    is_block: bool,
    scores: &mut Products,
) -> Vec<(usize, usize, f32)> {
    let mut found = Vec::new();
    let mut dropped = vec![false; chunk.len()];
    let start = chunk.start;
    left.candidates(block, chunk, left.threshold(), scores, |a, b, _| {
        if b < first_free || dropped[b - start] || kept.binary_search(&a).is_err() || is_block && dropped[a - start] {
            return;
        }
        if let Some(cosine) = left.exact(a, b, left.threshold()) {
            dropped[b - start] = true;
            found.push((b, a, cosine));
        }
    });
    found
}
