//! Finds the nearest row of another set.

use std::ops::Range;

use rayon::prelude::*;
use senv_core::Table;

use super::compare::{BLOCK, Compared, Products};
use crate::{Neighbour, Result};

/// A cosine at which the search stops: higher ones differ only by rounding.
const SAME: f32 = 1.0 - 5e-7;

/// Finds for each row the nearest row of the other set, if their cosine is at least the threshold. The first set is the
/// first `n_first` rows; the other set is the rest.
///
/// The first of several rows with the same cosine is returned; cosines of 0.9999995 or above count as the same. The
/// result equals that of comparing all pairs, at any number of threads; a bound on the cosine excludes most pairs. Rows
/// of zeros find nothing and are not found. `progress` receives the number of rows of the first set compared so far.
///
/// ```
/// use senv_core::Table;
/// let rows = Table::from_vec(4, 2, vec![1.0, 0.0, 0.0, 1.0, 2.0, 0.1, -1.0, 0.0])?;
/// let found = senv_index::counterparts(&rows, 2, 0.5, |_| {})?;
/// assert_eq!(found[0].map(|near| near.row), Some(2));
/// assert_eq!(found[2].map(|near| near.row), Some(0));
/// assert!(found[1].is_none() && found[3].is_none());
/// # Ok::<(), senv_index::Error>(())
/// ```
///
/// # Errors
/// The errors of [`duplicates`](crate::duplicates).
pub fn counterparts(
    rows: &Table,
    n_first: usize,
    threshold: f32,
    progress: impl FnMut(usize),
) -> Result<Vec<Option<Neighbour>>> {
    counterparts_where(rows, n_first, threshold, |_, _| true, progress)
}

/// Like [`counterparts`], but only rows for which `is_same` also holds count. It receives a row of the first set, then
/// one of the other, on several threads, and must always give the same answer for the same rows.
///
/// # Errors
/// The errors of [`counterparts`].
pub fn counterparts_where(
    rows: &Table,
    n_first: usize,
    threshold: f32,
    is_same: impl Fn(usize, usize) -> bool + Sync,
    mut progress: impl FnMut(usize),
) -> Result<Vec<Option<Neighbour>>> {
    let compared = Compared::new(rows, threshold)?;
    let (split, n_places) = (compared.place_from(n_first), compared.positions.len());
    // By place: the nearest so far, and its cosine.
    let mut best: Vec<(u32, f32)> = vec![(u32::MAX, f32::NEG_INFINITY); n_places];
    // The number of chunks per step. A limited number bounds memory, and each step benefits from the results of the
    // last.
    let at_once = 8 * rayon::current_num_threads();
    for start in (0..split).step_by(BLOCK) {
        let block = start..split.min(start + BLOCK);
        for chunks in compared.chunks(split..n_places).chunks(at_once) {
            let of_chunk = |scores: &mut Products, chunk: &Range<usize>| {
                nearer(&compared, block.clone(), chunk.clone(), &best, &is_same, scores)
            };
            let found: Vec<Vec<(usize, usize, f32)>> =
                chunks.par_iter().map_init(Products::default, of_chunk).collect();
            for (a, b, cosine) in found.into_iter().flatten() {
                for (place, other) in [(a, b), (b, a)] {
                    if cosine > best[place].1 && best[place].1 < SAME {
                        best[place] = (other as u32, cosine);
                    }
                }
            }
        }
        progress(compared.positions.get(block.end).map_or(n_first, |&row| n_first.min(row as usize)));
    }
    let mut found = vec![None; rows.n_rows()];
    for (&row, (other, cosine)) in compared.positions.iter().zip(best).filter(|(_, (_, cosine))| cosine.is_finite()) {
        found[row as usize] = Some(Neighbour { row: compared.positions[other as usize] as usize, cosine });
    }
    Ok(found)
}

/// Pairs of a place of the block and one of the chunk that are nearer than the best so far of either.
fn nearer(
    compared: &Compared<'_>,
    block: Range<usize>,
    chunk: Range<usize>,
    best: &[(u32, f32)],
    is_same: &impl Fn(usize, usize) -> bool,
    scores: &mut Products,
) -> Vec<(usize, usize, f32)> {
    let of = |places: &Range<usize>| -> Vec<f32> { best[places.clone()].iter().map(|&(_, cosine)| cosine).collect() };
    let (mut of_block, mut of_chunk) = (of(&block), of(&chunk));
    let (block_start, chunk_start, slack) = (block.start, chunk.start, compared.slack());
    let mut found = Vec::new();
    compared.candidates(block, chunk, compared.threshold(), scores, |a, b, bound| {
        let [x, y] = [&mut of_block[a - block_start], &mut of_chunk[b - chunk_start]];
        let is_open = |best: f32| best < SAME && bound >= best - slack;
        if !is_open(*x) && !is_open(*y) {
            return;
        }
        let is_nearer = |&cosine: &f32| {
            let [a, b] = [a, b].map(|place| compared.positions[place] as usize);
            cosine > x.min(*y) && is_same(a, b)
        };
        if let Some(cosine) = compared.exact(a, b, compared.threshold()).filter(is_nearer) {
            *x = x.max(cosine);
            *y = y.max(cosine);
            found.push((a, b, cosine));
        }
    });
    found
}
