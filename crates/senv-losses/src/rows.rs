//! Matrices of this crate as contiguous row-major slices.

use ndarray::Array2;
use senv_core::arrays::Float;

/// The minimum number of rows per thread.
pub(crate) const ROWS_A_THREAD: usize = 32;

/// All values, row by row.
pub(crate) fn flat<F: Float>(x: &Array2<F>) -> &[F] {
    x.as_slice().unwrap_or_else(|| unreachable!("made in row order"))
}

/// All values, row by row, mutable.
pub(crate) fn flat_mut<F: Float>(x: &mut Array2<F>) -> &mut [F] {
    x.as_slice_mut().unwrap_or_else(|| unreachable!("made in row order"))
}

pub(crate) fn row<F: Float>(x: &Array2<F>, i: usize) -> &[F] {
    let dim = x.ncols();
    &flat(x)[i * dim..(i + 1) * dim]
}

/// Row `i`, mutable.
pub(crate) fn row_mut<F: Float>(x: &mut Array2<F>, i: usize) -> &mut [F] {
    let dim = x.ncols();
    &mut flat_mut(x)[i * dim..(i + 1) * dim]
}
