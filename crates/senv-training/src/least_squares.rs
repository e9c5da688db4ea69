//! Linear least squares: the linear map with the smallest squared error.
//!
//! Equation: `least-squares`
//!
//! ```text
//! A, a = argmin Σ_i |y_i − x_i A − a|²       x: shape (p,), y: shape (q,);  a = 0 without intercept
//! X − mean = Q R     R A = Qᵀ (Y − mean)      a = mean(y) − mean(x) A
//! ```
//!
//! Computed with Householder reflections or LAPACK in f64 (see `init/factors.rs`), with one step of refinement on the
//! residuals.

use ndarray::{Array1, Array2, ArrayView2, Axis, s};

use crate::{init::factorize, matmul, matmul_into};
use senv_base::{Error, Result};
use senv_kernels::Float;

/// The linear map `x A + a` that [`least_squares`] computes.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearMap<F> {
    /// A, shape `(p, q)`.
    pub weights: Array2<F>,
    /// a, shape `(q,)`; zeros without an intercept.
    pub intercept: Array1<F>,
}

impl<F: Float> LinearMap<F> {
    /// Maps the rows of `x`, shape `(n, p)`, to rows of `q` values.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] if rows do not have `p` values; [`Error::TooLarge`] if the result does not fit in
    /// memory.
    pub fn apply(&self, x: ArrayView2<'_, F>) -> Result<Array2<F>> {
        let mut out = matmul(x, self.weights.view())?;
        out.rows_mut().into_iter().for_each(|mut row| row += &self.intercept);
        Ok(out)
    }
}

/// The map from rows of `x` to rows of `y` with the smallest sum of squared errors.
///
/// | name | meaning | shape |
/// | --- | --- | --- |
/// | `x` | inputs, finite | `(n, p)`; n is at least p, or p + 1 with an intercept |
/// | `y` | outputs, finite | `(n, q)` |
/// | `intercept` | whether a constant is added; otherwise zero maps to zero | |
///
/// ```
/// use ndarray::array;
/// // y = 2 x + 1 exactly.
/// let (x, y) = (array![[0.0], [1.0], [3.0]], array![[1.0], [3.0], [7.0]]);
/// let map = senv_core::arrays::least_squares(x.view(), y.view(), true)?;
/// assert!((map.weights[(0, 0)] - 2.0f64).abs() < 1e-14 && (map.intercept[0] - 1.0).abs() < 1e-14);
/// // Through the origin: (1 · 3 + 3 · 7) / (1 + 9).
/// let map = senv_core::arrays::least_squares(x.view(), y.view(), false)?;
/// assert!((map.weights[(0, 0)] - 2.4).abs() < 1e-14);
/// # Ok::<(), senv_core::Error>(())
/// ```
///
/// # Errors
/// [`Error::ShapeMismatch`] if `x` and `y` differ in rows; [`Error::TooLarge`] if there is not enough memory.
/// [`Error::InvalidParameter`] if there are fewer rows than unknowns, a value is not finite, or a column of `x` is a
/// combination of others up to rounding.
pub fn least_squares<F: Float>(x: ArrayView2<'_, F>, y: ArrayView2<'_, F>, intercept: bool) -> Result<LinearMap<F>> {
    let ((n, p), q) = (x.dim(), y.ncols());
    if y.nrows() != n {
        return Err(Error::ShapeMismatch {
            what: "rows of the right-hand side of least squares",
            expected: n,
            got: y.nrows(),
        });
    }
    let bad = |name, requirement, got: String| Err(Error::InvalidParameter { name, requirement, got });
    if n < p + usize::from(intercept) || n == 0 {
        return bad("examples of a linear map", "at least as many as unknowns", format!("{n} for {p} columns"));
    }
    let wide = |x: ArrayView2<'_, F>| x.mapv(Float::wide);
    let (mut x, mut y) = (wide(x), wide(y));
    if !x.iter().chain(&y).all(|value| value.is_finite()) {
        return bad("examples of a linear map", "finite", "infinity or NaN".into());
    }
    let mean = |x: &Array2<f64>| x.mean_axis(Axis(0)).unwrap_or_else(|| Array1::zeros(x.ncols()));
    let (x_mean, y_mean) = if intercept { (mean(&x), mean(&y)) } else { (Array1::zeros(p), Array1::zeros(q)) };
    // A column that is constant up to rounding becomes zero when its mean is subtracted.
    let sizes: Array1<f64> = x.columns().into_iter().map(|column| column.dot(&column).sqrt()).collect();
    if intercept {
        x -= &x_mean;
        y -= &y_mean;
    }
    let factors = factorize(x.clone())?;
    let rounding = f64::EPSILON * (n as f64).sqrt() * 8.0;
    let dependent = factors.diagonal().iter().zip(&sizes).position(|(pivot, size)| pivot.abs() <= rounding * size);
    if let Some(column) = dependent {
        return bad(
            "columns of the examples",
            "linearly independent",
            format!(
                "column {column}, a combination of \
            others"
            ),
        );
    }
    let mut weights = Array2::zeros((p, q));
    for _ in 0..2 {
        let mut residual = y.clone();
        matmul_into(-1.0, x.view(), weights.view(), 1.0, residual.view_mut())?;
        factors.apply_q_transposed(&mut residual)?;
        let mut step = residual.slice(s![..p, ..]).to_owned();
        factors.solve_r(&mut step);
        weights += &step;
    }
    let intercept = y_mean - x_mean.dot(&weights);
    Ok(LinearMap { weights: weights.mapv(F::of), intercept: intercept.mapv(F::of) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{init, rng::stream};
    use ndarray::array;

    fn random(n: usize, p: usize, seed: u64) -> Array2<f64> {
        let mut values = vec![0.0; n * p];
        init::normal(&mut stream(seed, "least squares", &[]), &mut values, 1.0).unwrap();
        Array2::from_shape_vec((n, p), values).unwrap()
    }

    #[test]
    fn vocabulary_expansion_gives_the_reference_numbers() {
        let file: serde_json::Value =
            serde_json::from_str(include_str!("../tests/data/vocabulary_expansion.json")).unwrap();
        let matrix = |name: &str| {
            let rows: Vec<Vec<f64>> = serde_json::from_value(file[name].clone()).unwrap();
            Array2::from_shape_vec((rows.len(), rows[0].len()), rows.concat()).unwrap()
        };
        let (x, y, new) = (matrix("X"), matrix("Y"), matrix("new"));
        for (name, intercept) in [("with_intercept", true), ("without_intercept", false)] {
            let got = least_squares(x.view(), y.view(), intercept).unwrap().apply(new.view()).unwrap();
            for (g, e) in got.iter().zip(&matrix(name)) {
                assert!((g - e).abs() < 1e-10, "{name}: {g} for {e}");
            }
        }
    }

    #[test]
    fn errors_are_orthogonal_to_what_explains_them() {
        for (n, p, q) in [(50, 7, 3), (400, 90, 5), (8, 7, 1), (33, 32, 2)] {
            let (x, y) = (random(n, p, 1) + 3.0, random(n, q, 2));
            for intercept in [false, true] {
                let map = least_squares(x.view(), y.view(), intercept).unwrap();
                let errors = &y - &map.apply(x.view()).unwrap();
                let worst = x.t().dot(&errors).iter().fold(0.0_f64, |worst, e| worst.max(e.abs()));
                assert!(worst < 1e-10 * n as f64, "{n} {p} {intercept}: {worst}");
                let sum = errors.sum_axis(Axis(0)).iter().fold(0.0_f64, |worst, e| worst.max(e.abs()));
                assert_eq!(sum < 1e-10 * n as f64, intercept, "{sum}");
            }
        }
    }

    #[test]
    fn a_map_is_found_again_also_in_single_precision() {
        let (x, a) = (random(300, 20, 3), random(20, 4, 4));
        let y = x.dot(&a) + &array![[1.0, -2.0, 0.5, 0.0]];
        let map = least_squares(x.view(), y.view(), true).unwrap();
        assert!((&map.weights - &a).iter().all(|e| e.abs() < 1e-12));
        let (x, y) = (x.mapv(|x| x as f32), y.mapv(|y| y as f32));
        let map = least_squares(x.view(), y.view(), true).unwrap();
        assert!((&map.weights.mapv(f64::from) - &a).iter().all(|e| e.abs() < 1e-5));
        assert!((map.intercept[1] + 2.0).abs() < 1e-5);
    }

    #[test]
    fn examples_that_do_not_determine_a_map_are_refused() {
        let (mut x, y) = (random(10, 3, 5), random(10, 2, 6));
        assert!(matches!(least_squares(x.view(), y.slice(s![..9, ..]), true), Err(Error::ShapeMismatch { .. })));
        let refused = |x: &Array2<f64>, y: ArrayView2<'_, f64>, intercept| {
            matches!(least_squares(x.view(), y, intercept), Err(Error::InvalidParameter { .. }))
        };
        let few = x.slice(s![..3, ..]).to_owned();
        assert!(refused(&few, y.slice(s![..3, ..]), true) && !refused(&few, y.slice(s![..3, ..]), false));
        let sum = &x.column(0) + &x.column(1);
        x.column_mut(2).assign(&sum);
        assert!(refused(&x, y.view(), true) && refused(&x, y.view(), false));
        x.column_mut(2).fill(0.3);
        assert!(refused(&x, y.view(), true) && !refused(&x, y.view(), false));
        x[(4, 1)] = f64::NAN;
        assert!(refused(&x, y.view(), false));
        assert!(refused(&Array2::zeros((0, 0)), Array2::zeros((0, 1)).view(), false));
    }
}
