//! Finds the pairs of rows with the highest cosines.

use std::ops::Range;

use rayon::prelude::*;
use senv_core::Table;

use super::compare::{BLOCK, Compared, Products};
use crate::Result;

/// Two rows and their cosine.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Pair {
    /// The earlier row.
    pub first: usize,
    /// The later row.
    pub second: usize,
    /// Their cosine, in `[-1, 1]`, computed by [`senv_core::kernels::cosine`].
    pub cosine: f32,
}

/// The pairs to find.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairSearch {
    /// The maximum number of pairs.
    pub n: usize,
    /// The lowest cosine, in `[-1, 1]`; pairs below it are left out.
    pub min_cosine: f32,
    /// The highest cosine; pairs above it are left out.
    pub max_cosine: f32,
    /// If set, only pairs of one of this many first rows with one of the others.
    pub between: Option<usize>,
}

impl PairSearch {
    /// The `n` nearest pairs with a cosine of at least `min_cosine`.
    #[must_use]
    pub fn new(n: usize, min_cosine: f32) -> Self {
        Self { n, min_cosine, max_cosine: f32::INFINITY, between: None }
    }
}

/// The pairs of rows with the highest cosines, highest first; ties go to earlier rows.
///
/// The result equals that of comparing all pairs, at any number of threads; a bound on the cosine excludes most pairs.
/// Rows of zeros are in no pair. In addition to the rows it takes about 150 bytes per row and 48 bytes per requested
/// pair. The lowest cosine determines the time. `progress` receives the number of rows compared with all others.
///
/// ```
/// use senv_core::Table;
/// use senv_index::{PairSearch, nearest_pairs};
/// let rows = Table::from_vec(3, 2, vec![1.0, 0.0, 0.0, 1.0, 2.0, 0.1])?;
/// let pairs = nearest_pairs(&rows, &PairSearch::new(1, 0.5), |_| {})?;
/// assert_eq!((pairs[0].first, pairs[0].second), (0, 2));
/// # Ok::<(), senv_index::Error>(())
/// ```
///
/// # Errors
/// The errors of [`duplicates`](crate::duplicates).
pub fn nearest_pairs(rows: &Table, search: &PairSearch, progress: impl FnMut(usize)) -> Result<Vec<Pair>> {
    nearest_pairs_where(rows, search, |_, _| true, progress)
}

/// Like [`nearest_pairs`], but only pairs for which `is_same` also holds count. It receives the rows in their order, on
/// several threads, and must always give the same answer for the same rows.
///
/// # Errors
/// The errors of [`nearest_pairs`].
pub fn nearest_pairs_where(
    rows: &Table,
    search: &PairSearch,
    is_same: impl Fn(usize, usize) -> bool + Sync,
    mut progress: impl FnMut(usize),
) -> Result<Vec<Pair>> {
    let compared = Compared::new(rows, search.min_cosine)?;
    let n_rows = compared.positions.len();
    let split = search.between.map(|n| compared.place_from(n));
    let mut best = Best { n: search.n, floor: compared.threshold(), pairs: Vec::new() };
    // The number of chunks per step. A limited number bounds memory, and each step raises the floor for the next.
    let at_once = 8 * rayon::current_num_threads();
    for start in (0..split.unwrap_or(n_rows)).step_by(BLOCK) {
        let end = split.unwrap_or(n_rows).min(start + BLOCK);
        for chunks in compared.chunks(split.unwrap_or(start)..n_rows).chunks(at_once) {
            let floor = best.floor;
            let of_chunk = |scores: &mut Products, chunk: &Range<usize>| {
                let mut pairs = Vec::new();
                compared.candidates(start..end, chunk.clone(), floor, scores, |a, b, _| {
                    let cosine = compared.exact(a, b, floor).filter(|&cosine| cosine <= search.max_cosine);
                    let [first, second] = [a, b].map(|place| compared.positions[place] as usize);
                    let pair = cosine.map(|cosine| Pair { first, second, cosine });
                    pairs.extend(pair.filter(|_| is_same(first, second)));
                });
                pairs
            };
            let found: Vec<Vec<Pair>> = chunks.par_iter().map_init(Products::default, of_chunk).collect();
            found.into_iter().for_each(|pairs| best.extend(pairs));
        }
        progress(compared.positions.get(end).map_or(rows.n_rows(), |&row| row as usize));
    }
    Ok(best.finish())
}

/// The best pairs so far.
struct Best {
    n: usize,
    /// Pairs with lower cosines are no longer needed.
    floor: f32,
    pairs: Vec<Pair>,
}

impl Best {
    fn extend(&mut self, pairs: Vec<Pair>) {
        self.pairs.extend(pairs);
        if self.pairs.len() >= self.n.max(1 << 10).saturating_mul(2) {
            self.cut();
        }
    }

    fn cut(&mut self) {
        if self.n > 0 && self.n < self.pairs.len() {
            let (_, last, _) = self.pairs.select_nth_unstable_by(self.n - 1, order);
            self.floor = self.floor.max(last.cosine);
        }
        self.pairs.truncate(self.n);
    }

    fn finish(mut self) -> Vec<Pair> {
        self.cut();
        self.pairs.sort_unstable_by(order);
        self.pairs
    }
}

fn order(a: &Pair, b: &Pair) -> std::cmp::Ordering {
    b.cosine.total_cmp(&a.cosine).then_with(|| (a.first, a.second).cmp(&(b.first, b.second)))
}
