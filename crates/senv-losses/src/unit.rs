//! Unit vectors, which make every cosine a product, and all cosines of a batch one matrix product.
//!
//! Equation: `unit-vector`
//!
//! ```text
//! (F1)  û = x / |x|                        û = 0 if |x| < 1e-12
//! (F2)  cos(x, y) = û·ŷ
//! (B1)  ∂L/∂x = (g − û (û·g)) / |x|        g = ∂L/∂û;  0 if |x| < 1e-12
//! ```
//!
//! With g = ŷ, (B1) is the gradient of the cosine: ŷ/|x| − cos(x, y) x/|x|². It is orthogonal to x.

use ndarray::{Array2, ArrayView1, ArrayView2};
use rayon::prelude::*;
use senv_core::arrays::Float;

use crate::rows::{ROWS_A_THREAD, flat_mut, row};

/// A vector shorter than this has no direction: its cosines are 0, and so is its gradient.
const SHORTEST: f64 = 1e-12;

/// The rows of a matrix, divided by their norms.
#[derive(Debug, Clone)]
pub(crate) struct Units<F> {
    rows: Array2<F>,
    /// 1 / |x|; 0 for a vector without a direction.
    inverse_norms: Vec<F>,
}

impl<F: Float> Units<F> {
    /// (F1) for the rows of `x`, shape `(n, dim)`.
    pub(crate) fn new(x: ArrayView2<'_, F>) -> Self {
        Self::gather(x.nrows(), x.ncols(), |i| x.row(i))
    }

    /// (F1) for `n` vectors, one per row.
    pub(crate) fn gather<'a>(n: usize, dim: usize, vector: impl Fn(usize) -> ArrayView1<'a, F> + Sync) -> Self {
        let mut rows = Array2::zeros((n, dim));
        let mut inverse_norms = vec![F::zero(); n];
        let out = flat_mut(&mut rows).par_chunks_mut(dim.max(1)).zip(inverse_norms.par_iter_mut()).enumerate();
        out.with_min_len(ROWS_A_THREAD).for_each(|(i, (unit, inverse))| {
            match vector(i).as_slice() {
                Some(x) => unit.copy_from_slice(x),
                None => unit.iter_mut().zip(vector(i)).for_each(|(unit, &x)| *unit = x),
            }
            *inverse = inverse_norm(unit);
            F::scale(*inverse, unit);
        });
        Self { rows, inverse_norms }
    }

    /// The unit vectors, shape `(n, dim)`.
    pub(crate) fn view(&self) -> ArrayView2<'_, F> {
        self.rows.view()
    }

    /// Unit vector `i`.
    pub(crate) fn row(&self, i: usize) -> &[F] {
        row(&self.rows, i)
    }

    /// (F2): the cosine of vectors `i` and `j`.
    pub(crate) fn cosine(&self, i: usize, j: usize) -> f64 {
        F::dot(self.row(i), self.row(j)).wide()
    }

    /// Zeros, to accumulate gradients with respect to the unit vectors.
    pub(crate) fn zeros(&self) -> Array2<F> {
        Array2::zeros(self.rows.raw_dim())
    }

    /// (B1): converts a gradient with respect to the unit vectors to one with respect to the vectors.
    pub(crate) fn backward(&self, mut d_units: Array2<F>) -> Array2<F> {
        let d_rows = flat_mut(&mut d_units).par_chunks_mut(self.rows.ncols().max(1)).enumerate();
        d_rows.with_min_len(ROWS_A_THREAD).for_each(|(i, d)| {
            let inverse = self.inverse_norms[i];
            if inverse == F::zero() {
                return d.fill(F::zero());
            }
            let unit = self.row(i);
            F::axpy(-F::dot(unit, d), unit, d);
            F::scale(inverse, d);
        });
        d_units
    }
}

/// 1 / |x|; 0 for a vector without a direction, NaN if a value is NaN or infinite.
fn inverse_norm<F: Float>(x: &[F]) -> F {
    let mut squared = F::dot(x, x).wide();
    if !squared.is_finite() {
        // The squares of an f32 can overflow in f32 but not in f64.
        squared = x.iter().map(|x| x.wide() * x.wide()).sum();
    }
    let norm = squared.sqrt();
    if norm < SHORTEST {
        F::zero()
    } else if norm.is_finite() {
        F::of(1.0 / norm)
    } else {
        F::nan()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{View, matrix, worst};
    use ndarray::array;

    #[test]
    fn by_hand_and_without_direction() {
        let x = array![[3.0, 4.0], [0.0, 1e-13], [0.0, -2.0]];
        let units = Units::new(x.view());
        assert!((&units.view() - &array![[0.6, 0.8], [0.0, 0.0], [0.0, -1.0]]).iter().all(|d: &f64| d.abs() < 1e-15));
        assert!((units.cosine(0, 2) + 0.8).abs() < 1e-15);
        assert_eq!(units.cosine(0, 1), 0.0);
        let d = units.backward(array![[1.0, 0.0], [7.0, 7.0], [1.0, 5.0]]);
        // (1 − 0.36) / 5 and −0.48 / 5; zero; nothing along the vector, and 1/2 across it.
        assert!((&d - &array![[0.128, -0.096], [0.0, 0.0], [0.5, 0.0]]).iter().all(|d: &f64| d.abs() < 1e-15));
        assert_eq!(Units::new(Array2::<f32>::zeros((2, 0)).view()).view().dim(), (2, 0));
    }

    #[test]
    fn the_shortest_vector_with_a_direction() {
        let units = Units::new(array![[SHORTEST, 0.0], [SHORTEST * (1.0 - f64::EPSILON), 0.0]].view());
        assert!((units.row(0)[0] - 1.0).abs() < 1e-15 && units.row(1) == [0.0, 0.0]);
    }

    #[test]
    fn large_and_bad_numbers() {
        let units = Units::new(array![[3e30f32, 4e30], [f32::NAN, 1.0], [f32::INFINITY, 1.0]].view());
        assert!((units.row(0)[0] - 0.6).abs() < 1e-6, "squares overflow, the norm does not");
        assert!(units.row(1).iter().chain(units.row(2)).all(|x| x.is_nan()));
    }

    #[test]
    fn gradient_matches_central_differences() {
        let (x, upstream) = (matrix::<f64>(3, 4, 1), matrix::<f64>(3, 4, 2));
        let d = Units::new(x.view()).backward(upstream.clone());
        let f = |x: View<'_>| (&Units::new(x).view() * &upstream).sum();
        assert!(worst(f, &x, &d) < 1e-8);
        assert!(worst(f, &x, &-d) > 1.9, "a flipped sign");
    }
}
