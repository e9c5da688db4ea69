//! Products with a head's weight matrices.

use ndarray::{Array2, ArrayView2, Axis};
use senv_core::arrays::{Float, Parameters, matmul, matmul_into};

use crate::error::{Result, check_size};

/// The bias, repeated in `n` rows.
pub(crate) fn bias<F: Float>(n: usize, bias: &senv_core::arrays::Tensor<F>) -> Array2<F> {
    let mut out = Array2::zeros((n, bias.values().len()));
    out.rows_mut().into_iter().for_each(|mut row| row.iter_mut().zip(bias.values()).for_each(|(x, &b)| *x = b));
    out
}

/// `out += x wᵀ`
pub(crate) fn add_product<F: Float>(
    x: ArrayView2<'_, F>,
    w: &senv_core::arrays::Tensor<F>,
    out: &mut Array2<F>,
) -> Result<()> {
    Ok(matmul_into(F::one(), x, w.view().t(), F::one(), out.view_mut())?)
}

/// Adds the gradient of `w` at `place`, for `x` and the gradient `d` of `x wᵀ`.
pub(crate) fn add_weight_gradient<F: Float>(
    d: ArrayView2<'_, F>,
    x: ArrayView2<'_, F>,
    d_parameters: &mut Parameters<F>,
    place: usize,
) -> Result<()> {
    Ok(matmul_into(F::one(), d.t(), x, F::one(), d_parameters[place].view_mut())?)
}

/// Adds the gradient of the bias at `place`: the sum of the rows of `d`.
pub(crate) fn add_bias_gradient<F: Float>(d: ArrayView2<'_, F>, d_parameters: &mut Parameters<F>, place: usize) {
    d_parameters[place].values_mut().iter_mut().zip(d.sum_axis(Axis(0))).for_each(|(b, d)| *b += d);
}

/// The gradient of `x`, from the gradient `d` of `x wᵀ`.
pub(crate) fn input_gradient<F: Float>(d: ArrayView2<'_, F>, w: &senv_core::arrays::Tensor<F>) -> Result<Array2<F>> {
    Ok(matmul(d, w.view())?)
}

/// Returns an error unless parameters have these names and shapes, in this order.
pub(crate) fn check_shapes<F: Float>(parameters: &Parameters<F>, shapes: &[(&str, [usize; 2])]) -> Result<()> {
    check_size("tensors of a head", shapes.len(), parameters.len())?;
    for (tensor, (_, shape)) in parameters.iter().zip(shapes) {
        check_size("rows of tensor of a head", shape[0], tensor.shape()[0])?;
        check_size("columns of tensor of a head", shape[1], tensor.shape()[1])?;
    }
    Ok(())
}

/// Weights uniform by Glorot and Bengio, biases (tensors of one row) 0.
pub(crate) fn init<F: Float>(rng: &mut senv_core::rng::Stream, shapes: &[(&str, [usize; 2])]) -> Result<Parameters<F>> {
    let mut parameters = Parameters::new();
    for &(name, [rows, columns]) in shapes {
        let place = parameters.push_zeros(name, [rows, columns])?;
        if rows > 1 {
            senv_core::init::glorot_uniform(rng, parameters[place].values_mut(), columns, rows)?;
        }
    }
    Ok(parameters)
}
