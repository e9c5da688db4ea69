//! AVX-512: 16 values.
#![allow(unsafe_code)]

use std::arch::{asm, x86_64::*};

use super::{
    super::vector::{Memory, PlainMemory, SharedMemory, Vector},
    V256, V512, int4_codes, quarters512,
};

impl Vector for V512 {
    const LANES: usize = 16;
    const SCORE_BLOCK: (usize, usize) = (4, 4);
    const PRODUCT_BLOCK: (usize, usize) = (5, 4);
    const PANEL_VECTORS: usize = 4;
    const PANEL_ROWS: [usize; 4] = [14, 14, 8, 6];

    #[inline(always)]
    unsafe fn splat(x: f32) -> Self {
        // SAFETY: the caller has AVX-512; no memory is accessed.
        unsafe { Self(_mm512_set1_ps(x)) }
    }

    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        // SAFETY: the caller has AVX-512; no memory is accessed.
        unsafe { Self(_mm512_add_ps(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn mul(self, other: Self) -> Self {
        // SAFETY: the caller has AVX-512; no memory is accessed.
        unsafe { Self(_mm512_mul_ps(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn mul_add(self, a: Self, b: Self) -> Self {
        // SAFETY: the caller has AVX-512; no memory is accessed.
        unsafe { Self(_mm512_fmadd_ps(self.0, a.0, b.0)) }
    }

    #[inline(always)]
    unsafe fn shrink(self, tau: Self) -> Self {
        // SAFETY: the caller has AVX-512; no memory is accessed.
        unsafe {
            let sign = _mm512_and_si512(_mm512_castps_si512(self.0), _mm512_set1_epi32(i32::MIN));
            let left = _mm512_sub_ps(_mm512_abs_ps(self.0), tau.0);
            let keep = _mm512_cmp_ps_mask::<_CMP_NLE_UQ>(left, _mm512_setzero_ps());
            Self(_mm512_castsi512_ps(_mm512_maskz_or_epi32(keep, _mm512_castps_si512(left), sign)))
        }
    }

    #[inline(always)]
    unsafe fn add_int4_block(c: f32, x: &[u8; 32], y: &mut [f32; 64]) {
        // SAFETY: the caller has AVX-512; all reads and writes are within the 64 values of `y`.
        unsafe {
            let c = _mm512_set1_ps(c);
            for (codes, y) in int4_codes(x).into_iter().zip(y.as_chunks_mut::<16>().0) {
                let product = _mm512_mul_ps(c, _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(codes)));
                _mm512_storeu_ps(y.as_mut_ptr(), _mm512_add_ps(_mm512_loadu_ps(y.as_ptr()), product));
            }
        }
    }

    const INT4_COLUMNS: usize = 128;

    /// Word `l` of the 64 bytes of a row contains the codes of columns 8 l to 8 l + 7. The k-th code of each word
    /// selects one of the sixteen products of the row by a permutation, which uses the lowest four bits of each word.
    #[inline(always)]
    unsafe fn sum_int4_block(codes: *const u8, stride: usize, scales: *const f32, ids: &[u32], out: &mut [f32]) {
        unsafe {
            let values = _mm512_setr_ps(0., 1., 2., 3., 4., 5., 6., 7., -8., -7., -6., -5., -4., -3., -2., -1.);
            let mut sums = [_mm512_setzero_ps(); 8];
            for &id in ids {
                let products = _mm512_mul_ps(_mm512_set1_ps(*scales.add(id as usize)), values);
                let words = _mm512_loadu_si512(codes.add(id as usize * stride).cast());
                let mut add = |k: usize, words| {
                    sums[k] = _mm512_add_ps(sums[k], _mm512_permutexvar_ps(words, products));
                };
                add(0, words);
                add(1, _mm512_srli_epi32::<4>(words));
                add(2, _mm512_srli_epi32::<8>(words));
                add(3, _mm512_srli_epi32::<12>(words));
                add(4, _mm512_srli_epi32::<16>(words));
                add(5, _mm512_srli_epi32::<20>(words));
                add(6, _mm512_srli_epi32::<24>(words));
                add(7, _mm512_srli_epi32::<28>(words));
            }
            // Lane l of sum k is column 8 l + k. Part q (four lanes) of `low[r]` and `high[r]` contains the columns of
            // lane 4 q + r: the first four and the last four.
            let (low, high) = (quarters512(&sums[..4]), quarters512(&sums[4..]));
            for r in [0, 2] {
                let (a, c) =
                    (_mm512_shuffle_f32x4::<0x44>(low[r], high[r]), _mm512_shuffle_f32x4::<0xee>(low[r], high[r]));
                let (low, high) = (low[r + 1], high[r + 1]);
                let (b, d) = (_mm512_shuffle_f32x4::<0x44>(low, high), _mm512_shuffle_f32x4::<0xee>(low, high));
                let parts = [
                    _mm512_shuffle_f32x4::<0x88>(a, b),
                    _mm512_shuffle_f32x4::<0xdd>(a, b),
                    _mm512_shuffle_f32x4::<0x88>(c, d),
                    _mm512_shuffle_f32x4::<0xdd>(c, d),
                ];
                for (q, part) in parts.into_iter().enumerate() {
                    _mm512_storeu_ps(out[8 * (4 * q + r)..][..16].as_mut_ptr(), part);
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn sum4(v: [Self; 4]) -> [f32; 4] {
        // SAFETY: the caller has AVX-512; values are stored into an array of that length.
        unsafe { V256::sum4([halve(v[0]), halve(v[1]), halve(v[2]), halve(v[3])]) }
    }
}

/// Lower half plus upper half.
#[inline(always)]
unsafe fn halve(v: V512) -> V256 {
    // SAFETY: the caller has AVX-512; no memory is accessed.
    unsafe {
        let upper = _mm512_extractf64x4_pd::<1>(_mm512_castps_pd(v.0));
        V256(_mm256_add_ps(_mm512_castps512_ps256(v.0), _mm256_castpd_ps(upper)))
    }
}

/// The mask of the first `n < 16` lanes, for the last, partial vector of a loop. The other lanes are not accessed.
#[inline(always)]
fn mask16(n: usize) -> __mmask16 {
    ((1u32 << n) - 1) as __mmask16
}

impl Memory<V512> for PlainMemory {
    #[inline(always)]
    unsafe fn load(p: *const f32) -> V512 {
        // SAFETY: the caller has AVX-512, and a whole vector can be read at `p`.
        unsafe { V512(_mm512_loadu_ps(p)) }
    }

    #[inline(always)]
    unsafe fn load_part(p: *const f32, n: usize) -> V512 {
        // SAFETY: the caller has AVX-512, and the first values at `p` can be read; no others are.
        unsafe { V512(_mm512_maskz_loadu_ps(mask16(n), p)) }
    }

    #[inline(always)]
    unsafe fn store(p: *mut f32, v: V512) {
        // SAFETY: the caller has AVX-512, and a whole vector can be written at `p`.
        unsafe { _mm512_storeu_ps(p, v.0) }
    }

    #[inline(always)]
    unsafe fn store_part(p: *mut f32, n: usize, v: V512) {
        // SAFETY: the caller has AVX-512, and the first values at `p` can be written; no others are.
        unsafe { _mm512_mask_storeu_ps(p, mask16(n), v.0) }
    }
}

impl Memory<V512> for SharedMemory {
    #[inline(always)]
    unsafe fn load(p: *const f32) -> V512 {
        // SAFETY: the caller has AVX-512, and a whole vector can be read at `p`.
        unsafe { V512(load_512(p)) }
    }

    #[inline(always)]
    unsafe fn load_part(p: *const f32, n: usize) -> V512 {
        // SAFETY: the caller has AVX-512, and the first values at `p` can be read; no others are.
        unsafe { V512(load_512_part(p, mask16(n))) }
    }

    #[inline(always)]
    unsafe fn store(p: *mut f32, v: V512) {
        // SAFETY: the caller has AVX-512, and a whole vector can be written at `p`.
        unsafe { store_512(p, v.0) }
    }

    #[inline(always)]
    unsafe fn store_part(p: *mut f32, n: usize, v: V512) {
        // SAFETY: the caller has AVX-512, and the first values at `p` can be written; no others are.
        unsafe { store_512_part(p, mask16(n), v.0) }
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn load_512(p: *const f32) -> __m512 {
    let v: __m512;
    // SAFETY: the caller has AVX-512, and a whole vector can be read at `p`.
    unsafe {
        asm!("vmovups {v}, [{p}]", v = out(zmm_reg) v, p = in(reg) p, options(nostack, preserves_flags, readonly))
    };
    v
}

#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn load_512_part(p: *const f32, mask: __mmask16) -> __m512 {
    let v: __m512;
    // SAFETY: the caller has AVX-512, and the first values at `p` can be read; no others are.
    unsafe {
        asm!("vmovups {v}{{{mask}}}{{z}}, [{p}]", v = out(zmm_reg) v, p = in(reg) p, mask = in(kreg) mask,
            options(nostack, preserves_flags, readonly));
    }
    v
}

#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn store_512(p: *mut f32, v: __m512) {
    // SAFETY: the caller has AVX-512, and a whole vector can be written at `p`.
    unsafe { asm!("vmovups [{p}], {v}", v = in(zmm_reg) v, p = in(reg) p, options(nostack, preserves_flags)) };
}

#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn store_512_part(p: *mut f32, mask: __mmask16, v: __m512) {
    // SAFETY: the caller has AVX-512, and the first values at `p` can be written; no others are.
    unsafe {
        asm!("vmovups [{p}]{{{mask}}}, {v}", v = in(zmm_reg) v, p = in(reg) p, mask = in(kreg) mask,
            options(nostack, preserves_flags));
    }
}
