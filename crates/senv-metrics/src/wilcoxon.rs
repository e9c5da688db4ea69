//! Wilcoxon's signed-rank test: do two systems score the same pairs differently, beyond chance?
//!
//! Equation: `wilcoxon-signed-rank`

use crate::{
    Result,
    error::{check_finite, check_pairs},
    normal::normal_two_sided_p,
    ranks::ranks_and_ties,
};

/// The maximum number of differences for an exact [`Wilcoxon::p_value`]; with more it is the normal approximation.
pub const MAX_EXACT: usize = 50;

/// How a p-value was computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PValueMethod {
    /// All assignments of signs, counted.
    Exact,
    /// The normal approximation, without continuity correction.
    Normal,
}

/// The result of a signed-rank test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wilcoxon {
    /// Pairs given.
    pub n_pairs: usize,
    /// Pairs that differ, n.
    pub n_used: usize,
    /// Sum of the ranks of positive differences (the first list is higher), W⁺.
    pub w_plus: f64,
    /// Sum of the ranks of negative differences, W⁻.
    pub w_minus: f64,
    /// Variance of W if differences are symmetric around 0 (the null hypothesis), adjusted for ties: σ².
    pub variance: f64,
    /// The distance of W from its mean in standard deviations, never positive; `None` if no pair differs.
    pub z: Option<f64>,
    /// Two-sided p-value, in `[0, 1]`; `None` if no pair differs.
    pub p_value: Option<f64>,
    /// How the p-value was computed: exactly for up to [`MAX_EXACT`] pairs that differ.
    pub method: PValueMethod,
    /// Whether absolute differences are tied.
    pub has_ties: bool,
}

/// Tests whether the paired differences of two lists are symmetric around zero.
///
/// ```text
/// d_i = x_i − y_i, zeros dropped, n left     R_i = rank of |d_i|, ties averaged (`average-ranks`)
/// W⁺ = Σ_{d_i > 0} R_i     W⁻ = Σ_{d_i < 0} R_i     W = min(W⁺, W⁻)
/// σ² = n(n+1)(2n+1)/24 − Σ_t (t³ − t)/48            t: sizes of the groups of equal |d|
/// z = (W − n(n+1)/4) / σ ≤ 0     p = P(|Z| ≥ |z|), two-sided
/// exact: p = min(1, 2 · #{S ⊂ {1..n} : Σ_{i ∈ S} R_i ≤ W} / 2ⁿ)
/// ```
///
/// The exact p-value counts all assignments of signs to the ranks, including tied ones. It is reported for up to 50
/// differences, as in SciPy. As is usual in the field, there is no continuity correction by default (Kenter, Borisov
/// and de Rijke, "Siamese CBOW", ACL 2016, marks differences at p < 10⁻⁴). Wilcoxon, "Individual Comparisons by Ranking
/// Methods", 1945.
///
/// ```
/// // Differences 3, −1, 2, 4: ranks 3, 1, 2, 4; W⁺ = 9, W⁻ = 1.
/// let test = senv_metrics::wilcoxon(&[4.0, 1.0, 5.0, 6.0], &[1.0, 2.0, 3.0, 2.0])?;
/// assert_eq!((test.w_plus, test.w_minus, test.n_used), (9.0, 1.0, 4));
/// // Two of the 16 sets of ranks sum to at most 1, {} and {1}: 2 · 2/16.
/// assert_eq!((test.p_value, test.method), (Some(0.25), senv_metrics::PValueMethod::Exact));
/// # Ok::<(), senv_metrics::Error>(())
/// ```
///
/// Ties are ties of the computed differences: 0.3 − 0.2 and 0.2 − 0.1 are not equal in binary.
///
/// # Errors
/// [`crate::Error::LengthMismatch`]; [`crate::Error::BadValue`] if a value or a difference is not finite.
pub fn wilcoxon(x: &[f64], y: &[f64]) -> Result<Wilcoxon> {
    check_pairs("Wilcoxon's test", x, y)?;
    let differences: Vec<f64> = x.iter().zip(y).map(|(x, y)| x - y).collect();
    wilcoxon_of_differences(&differences)
}

/// [`wilcoxon`] of differences.
///
/// # Errors
/// [`crate::Error::BadValue`] if a difference is not finite.
pub fn wilcoxon_of_differences(differences: &[f64]) -> Result<Wilcoxon> {
    check_finite("Wilcoxon's test", "differences", differences)?;
    let used: Vec<f64> = differences.iter().copied().filter(|&d| d != 0.0).collect();
    let sizes: Vec<f64> = used.iter().map(|d| d.abs()).collect();
    let (ranks, ties) = ranks_and_ties(&sizes);
    // Halves of integers are exact below 2^52, which is enough for any number of pairs.
    let (mut w_plus, mut w_minus) = (0.0, 0.0);
    for (d, rank) in used.iter().zip(&ranks) {
        *(if *d > 0.0 { &mut w_plus } else { &mut w_minus }) += rank;
    }
    let n = used.len() as f64;
    let tied: f64 = ties.iter().map(|&t| t as f64).map(|t| t * t * t - t).sum();
    let mut test = Wilcoxon {
        n_pairs: differences.len(),
        n_used: used.len(),
        w_plus,
        w_minus,
        variance: n * (n + 1.0) * (2.0 * n + 1.0) / 24.0 - tied / 48.0,
        z: None,
        p_value: None,
        method: if used.len() <= MAX_EXACT { PValueMethod::Exact } else { PValueMethod::Normal },
        has_ties: !ties.is_empty(),
    };
    if !used.is_empty() {
        test.z = Some((test.w() - n * (n + 1.0) / 4.0) / test.variance.sqrt());
        test.p_value = match test.method {
            PValueMethod::Exact => Some(exact_p_value(&ranks, test.w())),
            PValueMethod::Normal => test.normal_p_value(),
        };
    }
    Ok(test)
}

impl Wilcoxon {
    /// The test statistic: the smaller of the two sums of ranks.
    #[must_use]
    pub fn w(&self) -> f64 {
        self.w_plus.min(self.w_minus)
    }

    /// Two-sided p-value of the normal approximation; `None` if no pair differs.
    #[must_use]
    pub fn normal_p_value(&self) -> Option<f64> {
        self.z.map(normal_two_sided_p)
    }

    /// Two-sided p-value of the normal approximation with continuity correction: |W − mean| minus one half; `None` if
    /// no pair differs.
    #[must_use]
    pub fn p_value_with_continuity(&self) -> Option<f64> {
        let z = (self.z?.abs() - 0.5 / self.variance.sqrt()).max(0.0);
        Some(normal_two_sided_p(z))
    }
}

/// Two-sided p-value by counting all assignments of signs; takes about n³ additions.
fn exact_p_value(ranks: &[f64], w: f64) -> f64 {
    // share[s] is the share of the 2^k sign assignments of the first k ranks whose positive ranks sum to s / 2 ≤ W.
    // Twice a rank is an integer, tied or not.
    let w = (2.0 * w) as usize;
    let mut share = vec![0.0; w + 1];
    share[0] = 1.0;
    for rank in ranks {
        let twice = (2.0 * rank) as usize;
        for s in (0..=w).rev() {
            let with = if s >= twice { share[s - twice] } else { 0.0 };
            share[s] = (share[s] + with) / 2.0;
        }
    }
    (2.0 * share.iter().sum::<f64>()).min(1.0)
}
