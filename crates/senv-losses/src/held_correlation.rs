//! Preserves similarities: the cosines of groups of pairs should keep the order and spacing of given values.
//!
//! Equation: `held-correlation`

use crate::error::{Error, Result, check_size};

/// The ε under the root: a group without spread gets r = 0.
const EPSILON: f64 = 1e-9;

/// The mean of 1 − r over groups, and its gradient with respect to the cosines. A group is a list of pair numbers; a
/// pair can be in several groups.
///
/// ```text
/// (F1)  r_k = Σ x y / √(Σ x² Σ y² + ε)     x, y: cosines c and given values t of the pairs of group k, less their means;  ε = 1e-9
/// (F2)  L   = (1/n) Σ_k (1 − r_k)          n groups
/// (B1)  ∂r_k/∂c_i = y_i / D − (Σ x y) (Σ y²) x_i / D³       D = √(Σ x² Σ y² + ε)
/// ```
///
/// No labels are needed: t are the cosines of the original vectors. The means need no extra terms in (B1), since Σ x =
/// Σ y = 0.
///
/// ```
/// use senv_losses::held_correlation;
/// let given = [0.1, 0.5, 0.9];
/// // Cosines that rise linearly with the given values have loss 0.
/// let (loss, d) = held_correlation(&[0.3, 0.5, 0.7], &given, &[vec![0, 1, 2]])?;
/// assert!(loss < 1e-6 && d.iter().all(|d| d.abs() < 1e-6));
/// assert!(held_correlation(&[0.7, 0.5, 0.3], &given, &[vec![0, 1, 2]])?.0 > 1.9);
/// # Ok::<(), senv_losses::Error>(())
/// ```
///
/// # Errors
/// [`Error::EmptyBatch`] without groups; [`senv_core::Error::ShapeMismatch`] if the numbers of values and cosines
/// differ, or a group names a pair that does not exist.
pub fn held_correlation(cosines: &[f64], given: &[f64], groups: &[Vec<u32>]) -> Result<(f64, Vec<f64>)> {
    check_size("values to hold", cosines.len(), given.len())?;
    if groups.is_empty() {
        return Err(Error::EmptyBatch);
    }
    if let Some(&beyond) = groups.iter().flatten().find(|&&i| i as usize >= cosines.len()) {
        check_size("pairs of groups", cosines.len(), beyond as usize + 1)?;
    }
    let share = 1.0 / groups.len() as f64;
    let (mut loss, mut d_cosines) = (0.0, vec![0.0; cosines.len()]);
    for group in groups {
        let n = group.len().max(1) as f64;
        let mean = |of: &[f64]| group.iter().map(|&i| of[i as usize]).sum::<f64>() / n;
        let (mean_x, mean_y) = (mean(cosines), mean(given));
        let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
        for &i in group {
            let (x, y) = (cosines[i as usize] - mean_x, given[i as usize] - mean_y);
            xx += x * x;
            yy += y * y;
            xy += x * y;
        }
        let d = (xx * yy + EPSILON).sqrt();
        loss += share * (1.0 - xy / d); // (F1) (F2)
        for &i in group {
            let (x, y) = (cosines[i as usize] - mean_x, given[i as usize] - mean_y);
            d_cosines[i as usize] -= share * (y / d - xy * yy * x / (d * d * d)); // (B1)
        }
    }
    Ok((loss, d_cosines))
}

#[cfg(test)]
mod tests {
    use super::*;
    use senv_core::gradcheck;

    #[test]
    fn gradients_match_central_differences() {
        let cosines = [0.9, 0.4, -0.2, 0.55, 0.1, 0.7];
        let given = [0.8, 0.6, 0.1, 0.2, 0.0, 0.9];
        // Overlapping groups, and one without spread.
        let groups = [vec![0, 1, 2, 3], vec![2, 3, 4, 5], vec![5, 0], vec![1]];
        let (loss, d) = held_correlation(&cosines, &given, &groups).unwrap();
        let of = |x: &[f64]| held_correlation(x, &given, &groups).unwrap().0;
        assert!(gradcheck::max_relative_error(of, &cosines, &d) < 1e-7);
        let flipped: Vec<f64> = d.iter().map(|d| -d).collect();
        assert!(gradcheck::max_relative_error(of, &cosines, &flipped) > 1.9);
        let r = |group: &[usize]| {
            let pick = |x: &[f64]| group.iter().map(|&i| x[i]).collect::<Vec<_>>();
            let (x, y) = (pick(&cosines), pick(&given));
            let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
            let (mx, my) = (mean(&x), mean(&y));
            let sum = |f: fn(f64, f64) -> f64| x.iter().zip(&y).map(|(x, y)| f(x - mx, y - my)).sum::<f64>();
            sum(|x, y| x * y) / (sum(|x, _| x * x) * sum(|_, y| y * y)).sqrt()
        };
        let expected = (4.0 - r(&[0, 1, 2, 3]) - r(&[2, 3, 4, 5]) - r(&[5, 0])) / 4.0;
        // ε changes this group of small spread by 5e-6.
        assert!((loss - expected).abs() < 2e-6, "{loss} {expected}");
    }

    #[test]
    fn groups_that_do_not_fit_are_refused() {
        assert!(matches!(held_correlation(&[], &[], &[]), Err(Error::EmptyBatch)));
        assert!(held_correlation(&[0.1], &[], &[vec![0]]).is_err());
        for pair in [1, 2] {
            let Err(Error::Core(error)) = held_correlation(&[0.1], &[0.2], &[vec![0], vec![pair]]) else {
                unreachable!("{pair} is not there");
            };
            let n = pair as usize + 1;
            assert!(matches!(error, senv_core::Error::ShapeMismatch { expected: 1, got, .. } if got == n), "{error}");
        }
    }
}
