//! QR factorization by Householder reflections.
//!
//! Equation: `householder`
//!
//! ```text
//! A = H_1 H_2 ⋯ H_n R                H_i = I − τ_i v_i v_iᵀ,  v_i: 0 above i, 1 at i
//! H_1 ⋯ H_b = I − V T Vᵀ             b reflections at a time, so that almost all work is in products of matrices
//! T_ii = τ_i,  T_{1..i, i} = −τ_i T_{1..i, 1..i} (V_{1..i}ᵀ v_i)
//! ```
//!
//! G. H. Golub and C. F. Van Loan, Matrix Computations, sections 5.1 and 5.2. In f64; bit-identical at any number of
//! threads.

use ndarray::{Array1, Array2, ArrayViewMut2, s};

use super::Factors;
use crate::{matmul, matmul_into};
use senv_base::Result;

/// The number of reflections in a block.
const BLOCK: usize = 48;

/// The reflections of consecutive columns.
struct Block {
    /// The first of the columns, and the first row that the reflections change.
    first: usize,
    /// V, one column per reflection, starting at row `first`.
    v: Array2<f64>,
    /// T, upper triangle.
    t: Array2<f64>,
}

/// Q as the reflections of all columns.
pub(crate) struct Reflections(Vec<Block>);

/// The factors of `a`, which has at least as many rows as columns.
pub(crate) fn factorize(mut a: Array2<f64>) -> Result<Factors<Reflections>> {
    let (m, n) = a.dim();
    let mut blocks = Vec::with_capacity(n.div_ceil(BLOCK));
    for first in (0..n).step_by(BLOCK) {
        let end = n.min(first + BLOCK);
        // Columns as rows, so each is contiguous.
        let mut panel = a.slice(s![first.., first..end]).t().as_standard_layout().into_owned();
        let (v, t, block_r) = reflect(&mut panel, m - first);
        for (i, row) in block_r.rows().into_iter().enumerate() {
            a.slice_mut(s![first + i, first..end]).assign(&row);
        }
        let block = Block { first, v, t };
        if end < n {
            block.reflect(a.slice_mut(s![first.., end..]), true)?;
        }
        blocks.push(block);
    }
    Ok(Factors { q: Reflections(blocks), r: a.slice(s![..n, ..]).to_owned() })
}

/// Computes the reflections of a panel whose rows are columns of the matrix: V, T and the rows of R that belong to the
/// panel.
fn reflect(panel: &mut Array2<f64>, rows: usize) -> (Array2<f64>, Array2<f64>, Array2<f64>) {
    let n = panel.nrows();
    let (mut v, mut t, mut r) = (Array2::zeros((n, rows)), Array2::zeros((n, n)), Array2::zeros((n, n)));
    for i in 0..n {
        for j in 0..i {
            r[(j, i)] = panel[(i, j)];
        }
        let x = panel.slice(s![i, i..]);
        let (head, size) = (x[0], x.dot(&x).sqrt());
        let end = if head > 0.0 { -size } else { size };
        r[(i, i)] = end;
        v[(i, i)] = 1.0;
        if end == 0.0 {
            continue; // A column of zeros stays unchanged: τ = 0.
        }
        let tau = (end - head) / end;
        let scaled = x.slice(s![1..]).mapv(|x| x / (head - end));
        v.slice_mut(s![i, i + 1..]).assign(&scaled);
        let reflection = v.slice(s![i, i..]).to_owned();
        for j in i + 1..n {
            let mut column = panel.slice_mut(s![j, i..]);
            let share = -tau * column.dot(&reflection);
            column.scaled_add(share, &reflection);
        }
        let overlaps: Array1<f64> = (0..i).map(|j| v.slice(s![j, i..]).dot(&reflection)).collect();
        for j in 0..i {
            t[(j, i)] = -tau * t.slice(s![j, j..i]).dot(&overlaps.slice(s![j..]));
        }
        t[(i, i)] = tau;
    }
    (v.reversed_axes().as_standard_layout().into_owned(), t, r)
}

impl Block {
    /// Applies all reflections to `x`, last first; with `undo`, first first, which is the inverse. `x` starts at the
    /// first row that changes.
    fn reflect(&self, x: ArrayViewMut2<'_, f64>, undo: bool) -> Result<()> {
        let shares = matmul(self.v.t(), x.view())?;
        let shares = if undo { matmul(self.t.t(), shares.view())? } else { matmul(self.t.view(), shares.view())? };
        matmul_into(-1.0, self.v.view(), shares.view(), 1.0, x)
    }
}

impl Factors<Reflections> {
    /// Computes `Q D` with n columns, where `d` is the diagonal of D.
    pub(crate) fn times_diagonal(&self, rows: usize, d: &Array1<f64>) -> Result<Array2<f64>> {
        let mut q = Array2::zeros((rows, d.len()));
        q.diag_mut().assign(d);
        for block in self.q.0.iter().rev() {
            // The previous columns are still those of D, with zeros in the affected rows.
            block.reflect(q.slice_mut(s![block.first.., block.first..]), false)?;
        }
        Ok(q)
    }

    /// `x = Qᵀ x`
    pub(crate) fn apply_q_transposed(&self, x: &mut Array2<f64>) -> Result<()> {
        self.q.0.iter().try_for_each(|block| block.reflect(x.slice_mut(s![block.first.., ..]), true))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::stream;

    #[test]
    fn the_factors_multiply_to_the_matrix() {
        for (m, n) in [(1, 1), (5, 3), (32, 32), (33, 33), (80, 70), (200, 65), (40, 0)] {
            let mut a = Array2::<f64>::zeros((m, n));
            let mut values = vec![0.0; m * n];
            crate::init::normal(&mut stream(2, "householder", &[m as u64]), &mut values, 1.0).unwrap();
            a.iter_mut().zip(&values).for_each(|(a, &v)| *a = v);
            if n > 2 {
                a.column_mut(1).fill(0.0);
            }
            let factors = factorize(a.clone()).unwrap();
            let mut r = factors.r.clone();
            r.indexed_iter_mut().filter(|((i, j), _)| i > j).for_each(|(_, x)| *x = 0.0);
            let mut product = factors.times_diagonal(m, &Array1::ones(n)).unwrap().dot(&r);
            let worst = (&product - &a).iter().fold(0.0_f64, |worst, x| worst.max(x.abs()));
            assert!(worst < 1e-13 * (m as f64).sqrt() * 4.0, "{m} {n}: {worst}");
            factors.apply_q_transposed(&mut product).unwrap();
            let below = product.indexed_iter().filter(|((i, j), _)| i > j);
            assert!(below.fold(0.0_f64, |worst, (_, x)| worst.max(x.abs())) < 1e-13 * m as f64, "{m} {n}");
        }
    }
}
