//! Helpers for tests.

use ndarray::{Array2, ArrayView2};
use senv_core::{
    arrays::{Float, Parameters},
    gradcheck, init,
    rng::stream,
};

use crate::rows::{flat, flat_mut};

/// The type of a matrix argument.
pub(crate) type View<'a> = ArrayView2<'a, f64>;

/// Values from N(0, 1).
pub(crate) fn matrix<F: Float>(n: usize, dim: usize, seed: u64) -> Array2<F> {
    let mut x = Array2::zeros((n, dim));
    init::normal(&mut stream(seed, "loss tests", &[]), flat_mut(&mut x), 1.0).unwrap();
    x
}

/// The largest relative error of the gradient `d` of `f` at `x`.
pub(crate) fn worst(f: impl Fn(ArrayView2<'_, f64>) -> f64, x: &Array2<f64>, d: &Array2<f64>) -> f64 {
    let f = |numbers: &[f64]| f(ArrayView2::from_shape(x.raw_dim(), numbers).unwrap());
    gradcheck::max_relative_error(f, flat(x), flat(d))
}

/// The largest relative error of the gradient `d` of `f` in the values of one tensor.
pub(crate) fn worst_parameter(
    f: impl Fn(&Parameters<f64>) -> f64,
    parameters: &Parameters<f64>,
    d: &Parameters<f64>,
    place: usize,
) -> f64 {
    let f = |numbers: &[f64]| {
        let mut moved = parameters.clone();
        moved[place].values_mut().copy_from_slice(numbers);
        f(&moved)
    };
    gradcheck::max_relative_error(f, parameters[place].values(), d[place].values())
}
