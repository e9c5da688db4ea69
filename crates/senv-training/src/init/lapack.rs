//! The factors of `init/householder.rs` computed by LAPACK (`dgeqrf`, `dorgqr`), with the feature `ndarray-linalg`.
//!
//! The final program chooses and links the library. Results agree with ours up to rounding, not bit for bit. Their last
//! digits may depend on that library and its threads.

use ndarray::{Array1, Array2, s};
use ndarray_linalg::QRInto;

use super::Factors;
use crate::matmul;
use senv_base::{Error, Result};

/// The factors of `a`, which has at least as many rows as columns; Q as a matrix of shape `(m, n)`.
pub(crate) fn factorize(a: Array2<f64>) -> Result<Factors<Array2<f64>>> {
    let (rows, dim) = a.dim();
    if dim == 0 {
        return Ok(Factors { q: Array2::zeros((rows, 0)), r: Array2::zeros((0, 0)) });
    }
    // For finite values, LAPACK fails only on sizes that it cannot represent.
    let (q, r) = a.qr_into().map_err(|_| Error::TooLarge { rows, dim })?;
    Ok(Factors { q, r })
}

impl Factors<Array2<f64>> {
    /// Computes `Q D` with n columns, where `d` is the diagonal of D.
    pub(crate) fn times_diagonal(&self, _rows: usize, d: &Array1<f64>) -> Result<Array2<f64>> {
        Ok(&self.q * d)
    }

    /// Computes the first n rows of `x = Qᵀ x`; the others are unchanged.
    pub(crate) fn apply_q_transposed(&self, x: &mut Array2<f64>) -> Result<()> {
        let products = matmul(self.q.t(), x.view())?;
        x.slice_mut(s![..products.nrows(), ..]).assign(&products);
        Ok(())
    }
}

#[cfg(test)]
#[allow(unsafe_code)]
mod tests {
    use super::*;
    use crate::{init::householder, rng::stream};

    // The library that the tests link, for example Debian's libopenblas-dev. SAFETY: only the address of the function
    // is taken, to have the library linked; it is never called from here.
    #[link(name = "openblas")]
    unsafe extern "C" {
        fn dgeqrf_();
    }
    #[used]
    static LINKED: unsafe extern "C" fn() = dgeqrf_;

    fn worst(a: &Array2<f64>, b: &Array2<f64>) -> f64 {
        assert_eq!(a.dim(), b.dim());
        a.iter().zip(b).fold(0.0, |worst, (x, y)| worst.max((x - y).abs()))
    }

    #[test]
    fn factors_are_ours_but_for_signs() {
        for (m, n) in [(1, 1), (5, 3), (48, 48), (130, 97), (300, 300), (40, 0)] {
            let mut values = vec![0.0; m * n];
            crate::init::normal(&mut stream(4, "lapack", &[m as u64]), &mut values, 1.0).unwrap();
            let a = Array2::from_shape_vec((m, n), values).unwrap();
            let (ours, theirs) = (householder::factorize(a.clone()).unwrap(), factorize(a).unwrap());
            let signs = |r: Array1<f64>| r.mapv(f64::signum);
            let (s, t) = (signs(ours.diagonal()), signs(theirs.diagonal()));
            let (q, p) = (ours.times_diagonal(m, &s).unwrap(), theirs.times_diagonal(m, &t).unwrap());
            // The smallest pivot of a square matrix is about 1/√n, so rounding grows by a few n.
            assert!(worst(&q, &p) < 1e-13 * (m * n + 1) as f64, "{m} {n}: {}", worst(&q, &p));
            // A right hand side through both: Q's signs and R's cancel.
            let mut x = Array2::from_shape_fn((m, 3), |(i, j)| ((i * 7 + j * 3) % 11) as f64 - 5.0);
            let mut y = x.clone();
            ours.apply_q_transposed(&mut x).unwrap();
            theirs.apply_q_transposed(&mut y).unwrap();
            let (mut x, mut y) = (x.slice(s![..n, ..]).to_owned(), y.slice(s![..n, ..]).to_owned());
            ours.solve_r(&mut x);
            theirs.solve_r(&mut y);
            let size = x.iter().fold(1.0, |size: f64, x| size.max(x.abs()));
            assert!(worst(&x, &y) < 1e-11 * size * (n + 1) as f64, "{m} {n}: {}", worst(&x, &y));
        }
    }
}
