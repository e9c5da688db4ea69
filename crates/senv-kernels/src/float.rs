//! The two precisions under one trait: f32 for training and encoding, f64 for gradient checks.

use ndarray::NdFloat;

use super::{kernels, kernels::AdamStep};

pub(crate) mod sealed {
    use crate::few_rows;
    use ndarray::{ArrayView2, ArrayViewMut2};

    pub trait Sealed: Sized {
        /// Computes `out = a wᵀ` or `out += a wᵀ` if [`few_rows`] is the fastest way; returns whether it did.
        fn times_rows(
            a: ArrayView2<'_, Self>,
            w: ArrayView2<'_, Self>,
            add: bool,
            out: &mut ArrayViewMut2<'_, Self>,
        ) -> bool;
    }
    impl Sealed for f32 {
        fn times_rows(
            a: ArrayView2<'_, f32>,
            w: ArrayView2<'_, f32>,
            add: bool,
            out: &mut ArrayViewMut2<'_, f32>,
        ) -> bool {
            few_rows::times_rows(a, w, add, out)
        }
    }
    impl Sealed for f64 {
        fn times_rows(_: ArrayView2<'_, f64>, _: ArrayView2<'_, f64>, _: bool, _: &mut ArrayViewMut2<'_, f64>) -> bool {
            false
        }
    }
}

/// `f32` or `f64`, with the inner loops that training needs. Those of f32 are the [`kernels`](crate::kernels). Those of
/// f64 are plain loops and the scalar reference that the kernels are tested against.
///
/// All functions on two slices panic if their lengths differ.
///
/// ```
/// use senv_core::arrays::Float;
/// fn norm<F: Float>(x: &[F]) -> f64 {
///     F::dot(x, x).wide().sqrt()
/// }
/// assert_eq!((norm(&[3.0f32, 4.0]), norm(&[3.0f64, 4.0])), (5.0, 5.0));
/// ```
pub trait Float: NdFloat + serde::Serialize + serde::de::DeserializeOwned + sealed::Sealed {
    /// Does `work` in this precision, compiled in the crate that defines it; see
    /// [`compiled_here`](super::compiled_here).
    fn compute<W: Work>(input: W::Input<'_, Self>) -> W::Output<'_, Self>;
    /// Returns the nearest value of this precision.
    #[must_use]
    fn of(x: f64) -> Self;
    /// Returns the value as f64.
    #[must_use]
    fn wide(self) -> f64;
    /// a·b
    #[must_use]
    fn dot(a: &[Self], b: &[Self]) -> Self;
    /// `y += c x`
    fn axpy(c: Self, x: &[Self], y: &mut [Self]);
    /// `y += x`
    fn add_to(x: &[Self], y: &mut [Self]);
    /// `y *= c`
    fn scale(c: Self, y: &mut [Self]);
    /// `out = c Σ_{r in rows} v_r`, where row `r` of `values` starts at index `r stride`. Rows are added in the given
    /// order, and the sum is scaled last. Panics if `values` is too short for a row.
    fn sum_rows(values: &[Self], stride: usize, rows: &[u32], c: Self, out: &mut [Self]);
    /// `y = tanh(y)`, elementwise.
    fn tanh_in_place(y: &mut [Self]);
    /// `y = σ(y)`, elementwise.
    fn sigmoid_in_place(y: &mut [Self]);
    /// `y = e^y`, elementwise.
    fn exp_in_place(y: &mut [Self]);
    /// `q += b h + sign a g`, then `h = f h + a` and `g = f g + b`, elementwise, for `[a, b, f]`.
    fn skip_bigram_step(abf: [&[Self]; 3], sign: Self, h: &mut [Self], g: &mut [Self], q: &mut [Self]);
    /// The mean of `f^(words between)` over all orders of `n` words, elementwise; see [`kernels::mean_shares`].
    fn mean_shares(f: &[Self], n: usize, out: &mut [Self]);
    /// One step of Adam: updates `x` with its gradient `d_x`; `m` and `v` are the moments of `x`.
    fn adam(step: &AdamStep<Self>, x: &mut [Self], d_x: &[Self], m: &mut [Self], v: &mut [Self]);
}

/// A computation in both precisions, implemented by [`compiled_here`](super::compiled_here).
pub trait Work {
    /// The arguments.
    type Input<'a, F: Float>;
    /// The result.
    type Output<'a, F: Float>;

    /// Computes in single precision.
    fn in_f32<'a>(input: Self::Input<'a, f32>) -> Self::Output<'a, f32>;
    /// Computes in double precision.
    fn in_f64<'a>(input: Self::Input<'a, f64>) -> Self::Output<'a, f64>;
}

impl Float for f32 {
    #[inline]
    fn compute<W: Work>(input: W::Input<'_, Self>) -> W::Output<'_, Self> {
        W::in_f32(input)
    }
    #[inline]
    fn of(x: f64) -> Self {
        x as Self
    }
    #[inline]
    fn wide(self) -> f64 {
        f64::from(self)
    }
    #[inline]
    fn dot(a: &[Self], b: &[Self]) -> Self {
        kernels::dot(a, b)
    }
    #[inline]
    fn axpy(c: Self, x: &[Self], y: &mut [Self]) {
        kernels::axpy(c, x, y);
    }
    #[inline]
    fn add_to(x: &[Self], y: &mut [Self]) {
        kernels::add(x, y);
    }
    #[inline]
    fn scale(c: Self, y: &mut [Self]) {
        kernels::scale(c, y);
    }
    #[inline]
    fn sum_rows(values: &[Self], stride: usize, rows: &[u32], c: Self, out: &mut [Self]) {
        kernels::sum_rows(values, stride, bytemuck::cast_slice(rows), c, out);
    }
    #[inline]
    fn tanh_in_place(y: &mut [Self]) {
        kernels::tanh_in_place(y);
    }
    #[inline]
    fn sigmoid_in_place(y: &mut [Self]) {
        kernels::sigmoid_in_place(y);
    }
    #[inline]
    fn exp_in_place(y: &mut [Self]) {
        kernels::exp_in_place(y);
    }
    #[inline]
    fn skip_bigram_step(abf: [&[Self]; 3], sign: Self, h: &mut [Self], g: &mut [Self], q: &mut [Self]) {
        kernels::skip_bigram_step(abf, sign, h, g, q);
    }
    #[inline]
    fn mean_shares(f: &[Self], n: usize, out: &mut [Self]) {
        kernels::mean_shares(f, n, out);
    }
    #[inline]
    fn adam(step: &AdamStep<Self>, x: &mut [Self], d_x: &[Self], m: &mut [Self], v: &mut [Self]) {
        kernels::adam(step, x, d_x, m, v);
    }
}

impl Float for f64 {
    #[inline]
    fn compute<W: Work>(input: W::Input<'_, Self>) -> W::Output<'_, Self> {
        W::in_f64(input)
    }
    #[inline]
    fn of(x: f64) -> Self {
        x
    }
    #[inline]
    fn wide(self) -> f64 {
        self
    }
    fn dot(a: &[Self], b: &[Self]) -> Self {
        assert_eq!(a.len(), b.len(), "a dot product of vectors of different lengths");
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    }
    fn axpy(c: Self, x: &[Self], y: &mut [Self]) {
        assert_eq!(x.len(), y.len(), "a sum of vectors of different lengths");
        y.iter_mut().zip(x).for_each(|(y, x)| *y += c * x);
    }
    fn add_to(x: &[Self], y: &mut [Self]) {
        Self::axpy(1.0, x, y);
    }
    fn scale(c: Self, y: &mut [Self]) {
        y.iter_mut().for_each(|y| *y *= c);
    }
    fn sum_rows(values: &[Self], stride: usize, rows: &[u32], c: Self, out: &mut [Self]) {
        out.fill(0.0);
        rows.iter().for_each(|&row| Self::add_to(&values[row as usize * stride..][..out.len()], out));
        Self::scale(c, out);
    }
    fn tanh_in_place(y: &mut [Self]) {
        y.iter_mut().for_each(|y| *y = y.tanh());
    }
    fn sigmoid_in_place(y: &mut [Self]) {
        y.iter_mut().for_each(|y| *y = crate::math::sigmoid(*y));
    }
    fn exp_in_place(y: &mut [Self]) {
        y.iter_mut().for_each(|y| *y = y.exp());
    }
    fn skip_bigram_step([a, b, f]: [&[Self]; 3], sign: Self, h: &mut [Self], g: &mut [Self], q: &mut [Self]) {
        for len in [a.len(), b.len(), f.len(), h.len(), g.len()] {
            assert_eq!(len, q.len(), "a step on vectors of different lengths");
        }
        for j in 0..q.len() {
            q[j] += b[j] * h[j] + sign * a[j] * g[j];
            h[j] = f[j] * h[j] + a[j];
            g[j] = f[j] * g[j] + b[j];
        }
    }
    fn mean_shares(f: &[Self], n: usize, out: &mut [Self]) {
        assert_eq!(f.len(), out.len(), "shares of vectors of different lengths");
        let normalizer = if n < 2 { 0.0 } else { 2.0 / (n as f64 * (n as f64 - 1.0)) };
        for (&f, out) in f.iter().zip(out) {
            let (mut p, mut sum) = (0.0, 0.0);
            for _ in 1..n {
                p = 1.0 + f * p;
                sum += p;
            }
            *out = normalizer * sum;
        }
    }
    fn adam(step: &AdamStep<Self>, x: &mut [Self], d_x: &[Self], m: &mut [Self], v: &mut [Self]) {
        step.apply(x, d_x, m, v);
    }
}
