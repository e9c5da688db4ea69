//! Rows that can be looked up by number.

use ndarray::{ArrayBase, Axis, Data, Ix2};

/// Rows of a table that can be looked up: a trained table, a memory-mapped file.
pub trait Rows: Send + Sync {
    /// Number of rows.
    fn n_rows(&self) -> usize;
    /// Values in a row.
    fn dim(&self) -> usize;
    /// Row `i`; panics if there is none.
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

/// A matrix whose rows lie together in memory, as every matrix does that senv returns.
///
/// ```
/// use senv_core::Rows;
/// let vectors = ndarray::array![[1.0, 0.0], [0.5, 0.5]];
/// assert_eq!((vectors.n_rows(), Rows::row(&vectors, 1)), (2, [0.5, 0.5].as_slice()));
/// ```
///
/// # Panics
/// [`Rows::row`] panics for a matrix whose rows do not lie together, such as a transposed one; `as_standard_layout`
/// makes one of it whose rows do.
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
