//! Compensated summation: the error does not grow with the number of terms.
//!
//! Equation: `compensated-sum`
//!
//! ```text
//! s' = s + x     c' = c + (s − s') + x  if |s| ≥ |x|,  c + (x − s') + s  otherwise     result s + c
//! ```
//!
//! Neumaier, "Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen", 1974: the rounding error of
//! each addition is itself exact in f64 and is summed separately.

/// The sum of the values, exact to about one rounding for any number of values.
pub(crate) fn sum(values: impl IntoIterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0_f64, 0.0);
    for x in values {
        let next = sum + x;
        lost += if sum.abs() >= x.abs() { (sum - next) + x } else { (x - next) + sum };
        sum = next;
    }
    sum + lost
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_terms_survive_large_ones() {
        assert_eq!(sum([1e16, 1.0, 1.0, -1e16]), 2.0);
        assert_eq!(sum([1.0, 1e100, 1.0, -1e100]), 2.0);
        assert_eq!(sum([]), 0.0);
        assert_eq!(sum(std::iter::repeat_n(0.1, 10_000_000)), 1_000_000.0 + 5.551_115_123_125_783e-11);
    }
}
