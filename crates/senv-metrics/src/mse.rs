//! Mean squared error.
//!
//! Equation: `mse`

use crate::{Result, error::check_pairs, mean::mean};

/// The mean squared error of scores against gold values, in squared units of the scores; `None` without pairs, or if a
/// square overflows.
///
/// ```text
/// mse = Σ (x_i − y_i)² / n
/// ```
///
/// ```
/// // ((1 − 2)² + (5 − 2)²) / 2
/// assert_eq!(senv_metrics::mse(&[1.0, 5.0], &[2.0, 2.0])?, Some(5.0));
/// # Ok::<(), senv_metrics::Error>(())
/// ```
///
/// # Errors
/// [`crate::Error::LengthMismatch`]; [`crate::Error::BadValue`] if a value is not finite.
pub fn mse(scores: &[f64], relatedness: &[f64]) -> Result<Option<f64>> {
    check_pairs("mean squared error", scores, relatedness)?;
    let squares: Vec<f64> = scores.iter().zip(relatedness).map(|(x, y)| (x - y) * (x - y)).collect();
    Ok(mean(&squares))
}
