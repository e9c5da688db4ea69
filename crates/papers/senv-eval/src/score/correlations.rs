//! The two correlations of STS, with their names.

use serde::Serialize;

use crate::error::Result;

/// Pearson's r and Spearman's ρ times 100, in `[-100, 100]`.
///
/// A field is `None` if the correlation is undefined: fewer than two pairs, or all scores of one side equal. A mean
/// over several tasks is undefined if one of its parts is.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct Correlations {
    /// Pearson's r times 100.
    pub pearson_r_x100: Option<f64>,
    /// Spearman's ρ (average ranks for ties) times 100.
    pub spearman_rho_x100: Option<f64>,
}

impl Correlations {
    /// Correlates the gold scores with the scores of a system.
    pub(crate) fn between(relatedness: &[f64], scores: &[f64]) -> Result<Self> {
        Ok(Self {
            pearson_r_x100: senv_metrics::pearson_r(relatedness, scores)?.map(|r| 100.0 * r),
            spearman_rho_x100: senv_metrics::spearman_rho(relatedness, scores)?.map(|rho| 100.0 * rho),
        })
    }

    /// Plain mean. Undefined if there are no parts or a part is undefined.
    pub(crate) fn plain_mean(parts: &[Self]) -> Self {
        Self::each(parts, senv_metrics::mean)
    }

    /// Mean weighted by counts. Undefined if there are no parts or a part is undefined.
    pub(crate) fn weighted_mean(parts: &[Self], counts: &[usize]) -> Self {
        let weights: Vec<f64> = counts.iter().map(|&n| n as f64).collect();
        // Different lengths, infinities and NaN are errors. Counts and correlations have none of them.
        Self::each(parts, |values| senv_metrics::weighted_mean(values, &weights).ok().flatten())
    }

    fn each(parts: &[Self], mean: impl Fn(&[f64]) -> Option<f64>) -> Self {
        let column = |get: fn(&Self) -> Option<f64>| mean(&parts.iter().map(get).collect::<Option<Vec<f64>>>()?);
        Self { pearson_r_x100: column(|c| c.pearson_r_x100), spearman_rho_x100: column(|c| c.spearman_rho_x100) }
    }
}
