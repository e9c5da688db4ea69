//! Finds the nearest other rows of each row.

use senv_core::Table;

use super::sign_neighbours::SignNeighbours;
use crate::{Error, IndexParams, Neighbour, Result, Search, VectorIndex, code_kernels, rows::check_finite};

/// Rows searched at the same time.
const BATCH: usize = 4096;

/// The number of rows up to which all are compared; a few tenths of a second with 512 dimensions on two cores.
pub const COMPARED_UP_TO: usize = 5_000;

/// Calls `visit` with each row of a table, in order, and its `k` nearest other rows, nearest first.
///
/// Equals [`for_neighbours`] with an index of the rows with default parameters, except if most rows differ only in
/// their signs, as the vectors of unknown words do. Then all rows are compared. An index of such rows would have to
/// compare so many of them that this is faster, and nothing is missed.
///
/// ```
/// use senv_core::Table;
/// use senv_index::for_nearest_others;
/// let rows = Table::from_vec(3, 2, vec![1.0, 0.0, 0.0, 1.0, 2.0, 0.1])?;
/// let mut nearest = Vec::new();
/// for_nearest_others(rows, 1, |_, near| {
///     nearest.push(near[0].row);
///     Ok(())
/// })?;
/// assert_eq!(nearest, [2, 2, 0]);
/// # Ok::<(), senv_index::Error>(())
/// ```
///
/// # Errors
/// The errors of [`VectorIndex::build`] and [`for_neighbours`].
pub fn for_nearest_others(rows: Table, k: usize, visit: impl FnMut(usize, &[Neighbour]) -> Result<()>) -> Result<()> {
    check_finite(&rows)?;
    let signs = if code_kernels::has_fast_signs() { SignNeighbours::new(rows, k) } else { Err(rows) };
    match signs {
        Ok(signs) => signs.for_each(visit),
        Err(rows) => for_neighbours(&VectorIndex::build(rows, &IndexParams::default())?, k, visit),
    }
}

/// Calls `visit` with each row of an index, in order, and its `k` nearest other rows, nearest first.
///
/// Up to [`COMPARED_UP_TO`] rows, all are compared. Above that, [`VectorIndex::search_batch`] finds the rows, with the
/// recall of [`Search::new`]. Cosines are exact. An error of `visit` stops the search.
///
/// ```
/// use senv_core::Table;
/// use senv_index::{IndexParams, VectorIndex, for_neighbours};
/// let rows = Table::from_vec(3, 2, vec![1.0, 0.0, 0.0, 1.0, 2.0, 0.1])?;
/// let index = VectorIndex::build(rows, &IndexParams::default())?;
/// let mut nearest = Vec::new();
/// for_neighbours(&index, 1, |_, near| {
///     nearest.push(near[0].row);
///     Ok(())
/// })?;
/// assert_eq!(nearest, [2, 2, 0]);
/// # Ok::<(), senv_index::Error>(())
/// ```
///
/// # Errors
/// The errors of [`VectorIndex::search_batch`] and `visit`; [`senv_core::Error::InvalidParameter`] if the index stores
/// no rows.
pub fn for_neighbours(
    index: &VectorIndex,
    k: usize,
    mut visit: impl FnMut(usize, &[Neighbour]) -> Result<()>,
) -> Result<()> {
    // One more, since a row is its own nearest.
    for_neighbours_in(index, index, k.saturating_add(1), |row, near| {
        let mut others: Vec<Neighbour> = near.iter().copied().filter(|near| near.row != row).collect();
        others.truncate(k);
        visit(row, &others)
    })
}

/// Calls `visit` with each row of an index, in order, and the `k` nearest rows of another index, nearest first.
///
/// # Errors
/// The errors of [`for_neighbours`].
pub fn for_neighbours_in(
    queries: &VectorIndex,
    index: &VectorIndex,
    k: usize,
    mut visit: impl FnMut(usize, &[Neighbour]) -> Result<()>,
) -> Result<()> {
    let mut search = Search::new(k);
    if index.len() <= COMPARED_UP_TO {
        search.recall = 1.0;
    }
    for start in (0..queries.len()).step_by(BATCH) {
        let rows = start..queries.len().min(start + BATCH);
        let rows: Vec<Vec<f32>> = rows.map(|i| row(queries, i)).collect::<Result<_>>()?;
        let batch: Vec<&[f32]> = rows.iter().map(Vec::as_slice).collect();
        for (row, near) in (start..).zip(index.search_batch(&batch, &search)?) {
            visit(row, &near)?;
        }
    }
    Ok(())
}

fn row(index: &VectorIndex, i: usize) -> Result<Vec<f32>> {
    index.row(i)?.ok_or_else(|| {
        let (name, requirement, got) = ("rescoring", "a format that keeps the rows", "none".into());
        Error::Core(senv_core::Error::InvalidParameter { name, requirement, got })
    })
}
