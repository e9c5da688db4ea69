//! Gradient clipping by the global norm.
//!
//! Equation: `global-norm-clipping`
//!
//! ```text
//! |g| = √(Σ g²) over all arrays        g = g c / |g|  if |g| > c
//! ```

use rayon::prelude::*;

use super::{cast, check};
use senv_base::Result;
use senv_kernels::Float;

/// The number of values that a thread processes at a time.
const CHUNK: usize = 1 << 16;

/// The Euclidean norm of all arrays together, summed in f64 on the threads of the current rayon pool. Bit-identical at
/// any number of threads.
///
/// ```
/// use senv_core::optim::global_norm;
/// assert_eq!(global_norm(&[&[3.0_f32][..], &[0.0, 4.0]]), 5.0);
/// ```
#[must_use]
pub fn global_norm<F: Float>(arrays: &[&[F]]) -> f64 {
    let square = |chunk: &[F]| chunk.iter().map(|g| g.wide() * g.wide()).sum::<f64>();
    let sums = |array: &&[F]| -> Vec<f64> { array.par_chunks(CHUNK).map(square).collect() };
    arrays.iter().flat_map(sums).sum::<f64>().sqrt()
}

/// Scales all `gradients`, whose common [`global_norm`] is `norm`, by one factor so that the norm becomes at most
/// `max_norm`.
///
/// If the norm is NaN or infinite, nothing is scaled, because no factor would help.
///
/// # Errors
/// [`Error::InvalidParameter`](senv_base::Error::InvalidParameter) if `max_norm` is not above 0.
pub fn clip_to_norm<F: Float>(gradients: &mut [&mut [F]], norm: f64, max_norm: f64) -> Result<()> {
    check(max_norm > 0.0, "max_norm", "above 0", max_norm)?;
    if norm.is_finite() && norm > max_norm {
        let scale = cast::<F>(max_norm / norm);
        for array in gradients {
            array.par_chunks_mut(CHUNK).for_each(|chunk| F::scale(scale, chunk));
        }
    }
    Ok(())
}

/// Scales all `gradients` by one factor so that their common Euclidean norm is at most `max_norm`. Returns the norm
/// before scaling, summed in f64.
///
/// If that norm is NaN or infinite, nothing is scaled, because no factor would help: check the return value.
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
/// [`Error::InvalidParameter`](senv_base::Error::InvalidParameter) if `max_norm` is not above 0. Infinity is allowed
/// and only measures the norm.
///
/// # References
/// R. Pascanu, T. Mikolov, Y. Bengio: On the Difficulty of Training Recurrent Neural Networks, ICML 2013,
/// Algorithm 1.
pub fn clip_by_global_norm<F: Float>(gradients: &mut [&mut [F]], max_norm: f64) -> Result<f64> {
    let arrays: Vec<&[F]> = gradients.iter().map(|array| &**array).collect();
    let norm = global_norm(&arrays);
    clip_to_norm(gradients, norm, max_norm)?;
    Ok(norm)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_do_not_change_a_bit_of_a_norm() {
        let numbers: Vec<f32> = (0..300_000).map(|i| ((i * 37 % 1013) as f32 - 500.0) * 1e-3).collect();
        let at = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| global_norm(&[&numbers, &numbers[..70_001]]))
        };
        let plain = numbers.iter().chain(&numbers[..70_001]).map(|&x| f64::from(x).powi(2)).sum::<f64>().sqrt();
        assert!((at(1) / plain - 1.0).abs() < 1e-12, "{} {plain}", at(1)); // Sums of f64 in a different order.
        assert!([2, 5].iter().all(|&threads| at(threads).to_bits() == at(1).to_bits()));
    }

    #[test]
    fn a_norm_on_the_limit_is_left_alone_and_a_bad_one_is_reported() {
        let mut g = [3.0_f32, 4.0];
        assert_eq!(clip_by_global_norm(&mut [&mut g], 5.0).unwrap(), 5.0);
        assert_eq!(g, [3.0, 4.0]);
        assert_eq!(clip_by_global_norm(&mut [&mut g], f64::INFINITY).unwrap(), 5.0);
        // The f32 squares overflow; their sum in f64 does not.
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
