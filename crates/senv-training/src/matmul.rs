//! Matrix products (GEMM) of large matrices. Only this module computes them.
//!
//! Uses the `gemm` crate, which chooses AVX-512, AVX2, NEON or plain code at run time and needs no system library. No
//! other file uses that crate. [`few_rows`] is our own code for the product that recurrent networks compute at every
//! step: some states with the rows of a large matrix. It is two to three times as fast for 8 to 32 states. A product is
//! bit-identical at any number of threads: threads share blocks of the result and never split a sum. A test checks that
//! the crate allows this.
#![allow(unsafe_code)]

use gemm::Parallelism;
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis};
use rayon::prelude::*;

use senv_base::{Error, Result};
use senv_kernels::{Float, few_rows::ONE_THREAD};

/// The minimum number of rows or columns per thread. The `gemm` crate sums in a different order if a result has at most
/// 256 values, or at most 64 rows and columns. Runs of at least this length are larger than that (longer ones if the
/// other side is below 4). So each value has the same bits as in the whole product.
const RUN: usize = 128;

/// Rows and columns are divided among threads in multiples of this number.
const TILE: usize = 16;

/// The matrix product `a b`, shape `(m, n)`, of `a`, shape `(m, k)`, and `b`, shape `(k, n)`. Any memory order works,
/// and transposed views cost nothing. Zeros if `k` is 0.
///
/// Runs on the threads of the current rayon pool; below 3 million operations, only on the calling thread.
///
/// ```
/// use ndarray::array;
/// let (a, b) = (array![[1.0, 2.0], [3.0, 4.0]], array![[5.0], [6.0]]);
/// assert_eq!(senv_core::arrays::matmul(a.view(), b.view())?, array![[17.0], [39.0]]);
/// # Ok::<(), senv_core::Error>(())
/// ```
///
/// # Errors
/// [`Error::ShapeMismatch`] if `a` does not have as many columns as `b` has rows; [`Error::TooLarge`] if the result
/// does not fit in memory.
pub fn matmul<F: Float>(a: ArrayView2<'_, F>, b: ArrayView2<'_, F>) -> Result<Array2<F>> {
    let (m, n) = (a.nrows(), b.ncols());
    let too_large = || Error::TooLarge { rows: m, dim: n };
    let len = m.checked_mul(n).ok_or_else(too_large)?;
    let mut values = Vec::new();
    values.try_reserve_exact(len).map_err(|_| too_large())?;
    values.resize(len, F::zero());
    let mut out = Array2::from_shape_vec((m, n), values).map_err(|_| too_large())?;
    matmul_into(F::one(), a, b, F::zero(), out.view_mut())?;
    Ok(out)
}

/// `out = alpha a b + beta out`: [`matmul`] into an existing matrix, or added to it. With `beta` 0 the old values are
/// not read, so NaN among them does no harm.
///
/// ```
/// use ndarray::array;
/// let (a, b, mut out) = (array![[1.0f32, 2.0]], array![[3.0], [4.0]], array![[1.0]]);
/// senv_core::arrays::matmul_into(2.0, a.view(), b.view(), 1.0, out.view_mut())?;
/// assert_eq!(out, array![[23.0]]); // 2 (1 · 3 + 2 · 4) + 1
/// # Ok::<(), senv_core::Error>(())
/// ```
///
/// # Errors
/// [`Error::ShapeMismatch`] unless the shapes are `(m, k)`, `(k, n)` and `(m, n)`.
pub fn matmul_into<F: Float>(
    alpha: F,
    a: ArrayView2<'_, F>,
    b: ArrayView2<'_, F>,
    beta: F,
    mut out: ArrayViewMut2<'_, F>,
) -> Result<()> {
    let ((m, k), n) = (a.dim(), b.ncols());
    for (what, expected, got) in [
        ("rows of the second factor of a matrix product", k, b.nrows()),
        ("rows of the result of a matrix product", m, out.nrows()),
        ("columns of the result of a matrix product", n, out.ncols()),
    ] {
        if got != expected {
            return Err(Error::ShapeMismatch { what, expected, got });
        }
    }
    if m == 0 || n == 0 {
        return Ok(());
    }
    if k == 0 {
        out.mapv_inplace(|x| if beta == F::zero() { F::zero() } else { beta * x });
        return Ok(());
    }
    let (sets, adds) = (beta == F::zero(), beta == F::one());
    if alpha == F::one() && (sets || adds) && F::times_rows(a, b.reversed_axes(), adds, &mut out) {
        return Ok(());
    }
    let operations = 2 * (m as u128) * (n as u128) * (k as u128);
    let most = m.max(n) / RUN.max(4 * RUN / m.min(n));
    let parts = if operations < ONE_THREAD as u128 { 1 } else { rayon::current_num_threads().min(most) };
    if parts <= 1 {
        on_one_thread(alpha, a, b, beta, out);
        return Ok(());
    }
    // Split the longer side of the result. Each thread gets a run of columns of `b` and the result, or of rows of `a`
    // and the result, and computes whole values. Because no sum is split, the threads exchange nothing.
    let axis = Axis(usize::from(n >= m));
    let (mut shared_out, mut start, mut rest, fixed) = (Vec::new(), 0, out, if axis == Axis(1) { a } else { b });
    let mut moving = if axis == Axis(1) { b } else { a };
    for part in 1..=parts {
        let end = (m.max(n) * part / parts).next_multiple_of(TILE).min(m.max(n));
        let ((run, more), (factor, factors)) = (rest.split_at(axis, end - start), moving.split_at(axis, end - start));
        shared_out.push((run, factor));
        (rest, moving, start) = (more, factors, end);
    }
    shared_out.into_par_iter().for_each(|(run, factor)| match axis {
        Axis(0) => on_one_thread(alpha, factor, fixed, beta, run),
        _ => on_one_thread(alpha, fixed, factor, beta, run),
    });
    Ok(())
}

/// Whether the `gemm` crate can run here. It assumes AVX2 if it finds FMA, and both if it finds AVX-512F. If a
/// processor or virtual machine lacks what it assumes, it ends the program with an illegal instruction.
fn gemm_may_run() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        let (avx2, fma) = (is_x86_feature_detected!("avx2"), is_x86_feature_detected!("fma"));
        let avx512 = is_x86_feature_detected!("avx512f");
        // All three, AVX2 and FMA, only AVX2, or none of them.
        matches!((avx2, fma, avx512), (true, true, _) | (_, false, false))
    }
    #[cfg(not(target_arch = "x86_64"))]
    true
}

/// Computes the product without vector instructions.
fn plain<F: Float>(alpha: F, a: ArrayView2<'_, F>, b: ArrayView2<'_, F>, beta: F, mut out: ArrayViewMut2<'_, F>) {
    for ((i, j), out) in out.indexed_iter_mut() {
        let sum = a.row(i).iter().zip(b.column(j)).fold(F::zero(), |sum, (&x, &y)| sum + x * y);
        let before = if beta == F::zero() { F::zero() } else { beta * *out };
        *out = alpha * sum + before;
    }
}

/// `out = alpha a b + beta out`, for matching shapes that are not empty.
fn on_one_thread<F: Float>(
    alpha: F,
    a: ArrayView2<'_, F>,
    b: ArrayView2<'_, F>,
    beta: F,
    mut out: ArrayViewMut2<'_, F>,
) {
    let ((m, k), n) = (a.dim(), b.ncols());
    assert!(b.nrows() == k && out.dim() == (m, n), "the shapes of the factors and the result must agree");
    if !gemm_may_run() {
        return plain(alpha, a, b, beta, out);
    }
    let (a_strides, b_strides) = ([a.strides()[0], a.strides()[1]], [b.strides()[0], b.strides()[1]]);
    let out_strides = [out.strides()[0], out.strides()[1]];
    // SAFETY: pointers, shapes and strides are those of three ndarray views, the shapes match as checked above, and the
    // view of the result is exclusive.
    unsafe {
        gemm::gemm(
            m,
            n,
            k,
            out.as_mut_ptr(),
            out_strides[1],
            out_strides[0],
            beta != F::zero(),
            a.as_ptr(),
            a_strides[1],
            a_strides[0],
            b.as_ptr(),
            b_strides[1],
            b_strides[0],
            beta,
            alpha,
            false,
            false,
            false,
            Parallelism::None,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::stream;
    use ndarray::s;
    use rand::RngExt;

    fn matrix<F: Float>(rows: usize, columns: usize, seed: u64) -> Array2<F> {
        let mut rng = stream(seed, "matmul tests", &[]);
        Array2::from_shape_fn((rows, columns), |_| F::from(rng.random_range(-1.0..1.0)).unwrap())
    }

    /// The definition, summed in f64.
    fn naive<F: Float>(a: ArrayView2<'_, F>, b: ArrayView2<'_, F>) -> Array2<f64> {
        let (a, b) = (a.mapv(|x| x.to_f64().unwrap()), b.mapv(|x| x.to_f64().unwrap()));
        Array2::from_shape_fn((a.nrows(), b.ncols()), |(i, j)| (0..a.ncols()).map(|l| a[(i, l)] * b[(l, j)]).sum())
    }

    fn agrees_with_the_definition<F: Float>() {
        for (m, k, n) in [
            (1, 1, 1),
            (3, 5, 2),
            (1, 70, 9),
            (33, 1, 17),
            (40, 64, 31),
            (17, 300, 1),
            (65, 129, 66),
            (2, 64, 64),
            (32, 65, 85),
            (129, 520, 67),
            (128, 2100, 90),
        ] {
            let (a, b) = (matrix::<F>(m, k, 1), matrix::<F>(k, n, 2));
            // Rounding of k terms below 1: each sum is within k ε of the exact value; the rest is for alpha and beta.
            let bound = F::epsilon().to_f64().unwrap() * (k + 2) as f64 * (k as f64).sqrt().max(2.0);
            let close = |got: &Array2<F>, expected: &Array2<f64>, what: &str| {
                for (g, e) in got.iter().zip(expected) {
                    assert!((g.to_f64().unwrap() - e).abs() <= 2.0 * bound, "{what} {m} {k} {n}: {g} for {e}");
                }
            };
            let expected = naive(a.view(), b.view());
            close(&matmul(a.view(), b.view()).unwrap(), &expected, "plain");
            // (b' a')' through transposed views.
            close(&matmul(b.t(), a.t()).unwrap().reversed_axes(), &expected, "transposed");
            // The second factor in column-major order.
            let rows = b.t().as_standard_layout().into_owned();
            close(&matmul(a.view(), rows.t()).unwrap(), &expected, "rows");
            // Every other row and column of larger matrices, rows in reverse.
            let (mut wide_a, mut wide_b) = (matrix::<F>(2 * m, 2 * k, 3), matrix::<F>(2 * k, 2 * n, 4));
            wide_a.slice_mut(s![..;-2, ..;2]).assign(&a);
            wide_b.slice_mut(s![..;2, ..;2]).assign(&b);
            let strided = matmul(wide_a.slice(s![..;-2, ..;2]), wide_b.slice(s![..;2, ..;2])).unwrap();
            close(&strided, &expected, "strided");
            let before = matrix::<F>(m, n, 5);
            let mut out = before.clone();
            let (alpha, beta) = (F::from(0.75).unwrap(), F::from(-0.5).unwrap());
            matmul_into(alpha, a.view(), b.view(), beta, out.view_mut()).unwrap();
            let mixed = &expected * 0.75 + before.mapv(|x| -0.5 * x.to_f64().unwrap());
            close(&out, &mixed, "alpha and beta");
            let mut out = before.clone();
            matmul_into(F::one(), a.view(), rows.t(), F::one(), out.view_mut()).unwrap();
            close(&out, &(&expected + &before.mapv(|x| x.to_f64().unwrap())), "added");
            let mut out = before.clone();
            super::plain(alpha, a.view(), rows.t(), beta, out.view_mut());
            close(&out, &mixed, "without vectors");
        }
    }

    #[test]
    fn products_agree_with_the_definition() {
        agrees_with_the_definition::<f32>();
        agrees_with_the_definition::<f64>();
    }

    fn bits_do_not_depend_on_threads<F: Float>() {
        let pools: Vec<_> =
            [1, 2, 3, 5].map(|n| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap()).into();
        for (m, k, n) in [
            (1, 1500, 1200),
            (1300, 1400, 1),
            (64, 300, 300),
            (300, 64, 300),
            (37, 5000, 41),
            (200, 700, 129),
            (50, 1300, 261),
            (640, 1300, 3),
            (2, 3000, 515),
            (1, 3000, 1030),
            (128, 1200, 777),
        ] {
            let (a, b) = (matrix::<F>(m, k, 6), matrix::<F>(k, n, 7));
            let one = pools[0].install(|| matmul(a.view(), b.view()).unwrap());
            let transposed = pools[0].install(|| matmul(b.t(), a.t()).unwrap());
            let rows = b.t().as_standard_layout().into_owned();
            let by_rows = pools[0].install(|| matmul(a.view(), rows.t()).unwrap());
            for pool in &pools[1..] {
                assert!(pool.install(|| matmul(a.view(), b.view()).unwrap()) == one, "{m} {k} {n}");
                assert!(pool.install(|| matmul(b.t(), a.t()).unwrap()) == transposed, "{m} {k} {n} transposed");
                assert!(pool.install(|| matmul(a.view(), rows.t()).unwrap()) == by_rows, "{m} {k} {n} by rows");
            }
        }
    }

    #[test]
    fn products_have_the_same_bits_at_any_number_of_threads() {
        bits_do_not_depend_on_threads::<f32>();
        bits_do_not_depend_on_threads::<f64>();
    }

    #[test]
    fn a_row_of_a_product_with_the_rows_of_a_matrix_does_not_depend_on_the_others() {
        let (a, w) = (matrix::<f32>(300, 700, 8), matrix::<f32>(500, 700, 9));
        let all = matmul(a.view(), w.t()).unwrap();
        for (first, last) in [(0, 2), (5, 22), (37, 166), (1, 300), (298, 300)] {
            let some = matmul(a.slice(s![first..last, ..]), w.t()).unwrap();
            assert!(some == all.slice(s![first..last, ..]), "rows {first} to {last}");
            let some = matmul(a.slice(s![first..last, ..]), w.slice(s![100..177, ..]).t()).unwrap();
            assert!(some == all.slice(s![first..last, 100..177]), "rows {first} to {last}, columns 100 to 177");
        }
    }

    #[test]
    fn edges_and_shapes_that_do_not_fit() {
        let empty = |m, n| Array2::<f32>::zeros((m, n));
        assert_eq!(matmul(empty(2, 0).view(), empty(0, 3).view()).unwrap(), empty(2, 3));
        assert_eq!(matmul(empty(0, 2).view(), empty(2, 3).view()).unwrap().dim(), (0, 3));
        let mut out = Array2::from_elem((1, 1), f32::NAN);
        matmul_into(1.0, empty(1, 0).view(), empty(0, 1).view(), 0.0, out.view_mut()).unwrap();
        assert_eq!(out[(0, 0)], 0.0);
        out[(0, 0)] = f32::NAN;
        matmul_into(1.0, empty(1, 4).view(), empty(4, 1).view(), 0.0, out.view_mut()).unwrap();
        assert_eq!(out[(0, 0)], 0.0);
        out[(0, 0)] = 3.0;
        matmul_into(1.0, empty(1, 0).view(), empty(0, 1).view(), 2.0, out.view_mut()).unwrap();
        assert_eq!(out[(0, 0)], 6.0);
        let error = matmul(empty(2, 3).view(), empty(4, 5).view()).unwrap_err();
        assert!(matches!(error, Error::ShapeMismatch { expected: 3, got: 4, .. }), "{error}");
        for (m, n, expected, got) in [(3, 5, 2, 3), (2, 4, 5, 4)] {
            let mut out = empty(m, n);
            let error = matmul_into(1.0, empty(2, 3).view(), empty(3, 5).view(), 0.0, out.view_mut()).unwrap_err();
            assert!(matches!(error, Error::ShapeMismatch { expected: e, got: g, .. } if (e, g) == (expected, got)));
        }
    }
}
