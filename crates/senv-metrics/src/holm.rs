//! Holm's correction for the p-values of several tests.
//!
//! Equation: `holm`

use crate::{Result, error::check};

/// The corrected p-values, in the order given.
///
/// ```text
/// p_(1) ≤ … ≤ p_(m)       p̃_(k) = min(1, max_{j ≤ k} (m − j + 1) p_(j))
/// ```
///
/// Call each of m tests significant if its corrected p̃ is below α. Then the probability of any false call is at most
/// α, for any dependence between the tests. Holm, "A Simple Sequentially Rejective Multiple Test Procedure", 1979.
///
/// ```
/// let corrected = senv_metrics::holm(&[0.01, 0.04, 0.03])?;
/// // Sorted 0.01, 0.03, 0.04: 3 · 0.01, 2 · 0.03, and 1 · 0.04 raised to the previous value.
/// assert_eq!(corrected, [0.03, 0.06, 0.06]);
/// # Ok::<(), senv_metrics::Error>(())
/// ```
///
/// # Errors
/// [`crate::Error::BadValue`] if a value is outside `[0, 1]`.
pub fn holm(p_values: &[f64]) -> Result<Vec<f64>> {
    check("Holm's correction", "p-values", p_values, "from 0 to 1", |p| (0.0..=1.0).contains(&p))?;
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let (mut corrected, mut highest) = (vec![0.0; p_values.len()], 0.0_f64);
    for (k, &i) in order.iter().enumerate() {
        highest = highest.max((p_values.len() - k) as f64 * p_values[i]).min(1.0);
        corrected[i] = highest;
    }
    Ok(corrected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_values_are_named_and_nothing_stays_nothing() {
        assert_eq!(holm(&[]), Ok(vec![]));
        assert_eq!(holm(&[1.0, 0.9]), Ok(vec![1.0, 1.0]));
        for bad in [-0.1, 1.1, f64::NAN] {
            assert!(holm(&[0.5, bad]).is_err());
        }
    }
}
