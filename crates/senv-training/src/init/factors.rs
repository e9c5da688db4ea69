//! QR factorization: a matrix as the product Q R of a matrix with orthonormal columns and an upper triangle. This is
//! the code that both implementations share.

use ndarray::{Array1, Array2, Axis, s};

/// The factors of a matrix of `m` rows and `n <= m` columns; the form of Q depends on the implementation.
pub(crate) struct Factors<Q> {
    pub(super) q: Q,
    /// R, shape `(n, n)`; values below the diagonal are unspecified.
    pub(super) r: Array2<f64>,
}

impl<Q> Factors<Q> {
    /// The diagonal of R.
    pub(crate) fn diagonal(&self) -> Array1<f64> {
        self.r.diag().to_owned()
    }

    /// Solves R z = y for every column, where `y` is the first n rows; R has no zero on its diagonal.
    pub(crate) fn solve_r(&self, y: &mut Array2<f64>) {
        for i in (0..self.r.nrows()).rev() {
            let (mut above, below) = y.view_mut().split_at(Axis(0), i + 1);
            let mut row = above.row_mut(i);
            for (factor, solved) in self.r.slice(s![i, i + 1..]).iter().zip(below.rows()) {
                row.scaled_add(-factor, &solved);
            }
            let pivot = self.r[(i, i)];
            row.mapv_inplace(|x| x / pivot);
        }
    }
}
