//! Plain and weighted means, for summaries of STS results.
//!
//! Equation: `mean`
//!
//! ```text
//! mean = Σ x_i / n     weighted mean = Σ w_i x_i / Σ w_i     deviation = √(Σ (x_i − mean)² / (n − 1))
//! ```
//!
//! A year of STS is reported either as the plain mean over its tasks, or as the mean weighted by their numbers of
//! pairs. Reference: Agirre et al., "SemEval-2014 Task 10", 2014.

use crate::{
    Error, Result,
    error::{check, check_finite, check_lengths},
    sum::sum,
};

/// The plain mean; `None` without values, or if one is not finite.
///
/// ```
/// assert_eq!(senv_metrics::mean(&[0.25, 0.75]), Some(0.5));
/// assert_eq!(senv_metrics::mean(&[]), None);
/// ```
#[must_use]
pub fn mean(values: &[f64]) -> Option<f64> {
    let finite = !values.is_empty() && values.iter().all(|x| x.is_finite());
    // Divides first if the sum would overflow.
    let n = values.len() as f64;
    finite.then(|| match sum(values.iter().copied()) / n {
        mean if mean.is_finite() => mean,
        _ => sum(values.iter().map(|x| x / n)),
    })
}

/// The standard deviation of a sample; `None` below two values, or if a value is not finite.
///
/// ```
/// assert_eq!(senv_metrics::standard_deviation(&[1.0, 3.0]), Some(2.0_f64.sqrt()));
/// assert_eq!(senv_metrics::standard_deviation(&[1.0]), None);
/// ```
#[must_use]
pub fn standard_deviation(values: &[f64]) -> Option<f64> {
    let center = mean(values).filter(|_| values.len() > 1)?;
    Some((sum(values.iter().map(|x| (x - center) * (x - center))) / (values.len() - 1) as f64).sqrt())
}

/// The mean of `values` weighted by `weights`, such as numbers of pairs; `None` if the weights sum to zero.
///
/// ```
/// // (750 · 0.5 + 250 · 0.7) / 1000
/// let mean = senv_metrics::weighted_mean(&[0.5, 0.7], &[750.0, 250.0])?;
/// assert!((mean.expect("positive weights") - 0.55).abs() < 1e-15);
/// # Ok::<(), senv_metrics::Error>(())
/// ```
///
/// # Errors
/// [`Error::LengthMismatch`]; [`Error::BadValue`] if a value is not finite, or a weight is negative or not finite.
pub fn weighted_mean(values: &[f64], weights: &[f64]) -> Result<Option<f64>, Error> {
    const METRIC: &str = "weighted mean";
    check_lengths(METRIC, values, weights)?;
    check_finite(METRIC, "values", values)?;
    check(METRIC, "weights", weights, "finite numbers of at least 0", |w| w.is_finite() && w >= 0.0)?;
    // Relative to the largest weight, so no product or sum overflows unless the mean does.
    let largest = weights.iter().copied().fold(0.0, f64::max);
    if largest == 0.0 {
        return Ok(None);
    }
    let total = sum(weights.iter().map(|w| w / largest));
    let weighted = sum(values.iter().zip(weights).map(|(x, w)| x * (w / largest)));
    Ok(Some(match weighted / total {
        mean if mean.is_finite() => mean,
        _ => sum(values.iter().zip(weights).map(|(x, w)| x * (w / largest / total))),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deviations_by_hand() {
        // Around 5: 9 + 1 + 1 + 1 + 0 + 0 + 4 + 16, over 7.
        let deviation = standard_deviation(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).unwrap();
        assert!((deviation - (32.0_f64 / 7.0).sqrt()).abs() < 1e-15);
        assert_eq!(standard_deviation(&[3.0, 3.0]), Some(0.0));
        // Deviations of −5, −2 and 7 units in the last places of 1e8, which a difference of squares would lose.
        let unit = 2_f64.powi(-24);
        let far = standard_deviation(&[0.0, 3.0, 12.0].map(|x| 1e8 + x * unit)).unwrap();
        assert!((far / unit - 39_f64.sqrt()).abs() < 1e-12, "{far}");
        assert_eq!([&[][..], &[1.0], &[1.0, f64::NAN]].map(standard_deviation), [None; 3]);
    }

    #[test]
    fn the_smallest_numbers_have_a_mean() {
        let least = f64::from_bits(1);
        assert_eq!(mean(&[least; 3]), Some(least));
        assert_eq!(weighted_mean(&[least; 3], &[2.0; 3]), Ok(Some(least)));
    }

    #[test]
    fn undefined_means_are_none_and_bad_weights_are_named() {
        assert_eq!(mean(&[1.0, f64::NAN]), None);
        assert_eq!(mean(&[1e308, 1e308, -1e308]).map(|m| (m / 1e308 * 3.0).round()), Some(1.0));
        assert_eq!(weighted_mean(&[], &[]), Ok(None));
        assert_eq!(weighted_mean(&[1.0, 2.0], &[0.0, 0.0]), Ok(None));
        assert_eq!(weighted_mean(&[1.0, 9.0], &[2.0, 0.0]), Ok(Some(1.0)));
        // The sum of products exceeds f64, the mean does not.
        let large = weighted_mean(&[1.5e308, 1.5e308], &[1.0, 3.0]).unwrap();
        assert!(large.is_some_and(|mean| (mean / 1.5e308 - 1.0).abs() < 1e-15), "{large:?}");
        assert!(matches!(weighted_mean(&[1.0], &[1.0, 2.0]), Err(Error::LengthMismatch { first: 1, second: 2, .. })));
        for weight in [-1.0, f64::NAN, f64::INFINITY] {
            let error = weighted_mean(&[1.0, 2.0], &[1.0, weight]).unwrap_err();
            assert!(matches!(error, Error::BadValue { list: "weights", position: 1, .. }), "{error}");
        }
        assert!(matches!(weighted_mean(&[f64::NAN], &[1.0]), Err(Error::BadValue { list: "values", .. })));
    }
}
