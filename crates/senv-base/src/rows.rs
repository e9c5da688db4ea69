//! Rows that are accessed by index.

use ndarray::{ArrayBase, Axis, Data, Ix2};

/// Rows that are accessed by index: a trained table or a memory-mapped file.
pub trait Rows: Send + Sync {
    /// The number of rows.
    fn n_rows(&self) -> usize;
    /// The number of values per row.
    fn dim(&self) -> usize;
    /// Row `i`; panics if `i` is out of range.
    fn row(&self, i: usize) -> &[f32];
}

impl<R: Rows + ?Sized> Rows for &R {
    fn n_rows(&self) -> usize {
        (**self).n_rows()
    }

    fn dim(&self) -> usize {
        (**self).dim()
    }

    fn row(&self, i: usize) -> &[f32] {
        (**self).row(i)
    }
}

/// A matrix whose rows are contiguous in memory, like every matrix that senv returns.
///
/// ```
/// use senv_core::Rows;
/// let vectors = ndarray::array![[1.0, 0.0], [0.5, 0.5]];
/// assert_eq!((vectors.n_rows(), Rows::row(&vectors, 1)), (2, [0.5, 0.5].as_slice()));
/// ```
///
/// # Panics
/// [`Rows::row`] panics if the rows of the matrix are not contiguous, for example after a transpose;
/// `as_standard_layout` returns a matrix whose rows are.
impl<S: Data<Elem = f32> + Send + Sync> Rows for ArrayBase<S, Ix2> {
    fn n_rows(&self) -> usize {
        self.nrows()
    }

    fn dim(&self) -> usize {
        self.ncols()
    }

    fn row(&self, i: usize) -> &[f32] {
        let row = self.index_axis(Axis(0), i).to_slice();
        row.unwrap_or_else(|| {
            panic!("the rows of this matrix are not contiguous in memory; call as_standard_layout first")
        })
    }
}
