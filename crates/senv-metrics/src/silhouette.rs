//! Silhouette: how well points fit their groups.
//!
//! Equation: `silhouette`

use crate::{
    Result,
    error::{check_finite, check_lengths_of},
    mean,
    sum::sum,
};

/// The mean silhouette of `points`, with `dim` values each, concatenated; in `[-1, 1]`. `None` with fewer than two
/// groups, or if every point is its own group.
///
/// ```text
/// a_i = mean distance to the other points of the group     b_i = least mean distance to the points of another group
/// s_i = (b_i − a_i) / max(a_i, b_i)                        s_i = 0 for a point alone in its group
/// silhouette = Σ_i s_i / n
/// ```
///
/// Euclidean distances. P. J. Rousseeuw, "Silhouettes", Journal of Computational and Applied Mathematics 20, 1987.
///
/// ```
/// // Two pairs of points on a line, far from each other.
/// let s = senv_metrics::silhouette(&[0.0, 1.0, 10.0, 11.0], 1, &[0, 0, 1, 1])?.expect("two groups");
/// // (10.5 − 1) / 10.5 for the outer points, (9.5 − 1) / 9.5 for the inner ones.
/// assert!((s - (9.5 / 10.5 + 8.5 / 9.5) / 2.0).abs() < 1e-15);
/// # Ok::<(), senv_metrics::Error>(())
/// ```
///
/// # Errors
/// [`crate::Error::LengthMismatch`] unless there are `dim` values for each group; [`crate::Error::BadValue`] if a value
/// is not finite.
pub fn silhouette(points: &[f64], dim: usize, groups: &[usize]) -> Result<Option<f64>> {
    const METRIC: &str = "silhouette";
    check_lengths_of(METRIC, points.len(), dim.saturating_mul(groups.len()))?;
    check_finite(METRIC, "points", points)?;
    let mut names = groups.to_vec();
    names.sort_unstable();
    names.dedup();
    if names.len() < 2 || names.len() == groups.len() {
        return Ok(None);
    }
    let numbers: Vec<usize> = groups.iter().map(|group| names.binary_search(group).unwrap_or_default()).collect();
    let mut sizes = vec![0_usize; names.len()];
    numbers.iter().for_each(|&group| sizes[group] += 1);
    let point = |i: usize| &points[i * dim..(i + 1) * dim];
    let distance = |i: usize, j: usize| sum(point(i).iter().zip(point(j)).map(|(a, b)| (a - b) * (a - b))).sqrt();
    let of_point = |i: usize| {
        let mut totals = vec![0.0; names.len()];
        (0..numbers.len()).for_each(|j| totals[numbers[j]] += distance(i, j));
        let own = numbers[i];
        if sizes[own] == 1 {
            return 0.0;
        }
        let within = totals[own] / (sizes[own] - 1) as f64;
        let others = (0..names.len()).filter(|&group| group != own).map(|group| totals[group] / sizes[group] as f64);
        let nearest = others.fold(f64::INFINITY, f64::min);
        // If all distances are 0, points are neither near nor far.
        let larger = within.max(nearest);
        if larger > 0.0 { (nearest - within) / larger } else { 0.0 }
    };
    Ok(mean(&(0..numbers.len()).map(of_point).collect::<Vec<_>>()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    /// Values from scikit-learn 1.9.1, `silhouette_score`, for the points (x, y) below.
    #[test]
    fn the_reference_is_met() {
        let points = [0.1, 0.3, -0.5, 0.8, 2.0, 2.2, 1.7, 2.9, 2.5, 1.6, -3.0, 0.4, -2.2, 1.0, 5.0, -4.0];
        let s = silhouette(&points, 2, &[7, 7, 2, 2, 2, 5, 5, 9]).unwrap().unwrap();
        assert!((s - 0.557309146761942).abs() < 1e-12, "{s}");
    }

    #[test]
    fn what_has_no_groups_is_undefined_and_bad_input_is_named() {
        assert_eq!(silhouette(&[], 2, &[]), Ok(None));
        assert_eq!(silhouette(&[1.0, 2.0], 1, &[0, 0]), Ok(None));
        assert_eq!(silhouette(&[1.0, 2.0], 1, &[0, 1]), Ok(None));
        assert_eq!(silhouette(&[1.0; 4], 1, &[0, 0, 1, 1]), Ok(Some(0.0)));
        assert!(matches!(silhouette(&[1.0; 3], 2, &[0, 1]), Err(Error::LengthMismatch { .. })));
        assert!(matches!(silhouette(&[1.0, f64::NAN], 1, &[0, 1]), Err(Error::BadValue { position: 1, .. })));
    }
}
