//! NEON, which every aarch64 has: `dot`, `axpy` and `add`; the rest runs the portable kernels, whose plain loops the
//! compiler turns into NEON by itself, and shared rows go through their atomics.
#![allow(unsafe_code)]

use std::arch::aarch64::*;

pub(super) use super::portable::{
    add_product, add_product_to_row, add_row, add_to_row, copy_row, scale, scores, soft_threshold, soft_threshold_row,
    squares,
};

/// Numbers in a register.
const LANES: usize = 4;

pub(super) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let n = a.len().min(b.len());
    let whole = n - n % (4 * LANES);
    // SAFETY: aarch64 has NEON; `i + 16 <= n` numbers are there in both.
    let sum = unsafe {
        let mut parts = [vdupq_n_f32(0.0); 4];
        for i in (0..whole).step_by(4 * LANES) {
            for (k, part) in parts.iter_mut().enumerate() {
                let at = i + k * LANES;
                *part = vfmaq_f32(*part, vld1q_f32(a.as_ptr().add(at)), vld1q_f32(b.as_ptr().add(at)));
            }
        }
        vaddvq_f32(vaddq_f32(vaddq_f32(parts[0], parts[1]), vaddq_f32(parts[2], parts[3])))
    };
    sum + a[whole..n].iter().zip(&b[whole..n]).map(|(x, y)| x * y).sum::<f32>()
}

pub(super) fn axpy(c: f32, x: &[f32], y: &mut [f32]) {
    let n = x.len().min(y.len());
    let whole = n - n % LANES;
    // SAFETY: aarch64 has NEON; `i + 4 <= n` numbers are there in both.
    unsafe {
        let factor = vdupq_n_f32(c);
        for i in (0..whole).step_by(LANES) {
            let sum = vfmaq_f32(vld1q_f32(y.as_ptr().add(i)), factor, vld1q_f32(x.as_ptr().add(i)));
            vst1q_f32(y.as_mut_ptr().add(i), sum);
        }
    }
    for (y, x) in y[whole..].iter_mut().zip(&x[whole..]) {
        *y = c.mul_add(*x, *y);
    }
}

pub(super) fn add(x: &[f32], y: &mut [f32]) {
    axpy(1.0, x, y);
}
