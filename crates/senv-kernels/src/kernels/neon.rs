//! NEON, which every aarch64 processor has.
//!
//! Only the inline assembly and the atomics below access shared memory; [`super::shared`] explains why.
#![allow(unsafe_code)]

use std::{
    arch::{aarch64::*, asm},
    sync::atomic::{AtomicU32, Ordering::Relaxed},
};

use super::vector::{Memory, PlainMemory, SharedMemory, Vector};

pub(super) mod level {
    crate::kernels::entry_points!("neon", super::V128);
}

/// 4 values.
#[derive(Clone, Copy)]
pub(super) struct V128(float32x4_t);

impl Vector for V128 {
    const LANES: usize = 4;
    const SCORE_BLOCK: (usize, usize) = (4, 4);
    const PRODUCT_BLOCK: (usize, usize) = (4, 4);
    const PANEL_VECTORS: usize = 2;
    const PANEL_ROWS: [usize; 4] = [12, 12, 8, 6];

    #[inline(always)]
    unsafe fn splat(x: f32) -> Self {
        // SAFETY: the caller has NEON; no memory is accessed.
        unsafe { Self(vdupq_n_f32(x)) }
    }

    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        // SAFETY: the caller has NEON; no memory is accessed.
        unsafe { Self(vaddq_f32(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn mul(self, other: Self) -> Self {
        // SAFETY: the caller has NEON; no memory is accessed.
        unsafe { Self(vmulq_f32(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn mul_add(self, a: Self, b: Self) -> Self {
        // SAFETY: the caller has NEON; no memory is accessed.
        unsafe { Self(vfmaq_f32(b.0, self.0, a.0)) }
    }

    #[inline(always)]
    unsafe fn shrink(self, tau: Self) -> Self {
        // SAFETY: the caller has NEON; no memory is accessed.
        unsafe {
            let sign = vandq_u32(vreinterpretq_u32_f32(self.0), vdupq_n_u32(1 << 31));
            let left = vsubq_f32(vabsq_f32(self.0), tau.0);
            let drop = vcleq_f32(left, vdupq_n_f32(0.0));
            Self(vreinterpretq_f32_u32(vbicq_u32(vorrq_u32(vreinterpretq_u32_f32(left), sign), drop)))
        }
    }

    #[inline(always)]
    unsafe fn sum4(v: [Self; 4]) -> [f32; 4] {
        // SAFETY: the caller has NEON; values are stored into an array of that length.
        unsafe {
            let sums = vpaddq_f32(vpaddq_f32(v[0].0, v[1].0), vpaddq_f32(v[2].0, v[3].0));
            let mut out = [0.0; 4];
            vst1q_f32(out.as_mut_ptr(), sums);
            out
        }
    }
}

impl Memory<V128> for PlainMemory {
    #[inline(always)]
    unsafe fn load(p: *const f32) -> V128 {
        // SAFETY: the caller has NEON, and a whole vector can be read at `p`.
        unsafe { V128(vld1q_f32(p)) }
    }

    #[inline(always)]
    unsafe fn load_part(p: *const f32, n: usize) -> V128 {
        let mut lanes = [0.0; 4];
        // SAFETY: the caller has NEON, and the first values at `p` can be read; no others are.
        unsafe {
            for (k, x) in lanes.iter_mut().enumerate().take(n) {
                *x = *p.add(k);
            }
            V128(vld1q_f32(lanes.as_ptr()))
        }
    }

    #[inline(always)]
    unsafe fn store(p: *mut f32, v: V128) {
        // SAFETY: the caller has NEON, and a whole vector can be written at `p`.
        unsafe { vst1q_f32(p, v.0) }
    }

    #[inline(always)]
    unsafe fn store_part(p: *mut f32, n: usize, v: V128) {
        let mut lanes = [0.0; 4];
        // SAFETY: the caller has NEON, and the first values at `p` can be written; no others are.
        unsafe {
            vst1q_f32(lanes.as_mut_ptr(), v.0);
            for (k, &x) in lanes.iter().enumerate().take(n) {
                *p.add(k) = x;
            }
        }
    }
}

/// The value at `p` for atomic access.
#[inline(always)]
unsafe fn atomic<'a>(p: *const f32) -> &'a AtomicU32 {
    // SAFETY: `p` points to an aligned value of a table that is accessed only through atomics meanwhile.
    unsafe { AtomicU32::from_ptr(p.cast_mut().cast()) }
}

impl Memory<V128> for SharedMemory {
    #[inline(always)]
    unsafe fn load(p: *const f32) -> V128 {
        let v: float32x4_t;
        // SAFETY: the caller has NEON, and a whole vector can be read at `p`.
        unsafe {
            asm!("ldr {v:q}, [{p}]", v = out(vreg) v, p = in(reg) p, options(nostack, preserves_flags, readonly));
        }
        V128(v)
    }

    #[inline(always)]
    unsafe fn load_part(p: *const f32, n: usize) -> V128 {
        let mut lanes = [0.0; 4];
        // SAFETY: the caller has NEON, and the first values at `p` can be read; no others are.
        unsafe {
            for (k, x) in lanes.iter_mut().enumerate().take(n) {
                *x = f32::from_bits(atomic(p.add(k)).load(Relaxed));
            }
            V128(vld1q_f32(lanes.as_ptr()))
        }
    }

    #[inline(always)]
    unsafe fn store(p: *mut f32, v: V128) {
        // SAFETY: the caller has NEON, and a whole vector can be written at `p`.
        unsafe { asm!("str {v:q}, [{p}]", v = in(vreg) v.0, p = in(reg) p, options(nostack, preserves_flags)) };
    }

    #[inline(always)]
    unsafe fn store_part(p: *mut f32, n: usize, v: V128) {
        let mut lanes = [0.0; 4];
        // SAFETY: the caller has NEON, and the first values at `p` can be written; no others are.
        unsafe {
            vst1q_f32(lanes.as_mut_ptr(), v.0);
            for (k, x) in lanes.iter().enumerate().take(n) {
                atomic(p.add(k)).store(x.to_bits(), Relaxed);
            }
        }
    }
}
