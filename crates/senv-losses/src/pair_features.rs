//! Features of a pair of sentence vectors: absolute difference and product.
//!
//! Equation: `pair-features`

use ndarray::{Array2, ArrayView2, Axis, Zip, concatenate};
use senv_core::arrays::{Float, compiled_here};

use crate::error::{Result, check_size};

/// Returns an error unless both members of the pairs have the same shape, of dimension `dim`.
pub(crate) fn check_pairs<F>(u: ArrayView2<'_, F>, v: ArrayView2<'_, F>, dim: usize) -> Result<()> {
    check_size("columns of first members of pairs", dim, u.ncols())?;
    check_size("columns of second members of pairs", dim, v.ncols())?;
    check_size("rows of second members of pairs", u.nrows(), v.nrows())
}

/// (F1)
pub(crate) fn difference<F: Float>(u: ArrayView2<'_, F>, v: ArrayView2<'_, F>) -> Array2<F> {
    Zip::from(u).and(v).map_collect(|&u, &v| (u - v).abs())
}

/// (F2)
pub(crate) fn product<F: Float>(u: ArrayView2<'_, F>, v: ArrayView2<'_, F>) -> Array2<F> {
    Zip::from(u).and(v).map_collect(|&u, &v| u * v)
}

/// (B1), added to `d_u` and `d_v`.
pub(crate) fn difference_backward<F: Float>(
    d: ArrayView2<'_, F>,
    u: ArrayView2<'_, F>,
    v: ArrayView2<'_, F>,
    d_u: &mut Array2<F>,
    d_v: &mut Array2<F>,
) {
    Zip::from(d).and(u).and(v).and(d_u).and(d_v).for_each(|&d, &u, &v, d_u, d_v| {
        let d = if u == v { F::zero() } else { d * (u - v).signum() };
        *d_u += d;
        *d_v -= d;
    });
}

/// (B2), added to `d_u` and `d_v`.
pub(crate) fn product_backward<F: Float>(
    d: ArrayView2<'_, F>,
    u: ArrayView2<'_, F>,
    v: ArrayView2<'_, F>,
    d_u: &mut Array2<F>,
    d_v: &mut Array2<F>,
) {
    Zip::from(d).and(u).and(v).and(d_u).and(d_v).for_each(|&d, &u, &v, d_u, d_v| {
        *d_u += d * v;
        *d_v += d * u;
    });
}

/// The features `[|u − v| ; u ∘ v]` of pairs, shape `(n, 2 dim)`, for classifiers on top of sentence vectors.
///
/// ```text
/// (F1)  d = |u − v|        (B1)  ∂L/∂u += g ∘ sign(u − v),  ∂L/∂v −= g ∘ sign(u − v),  sign(0) = 0
/// (F2)  m = u ∘ v          (B2)  ∂L/∂u += g ∘ v,            ∂L/∂v += g ∘ u
/// ```
///
/// ```
/// use ndarray::array;
/// let x = senv_losses::pair_features(array![[1.0, -2.0]].view(), array![[3.0, 2.0]].view())?;
/// assert_eq!(x, array![[2.0, 4.0, 3.0, -4.0]]);
/// # Ok::<(), senv_losses::Error>(())
/// ```
///
/// # Errors
/// [`senv_core::Error::ShapeMismatch`] if the shapes of `u` and `v` differ.
pub fn pair_features<F: Float>(u: ArrayView2<'_, F>, v: ArrayView2<'_, F>) -> Result<Array2<F>> {
    compiled_here!(|u: ArrayView2<'a, F>, v: ArrayView2<'a, F>| -> Result<Array2<F>> {
        check_pairs(u, v, u.ncols())?;
        let parts = [difference(u, v), product(u, v)];
        let joined = concatenate(Axis(1), &[parts[0].view(), parts[1].view()]);
        Ok(joined.unwrap_or_else(|_| unreachable!("as many rows")))
    })
}
