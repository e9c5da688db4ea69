//! Tests whether two systems correlate differently with the same gold scores.
//!
//! Equation: `correlation-difference`

use crate::{Result, error::check, normal::normal_two_sided_p};

/// The p-value under the hypothesis that two systems have the same Pearson correlation with the gold scores, two-sided,
/// in `[0, 1]`.
///
/// `first` and `second` are Pearson's r of the scores of each system with the gold scores. `between` is r of the scores
/// of the two systems, and `n` the number of items. If `between` is near 1, a small difference is significant. `None`
/// if the test is undefined: with fewer than four items, or if `first` or `second` is 1 or −1. Equal correlations have
/// p = 1.
///
/// ```text
/// z_i = artanh r_i          r̄² = (r₁² + r₂²) / 2          s: correlation of the two systems
/// f = min(1, (1 − s) / (2 (1 − r̄²)))                      h = (1 − f r̄²) / (1 − r̄²)
/// Z = (z₁ − z₂) √( (n − 3) / (2 (1 − s) h) )              p = P(|N(0, 1)| ≥ |Z|)     `normal-two-sided-p`
/// of ranks: Z / √(1 + r̄²/2)                               [`rank_correlation_difference_p`]
/// ```
///
/// The test does not depend on the level or the unit of the scores, unlike [`wilcoxon`](crate::wilcoxon): cosines that
/// are all .1 higher have the same correlation.
///
/// ```
/// // The example of the paper: 15 items, r of .63 and -.03, and -.19 between the predictors; Z = 1.68.
/// let p = senv_metrics::correlation_difference_p(0.63, -0.03, -0.19, 15)?.expect("four items or more");
/// assert!((p / 2.0 - 0.047).abs() < 0.0005, "one-sided .047");
/// # Ok::<(), senv_metrics::Error>(())
/// ```
///
/// # Errors
/// [`crate::Error::BadValue`] if a correlation is outside `[-1, 1]`.
///
/// # References
/// Meng, Rosenthal and Rubin, "Comparing Correlated Correlation Coefficients", Psychological Bulletin 111, 1992,
/// equations 1 to 3. It assumes normal scores, and is close for others with many items.
pub fn correlation_difference_p(first: f64, second: f64, between: f64, n: usize) -> Result<Option<f64>> {
    Ok(statistic(first, second, between, n)?.map(|(z, _)| normal_two_sided_p(z)))
}

/// The same for Spearman's ρ: all three correlations are of ranks.
///
/// Fisher's transform of ρ has the variance (1 + ρ²/2) / (n − 3), not 1 / (n − 3), so Z is divided by √(1 + r̄²/2). In
/// simulations with ρ from .3 to .9, 5 % of tests of equal systems are significant at the level of 5 % at most; without
/// the division, up to 9 % are.
///
/// ```
/// use senv_metrics::{correlation_difference_p, rank_correlation_difference_p};
/// let of_r = correlation_difference_p(0.8, 0.7, 0.8, 60)?;
/// let of_rho = rank_correlation_difference_p(0.8, 0.7, 0.8, 60)?;
/// assert!(of_rho > of_r);
/// # Ok::<(), senv_metrics::Error>(())
/// ```
///
/// # Errors
/// The errors of [`correlation_difference_p`].
///
/// # References
/// Bonett and Wright, "Sample Size Requirements for Estimating Pearson, Kendall and Spearman Correlations",
/// Psychometrika 65, 2000.
pub fn rank_correlation_difference_p(first: f64, second: f64, between: f64, n: usize) -> Result<Option<f64>> {
    Ok(statistic(first, second, between, n)?.map(|(z, square)| normal_two_sided_p(z / (1.0 + square / 2.0).sqrt())))
}

/// Z and r̄².
fn statistic(first: f64, second: f64, between: f64, n: usize) -> Result<Option<(f64, f64)>> {
    let correlations = [first, second, between];
    check("the test of correlations", "correlations", &correlations, "from -1 to 1", |r| (-1.0..=1.0).contains(&r))?;
    if n < 4 || first.abs() == 1.0 || second.abs() == 1.0 {
        return Ok(None);
    }
    let square = f64::midpoint(first * first, second * second);
    if first == second {
        return Ok(Some((0.0, square)));
    }
    // Rounding can make systems that agree fully differ in their last digits.
    let apart = (1.0 - between).max(f64::EPSILON);
    let f = (apart / (2.0 * (1.0 - square))).min(1.0);
    let h = (1.0 - f * square) / (1.0 - square);
    let z = (first.atanh() - second.atanh()) * ((n - 3) as f64 / (2.0 * apart * h)).sqrt();
    Ok(Some((z, square)))
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    use super::*;
    use crate::{pearson_r, spearman_rho};

    /// Z of the published example by hand. artanh .63 = .741416, artanh -.03 = -.030009: their difference is .771425.
    /// r̄² = (.3969 + .0009) / 2 = .1989, f = 1.19 / 1.6022 = .742729, h = (1 - .147729) / .8011 = 1.063876, and
    /// √(12 / (2 · 1.19 · 1.063876)) = √4.739292 = 2.176991. The other numbers are of SciPy 1.17.1: the equation in
    /// NumPy's f64, and `scipy.stats.norm.sf`.
    #[test]
    fn the_published_example_and_the_numbers_of_scipy() {
        let (z, square) = statistic(0.63, -0.03, -0.19, 15).unwrap().unwrap();
        assert!((z - 0.771_425 * 2.176_991).abs() < 1e-5 && (square - 0.1989).abs() < 1e-12, "{z} {square}");
        for (first, second, between, n, p) in [
            (0.63, -0.03, -0.19, 15, 0.093_076_949_016_215_47),
            (0.7, 0.65, 0.9, 500, 0.000_550_000_135_039_041_7),
            (0.9, 0.85, 0.8, 60, 0.128_264_243_809_409_46),
            (-0.4, 0.1, 0.3, 1000, 4.089_161_271_919_361e-42),
            (0.1, -0.3, -0.95, 40, 0.206_803_049_980_728_18), // 1.95 / 1.9 is above 1, so f = 1
            (0.95, 0.2, 0.1, 50, 5.226_110_435_791_788e-15),
            (0.8, 0.79, 0.995, 3000, 1.490_148_495_850_287e-19),
        ] {
            for (first, second) in [(first, second), (second, first), (-first, -second)] {
                let got = correlation_difference_p(first, second, between, n).unwrap().unwrap();
                assert!((got / p - 1.0).abs() < 1e-9, "{got} instead of {p}");
            }
        }
        // r̄² = .565 and Z = 1.952367 of r, so Z = 1.952367 / √1.2825 = 1.723982 of ranks.
        let ranks = rank_correlation_difference_p(0.8, 0.7, 0.8, 60).unwrap().unwrap();
        assert!((ranks / 0.084_711_058_180_253_62 - 1.0).abs() < 1e-9, "{ranks}");
    }

    #[test]
    fn what_cannot_be_tested_is_none_and_no_difference_has_a_p_of_1() {
        for n in [0, 3] {
            assert_eq!(correlation_difference_p(0.5, 0.4, 0.9, n), Ok(None));
        }
        assert_eq!(correlation_difference_p(1.0, 0.4, 0.4, 10), Ok(None));
        assert_eq!(correlation_difference_p(0.4, -1.0, -0.4, 10), Ok(None));
        assert_eq!(correlation_difference_p(0.4, 0.4, 1.0, 10), Ok(Some(1.0)));
        // The same ranking, after rounding.
        let rounded = correlation_difference_p(0.8, 0.8 + f64::EPSILON, 1.0, 1000).unwrap().unwrap();
        assert!(rounded > 0.99, "{rounded}");
        for bad in [1.000_001, -1.1, f64::NAN, f64::INFINITY] {
            assert!(correlation_difference_p(bad, 0.5, 0.5, 10).is_err());
            assert!(correlation_difference_p(0.5, 0.5, bad, 10).is_err());
        }
    }

    /// Gold scores and two systems that follow them equally well.
    fn equal_systems(rng: &mut Pcg64, n: usize) -> [Vec<f64>; 3] {
        let mut normal = || {
            // Irwin and Hall: twelve uniform values.
            (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0
        };
        let mut lists = [const { Vec::new() }; 3];
        for _ in 0..n {
            let (gold, shared, a, b) = (normal(), normal(), normal(), normal());
            // r = .8 with the gold scores, and .64 + .36 / 2 = .82 between the two.
            let score = |own: f64| 0.8 * gold + 0.6 * (shared + own) / 2.0_f64.sqrt();
            for (list, value) in lists.iter_mut().zip([gold, score(a), score(b)]) {
                list.push(value);
            }
        }
        lists
    }

    /// Of 600 tests at the level of 5 %, 30 are significant by chance; the standard deviation is 5.3. Ranks are
    /// conservative here.
    #[test]
    fn equal_systems_differ_in_a_twentieth_of_the_trials() {
        let mut rng = Pcg64::seed_from_u64(11);
        let (mut of_r, mut of_rho) = (0, 0);
        for _ in 0..600 {
            let [gold, a, b] = equal_systems(&mut rng, 100);
            let r = |x: &[f64], y: &[f64]| pearson_r(x, y).unwrap().unwrap();
            let rho = |x: &[f64], y: &[f64]| spearman_rho(x, y).unwrap().unwrap();
            let p = correlation_difference_p(r(&gold, &a), r(&gold, &b), r(&a, &b), 100).unwrap().unwrap();
            of_r += usize::from(p < 0.05);
            let p = rank_correlation_difference_p(rho(&gold, &a), rho(&gold, &b), rho(&a, &b), 100).unwrap().unwrap();
            of_rho += usize::from(p < 0.05);
        }
        assert!((14..=46).contains(&of_r), "{of_r} of 600");
        assert!((8..=46).contains(&of_rho), "{of_rho} of 600");
    }
}
