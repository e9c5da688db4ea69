//! AVX2 with FMA: 8 values.
#![allow(unsafe_code)]

use std::arch::{asm, x86_64::*};

use super::{
    super::vector::{Memory, PlainMemory, SharedMemory, Vector},
    V256, int4_codes, quarters256,
};

impl Vector for V256 {
    const LANES: usize = 8;
    const SCORE_BLOCK: (usize, usize) = (3, 4);
    const PRODUCT_BLOCK: (usize, usize) = (4, 2);
    const PANEL_VECTORS: usize = 2;
    const PANEL_ROWS: [usize; 4] = [6, 6, 4, 3];

    #[inline(always)]
    unsafe fn splat(x: f32) -> Self {
        // SAFETY: the caller has AVX2 and FMA; no memory is accessed.
        unsafe { Self(_mm256_set1_ps(x)) }
    }

    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        // SAFETY: the caller has AVX2 and FMA; no memory is accessed.
        unsafe { Self(_mm256_add_ps(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn mul(self, other: Self) -> Self {
        // SAFETY: the caller has AVX2 and FMA; no memory is accessed.
        unsafe { Self(_mm256_mul_ps(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn mul_add(self, a: Self, b: Self) -> Self {
        // SAFETY: the caller has AVX2 and FMA; no memory is accessed.
        unsafe { Self(_mm256_fmadd_ps(self.0, a.0, b.0)) }
    }

    #[inline(always)]
    unsafe fn shrink(self, tau: Self) -> Self {
        // SAFETY: the caller has AVX2 and FMA; no memory is accessed.
        unsafe {
            let minus = _mm256_set1_ps(-0.0);
            let left = _mm256_sub_ps(_mm256_andnot_ps(minus, self.0), tau.0);
            let keep = _mm256_cmp_ps::<_CMP_NLE_UQ>(left, _mm256_setzero_ps());
            Self(_mm256_and_ps(keep, _mm256_or_ps(left, _mm256_and_ps(minus, self.0))))
        }
    }

    #[inline(always)]
    unsafe fn add_int4_block(c: f32, x: &[u8; 32], y: &mut [f32; 64]) {
        // SAFETY: the caller has AVX2 and FMA; all reads and writes are within the 64 values of `y`.
        unsafe {
            let c = _mm256_set1_ps(c);
            let halves = int4_codes(x).into_iter().flat_map(|codes| [codes, _mm_srli_si128::<8>(codes)]);
            for (codes, y) in halves.zip(y.as_chunks_mut::<8>().0) {
                let product = _mm256_mul_ps(c, _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(codes)));
                _mm256_storeu_ps(y.as_mut_ptr(), _mm256_add_ps(_mm256_loadu_ps(y.as_ptr()), product));
            }
        }
    }

    const INT4_COLUMNS: usize = 64;

    /// Like that of [`V512`], but converts the k-th code of each word.
    #[inline(always)]
    unsafe fn sum_int4_block(codes: *const u8, stride: usize, scales: *const f32, ids: &[u32], out: &mut [f32]) {
        unsafe {
            let mut sums = [_mm256_setzero_ps(); 8];
            for &id in ids {
                let scale = _mm256_set1_ps(*scales.add(id as usize));
                let words = _mm256_loadu_si256(codes.add(id as usize * stride).cast());
                let mut add = |k: usize, words| {
                    let code = _mm256_srai_epi32::<28>(words);
                    sums[k] = _mm256_add_ps(sums[k], _mm256_mul_ps(scale, _mm256_cvtepi32_ps(code)));
                };
                add(0, _mm256_slli_epi32::<28>(words));
                add(1, _mm256_slli_epi32::<24>(words));
                add(2, _mm256_slli_epi32::<20>(words));
                add(3, _mm256_slli_epi32::<16>(words));
                add(4, _mm256_slli_epi32::<12>(words));
                add(5, _mm256_slli_epi32::<8>(words));
                add(6, _mm256_slli_epi32::<4>(words));
                add(7, words);
            }
            let (low, high) = (quarters256(&sums[..4]), quarters256(&sums[4..]));
            for r in 0..4 {
                _mm256_storeu_ps(out[8 * r..][..8].as_mut_ptr(), _mm256_permute2f128_ps::<0x20>(low[r], high[r]));
                _mm256_storeu_ps(out[8 * (r + 4)..][..8].as_mut_ptr(), _mm256_permute2f128_ps::<0x31>(low[r], high[r]));
            }
        }
    }

    #[inline(always)]
    unsafe fn sum4(v: [Self; 4]) -> [f32; 4] {
        // SAFETY: the caller has AVX2 and FMA; values are stored into an array of that length.
        unsafe {
            let pairs = _mm256_hadd_ps(_mm256_hadd_ps(v[0].0, v[1].0), _mm256_hadd_ps(v[2].0, v[3].0));
            let sums = _mm_add_ps(_mm256_castps256_ps128(pairs), _mm256_extractf128_ps::<1>(pairs));
            let mut out = [0.0; 4];
            _mm_storeu_ps(out.as_mut_ptr(), sums);
            out
        }
    }
}

/// Eight times −1, then eight times 0: eight values starting at `8 - n` are the mask of the first `n` lanes.
static FIRST_LANES: [i32; 16] = [-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0];

#[inline(always)]
unsafe fn mask8(n: usize) -> __m256i {
    // SAFETY: the caller has AVX2, and `n` is below 8: eight of the sixteen numbers are read.
    unsafe { _mm256_loadu_si256(FIRST_LANES.as_ptr().add(8 - n).cast()) }
}

impl Memory<V256> for PlainMemory {
    #[inline(always)]
    unsafe fn load(p: *const f32) -> V256 {
        // SAFETY: the caller has AVX2 and FMA, and a whole vector can be read at `p`.
        unsafe { V256(_mm256_loadu_ps(p)) }
    }

    #[inline(always)]
    unsafe fn load_part(p: *const f32, n: usize) -> V256 {
        // SAFETY: the caller has AVX2 and FMA, and the first values at `p` can be read; no others are.
        unsafe { V256(_mm256_maskload_ps(p, mask8(n))) }
    }

    #[inline(always)]
    unsafe fn store(p: *mut f32, v: V256) {
        // SAFETY: the caller has AVX2 and FMA, and a whole vector can be written at `p`.
        unsafe { _mm256_storeu_ps(p, v.0) }
    }

    #[inline(always)]
    unsafe fn store_part(p: *mut f32, n: usize, v: V256) {
        // One by one: the masked store of AVX takes tens of cycles on many processors.
        let mut lanes = [0.0; 8];
        // SAFETY: the caller has AVX2 and FMA, and the first values at `p` can be written; no others are.
        unsafe {
            _mm256_storeu_ps(lanes.as_mut_ptr(), v.0);
            for (k, &x) in lanes.iter().enumerate().take(n) {
                *p.add(k) = x;
            }
        }
    }
}

impl Memory<V256> for SharedMemory {
    #[inline(always)]
    unsafe fn load(p: *const f32) -> V256 {
        // SAFETY: the caller has AVX2 and FMA, and a whole vector can be read at `p`.
        unsafe { V256(load_256(p)) }
    }

    #[inline(always)]
    unsafe fn load_part(p: *const f32, n: usize) -> V256 {
        // SAFETY: the caller has AVX2 and FMA, and the first values at `p` can be read; no others are.
        unsafe { V256(load_256_part(p, mask8(n))) }
    }

    #[inline(always)]
    unsafe fn store(p: *mut f32, v: V256) {
        // SAFETY: the caller has AVX2 and FMA, and a whole vector can be written at `p`.
        unsafe { store_256(p, v.0) }
    }

    #[inline(always)]
    unsafe fn store_part(p: *mut f32, n: usize, v: V256) {
        // SAFETY: the caller has AVX2 and FMA, and the first values at `p` can be written; no others are.
        unsafe { store_256_part(p, mask8(n), v.0) }
    }
}

#[inline]
#[target_feature(enable = "avx")]
unsafe fn load_256(p: *const f32) -> __m256 {
    let v: __m256;
    // SAFETY: the caller has AVX2 and FMA, and a whole vector can be read at `p`.
    unsafe {
        asm!("vmovups {v}, [{p}]", v = out(ymm_reg) v, p = in(reg) p, options(nostack, preserves_flags, readonly))
    };
    v
}

#[inline]
#[target_feature(enable = "avx")]
unsafe fn load_256_part(p: *const f32, mask: __m256i) -> __m256 {
    let v: __m256;
    // SAFETY: the caller has AVX2 and FMA, and the first values at `p` can be read; no others are.
    unsafe {
        asm!("vmaskmovps {v}, {mask}, [{p}]", v = out(ymm_reg) v, p = in(reg) p, mask = in(ymm_reg) mask,
            options(nostack, preserves_flags, readonly));
    }
    v
}

#[inline]
#[target_feature(enable = "avx")]
unsafe fn store_256(p: *mut f32, v: __m256) {
    // SAFETY: the caller has AVX2 and FMA, and a whole vector can be written at `p`.
    unsafe { asm!("vmovups [{p}], {v}", v = in(ymm_reg) v, p = in(reg) p, options(nostack, preserves_flags)) };
}

#[inline]
#[target_feature(enable = "avx")]
unsafe fn store_256_part(p: *mut f32, mask: __m256i, v: __m256) {
    // SAFETY: the caller has AVX2 and FMA, and the first values at `p` can be written; no others are.
    unsafe {
        asm!("vmaskmovps [{p}], {mask}, {v}", v = in(ymm_reg) v, p = in(reg) p, mask = in(ymm_reg) mask,
            options(nostack, preserves_flags));
    }
}
