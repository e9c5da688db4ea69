//! The cosine of two vectors that each consist of a fixed part, a unit vector, and a trained part.
//!
//! Equation: `joined-cosine`

use ndarray::{Array2, ArrayView2};
use senv_core::arrays::{Float, compiled_here};

use crate::error::{Result, check_size};

/// The cosines of a batch of joined vectors.
///
/// ```text
/// (F1)  c = (r + g·g′) / (N N′)       N² = 1 + |g|²      r: the cosine of the fixed parts;  g, g′: the trained parts
/// (B1)  ∂c/∂g = g′ / (N N′) − c g / N²        g′ likewise
/// ```
///
/// ```
/// use ndarray::array;
/// use senv_losses::JoinedCosines;
/// // The fixed parts of the pair are orthogonal, its trained parts are equal.
/// let (a, b) = (array![[1.0f64, 0.0]], array![[1.0, 0.0]]);
/// let cosines = JoinedCosines::new(&[0.0], a.view(), b.view())?;
/// assert!((cosines.values()[0] - 0.5).abs() < 1e-12);
/// let (d_a, _) = cosines.backward(a.view(), b.view(), &[1.0]);
/// assert!((d_a[[0, 0]] - 0.25).abs() < 1e-12);
/// # Ok::<(), senv_losses::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct JoinedCosines {
    cosines: Vec<f64>,
    /// 1 / N and 1 / N′.
    inverse: Vec<[f64; 2]>,
}

impl JoinedCosines {
    /// (F1) for pairs: `fixed` has the cosines of their fixed parts, `a` and `b` their trained parts, shape `(n_pairs,
    /// dim)`.
    ///
    /// # Errors
    /// [`senv_core::Error::ShapeMismatch`] if the shapes of the arguments do not match.
    pub fn new<F: Float>(fixed: &[f64], a: ArrayView2<'_, F>, b: ArrayView2<'_, F>) -> Result<Self> {
        compiled_here!(|fixed: &'a [f64], a: ArrayView2<'a, F>, b: ArrayView2<'a, F>| -> Result<JoinedCosines> {
            check_size("rows of first trained parts", fixed.len(), a.nrows())?;
            check_size("rows of second trained parts", fixed.len(), b.nrows())?;
            check_size("columns of second trained parts", a.ncols(), b.ncols())?;
            let (mut cosines, mut inverse) = (Vec::with_capacity(fixed.len()), Vec::with_capacity(fixed.len()));
            for ((&r, a), b) in fixed.iter().zip(a.rows()).zip(b.rows()) {
                let [n, m] = [a.dot(&a), b.dot(&b)].map(|square| 1.0 / (1.0 + square.wide()).sqrt());
                cosines.push((r + a.dot(&b).wide()) * n * m);
                inverse.push([n, m]);
            }
            Ok(JoinedCosines { cosines, inverse })
        })
    }

    /// The cosines.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.cosines
    }

    /// (B1): the gradients of both trained parts, from those of the cosines. Pairs past the end of `d_cosines` have
    /// none.
    #[must_use]
    pub fn backward<F: Float>(
        &self,
        a: ArrayView2<'_, F>,
        b: ArrayView2<'_, F>,
        d_cosines: &[f64],
    ) -> (Array2<F>, Array2<F>) {
        compiled_here!(self, |this: &'a JoinedCosines,
                              a: ArrayView2<'a, F>,
                              b: ArrayView2<'a, F>,
                              d_cosines: &'a [f64]|
         -> (Array2<F>, Array2<F>) {
            let (mut d_a, mut d_b) = (Array2::zeros(a.raw_dim()), Array2::zeros(b.raw_dim()));
            for (i, (&d, (&c, &[n, m]))) in d_cosines.iter().zip(this.cosines.iter().zip(&this.inverse)).enumerate() {
                let (across, own) = (F::of(d * n * m), [F::of(-d * c * n * n), F::of(-d * c * m * m)]);
                let (a, b) = (a.row(i), b.row(i));
                d_a.row_mut(i).scaled_add(across, &b);
                d_a.row_mut(i).scaled_add(own[0], &a);
                d_b.row_mut(i).scaled_add(across, &a);
                d_b.row_mut(i).scaled_add(own[1], &b);
            }
            (d_a, d_b)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{matrix, worst};

    #[test]
    fn it_is_the_cosine_of_the_joined_vectors() {
        let (m, g) = (matrix::<f64>(6, 5, 1), matrix::<f64>(6, 4, 2));
        let joined = |i: usize| {
            let norm = m.row(i).dot(&m.row(i)).sqrt();
            m.row(i).iter().map(|x| x / norm).chain(g.row(i).iter().copied()).collect::<Vec<f64>>()
        };
        let cosine = |u: &[f64], v: &[f64]| {
            let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            dot(u, v) / (dot(u, u) * dot(v, v)).sqrt()
        };
        let fixed: Vec<f64> =
            (0..3).map(|i| cosine(m.row(i).as_slice().unwrap(), m.row(i + 3).as_slice().unwrap())).collect();
        let (a, b) = g.view().split_at(ndarray::Axis(0), 3);
        let got = JoinedCosines::new(&fixed, a, b).unwrap();
        for i in 0..3 {
            assert!((got.values()[i] - cosine(&joined(i), &joined(i + 3))).abs() < 1e-14);
        }
    }

    #[test]
    fn gradients_match_central_differences() {
        let (a, b, fixed) = (matrix::<f64>(3, 4, 1), matrix::<f64>(3, 4, 2), [0.9, -0.2, 0.4]);
        let d = [0.7, -1.3, 2.0];
        let value = |a: ArrayView2<'_, f64>, b: ArrayView2<'_, f64>| {
            let cosines = JoinedCosines::new(&fixed, a, b).unwrap();
            cosines.values().iter().zip(d).map(|(c, d)| c * d).sum::<f64>()
        };
        let (d_a, d_b) = JoinedCosines::new(&fixed, a.view(), b.view()).unwrap().backward(a.view(), b.view(), &d);
        assert!(worst(|x| value(x, b.view()), &a, &d_a) < 1e-8);
        assert!(worst(|x| value(a.view(), x), &b, &d_b) < 1e-8);
        assert!(worst(|x| value(x, b.view()), &a, &-d_a) > 1.9, "a flipped sign");
    }

    #[test]
    fn parts_that_do_not_fit_are_refused() {
        let (a, b) = (matrix::<f64>(3, 4, 1), matrix::<f64>(3, 4, 2));
        assert!(JoinedCosines::new(&[0.0; 2], a.view(), b.view()).is_err());
        assert!(JoinedCosines::new(&[0.0; 3], a.view(), matrix::<f64>(2, 4, 1).view()).is_err());
        assert!(JoinedCosines::new(&[0.0; 3], a.view(), matrix::<f64>(3, 5, 1).view()).is_err());
    }
}
