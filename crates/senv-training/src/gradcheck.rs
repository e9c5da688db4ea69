//! Checks a hand-written gradient against central differences. Every backward pass of senv is tested with it.
//!
//! Equation: `central-difference`
//!
//! ```text
//! n_i = (8 (f(x + h e_i) − f(x − h e_i)) − (f(x + 2h e_i) − f(x − 2h e_i))) / 12h      error O(h⁴)
//! h   = 2⁻¹⁰ max(1, |x_i|)
//! result = max_i |n_i − g_i| / max(|n_i|, |g_i|, 1e-3)
//! ```

/// Smaller partial derivatives count as this large, which makes their error absolute.
const SMALL: f64 = 1e-3;

/// Returns the largest relative error of `gradient`, compared with central differences of `f` at `x`, over all
/// coordinates.
///
/// | name | meaning | shape |
/// | --- | --- | --- |
/// | `f` | the function; called four times per coordinate, with `x` shifted by up to 2⁻⁹ max(1, \|x_i\|) | `(n,)` to a scalar |
/// | `x` | the point to check, at least that far from a kink | `(n,)` |
/// | `gradient` | the gradient to check, ∂f/∂x | `(n,)` |
///
/// A correct gradient of a smooth function of order 1 gives less than 1e-9; a wrong sign gives 2. The result is
/// infinite if a value is NaN or infinite, the lengths differ, or there are no coordinates. So a check can never pass
/// by accident.
///
/// ```
/// use senv_core::gradcheck;
/// let square = |x: &[f64]| x[0] * x[0] * x[1];
/// assert!(gradcheck::max_relative_error(square, &[3.0, 2.0], &[12.0, 9.0]) < 1e-10);
/// assert!(gradcheck::max_relative_error(square, &[3.0, 2.0], &[12.0, -9.0]) > 1.0);
/// ```
pub fn max_relative_error(mut f: impl FnMut(&[f64]) -> f64, x: &[f64], gradient: &[f64]) -> f64 {
    if x.len() != gradient.len() || x.is_empty() {
        return f64::INFINITY;
    }
    let mut moved = x.to_vec();
    let mut worst = 0.0;
    for (i, &analytic) in gradient.iter().enumerate() {
        let h = x[i].abs().max(1.0) / 1024.0;
        let mut rise = |steps: f64| {
            moved[i] = x[i] + steps * h;
            let up = f(&moved);
            moved[i] = x[i] - steps * h;
            let down = f(&moved);
            moved[i] = x[i];
            up - down
        };
        let numeric = (8.0 * rise(1.0) - rise(2.0)) / (12.0 * h);
        let error = (numeric - analytic).abs() / numeric.abs().max(analytic.abs()).max(SMALL);
        // Written so that NaN, which is neither above nor below, fails.
        if !error.is_finite() {
            return f64::INFINITY;
        }
        if error > worst {
            worst = error;
        }
    }
    worst
}

#[cfg(test)]
mod tests {
    use super::*;

    fn f(x: &[f64]) -> f64 {
        (x[0] * x[1]).tanh() + (x[2] - x[0]).exp() + 1e-5 * x[1]
    }

    fn gradient(x: &[f64]) -> Vec<f64> {
        let slope = 1.0 - (x[0] * x[1]).tanh().powi(2);
        let exp = (x[2] - x[0]).exp();
        vec![slope * x[1] - exp, slope * x[0] + 1e-5, exp]
    }

    const X: [f64; 3] = [0.7, -0.4, 0.2];

    #[test]
    fn a_right_gradient_passes_and_the_point_is_left_as_it_was() {
        assert!(max_relative_error(f, &X, &gradient(&X)) < 1e-10);
        // Large coordinates, where a fixed step would be lost in rounding.
        let far = [1e6, 3.0];
        let g = |x: &[f64]| x[0] * x[1] / 1e6;
        assert!(max_relative_error(g, &far, &[3e-6, 1.0]) < 1e-9);
    }

    #[test]
    fn a_flipped_sign_a_small_offset_and_a_missing_term_fail() {
        let right = gradient(&X);
        for i in 0..3 {
            let mut wrong = right.clone();
            wrong[i] = -wrong[i];
            assert!(max_relative_error(f, &X, &wrong) > 1.9, "sign of {i}");
            wrong[i] = right[i] * (1.0 + 1e-6);
            assert!(max_relative_error(f, &X, &wrong) > 5e-7, "scale of {i}");
        }
        let mut wrong = right;
        wrong[1] -= 1e-5;
        assert!(max_relative_error(f, &X, &wrong) > 1e-6, "the small term");
    }

    #[test]
    fn nothing_that_is_not_a_number_passes() {
        let right = gradient(&X);
        for i in 0..3 {
            for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                let mut wrong = right.clone();
                wrong[i] = bad;
                assert_eq!(max_relative_error(f, &X, &wrong), f64::INFINITY);
            }
        }
        assert_eq!(max_relative_error(|_| f64::NAN, &X, &right), f64::INFINITY);
        // NaN only in the first coordinate; a running maximum would forget it afterwards.
        let partly = |x: &[f64]| if x[0] == X[0] { f(x) } else { f64::NAN };
        assert_eq!(max_relative_error(partly, &X, &right), f64::INFINITY);
        assert_eq!(max_relative_error(f, &[f64::NAN, 0.0, 0.0], &right), f64::INFINITY);
        assert_eq!(max_relative_error(f, &X, &right[..2]), f64::INFINITY);
        assert_eq!(max_relative_error(|_| 0.0, &[], &[]), f64::INFINITY);
    }
}
