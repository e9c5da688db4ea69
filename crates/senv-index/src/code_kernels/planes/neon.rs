//! NEON, which every aarch64 has.
#![allow(unsafe_code)]

use std::arch::aarch64::*;

use super::{LOW_BYTES, LOW_CODES, PLANE_ROWS, PlaneQuery, SHORT_STEPS, TABLE_BYTES, TOP_BYTES};

/// # Safety
/// The slices contain whole blocks, queries and products for `steps`.
#[target_feature(enable = "neon")]
pub(super) unsafe fn top(codes: &[u8], queries: &[&PlaneQuery], steps: usize, out: &mut [i32]) {
    let n = codes.len() / (steps * TOP_BYTES) * PLANE_ROWS;
    for (q, query) in queries.iter().enumerate() {
        for (b, block) in codes.chunks_exact(steps * TOP_BYTES).enumerate() {
            let out = &mut out[q * n + b * PLANE_ROWS..][..PLANE_ROWS];
            // SAFETY: the block, the query and the products have the lengths that are read and written.
            unsafe { block_of_top(block, query, steps, out) }
        }
    }
}

#[inline]
#[target_feature(enable = "neon")]
unsafe fn block_of_top(block: &[u8], query: &PlaneQuery, steps: usize, out: &mut [i32]) {
    // SAFETY: the caller guarantees it.
    unsafe {
        let half = vdupq_n_u8(15);
        let out = out.as_mut_ptr();
        (0..16).for_each(|i| vst1q_s32(out.add(4 * i), vdupq_n_s32(query.negative())));
        let mut start = 0;
        while start < steps {
            let end = steps.min(start + SHORT_STEPS);
            let mut sums = [vdupq_n_u16(0); 8];
            for step in start..end {
                let tables = query.tables().add(step * TABLE_BYTES);
                let (first, second) = (vld1q_u8(tables), vld1q_u8(tables.add(16)));
                for part in 0..4 {
                    let bytes = vld1q_u8(block.as_ptr().add(step * TOP_BYTES + part * 16));
                    let low = vqtbl1q_u8(first, vandq_u8(bytes, half));
                    let sum = vaddq_u8(low, vqtbl1q_u8(second, vshrq_n_u8::<4>(bytes)));
                    sums[2 * part] = vaddw_u8(sums[2 * part], vget_low_u8(sum));
                    sums[2 * part + 1] = vaddw_high_u8(sums[2 * part + 1], sum);
                }
            }
            for (i, sums) in sums.into_iter().enumerate() {
                let low = vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(sums)));
                let high = vreinterpretq_s32_u32(vmovl_high_u16(sums));
                for (at, sums) in [(8 * i, low), (8 * i + 4, high)] {
                    vst1q_s32(out.add(at), vaddq_s32(vld1q_s32(out.add(at)), sums));
                }
            }
            start = end;
        }
    }
}

/// # Safety
/// The rows exist.
#[target_feature(enable = "neon")]
pub(super) unsafe fn low(codes: &[u8], rows: &[u32], query: &PlaneQuery, steps: usize, out: &mut [i32]) {
    // SAFETY: each row has `steps` steps, and the query has the same number of values.
    unsafe {
        let (three, four) = (vdupq_n_u8(3), vdupq_n_u8(4));
        let bit = vreinterpretq_u8_u64(vdupq_n_u64(0x8040_2010_0804_0201));
        for (out, &row) in out.iter_mut().zip(rows) {
            let row = codes.as_ptr().add(row as usize * steps * LOW_BYTES);
            let mut sum = vdupq_n_s32(0);
            for step in 0..steps {
                let bytes = row.add(step * LOW_BYTES);
                let pairs = vld1q_u8(bytes);
                for part in 0..4 {
                    let shifted = vshlq_u8(pairs, vdupq_n_s8(-2 * part as i8));
                    let bits = bytes.add(16 + 2 * part);
                    let bits = vcombine_u8(vdup_n_u8(bits.read()), vdup_n_u8(bits.add(1).read()));
                    let third = vandq_u8(vtstq_u8(bits, bit), four);
                    let low = vreinterpretq_s8_u8(vorrq_u8(vandq_u8(shifted, three), third));
                    let values = vld1q_s8(query.values().as_ptr().add(step * LOW_CODES + 16 * part));
                    sum = vpadalq_s16(sum, vmull_s8(vget_low_s8(low), vget_low_s8(values)));
                    sum = vpadalq_s16(sum, vmull_high_s8(low, values));
                }
            }
            *out = vaddvq_s32(sum);
        }
    }
}
