//! Area under the ROC curve: how well a score separates two groups, at any scale.
//!
//! Equation: `auc`
//!
//! ```text
//! AUC = P(x > y) + P(x = y) / 2 = (Σ_i rank(x_i) − n (n + 1) / 2) / (n m)
//! x: n scores of the group that should be higher, y: m scores of the other; ranks (`average-ranks`) over both together
//! ```
//!
//! The Mann-Whitney statistic over the number of pairs (Hanley and McNeil, Radiology 143(1), 1982).

use crate::{Result, error::check, ranks::ranks_and_ties};

/// The probability that a value of `higher` is above one of `lower`, counting ties as half, in `[0, 1]`. It is 0.5 if
/// both groups have the same distribution, and `None` if a group is empty.
///
/// ```
/// // Of the six pairs, five are in order and one is a tie.
/// let auc = senv_metrics::auc(&[0.9, 0.5], &[0.1, 0.2, 0.5])?.expect("neither is empty");
/// assert!((auc - 5.5 / 6.0).abs() < 1e-15);
/// # Ok::<(), senv_metrics::Error>(())
/// ```
///
/// # Errors
/// [`crate::Error::BadValue`] for NaN (infinities have ranks).
pub fn auc(higher: &[f64], lower: &[f64]) -> Result<Option<f64>> {
    for (list, values) in [("higher group", higher), ("lower group", lower)] {
        check("AUC", list, values, "numbers", |x| !x.is_nan())?;
    }
    if higher.is_empty() || lower.is_empty() {
        return Ok(None);
    }
    let (n, m) = (higher.len() as f64, lower.len() as f64);
    let (ranks, _) = ranks_and_ties(&[higher, lower].concat());
    let sum: f64 = ranks[..higher.len()].iter().sum();
    Ok(Some((sum - n * (n + 1.0) / 2.0) / (n * m)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_share_of_pairs_in_order_with_ties_counted_half() {
        let higher = [0.3, 0.7, 0.7, 1.0, -0.2];
        let lower = [0.7, 0.1, -0.2, 0.3, 0.3, f64::NEG_INFINITY];
        let value = |x: f64, y: f64| if x > y { 1.0 } else { f64::from(u8::from(x == y)) / 2.0 };
        let pairs = higher.iter().flat_map(|&x| lower.iter().map(move |&y| value(x, y)));
        let expected = pairs.sum::<f64>() / 30.0;
        let got = auc(&higher, &lower).unwrap().unwrap();
        assert!((got - expected).abs() < 1e-15, "{got} instead of {expected}");
        let turned = auc(&lower, &higher).unwrap().unwrap();
        assert!((got + turned - 1.0).abs() < 1e-15);
    }

    #[test]
    fn equal_values_are_not_separated_and_empty_groups_have_no_value() {
        assert_eq!(auc(&[1.0; 7], &[1.0; 3]), Ok(Some(0.5)));
        assert_eq!(auc(&[2.0, 3.0], &[1.0, 0.0]), Ok(Some(1.0)));
        assert_eq!((auc(&[], &[1.0]), auc(&[1.0], &[])), (Ok(None), Ok(None)));
        assert!(auc(&[f64::NAN], &[1.0]).is_err() && auc(&[1.0], &[f64::NAN]).is_err());
    }
}
