//! Groups of rows close to a central row; the number of groups is not given.

use senv_core::{Rows, Table};

use super::Groups;
use crate::{Result, pairs::by_density};

/// Groups rows around those with the most close neighbors. The first center is the row with the most rows at a cosine
/// of at least `threshold`, and takes them all. The next is the row with the most among the rest, and so on. Groups of
/// fewer than `min_size` rows are dropped. Groups are numbered by descending size.
///
/// Neighbor counts use 32,768 evenly spaced rows, which bounds the time if all rows are similar; with fewer rows they
/// are exact. Membership is always exact. The number of groups follows from the threshold. Rows of zeros are in no
/// group. Takes 250 bytes per row in addition to the rows. `progress` receives the approximate share that is done.
///
/// ```
/// use senv_core::Table;
/// let rows = Table::from_vec(4, 2, vec![1.0, 0.1, 0.0, 2.0, 2.0, 0.1, 3.0, -0.1])?;
/// let groups = senv_index::communities(&rows, 0.9, 2, |_| {})?;
/// assert_eq!(groups.group_of, [Some(0), None, Some(0), Some(0)]);
/// # Ok::<(), senv_index::Error>(())
/// ```
///
/// # Errors
/// The errors of [`duplicates`](crate::duplicates).
pub fn communities(rows: &Table, threshold: f32, min_size: usize, progress: impl FnMut(f64)) -> Result<Groups> {
    around_centres(rows, |_| 1, threshold, min_size, progress)
}

/// Does the same as [`communities`] for rows that occur several times: `counts` has the number of occurrences of each.
/// The result is that of `communities` with each row repeated, but each is compared only once. A row that occurs at
/// least `min_size` times is a group by itself.
///
/// ```
/// use senv_core::Table;
/// let rows = Table::from_vec(3, 2, vec![1.0, 0.1, 0.0, 2.0, 1.0, -1.0])?;
/// let groups = senv_index::counted_communities(&rows, &[30, 1, 2], 0.9, 3, |_| {})?;
/// assert_eq!(groups.group_of, [Some(0), None, None]);
/// # Ok::<(), senv_index::Error>(())
/// ```
///
/// # Errors
/// [`senv_core::Error::ShapeMismatch`] if there is not one count per row; the errors of [`communities`].
pub fn counted_communities(
    rows: &Table,
    counts: &[u32],
    threshold: f32,
    min_size: usize,
    progress: impl FnMut(f64),
) -> Result<Groups> {
    let (what, expected, got) = ("the counts", rows.n_rows(), counts.len());
    if expected != got {
        return Err(senv_core::Error::ShapeMismatch { what, expected, got }.into());
    }
    around_centres(rows, |row| counts[row], threshold, min_size, progress)
}

fn around_centres(
    rows: &Table,
    count: impl Fn(usize) -> u32 + Sync,
    threshold: f32,
    min_size: usize,
    progress: impl FnMut(f64),
) -> Result<Groups> {
    let (n, dim) = (rows.n_rows(), rows.dim());
    let found = by_density(rows, &count, threshold, progress)?;
    let mut sizes = vec![0_usize; n];
    let centre = |row: usize| found[row].map_or(row, |duplicate| duplicate.of);
    let is_zero = |row: usize| crate::rows::inverse_norm(rows.row(row)) == 0.0;
    (0..n).filter(|&row| !is_zero(row)).for_each(|row| sizes[centre(row)] += count(row) as usize);
    let centres: Vec<usize> = (0..n).filter(|&row| sizes[row] >= min_size.max(1)).collect();
    let mut values = Vec::with_capacity(centres.len() * dim);
    for &row in &centres {
        let inverse = crate::rows::inverse_norm(rows.row(row));
        values.extend(rows.row(row)[..dim].iter().map(|x| x * inverse));
    }
    let number = |row: usize| centres.binary_search(&centre(row)).ok().filter(|_| !is_zero(row));
    let group_of: Vec<Option<u32>> = (0..n).map(|row| number(row).map(|group| group as u32)).collect();
    let cosine = |row: usize| match (group_of[row], found[row]) {
        (None, _) => 0.0,
        (Some(_), found) => found.map_or(1.0, |duplicate| duplicate.cosine),
    };
    let cosines = (0..n).map(cosine).collect();
    let sizes = centres.iter().map(|&row| sizes[row]).collect();
    Groups { centroids: Table::from_vec(centres.len(), dim, values)?, group_of, cosines }.ordered_by(sizes)
}
