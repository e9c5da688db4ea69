//! Initialization with random orthogonal matrices.
//!
//! Equation: `orthogonal-initialiser`
//!
//! ```text
//! G = Q R,  G: independent N(0, 1)      f64, by Householder reflections or, as the feature has it, by LAPACK
//! W = Q diag(sign R_ii)                 uniform over all orthogonal matrices (Haar)
//! ```
//!
//! The release of Skip-thoughts uses the left singular vectors of G, which have the same distribution and cost several
//! times as much.

use ndarray::{Array2, NdFloat};

use super::{factorize, normal};
use crate::rng::Stream;
use senv_base::{Error, Result, memory::check_memory};

/// Fills `out`, a matrix of `rows` and `columns`, with orthonormal columns (rows, if there are fewer rows), uniformly
/// distributed over all such matrices.
///
/// ```
/// let mut w = [0.0_f64; 6];
/// senv_core::init::orthogonal(&mut senv_core::rng::stream(7, "weights", &[]), &mut w, 2, 3)?;
/// let dot = |i: usize, j: usize| (0..3).map(|k| w[3 * i + k] * w[3 * j + k]).sum::<f64>();
/// assert!((dot(0, 0) - 1.0).abs() < 1e-14 && dot(0, 1).abs() < 1e-14);
/// # Ok::<(), senv_core::Error>(())
/// ```
///
/// # Errors
/// [`Error::ShapeMismatch`] if `out` does not have `rows * columns` values; [`Error::TooLarge`] if there is not enough
/// memory.
///
/// # References
/// A. M. Saxe, J. L. McClelland, S. Ganguli: Exact Solutions to the Nonlinear Dynamics of Learning in Deep Linear
/// Neural Networks, ICLR 2014; F. Mezzadri: How to Generate Random Matrices from the Classical Compact Groups, Notices
/// of the AMS 54, 2007, section 5.
pub fn orthogonal<F: NdFloat>(rng: &mut Stream, out: &mut [F], rows: usize, columns: usize) -> Result<()> {
    let expected = rows.checked_mul(columns).ok_or(Error::TooLarge { rows, dim: columns })?;
    if out.len() != expected {
        return Err(Error::ShapeMismatch { what: "matrix to initialize", expected, got: out.len() });
    }
    let (long, short) = (rows.max(columns), rows.min(columns));
    if short == 0 {
        return Ok(());
    }
    let mut values = vec![0.0_f64; check_memory::<f64>(rows, columns)?];
    normal(rng, &mut values, 1.0)?;
    let values = Array2::from_shape_vec((long, short), values).map_err(|_| Error::TooLarge { rows, dim: columns })?;
    let factors = factorize(values)?;
    let signs = factors.diagonal().mapv(|x| if x < 0.0 { -1.0 } else { 1.0 });
    let q = factors.times_diagonal(long, &signs)?;
    let narrow = |x: f64| F::from(x).unwrap_or_else(F::nan);
    for (i, out) in out.chunks_exact_mut(columns).enumerate() {
        for (j, x) in out.iter_mut().enumerate() {
            *x = narrow(if rows >= columns { q[(i, j)] } else { q[(j, i)] });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::stream;

    fn filled(rows: usize, columns: usize, seed: u64) -> Array2<f64> {
        let mut values = vec![0.0; rows * columns];
        orthogonal(&mut stream(seed, "orthogonal", &[]), &mut values, rows, columns).unwrap();
        Array2::from_shape_vec((rows, columns), values).unwrap()
    }

    #[test]
    fn columns_or_rows_are_orthonormal_at_any_size() {
        for (rows, columns) in [(1, 1), (2, 2), (33, 33), (100, 100), (150, 40), (40, 150), (1, 7), (7, 1), (65, 64)] {
            let w = filled(rows, columns, 3);
            let products = if rows >= columns { w.t().dot(&w) } else { w.dot(&w.t()) };
            let worst = products.indexed_iter().map(|((i, j), x)| (x - f64::from(u8::from(i == j))).abs());
            assert!(worst.fold(0.0, f64::max) < 1e-13, "{rows} {columns}");
        }
        assert_eq!(filled(0, 5, 1).len(), 0);
        assert!(orthogonal(&mut stream(1, "a", &[]), &mut [0.0_f32; 5], 2, 3).is_err());
    }

    #[test]
    fn all_orthogonal_matrices_are_equally_likely() {
        // Entries of a random orthogonal 3 × 3 matrix have mean 0 and variance 1/3, and both signs of the determinant
        // are equally likely. Without the signs of R, the diagonal of Q would be biased.
        let n = 4000;
        let (mut trace, mut squares, mut positive) = (0.0, 0.0, 0);
        for seed in 0..n {
            let w = filled(3, 3, seed);
            trace += w.diag().sum();
            squares += w[(0, 0)].powi(2);
            let minor = |i: usize, j: usize| w[(1, i)] * w[(2, j)] - w[(1, j)] * w[(2, i)];
            let determinant = w[(0, 0)] * minor(1, 2) - w[(0, 1)] * minor(0, 2) + w[(0, 2)] * minor(0, 1);
            positive += u64::from(determinant > 0.0);
        }
        let n = n as f64;
        // The trace has variance 1; x² of one coordinate on a sphere has mean 1/3 and variance 4/45.
        assert!((trace / n).abs() < 5.0 / n.sqrt());
        assert!((squares / n - 1.0 / 3.0).abs() < 5.0 * (4.0 / 45.0 / n).sqrt());
        assert!((positive as f64 / n - 0.5).abs() < 2.5 / n.sqrt());
    }

    #[test]
    fn the_numbers_depend_on_the_stream_alone() {
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| filled(300, 300, 5))
        };
        let one = run(1);
        assert!(run(2) == one && run(5) == one);
        assert_ne!(filled(300, 300, 6), one);
    }
}
