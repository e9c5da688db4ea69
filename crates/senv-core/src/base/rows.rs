//! Rows that can be looked up by number.

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
