//! Precision and recall over all thresholds on the scores, and average precision.
//!
//! Equation: `precision-recall`

use crate::{
    Result,
    error::{check_finite, check_lengths_of},
    sum::sum,
};

/// Precision and recall if every item with a score at or above a threshold counts as relevant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PrecisionRecall {
    /// The threshold: one of the scores.
    pub threshold: f64,
    /// Share of relevant items among those at or above the threshold, in `[0, 1]`.
    pub precision: f64,
    /// Share of the relevant items that are at or above the threshold, in `[0, 1]`.
    pub recall: f64,
}

impl PrecisionRecall {
    /// Harmonic mean of precision and recall, in `[0, 1]`; 0 if both are 0.
    #[must_use]
    pub fn f1(&self) -> f64 {
        let sum = self.precision + self.recall;
        if sum > 0.0 { 2.0 * self.precision * self.recall / sum } else { 0.0 }
    }
}

/// The point at each distinct score, thresholds descending and recall ascending; `None` if no item is relevant.
///
/// ```text
/// of the items with score ≥ t:   P(t) = relevant ones / all of them     R(t) = relevant ones / all relevant items
/// average precision = Σ_k (R_k − R_{k−1}) P_k     t_1 > t_2 > ... the distinct scores, R_0 = 0
/// ```
///
/// Items with the same score enter together, so their order does not matter. This is the sum over steps, not the area
/// under straight lines between the points, which is more optimistic than any threshold. Manning, Raghavan and Schütze,
/// "Introduction to Information Retrieval", 2008, section 8.4.
///
/// ```
/// use senv_metrics::{PrecisionRecall, precision_recall};
/// let points = precision_recall(&[true, false, true], &[0.9, 0.4, 0.4])?.expect("two are relevant");
/// let point = |threshold, precision, recall| PrecisionRecall { threshold, precision, recall };
/// assert_eq!(points, [point(0.9, 1.0, 0.5), point(0.4, 2.0 / 3.0, 1.0)]);
/// # Ok::<(), senv_metrics::Error>(())
/// ```
///
/// # Errors
/// [`crate::Error::LengthMismatch`]; [`crate::Error::BadValue`] if a score is not finite.
pub fn precision_recall(relevant: &[bool], scores: &[f64]) -> Result<Option<Vec<PrecisionRecall>>> {
    const METRIC: &str = "precision and recall";
    check_lengths_of(METRIC, relevant.len(), scores.len())?;
    check_finite(METRIC, "scores", scores)?;
    let n_relevant = relevant.iter().filter(|&&relevant| relevant).count();
    if n_relevant == 0 {
        return Ok(None);
    }
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_unstable_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    let (mut found, mut called) = (0, 0);
    // -0.0 and 0.0 are adjacent in this order, and equal.
    let points = order.chunk_by(|&a, &b| scores[a] == scores[b]).map(|tied| {
        called += tied.len();
        found += tied.iter().filter(|&&i| relevant[i]).count();
        PrecisionRecall {
            threshold: scores[tied[0]],
            precision: found as f64 / called as f64,
            recall: found as f64 / n_relevant as f64,
        }
    });
    Ok(Some(points.collect()))
}

/// The average precision of a ranking by descending score, in `[0, 1]`; `None` if no item is relevant. For a random
/// ranking it is about the share of relevant items.
///
/// ```
/// // Relevant at ranks 1 and 3: (1/1 + 2/3) / 2.
/// let ap = senv_metrics::average_precision(&[true, false, true], &[0.9, 0.5, 0.4])?.expect("two are relevant");
/// assert!((ap - 5.0 / 6.0).abs() < 1e-15);
/// // All tied: one step to precision 2/3.
/// let tied = senv_metrics::average_precision(&[true, false, true], &[0.5; 3])?;
/// assert_eq!(tied, Some(2.0 / 3.0));
/// # Ok::<(), senv_metrics::Error>(())
/// ```
///
/// # Errors
/// The errors of [`precision_recall`].
pub fn average_precision(relevant: &[bool], scores: &[f64]) -> Result<Option<f64>> {
    Ok(precision_recall(relevant, scores)?.map(|points| average_precision_of(&points)))
}

/// [`average_precision`] from precomputed points.
#[must_use]
pub fn average_precision_of(points: &[PrecisionRecall]) -> f64 {
    let before = std::iter::once(0.0).chain(points.iter().map(|point| point.recall));
    sum(points.iter().zip(before).map(|(point, before)| (point.recall - before) * point.precision))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    #[test]
    fn undefined_averages_are_none_and_bad_scores_are_named() {
        assert_eq!(average_precision(&[], &[]), Ok(None));
        assert_eq!(average_precision(&[false, false], &[0.1, 0.2]), Ok(None));
        assert_eq!(average_precision(&[false, true], &[0.1, 0.2]), Ok(Some(1.0)));
        assert_eq!(average_precision(&[true, false], &[0.0, -0.0]), Ok(Some(0.5)), "equal zeros");
        assert!(matches!(average_precision(&[true], &[]), Err(Error::LengthMismatch { first: 1, second: 0, .. })));
        let error = average_precision(&[true, false], &[0.0, f64::NAN]).unwrap_err();
        assert!(matches!(error, Error::BadValue { list: "scores", position: 1, .. }), "{error}");
    }

    #[test]
    fn f1_of_a_point() {
        let point = |precision, recall| PrecisionRecall { threshold: 0.0, precision, recall }.f1();
        assert_eq!((point(0.5, 1.0), point(1.0, 0.5)), (2.0 / 3.0, 2.0 / 3.0));
        assert_eq!(point(0.0, 0.0), 0.0);
    }
}
