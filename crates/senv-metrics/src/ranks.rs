//! Ranks with averaged ties.
//!
//! Equation: `average-ranks`

use crate::{Result, error::check};

/// The rank of each value, 1 for the smallest; equal values share their average rank. `-0.0` equals `0.0`, infinities
/// rank at the ends.
///
/// ```text
/// rank(x_i) = #{j : x_j < x_i} + (#{j : x_j = x_i} + 1) / 2
/// ```
///
/// ```
/// assert_eq!(senv_metrics::ranks(&[0.5, 0.2, 0.5, 0.9])?, [2.5, 1.0, 2.5, 4.0]);
/// # Ok::<(), senv_metrics::Error>(())
/// ```
///
/// # Errors
/// [`crate::Error::BadValue`] if a value is NaN, which has no rank.
pub fn ranks(values: &[f64]) -> Result<Vec<f64>> {
    check("ranks", "values", values, "numbers", |x| !x.is_nan())?;
    Ok(ranks_and_ties(values).0)
}

/// Ranks of values without NaN, and the sizes of groups of two or more equal values.
pub(crate) fn ranks_and_ties(values: &[f64]) -> (Vec<f64>, Vec<usize>) {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by(|&a, &b| values[a].total_cmp(&values[b]));
    let (mut ranks, mut ties) = (vec![0.0; values.len()], Vec::new());
    let mut below = 0;
    for group in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let rank = below as f64 + (group.len() + 1) as f64 / 2.0;
        group.iter().for_each(|&i| ranks[i] = rank);
        below += group.len();
        if group.len() > 1 {
            ties.push(group.len());
        }
    }
    (ranks, ties)
}
