//! The kernels in plain Rust: for processors without a SIMD level, and the scalar reference for the others.
//!
//! Sums use [`LANES`] independent partial sums, so the compiler can use the vectors of the base instruction set. The
//! order of summation is the same everywhere.

use std::{
    ops::Range,
    sync::atomic::{AtomicU32, Ordering::Relaxed},
};

pub(super) use super::{
    compressed::{add_f16_row, add_f32_row, add_int4_row, add_int8_row},
    elementwise::{adam, add_signs, exp_in_place, sigmoid_in_place, tanh_in_place},
    int4_sum::portable as sum_int4_rows,
    skip_bigram::{mean_shares, skip_bigram_step, skip_bigrams},
};

/// Independent partial sums.
const LANES: usize = 16;

pub(super) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let (a_chunks, a_rest) = a.as_chunks::<LANES>();
    let (b_chunks, b_rest) = b.as_chunks::<LANES>();
    let mut parts = [0.0f32; LANES];
    for (x, y) in a_chunks.iter().zip(b_chunks) {
        for k in 0..LANES {
            parts[k] += x[k] * y[k];
        }
    }
    for (part, (x, y)) in parts.iter_mut().zip(a_rest.iter().zip(b_rest)) {
        *part += x * y;
    }
    let mut width = LANES / 2;
    while width > 0 {
        for k in 0..width {
            parts[k] += parts[k + width];
        }
        width /= 2;
    }
    parts[0]
}

pub(super) fn squares(u: &[f32], v: &[f32]) -> [f32; 3] {
    [dot(u, u), dot(v, v), dot(u, v)]
}

pub(super) fn axpy(c: f32, x: &[f32], y: &mut [f32]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += c * x;
    }
}

pub(super) fn add(x: &[f32], y: &mut [f32]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += x;
    }
}

pub(super) fn scale(c: f32, y: &mut [f32]) {
    for y in y {
        *y *= c;
    }
}

/// sign(x) max(|x| − tau, 0)
#[inline(always)]
fn shrink(x: f32, tau: f32) -> f32 {
    let left = x.abs() - tau;
    // NaN fails this comparison, so it stays NaN instead of becoming zero.
    if left <= 0.0 { 0.0 } else { left.copysign(x) }
}

pub(super) fn soft_threshold(tau: f32, y: &mut [f32]) {
    for y in y {
        *y = shrink(*y, tau);
    }
}

pub(super) fn scores(a: &[f32], m: usize, b: &[f32], n: usize, stride: usize, columns: Range<usize>, out: &mut [f32]) {
    for i in 0..m {
        for j in 0..n {
            out[i * n + j] = dot(&a[i * stride..][columns.clone()], &b[j * stride..][columns.clone()]);
        }
    }
}

pub(super) fn gram(a: &[f32], m: usize, stride: usize, columns: Range<usize>, out: &mut [f32]) {
    for i in 0..m {
        for j in 0..=i {
            out[i * m + j] = dot(&a[i * stride..][columns.clone()], &a[j * stride..][columns.clone()]);
        }
    }
}

pub(super) fn add_product(
    s: &[f32],
    (s_row, s_col): (usize, usize),
    m: usize,
    n: usize,
    b: &[f32],
    stride: usize,
    out: &mut [f32],
) {
    for i in 0..m {
        for j in 0..n {
            axpy(s[i * s_row + j * s_col], &b[j * stride..][..stride], &mut out[i * stride..][..stride]);
        }
    }
}

/// Rounds once per term, in the order of the SIMD levels: a bit-identical reference, slow on processors without a fused
/// multiply-add.
pub(super) fn add_panel_products(
    rows: &[f32],
    stride: usize,
    m: usize,
    panel: &[f32],
    width: usize,
    lanes: usize,
    sums: &mut [f32],
) {
    for (i, sums) in sums.chunks_exact_mut(width).take(m).enumerate() {
        for (x, lane) in rows[i * stride..].iter().zip(panel.chunks_exact(width)) {
            for (sum, y) in sums[..lanes].iter_mut().zip(lane) {
                *sum = x.mul_add(*y, *sum);
            }
        }
    }
}

#[inline(always)]
fn get(x: &AtomicU32) -> f32 {
    f32::from_bits(x.load(Relaxed))
}

#[inline(always)]
fn set(x: &AtomicU32, value: f32) {
    x.store(value.to_bits(), Relaxed);
}

pub(super) fn copy_row(row: &[AtomicU32], out: &mut [f32]) {
    for (out, x) in out.iter_mut().zip(row) {
        *out = get(x);
    }
}

pub(super) fn add_row(c: f32, row: &[AtomicU32], acc: &mut [f32]) {
    for (acc, x) in acc.iter_mut().zip(row) {
        *acc += c * get(x);
    }
}

pub(super) fn add_to_row(c: f32, x: &[f32], row: &[AtomicU32]) {
    for (y, x) in row.iter().zip(x) {
        set(y, get(y) + c * x);
    }
}

pub(super) fn add_product_to_row(s: &[f32], s_step: usize, n: usize, b: &[f32], row: &[AtomicU32]) {
    let stride = row.len();
    for (k, y) in row.iter().enumerate() {
        let mut sum = get(y);
        for j in 0..n {
            sum += s[j * s_step] * b[j * stride + k];
        }
        set(y, sum);
    }
}

pub(super) fn soft_threshold_row(tau: f32, row: &[AtomicU32]) {
    for y in row {
        set(y, shrink(get(y), tau));
    }
}

pub(super) fn sum_rows(values: &[f32], stride: usize, rows: &[u32], c: f32, out: &mut [f32]) {
    out.fill(0.0);
    for &row in rows {
        add(&values[row as usize * stride..][..out.len()], out);
    }
    scale(c, out);
}
