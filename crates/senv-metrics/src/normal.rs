//! The two-sided tail probability of the normal distribution.
//!
//! Equation: `normal-two-sided-p`

use std::f64::consts::PI;

/// At or above this z, the continued fraction replaces the series.
const SWITCH: f64 = 2.5;
/// Terms of the fraction: at z = 2.5 the truncation error is far below the rounding error.
const TERMS: u32 = 100;

/// The probability that a standard normal variable is at least as far from 0 as `z`, in `[0, 1]`; NaN for NaN.
///
/// ```text
/// p = P(|Z| ≥ z) = erfc(z / √2)                                        Z standard normal, z ≥ 0
///   = 1 − 2 φ(z) (z + z³/3 + z⁵/(3·5) + z⁷/(3·5·7) + …)                used below z = 2.5
///   = 2 φ(z) / (z + 1/(z + 2/(z + 3/(z + …))))                         used from there on
/// φ(z) = exp(−z²/2) / √(2π)
/// ```
///
/// All terms are positive. Only the first form subtracts, where p is above 0.01, so the relative error stays below
/// 10⁻¹³ down to p = 10⁻³⁰⁰ (tested against 40 digits). In f64, 1 − Φ would be zero at z = 8.3 and above. Abramowitz
/// and Stegun, "Handbook of Mathematical Functions", 26.2.11 and 26.2.14.
///
/// ```
/// assert!((senv_metrics::normal_two_sided_p(1.959963984540054) - 0.05).abs() < 1e-15);
/// ```
#[must_use]
pub fn normal_two_sided_p(z: f64) -> f64 {
    let z = z.abs();
    if z < SWITCH {
        let (mut term, mut sum, mut odd) = (z, z, 1.0);
        while term > sum * f64::EPSILON / 4.0 {
            odd += 2.0;
            term *= z * z / odd;
            sum += term;
        }
        1.0 - 2.0 * density(z) * sum
    } else if z > 40.0 {
        0.0 // From z = 38.6, p is below the smallest positive number.
    } else {
        let fraction = (1..=TERMS).rev().fold(z, |rest, k| z + f64::from(k) / rest);
        2.0 * density(z) / fraction
    }
}

/// φ(z), corrected for the rounding error of z², which exp would magnify.
fn density(z: f64) -> f64 {
    let square = z * z;
    let lost = z.mul_add(z, -square);
    (-square / 2.0).exp() * (1.0 - lost / 2.0) / (2.0 * PI).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_are_accurate_down_to_the_smallest_numbers() {
        // erfc(z / √2) with mpmath at 40 digits.
        for (z, p) in [
            (0.0, 1.0),
            (1e-08, 0.9999999920211544),
            (0.1, 0.920344325445942),
            (0.5, 0.6170750774519738),
            (1.0, 0.3173105078629141),
            (1.5, 0.13361440253771614),
            (1.96, 0.04999579029644087),
            (2.4375, 0.014789214221761394),
            (2.5, 0.01241933065155227),
            (2.5625, 0.010392158764182329),
            (3.0, 0.002699796063260189),
            (3.890625, 9.998635339767794e-05),
            (5.0, 5.733031437583878e-07),
            (8.0, 1.2441921148543568e-15),
            (12.0, 3.552964224155358e-33),
            (20.0, 5.5072482372124675e-89),
            (30.0, 9.813427854296374e-198),
            (37.0, 1.1451142445049154e-299),
        ] {
            for z in [z, -z] {
                let relative: f64 = normal_two_sided_p(z) / p - 1.0;
                assert!(relative.abs() < 1e-13, "z = {z}: {relative:e}");
            }
        }
        assert_eq!(normal_two_sided_p(f64::INFINITY), 0.0);
        assert_eq!(normal_two_sided_p(1e200), 0.0);
        assert!(normal_two_sided_p(f64::NAN).is_nan());
    }

    #[test]
    fn the_two_forms_meet_and_the_tail_falls() {
        let steps = (0..3800).map(|i| normal_two_sided_p(f64::from(i) / 100.0));
        assert!(steps.clone().zip(steps.skip(1)).all(|(p, next)| next < p));
        let (below, above) = (normal_two_sided_p(SWITCH.next_down()), normal_two_sided_p(SWITCH));
        assert!((below / above - 1.0).abs() < 1e-14, "{below} and {above}");
    }
}
