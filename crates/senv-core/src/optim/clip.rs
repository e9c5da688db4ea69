//! Gradients that are too long together are shortened together.
//!
//! Equation: `global-norm-clipping`
//!
//! ```text
//! |g| = √(Σ g²) over all arrays        g = g c / |g|  if |g| > c
//! ```

use ndarray::NdFloat;

use super::{cast, check};
use crate::Result;

/// Scales all `gradients` by one factor so that their common Euclidean norm is at most `max_norm`, and returns
/// the norm before, summed in f64.
///
/// Where that norm is NaN or infinite nothing is scaled, for no factor would mend it: look at what is returned.
///
/// ```
/// use senv_core::optim::clip_by_global_norm;
/// let (mut a, mut b) = ([3.0], [0.0, 4.0]);
/// assert_eq!(clip_by_global_norm(&mut [&mut a, &mut b], 2.5)?, 5.0);
/// assert_eq!((a, b), ([1.5], [0.0, 2.0]));
/// # Ok::<(), senv_core::Error>(())
/// ```
///
/// # Errors
/// [`crate::Error::InvalidParameter`] if `max_norm` is not above 0 (infinity is allowed: only measure).
///
/// # References
/// R. Pascanu, T. Mikolov, Y. Bengio: On the Difficulty of Training Recurrent Neural Networks, ICML 2013,
/// Algorithm 1.
pub fn clip_by_global_norm<F: NdFloat>(gradients: &mut [&mut [F]], max_norm: f64) -> Result<f64> {
    check(max_norm > 0.0, "max_norm", "above 0", max_norm)?;
    let square = |g: &F| g.to_f64().map_or(f64::NAN, |g| g * g);
    let norm = gradients.iter().flat_map(|array| array.iter()).map(square).sum::<f64>().sqrt();
    if norm.is_finite() && norm > max_norm {
        let scale = cast::<F>(max_norm / norm);
        for g in gradients.iter_mut().flat_map(|array| array.iter_mut()) {
            *g *= scale;
        }
    }
    Ok(norm)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_norm_on_the_limit_is_left_alone_and_a_bad_one_is_reported() {
        let mut g = [3.0_f32, 4.0];
        assert_eq!(clip_by_global_norm(&mut [&mut g], 5.0).unwrap(), 5.0);
        assert_eq!(g, [3.0, 4.0]);
        assert_eq!(clip_by_global_norm(&mut [&mut g], f64::INFINITY).unwrap(), 5.0);
        // f32 squares overflow, their sum in f64 does not.
        let mut long = [3e30_f32, 4e30];
        assert!((clip_by_global_norm(&mut [&mut long], 1.0).unwrap() / 5e30 - 1.0).abs() < 1e-6);
        assert!((long[0] - 0.6).abs() < 1e-6 && (long[1] - 0.8).abs() < 1e-6);
        let mut bad = [f32::NAN, 4.0];
        assert!(clip_by_global_norm(&mut [&mut bad], 1.0).unwrap().is_nan());
        assert_eq!(bad[1], 4.0);
        assert_eq!(clip_by_global_norm::<f64>(&mut [], 1.0).unwrap(), 0.0);
        for max_norm in [0.0, -1.0, f64::NAN] {
            assert!(clip_by_global_norm(&mut [&mut g], max_norm).is_err());
        }
    }
}
