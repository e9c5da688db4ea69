//! Matrices as contiguous row-major slices.

use ndarray::{Array2, ArrayViewMut2, CowArray, Ix2};
use senv_core::{Error, Result, arrays::Float};

/// The minimum number of sentences, or distinct words, per thread.
pub(crate) const AT_A_TIME: usize = 32;

/// Zeros for a matrix of this shape.
pub(crate) fn zeros<F: Float>(rows: usize, dim: usize) -> Result<Vec<F>> {
    let fits = rows.checked_mul(dim).filter(|&n| n <= isize::MAX as usize / size_of::<F>());
    Ok(vec![F::zero(); fits.ok_or(Error::TooLarge { rows, dim })?])
}

/// The matrix of `rows` rows over `values`.
pub(crate) fn matrix<F: Float>(rows: usize, dim: usize, values: Vec<F>) -> Result<Array2<F>> {
    Array2::from_shape_vec((rows, dim), values).map_err(|_| Error::TooLarge { rows, dim })
}

/// All values of a matrix in standard layout.
pub(crate) fn flat<'a, F: Float>(x: &'a CowArray<'_, F, Ix2>) -> &'a [F] {
    x.as_slice().unwrap_or_else(|| unreachable!("in standard layout"))
}

/// Row `i` of a matrix of `dim` columns.
#[inline]
pub(crate) fn row<F>(values: &[F], dim: usize, i: usize) -> &[F] {
    &values[i * dim..(i + 1) * dim]
}

/// Lets `work` add to the values of `x`, row by row, through a copy if `x` is not row-major.
pub(crate) fn add_by_rows<F: Float>(mut x: ArrayViewMut2<'_, F>, work: impl FnOnce(&mut [F])) -> Result<()> {
    if let Some(values) = x.as_slice_mut() {
        work(values);
        return Ok(());
    }
    let mut fresh = zeros(x.nrows(), x.ncols())?;
    work(&mut fresh);
    x.iter_mut().zip(fresh).for_each(|(x, d)| *x += d);
    Ok(())
}
