//! NEON, which every aarch64 has.
#![allow(unsafe_code)]

use std::arch::aarch64::*;

use super::{NIBBLE_ROWS, STEP_BYTES, STEP_CODES};

/// Steps whose products fit in 16-bit sums: sixteen times 15 · 128.
const SHORT_STEPS: usize = 8;

/// # Safety
/// The slices contain whole blocks, queries and products for `steps`.
#[target_feature(enable = "neon")]
pub(super) unsafe fn neon(codes: &[u8], queries: &[i8], steps: usize, out: &mut [i32]) {
    let n = codes.len() / (steps * STEP_BYTES) * NIBBLE_ROWS;
    for (q, query) in queries.chunks_exact(steps * STEP_CODES).enumerate() {
        for (b, block) in codes.chunks_exact(steps * STEP_BYTES).enumerate() {
            let out = &mut out[q * n + b * NIBBLE_ROWS..][..NIBBLE_ROWS];
            // SAFETY: the block, the query and the products have the lengths that the loop reads and writes.
            unsafe { block_of_neon(block, query, steps, out) }
        }
    }
}

/// Four bytes of a row give four 16-bit products, kept in two neighboring 32-bit sums, which are added at the end.
#[inline]
#[target_feature(enable = "neon")]
unsafe fn block_of_neon(block: &[u8], query: &[i8], steps: usize, out: &mut [i32]) {
    // SAFETY: the caller guarantees it.
    unsafe {
        let half = vdupq_n_u8(15);
        let mut sums = [vdupq_n_s32(0); 8];
        let mut step = 0;
        while step < steps {
            let end = steps.min(step + SHORT_STEPS);
            let mut short = [vdupq_n_s16(0); 8];
            while step < end {
                let values = query.as_ptr().add(step * STEP_CODES).cast::<i32>();
                let first = vreinterpret_s8_s32(vdup_n_s32(values.read_unaligned()));
                let second = vreinterpret_s8_s32(vdup_n_s32(values.add(1).read_unaligned()));
                for part in 0..4 {
                    let bytes = vld1q_u8(block.as_ptr().add(step * STEP_BYTES + part * 16));
                    let low = vreinterpretq_s8_u8(vandq_u8(bytes, half));
                    let high = vreinterpretq_s8_u8(vshrq_n_u8::<4>(bytes));
                    let (a, b) = (2 * part, 2 * part + 1);
                    short[a] = vmlal_s8(short[a], vget_low_s8(low), first);
                    short[b] = vmlal_s8(short[b], vget_high_s8(low), first);
                    short[a] = vmlal_s8(short[a], vget_low_s8(high), second);
                    short[b] = vmlal_s8(short[b], vget_high_s8(high), second);
                }
                step += 1;
            }
            for (sum, short) in sums.iter_mut().zip(short) {
                *sum = vpadalq_s16(*sum, short);
            }
        }
        for part in 0..4 {
            vst1q_s32(out.as_mut_ptr().add(part * 4), vpaddq_s32(sums[2 * part], sums[2 * part + 1]));
        }
    }
}
