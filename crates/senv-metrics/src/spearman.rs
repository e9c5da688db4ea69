//! Spearman's rank correlation coefficient, with ties.
//!
//! Equation: `spearman-rho`

use crate::{
    Result,
    error::{check, check_lengths},
    pearson::correlation,
    ranks::ranks_and_ties,
};

/// Spearman's ρ of two lists of scores, in `[-1, 1]`, with averaged ranks for ties. `None` if it is undefined: with
/// fewer than two pairs, or if all values of a list are equal.
///
/// ```text
/// ρ(x, y) = r(rank x, rank y)     r: `pearson-r`, rank: `average-ranks`
/// ```
///
/// The textbook shortcut 1 − 6 Σ d² / (n³ − n) is valid only without ties; human scores are full of ties.
///
/// ```
/// use senv_metrics::spearman_rho;
/// // The order agrees, regardless of the distances.
/// let rho = spearman_rho(&[1.0, 2.0, 3.0], &[0.1, 0.2, 90.0])?.expect("neither is constant");
/// assert!((rho - 1.0).abs() < 1e-15);
/// # Ok::<(), senv_metrics::Error>(())
/// ```
///
/// # Errors
/// [`crate::Error::LengthMismatch`]; [`crate::Error::BadValue`] for NaN (infinities have ranks).
pub fn spearman_rho(x: &[f64], y: &[f64]) -> Result<Option<f64>> {
    const METRIC: &str = "Spearman's rho";
    check_lengths(METRIC, x, y)?;
    for (list, values) in [("first list", x), ("second list", y)] {
        check(METRIC, list, values, "numbers", |x| !x.is_nan())?;
    }
    Ok(correlation(&ranks_and_ties(x).0, &ranks_and_ties(y).0))
}
