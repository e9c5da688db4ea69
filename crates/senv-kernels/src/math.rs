//! Numerically stable scalar functions: no overflow, no logarithm of a rounded zero.
//!
//! Equation: `sigmoid`
//! Equation: `softplus`
//! Equation: `log-sum-exp`
//! Equation: `softmax`
//!
//! ```text
//! σ(x)          = 1 / (1 + e^−x)                           dσ/dx        = σ(x) (1 − σ(x))
//! softplus(x)   = ln(1 + e^x) = max(x, 0) + ln(1 + e^−|x|)  d softplus/dx = σ(x)
//! log σ(x)      = −softplus(−x)
//! lse(a)        = m + ln Σ_j e^(a_j − m),  m = max_j a_j    ∂lse/∂a_j    = softmax(a)_j
//! softmax(a)_j  = e^(a_j − m) / Σ_k e^(a_k − m)
//! ```
//!
//! Every function returns NaN for a NaN input.

use ndarray::NdFloat;

/// σ(x) = 1 / (1 + e^−x), in `[0, 1]`.
///
/// ```
/// use senv_core::math::sigmoid;
/// assert_eq!(sigmoid(0.0f32), 0.5);
/// assert_eq!(sigmoid(-1e4f64), 0.0);
/// ```
#[inline]
#[must_use]
pub fn sigmoid<F: NdFloat>(x: F) -> F {
    // Use the form whose exponential does not overflow.
    let e = (-x.abs()).exp();
    let upper = F::one() / (F::one() + e);
    if x < F::zero() { e * upper } else { upper }
}

/// softplus(x) = ln(1 + e^x): the loss of a logit `−x` that should be large; at least 0.
///
/// ```
/// use senv_core::math::softplus;
/// assert_eq!(softplus(1e4f32), 1e4);
/// assert!((softplus(0.0f64) - 2.0f64.ln()).abs() < 1e-15);
/// ```
#[inline]
#[must_use]
pub fn softplus<F: NdFloat>(x: F) -> F {
    x.max(F::zero()) + (-x.abs()).exp().ln_1p()
}

/// log σ(x) = −softplus(−x), at most 0; finite for finite `x`.
///
/// ```
/// use senv_core::math::log_sigmoid;
/// assert_eq!(log_sigmoid(-1e4f32), -1e4);
/// ```
#[inline]
#[must_use]
pub fn log_sigmoid<F: NdFloat>(x: F) -> F {
    -softplus(-x)
}

/// The maximum; −∞ for an empty slice, NaN if a value is NaN.
fn max<F: NdFloat>(a: &[F]) -> F {
    // Not `Float::max`, which drops NaN.
    a.iter().fold(F::neg_infinity(), |m, &x| if x > m || x.is_nan() { x } else { m })
}

/// ln Σ e^a, for example the logarithm of the denominator of a softmax; −∞ for an empty slice.
///
/// ```
/// use senv_core::math::log_sum_exp;
/// assert!((log_sum_exp(&[1e4f64, 1e4]) - (1e4 + 2.0f64.ln())).abs() < 1e-9);
/// ```
#[must_use]
pub fn log_sum_exp<F: NdFloat>(a: &[F]) -> F {
    let m = max(a);
    if m.is_infinite() {
        return m;
    }
    m + a.iter().fold(F::zero(), |sum, &x| sum + (x - m).exp()).ln()
}

/// Replaces values by their softmax: all in `[0, 1]`, with sum 1. An empty slice stays empty. If the maximum is
/// infinite, the softmax is undefined and the result is NaN.
///
/// ```
/// use senv_core::math::softmax_in_place;
/// let mut a = [1e4f32, 1e4];
/// softmax_in_place(&mut a);
/// assert_eq!(a, [0.5, 0.5]);
/// ```
pub fn softmax_in_place<F: NdFloat>(a: &mut [F]) {
    let m = max(a);
    let mut sum = F::zero();
    for x in a.iter_mut() {
        *x = (*x - m).exp();
        sum += *x;
    }
    for x in a {
        *x /= sum;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POINTS: [f64; 9] = [-1e4, -40.0, -3.5, -1e-9, 0.0, 1e-9, 2.0, 40.0, 1e4];

    #[test]
    fn values_match_fifteen_digits() {
        // Computed with mpmath at 50 digits.
        assert!((sigmoid(1.0f64) - 0.731_058_578_630_004_9).abs() < 1e-15);
        assert!((softplus(1.0f64) - 1.313_261_687_518_222_8).abs() < 1e-15);
        assert!((log_sigmoid(1.0f64) + 0.313_261_687_518_222_8).abs() < 1e-15);
        assert!((log_sum_exp(&[1.0f64, 2.0, 3.0]) - 3.407_605_964_444_38).abs() < 1e-15);
        let mut a = [1.0f64, 2.0, 3.0];
        softmax_in_place(&mut a);
        for (got, expected) in
            a.iter().zip([0.090_030_573_170_380_46, 0.244_728_471_054_797_65, 0.665_240_955_774_821_9])
        {
            assert!((got - expected).abs() < 1e-15);
        }
        // e^-40 / (1 + e^-40) keeps its digits where 1 - σ(40) would be 0.
        assert!((sigmoid(-40.0f64) / 4.248_354_255_291_589e-18 - 1.0).abs() < 1e-15);
        assert!((softplus(-40.0f64) / 4.248_354_255_291_589e-18 - 1.0).abs() < 1e-15);
    }

    #[test]
    fn both_ends_are_finite_in_both_precisions() {
        for x in POINTS {
            assert!((sigmoid(x) + sigmoid(-x) - 1.0).abs() < 1e-15, "σ(x) + σ(-x) = 1 at {x}");
            assert!((softplus(x) - softplus(-x) - x).abs() < 1e-12, "softplus(x) - softplus(-x) = x at {x}");
            let x = x as f32;
            for y in [sigmoid(x), softplus(x), log_sigmoid(x), log_sum_exp(&[x, -x, 0.0])] {
                assert!(y.is_finite(), "{y} at {x}");
            }
            let mut a = [x, -x, 0.0];
            softmax_in_place(&mut a);
            assert!((a.iter().sum::<f32>() - 1.0).abs() < 1e-6);
        }
    }

    #[test]
    fn derivatives_match_central_differences() {
        let h = 1e-5f64;
        for x in [-3.5, -0.7, 0.0, 0.3, 2.0] {
            let slope = (softplus(x + h) - softplus(x - h)) / (2.0 * h);
            assert!((slope - sigmoid(x)).abs() < 1e-9);
            let slope = (sigmoid(x + h) - sigmoid(x - h)) / (2.0 * h);
            assert!((slope - sigmoid(x) * (1.0 - sigmoid(x))).abs() < 1e-9);
        }
        let a = [0.5, -1.25, 2.0];
        let mut p = a;
        softmax_in_place(&mut p);
        for j in 0..3 {
            let (mut up, mut down) = (a, a);
            up[j] += h;
            down[j] -= h;
            assert!(((log_sum_exp(&up) - log_sum_exp(&down)) / (2.0 * h) - p[j]).abs() < 1e-9);
        }
    }

    #[test]
    fn nan_infinity_and_nothing() {
        assert!(sigmoid(f32::NAN).is_nan() && softplus(f32::NAN).is_nan() && log_sigmoid(f32::NAN).is_nan());
        for a in [[f32::NAN, 1.0], [1.0, f32::NAN]] {
            assert!(log_sum_exp(&a).is_nan());
            let mut a = a;
            softmax_in_place(&mut a);
            assert!(a.iter().all(|x| x.is_nan()));
        }
        assert_eq!(log_sum_exp::<f32>(&[]), f32::NEG_INFINITY);
        assert_eq!(log_sum_exp(&[f32::NEG_INFINITY, 2.0]), 2.0);
        assert_eq!(log_sum_exp(&[f32::INFINITY, 2.0]), f32::INFINITY);
        let mut a = [f32::NEG_INFINITY, 2.0];
        softmax_in_place(&mut a);
        assert_eq!(a, [0.0, 1.0]);
        softmax_in_place::<f64>(&mut []);
    }
}
