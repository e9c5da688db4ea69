//! Area under the ROC curve: how well a score separates two groups, at any scale.
//!
//! Equation: `auc`

use crate::{
    Result,
    error::{check, check_lengths_of},
    ranks::ranks_and_ties,
};

/// The area under the ROC curve: the probability that a relevant item scores higher than one that is not, ties counted
/// half. It is in `[0, 1]`, and 0.5 if both have the same distribution of scores. `None` if all items are relevant, or
/// none.
///
/// ```text
/// AUC = P(x > y) + P(x = y) / 2 = (Σ_i rank(x_i) − n (n + 1) / 2) / (n m)
/// x: n scores of the group that should be higher, y: m scores of the other; ranks (`average-ranks`) over both together
/// ```
///
/// The Mann-Whitney statistic over the number of pairs (Hanley and McNeil, Radiology 143(1), 1982).
///
/// ```
/// // Five of the six pairs are in order, and one is a tie.
/// let relevant = [true, true, false, false, false];
/// let auc = senv_metrics::auc(&relevant, &[0.9, 0.5, 0.1, 0.2, 0.5])?.expect("both kinds are there");
/// assert!((auc - 5.5 / 6.0).abs() < 1e-15);
/// # Ok::<(), senv_metrics::Error>(())
/// ```
///
/// # Errors
/// [`crate::Error::LengthMismatch`] if the lists differ in length; [`crate::Error::BadValue`] for a score that is NaN
/// (infinities have ranks).
pub fn auc(relevant: &[bool], scores: &[f64]) -> Result<Option<f64>> {
    check_lengths_of("AUC", relevant.len(), scores.len())?;
    check("AUC", "scores", scores, "numbers", |x| !x.is_nan())?;
    let n = relevant.iter().filter(|&&relevant| relevant).count();
    let m = relevant.len() - n;
    if n == 0 || m == 0 {
        return Ok(None);
    }
    let (n, m) = (n as f64, m as f64);
    let (ranks, _) = ranks_and_ties(scores);
    let sum: f64 = ranks.iter().zip(relevant).filter(|(_, relevant)| **relevant).map(|(rank, _)| rank).sum();
    Ok(Some((sum - n * (n + 1.0) / 2.0) / (n * m)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    #[test]
    fn bad_lists_are_named() {
        assert!(matches!(auc(&[true], &[]), Err(Error::LengthMismatch { first: 1, second: 0, .. })));
        assert!(matches!(auc(&[true, false], &[0.0, f64::NAN]), Err(Error::BadValue { position: 1, .. })));
    }

    #[test]
    fn it_is_the_share_of_pairs_in_order_with_ties_counted_half() {
        let higher = [0.3, 0.7, 0.7, 1.0, -0.2];
        let lower = [0.7, 0.1, -0.2, 0.3, 0.3, f64::NEG_INFINITY];
        let value = |x: f64, y: f64| if x > y { 1.0 } else { f64::from(u8::from(x == y)) / 2.0 };
        let pairs = higher.iter().flat_map(|&x| lower.iter().map(move |&y| value(x, y)));
        let expected = pairs.sum::<f64>() / 30.0;
        let scores = [&higher[..], &lower[..]].concat();
        let relevant: Vec<bool> = (0..scores.len()).map(|i| i < higher.len()).collect();
        let got = auc(&relevant, &scores).unwrap().unwrap();
        assert!((got - expected).abs() < 1e-15, "{got} instead of {expected}");
        let others: Vec<bool> = relevant.iter().map(|relevant| !relevant).collect();
        let turned = auc(&others, &scores).unwrap().unwrap();
        assert!((got + turned - 1.0).abs() < 1e-15);
    }

    #[test]
    fn equal_values_are_not_separated_and_empty_groups_have_no_value() {
        assert_eq!(auc(&[true, true, false], &[1.0; 3]), Ok(Some(0.5)));
        assert_eq!(auc(&[true, false, true, false], &[2.0, 1.0, 3.0, 0.0]), Ok(Some(1.0)));
        assert_eq!((auc(&[false], &[1.0]), auc(&[true], &[1.0]), auc(&[], &[])), (Ok(None), Ok(None), Ok(None)));
    }
}
