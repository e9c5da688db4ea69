//! The inner loops: dot products, sums of rows, two small matrix products, and rows shared between threads.
//!
//! The SIMD level of the processor is detected when the first kernel runs: AVX-512, AVX2 with FMA, NEON, or plain Rust.
//! On one machine, a kernel gives bit-identical results for the same input, because the order of summation depends only
//! on the lengths. Other machines may sum in a different order, so the last bits may differ.
//!
//! Vectors that start on a 64-byte cache line, like the rows of [`Table::zeros`](crate::Table::zeros), are fastest.
//!
//! ```
//! use senv_core::kernels;
//! let (u, mut v) = ([3.0, 4.0], [1.0, 0.0]);
//! assert_eq!(kernels::dot(&u, &v), 3.0);
//! kernels::axpy(2.0, &u, &mut v);
//! assert_eq!(v, [7.0, 8.0]);
//! ```

mod adam_step;
mod compressed;
mod cosine;
mod dispatch;
mod elementwise;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod entry_points;
mod fill;
mod int4_sum;
mod lanes;
mod level;
#[cfg(target_arch = "aarch64")]
mod neon;
mod panels;
mod portable;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod products;
mod row_sums;
mod rows;
mod shared;
mod skip_bigram;
#[cfg(test)]
mod tests;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod vector;
#[cfg(target_arch = "x86_64")]
mod x86;

use std::ops::Range;

pub use adam_step::AdamStep;
pub use compressed::f16_to_f32;
pub use cosine::{cosine, l2_normalize, norm};
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use entry_points::entry_points;
// For the initializers of `senv-training`.
pub use fill::fill_uniform;
pub use int4_sum::Int4Rows;
pub use lanes::Lanes;
use level::Level;
pub(crate) use panels::WIDTH_STEP as PANEL_STEP;
pub use row_sums::sum_rows;
// For the compressed rows of `senv-model`.
pub use row_sums::{add_f16, add_f32, add_int4, add_int8, sum_int4};
pub use shared::SharedTable;
pub use skip_bigram::{SKIP_BIGRAM_BLOCK, SKIP_BIGRAM_BYTES, SkipBigramRow, SkipBigramState};

/// Panics if slices differ in length.
#[inline(always)]
fn check_len(got: usize, expected: usize) {
    assert!(got == expected, "a vector of {got} values, expected {expected}");
}

/// Panics if a slice is shorter than its rows.
#[inline(always)]
fn check_rows(got: usize, rows: usize, stride: usize) {
    let fits = rows.checked_mul(stride).is_some_and(|needed| needed <= got);
    assert!(fits, "{got} values, expected {rows} rows of {stride}");
}

/// Panics if the columns are not within a row.
#[inline(always)]
fn check_columns(columns: &Range<usize>, stride: usize) {
    assert!(columns.start <= columns.end && columns.end <= stride, "columns {columns:?} of {stride}");
}

/// Panics if reading a factor would go out of bounds.
#[inline(always)]
fn check_factors(got: usize, (s_row, s_col): (usize, usize), m: usize, n: usize) {
    let last = |count: usize, step: usize| count.saturating_sub(1).checked_mul(step);
    let fits = match (last(m, s_row), last(n, s_col)) {
        _ if m == 0 || n == 0 => true,
        (Some(row), Some(column)) => row.checked_add(column).is_some_and(|last| last < got),
        _ => false,
    };
    assert!(fits, "{got} factors do not reach to row {m} and column {n} in steps of {s_row} and {s_col}");
}

/// a·b
///
/// # Panics
/// If the lengths differ.
#[inline]
#[must_use]
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    check_len(b.len(), a.len());
    dispatch::dot(Level::best(), a, b)
}

/// `y += c x`
///
/// # Panics
/// If the lengths differ.
#[inline]
pub fn axpy(c: f32, x: &[f32], y: &mut [f32]) {
    check_len(x.len(), y.len());
    dispatch::axpy(Level::best(), c, x, y);
}

/// `y += x`
///
/// # Panics
/// If the lengths differ.
#[inline]
pub fn add(x: &[f32], y: &mut [f32]) {
    check_len(x.len(), y.len());
    dispatch::add(Level::best(), x, y);
}

/// `y *= c`
#[inline]
pub fn scale(c: f32, y: &mut [f32]) {
    dispatch::scale(Level::best(), c, y);
}

/// `y = sign(y) max(|y| − tau, 0)`, elementwise: the proximal step of `tau |y|₁`. NaN stays NaN.
#[inline]
pub fn soft_threshold(tau: f32, y: &mut [f32]) {
    dispatch::soft_threshold(Level::best(), tau, y);
}

/// `y = e^y`, elementwise, accurate to the last bits of f32; overflow gives infinity, NaN stays NaN.
pub fn exp_in_place(y: &mut [f32]) {
    dispatch::exp_in_place(Level::best(), y);
}

/// `y = 1 / (1 + e^−y)`, elementwise, accurate to the last bits of f32; NaN stays NaN.
pub fn sigmoid_in_place(y: &mut [f32]) {
    dispatch::sigmoid_in_place(Level::best(), y);
}

/// `y = tanh y`, elementwise, accurate to the last bits of f32; NaN stays NaN.
pub fn tanh_in_place(y: &mut [f32]) {
    dispatch::tanh_in_place(Level::best(), y);
}

/// `q += b h + sign a g`, then `h = f h + a` and `g = f g + b`, elementwise: the step of a word with the rows `[a, b,
/// f]` in a gated skip-bigram with decay. Bit-identical on every processor.
///
/// # Panics
/// If the lengths differ.
#[inline]
pub fn skip_bigram_step([a, b, f]: [&[f32]; 3], sign: f32, h: &mut [f32], g: &mut [f32], q: &mut [f32]) {
    for len in [a.len(), b.len(), f.len(), h.len(), g.len()] {
        check_len(len, q.len());
    }
    dispatch::skip_bigram_step(Level::best(), [a, b, f], sign, h, g, q);
}

/// Runs [`skip_bigram_step`] for the words of a sentence, in order, on every block of columns. The sign is -1 in the
/// first `antisymmetric` blocks and 1 in the others. Those others also keep the sums of a, b, a b and f. Bit-identical
/// on every processor.
///
/// # Panics
/// If a word has fewer blocks than there are states.
pub fn skip_bigrams(words: &[SkipBigramRow<'_>], antisymmetric: usize, states: &mut [SkipBigramState]) {
    for word in words {
        assert!(word.codes.len() >= states.len(), "a word of {} blocks, expected {}", word.codes.len(), states.len());
    }
    dispatch::skip_bigrams(Level::best(), words, antisymmetric, states);
}

/// The mean share of a word that remains at another word, over all orders of `n` words, elementwise. With distances k =
/// 1 .. n − 1: `out = 2 / (n (n − 1)) Σ_k (n − k) f^(k − 1)`; 0 for n < 2. Bit-identical on every processor.
///
/// # Panics
/// If the lengths differ.
pub fn mean_shares(f: &[f32], n: usize, out: &mut [f32]) {
    check_len(out.len(), f.len());
    dispatch::mean_shares(Level::best(), f, n, out);
}

/// `y[i] += ± scale`, with the sign of value `i` in bit `i mod 64` of a hash of `key` and `i / 64`.
#[inline]
#[doc(hidden)]
pub fn add_signs(key: u64, scale: f32, y: &mut [f32]) {
    dispatch::add_signs(Level::best(), key, scale, y);
}

/// One step of Adam on an array and its two moments; see [`AdamStep`].
///
/// # Panics
/// If the lengths differ.
#[inline]
pub fn adam(step: &AdamStep<f32>, x: &mut [f32], d_x: &[f32], m: &mut [f32], v: &mut [f32]) {
    for len in [d_x.len(), m.len(), v.len()] {
        check_len(len, x.len());
    }
    dispatch::adam(Level::best(), step, x, d_x, m, v);
}

/// All products of the rows of `a` with the rows of `b`: `out[i n + j] = a_i · b_j`.
///
/// | name | meaning | shape |
/// | --- | --- | --- |
/// | `a` | left rows | `m` rows of `stride` values |
/// | `b` | right rows | `n` rows of `stride` values |
/// | `out` | scores, overwritten | `m` rows of `n` values |
///
/// A score is bit-identical regardless of the other rows and their number. Meant for rows that fit in the first two
/// cache levels; for large matrices see `senv_core::arrays::matmul`.
///
/// # Panics
/// If a slice is shorter than its shape.
pub fn scores(a: &[f32], m: usize, b: &[f32], n: usize, stride: usize, out: &mut [f32]) {
    scores_of_columns(a, m, b, n, stride, 0..stride, out);
}

/// [`scores`] over some columns of the rows. Sums of these equal the scores over all columns, but not bit for bit.
///
/// # Panics
/// If a slice is shorter than its shape, or the columns are not within a row.
pub fn scores_of_columns(
    a: &[f32],
    m: usize,
    b: &[f32],
    n: usize,
    stride: usize,
    columns: Range<usize>,
    out: &mut [f32],
) {
    check_columns(&columns, stride);
    check_rows(a.len(), m, stride);
    check_rows(b.len(), n, stride);
    check_rows(out.len(), m, n);
    dispatch::scores(Level::best(), a, m, b, n, stride, columns, out);
}

/// The products of the rows of `a` with each other, over some of their columns: `out[i m + j] = a_i · a_j` for every `j
/// ≤ i`. Values of `out` with `j > i` are unspecified, because whole blocks, half of the work, are skipped.
///
/// # Panics
/// If a slice is shorter than its shape, or the columns are not within a row.
pub fn gram_of_columns(a: &[f32], m: usize, stride: usize, columns: Range<usize>, out: &mut [f32]) {
    check_columns(&columns, stride);
    check_rows(a.len(), m, stride);
    check_rows(out.len(), m, m);
    dispatch::gram(Level::best(), a, m, stride, columns, out);
}

/// Adds to each row of `out` a sum of the rows of `b`: `out_i += Σ_j s[i s_row + j s_col] b_j`.
///
/// | name | meaning | shape |
/// | --- | --- | --- |
/// | `s` | factors; factor `(i, j)` is at `i s_row + j s_col` | `m` × `n` |
/// | `b` | rows to add | `n` rows of `stride` values |
/// | `out` | sums | `m` rows of `stride` values |
///
/// Swapping the two strides gives the transposed product. A sum is bit-identical regardless of the other rows of `out`
/// and their number.
///
/// # Panics
/// If a slice is shorter than its shape.
#[allow(clippy::too_many_arguments)]
pub fn add_product(
    s: &[f32],
    s_row: usize,
    s_col: usize,
    m: usize,
    n: usize,
    b: &[f32],
    stride: usize,
    out: &mut [f32],
) {
    check_factors(s.len(), (s_row, s_col), m, n);
    check_rows(b.len(), n, stride);
    check_rows(out.len(), m, stride);
    dispatch::add_product(Level::best(), s, (s_row, s_col), m, n, b, stride, out);
}

/// Adds products of rows with the rows of a packed panel to sums: `sums[i width + l] += Σ_p rows_i[p] panel[p width +
/// l]`, for the first `lanes` of the `width` columns `l`. Later columns may be overwritten.
///
/// | name | meaning | shape |
/// | --- | --- | --- |
/// | `rows` | rows that start `stride` values apart | `m` of `k` values |
/// | `panel` | up to `width` rows, transposed; `width` is a multiple of 16, ideally [`panel_width`] | `k` × `width` |
/// | `sums` | | `m` × `width` |
///
/// Every sum adds its terms from the first to the last, with one rounding per term, on every level: bit-identical to a
/// chain of fused multiply-adds.
///
/// # Panics
/// If a slice is shorter than its shape.
pub(crate) fn add_panel_products(
    rows: &[f32],
    stride: usize,
    m: usize,
    panel: &[f32],
    width: usize,
    lanes: usize,
    sums: &mut [f32],
) {
    assert!(width.is_multiple_of(PANEL_STEP) && (1..=width).contains(&lanes), "{lanes} lanes in a panel of {width}");
    check_factors(rows.len(), (stride, 1), m, panel.len() / width);
    check_rows(sums.len(), m, width);
    dispatch::add_panel_products(Level::best(), rows, stride, m, panel, width, lanes, sums);
}

/// The largest panel width for which all columns are multiplied with a value of the larger matrix in one pass.
pub(crate) fn panel_width() -> usize {
    Level::best().panel_width()
}

/// Whether the processor has vector instructions with fused multiply-adds.
pub(crate) fn has_vectors() -> bool {
    Level::best().kind() != level::InstructionSet::Portable
}

/// Prefetches the cache line at `p`.
#[inline(always)]
#[doc(hidden)]
pub fn prefetch<T>(p: *const T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint, without effect on results, at any address.
        #[allow(unsafe_code)]
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(p.cast());
        }
    }
    #[cfg(target_arch = "aarch64")]
    {
        // SAFETY: as above.
        #[allow(unsafe_code)]
        unsafe {
            std::arch::asm!("prfm pldl1keep, [{p}]", p = in(reg) p, options(nostack, preserves_flags, readonly));
        }
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = p;
}
