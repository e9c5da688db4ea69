//! Finds rows that repeat an earlier one.

use std::ops::Range;

use rayon::prelude::*;
use senv_core::Table;

use super::compare::{BLOCK, Compared, Products};
use crate::Result;

/// Dropped rows leave the comparisons once they are one in this many of the remaining rows.
const LEAVE_OUT: usize = 32;

/// What [`duplicates_where`] finds, by row.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct DuplicatesApart {
    /// What each row repeats, or `None` if it is kept.
    pub repeated: Vec<Option<Duplicate>>,
    /// For each kept row that is near enough to an earlier kept row but differs from it by the caller's rule: the first
    /// such row.
    pub apart: Vec<Option<Duplicate>>,
}

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
    progress: impl FnMut(usize),
) -> Result<Vec<Option<Duplicate>>> {
    Ok(duplicates_where(rows, n_fixed, threshold, |_, _| true, progress)?.repeated)
}

/// Like [`duplicates`], but a row repeats a near one only if `is_same` also says so: a rule about what the rows stand
/// for. A row is compared with every kept row that is near enough, so it may differ from one and repeat the next.
///
/// `is_same` receives the kept row, then the later one. It is called on several threads, only for near pairs. If it
/// always gives the same answer for the same rows, the result does not depend on the number of threads.
///
/// ```
/// use senv_core::Table;
/// let rows = Table::from_vec(3, 1, vec![1.0, 2.0, 3.0])?;
/// // Near by their vectors, but the first differs from the others.
/// let found = senv_index::duplicates_where(&rows, 0, 0.9, |a, b| a.min(b) > 0, |_| {})?;
/// assert_eq!(found.repeated[2].map(|duplicate| duplicate.of), Some(1));
/// assert_eq!(found.apart[1].map(|duplicate| duplicate.of), Some(0));
/// # Ok::<(), senv_index::Error>(())
/// ```
///
/// # Errors
/// The errors of [`duplicates`].
pub fn duplicates_where(
    rows: &Table,
    n_fixed: usize,
    threshold: f32,
    is_same: impl Fn(usize, usize) -> bool + Sync,
    mut progress: impl FnMut(usize),
) -> Result<DuplicatesApart> {
    let left = Compared::new(rows, threshold)?;
    let first_free = left.place_from(n_fixed);
    Ok(repeating(left, rows.n_rows(), first_free, &is_same, &mut progress))
}

/// Does the same as [`duplicates_where`] for rows in the order of their places; rows before `first_free` are always
/// kept.
pub(super) fn repeating(
    mut left: Compared<'_>,
    n_rows: usize,
    first_free: usize,
    is_same: &(impl Fn(usize, usize) -> bool + Sync),
    progress: &mut impl FnMut(usize),
) -> DuplicatesApart {
    let mut found: Vec<Option<Duplicate>> = vec![None; n_rows];
    let mut apart: Vec<Option<Duplicate>> = vec![None; n_rows];
    let (mut start, mut n_dropped) = (0, 0);
    let mut drop_rows = |left: &Compared<'_>, found: &mut Vec<Option<Duplicate>>, new: Near| {
        let rows = |(place, of, cosine): (usize, usize, f32)| {
            let of = left.positions[of] as usize;
            (left.positions[place] as usize, Duplicate { of, cosine })
        };
        // Blocks are processed in order, so the first find stays.
        for (row, duplicate) in new.repeated.into_iter().map(rows) {
            if found[row].is_none() {
                found[row] = Some(duplicate);
                n_dropped += 1;
            }
        }
        for (row, other) in new.apart.into_iter().map(rows) {
            apart[row].get_or_insert(other);
        }
        n_dropped
    };
    let mut n_left_out = 0;
    while start < left.positions.len() {
        let end = left.positions.len().min(start + BLOCK);
        let is_kept = |place: usize, found: &[Option<Duplicate>]| found[left.positions[place] as usize].is_none();
        // Within the block, in order: a row counts once it is known to be kept.
        let block: Vec<usize> = (start..end).filter(|&place| is_kept(place, &found)).collect();
        let pass = Pass { left: &left, block: start..end, kept: &block, first_free, is_same };
        let new = pass.near(start..end, &mut Products::default());
        drop_rows(&left, &mut found, new);
        let block: Vec<usize> = block.into_iter().filter(|&place| is_kept(place, &found)).collect();
        let pass = Pass { left: &left, block: start..end, kept: &block, first_free, is_same };
        let of_chunk = |scores: &mut Products, chunk| pass.near(chunk, scores);
        let chunks = left.chunks(end.max(first_free)..left.positions.len()).into_par_iter();
        let new: Vec<Near> = chunks.map_init(Products::default, of_chunk).collect();
        let n_dropped = new.into_iter().fold(n_left_out, |_, new| drop_rows(&left, &mut found, new));
        if n_dropped - n_left_out > (left.positions.len() - end) / LEAVE_OUT {
            left.retain_from(end, |row| found[row as usize].is_none());
            n_left_out = n_dropped;
        }
        progress(n_rows - (left.positions.len() - end));
        start = end;
    }
    // A dropped row may have differed from a kept one before.
    apart.iter_mut().zip(&found).filter(|(_, found)| found.is_some()).for_each(|(apart, _)| *apart = None);
    DuplicatesApart { repeated: found, apart }
}

/// The places of a chunk that are near a place of the block, each with the first such place and the cosine.
#[derive(Debug, Default)]
struct Near {
    repeated: Vec<(usize, usize, f32)>,
    /// Near, but not the same.
    apart: Vec<(usize, usize, f32)>,
}

/// What a block is compared with.
struct Pass<'p, 't, F> {
    left: &'p Compared<'t>,
    block: Range<usize>,
    /// The places of the block that may be repeated.
    kept: &'p [usize],
    first_free: usize,
    is_same: &'p F,
}

impl<F: Fn(usize, usize) -> bool> Pass<'_, '_, F> {
    /// The places of a chunk that repeat one of the block. If the chunk is the block itself, that place is not dropped.
    fn near(&self, chunk: Range<usize>, scores: &mut Products) -> Near {
        let Self { left, kept, first_free, .. } = *self;
        let (mut found, start, is_block) = (Near::default(), chunk.start, chunk == self.block);
        let mut dropped = vec![false; chunk.len()];
        let mut is_apart = vec![false; chunk.len()];
        left.candidates(self.block.clone(), chunk, left.threshold(), scores, |a, b, _| {
            if b < first_free || dropped[b - start] || kept.binary_search(&a).is_err() || is_block && dropped[a - start]
            {
                return;
            }
            let Some(cosine) = left.exact(a, b, left.threshold()) else { return };
            let [row, of] = [b, a].map(|place| left.positions[place] as usize);
            if (self.is_same)(of, row) {
                dropped[b - start] = true;
                found.repeated.push((b, a, cosine));
            } else if !std::mem::replace(&mut is_apart[b - start], true) {
                found.apart.push((b, a, cosine));
            }
        });
        found
    }
}
