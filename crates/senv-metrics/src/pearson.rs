//! Pearson's correlation coefficient.
//!
//! Equation: `pearson-r`

use crate::{Result, error::check_pairs, sum::sum};

/// Pearson's r of two lists of scores, in `[-1, 1]`; `None` if it is undefined: with fewer than two pairs, or if all
/// values of a list are equal.
///
/// ```text
/// r = Σ (x_i − x̄)(y_i − ȳ) / √( Σ (x_i − x̄)² · Σ (y_i − ȳ)² )
/// ```
///
/// Computed in two passes: first the means, by compensated sums, then the deviations. These are centered again and
/// divided by the largest of them. So neither a large offset nor an extreme unit loses digits.
///
/// ```
/// use senv_metrics::pearson_r;
/// // Deviations (−1, 0, 1) and (−2, 1, 1): 3 / √(2 · 6) = √3 / 2.
/// let r = pearson_r(&[1.0, 2.0, 3.0], &[0.0, 3.0, 3.0])?.expect("neither is constant");
/// assert!((r - 3_f64.sqrt() / 2.0).abs() < 1e-15);
/// assert_eq!(pearson_r(&[1.0, 2.0], &[5.0, 5.0])?, None);
/// # Ok::<(), senv_metrics::Error>(())
/// ```
///
/// # Errors
/// [`crate::Error::LengthMismatch`]; [`crate::Error::BadValue`] if a value is not finite.
pub fn pearson_r(x: &[f64], y: &[f64]) -> Result<Option<f64>> {
    check_pairs("Pearson's r", x, y)?;
    Ok(correlation(x, y))
}

/// Pearson's r of finite values, in lists of equal length.
pub(crate) fn correlation(x: &[f64], y: &[f64]) -> Option<f64> {
    let (x, y) = (deviations(x)?, deviations(y)?);
    let product = |a: &[f64], b: &[f64]| sum(a.iter().zip(b).map(|(a, b)| a * b));
    let r = product(&x, &y) / (product(&x, &x).sqrt() * product(&y, &y).sqrt());
    Some(r.clamp(-1.0, 1.0)) // Clamped, as rounding can exceed the range.
}

/// Deviations from the mean, scaled so the largest is about 1; `None` if all are 0.
fn deviations(values: &[f64]) -> Option<Vec<f64>> {
    let &first = values.first()?;
    if values.iter().all(|&x| x == first) {
        return None; // Compares the values: the rounded mean of equal values can differ from them.
    }
    // A power of two is exact, and keeps sums of the largest values finite.
    let huge = values.iter().any(|x| x.abs() > 1e280);
    let unit = if huge { 2_f64.powi(-64) } else { 1.0 };
    let n = values.len() as f64;
    let mean = sum(values.iter().map(|x| x * unit)) / n;
    let mut deviations: Vec<f64> = values.iter().map(|x| x * unit - mean).collect();
    let left = sum(deviations.iter().copied()) / n; // The rounding error of the mean.
    let largest = deviations.iter().fold(0.0, |largest: f64, d| largest.max((d - left).abs()));
    deviations.iter_mut().for_each(|d| *d = (*d - left) / largest);
    Some(deviations)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_between_two_numbers_is_corrected() {
        // 1e16 + 1 cannot be represented; around the rounded mean the deviations would be 0 and 2.
        let x = [1e16, 1e16 + 2.0];
        assert_eq!(deviations(&x), Some(vec![-1.0, 1.0]));
        for (y, expected) in [([0.0, 1.0], 1.0), ([3.0, 1.0], -1.0)] {
            let r = pearson_r(&x, &y).unwrap().unwrap();
            assert!((r - expected).abs() < 1e-15, "{r}");
        }
    }
}
