//! AVX-512 and AVX2 with FMA.
//!
//! Shared memory is only touched by the inline assembly at the end of each part; see [`super::shared`] for why.
#![allow(unsafe_code)]

use std::arch::{asm, x86_64::*};

use super::vector::{Memory, Plain, Shared, Vector};

/// 16 values.
#[derive(Clone, Copy)]
pub(super) struct V512(__m512);

/// 8 values.
#[derive(Clone, Copy)]
pub(super) struct V256(__m256);

pub(super) mod avx512 {
    crate::kernels::entry_points!("avx512f,avx2,fma", super::V512);
}

pub(super) mod avx2 {
    crate::kernels::entry_points!("avx2,fma", super::V256);
}

/// The signed half bytes of 32 bytes, the lower half of each first, in four times sixteen bytes.
#[inline(always)]
unsafe fn int4_codes(x: &[u8; 32]) -> [__m128i; 4] {
    // SAFETY: the callers have AVX2; 32 bytes are read.
    unsafe {
        let bytes = _mm256_loadu_si256(x.as_ptr().cast());
        let (half, sign) = (_mm256_set1_epi8(0x0f), _mm256_set1_epi8(8));
        let low = _mm256_and_si256(bytes, half);
        let high = _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), half);
        let signed = |codes| _mm256_sub_epi8(_mm256_xor_si256(codes, sign), sign);
        // The pairs of bytes 0 to 7 and 16 to 23, and of the others.
        let (a, b) = (signed(_mm256_unpacklo_epi8(low, high)), signed(_mm256_unpackhi_epi8(low, high)));
        let (first, third) = (_mm256_castsi256_si128(a), _mm256_extracti128_si256::<1>(a));
        [first, _mm256_castsi256_si128(b), third, _mm256_extracti128_si256::<1>(b)]
    }
}

/// Four of each register: `[a[0][i], a[1][i], a[2][i], a[3][i]]` in part `i / 4` of result `i mod 4`.
macro_rules! quarters {
    ($name:ident, $vector:ty, $low:ident, $high:ident, $low2:ident, $high2:ident, $pairs:ident, $values:ident) => {
        #[inline(always)]
        unsafe fn $name(a: &[$vector]) -> [$vector; 4] {
            // SAFETY: the callers have the instructions.
            unsafe {
                let (low, low2) = ($pairs($low(a[0], a[1])), $pairs($low(a[2], a[3])));
                let (high, high2) = ($pairs($high(a[0], a[1])), $pairs($high(a[2], a[3])));
                let (first, second) = ($values($low2(low, low2)), $values($high2(low, low2)));
                [first, second, $values($low2(high, high2)), $values($high2(high, high2))]
            }
        }
    };
}
quarters!(
    quarters512,
    __m512,
    _mm512_unpacklo_ps,
    _mm512_unpackhi_ps,
    _mm512_unpacklo_pd,
    _mm512_unpackhi_pd,
    _mm512_castps_pd,
    _mm512_castpd_ps
);
quarters!(
    quarters256,
    __m256,
    _mm256_unpacklo_ps,
    _mm256_unpackhi_ps,
    _mm256_unpacklo_pd,
    _mm256_unpackhi_pd,
    _mm256_castps_pd,
    _mm256_castpd_ps
);

impl Vector for V512 {
    const LANES: usize = 16;
    const SCORE_BLOCK: (usize, usize) = (4, 4);
    const PRODUCT_BLOCK: (usize, usize) = (5, 4);
    #[cfg(feature = "train")]
    const PANEL_VECTORS: usize = 4;
    #[cfg(feature = "train")]
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

    /// Word `l` of the 64 bytes of a row has the codes of columns 8 l to 8 l + 7; the k-th of each is looked up in the sixteen
    /// products of the row by a permutation, which takes the lowest four bits of each word.
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
            // Lane l of sum k is column 8 l + k. In part q (four lanes) of `low[r]` and `high[r]` there are the columns of lane
            // 4 q + r, the first four and the last four.
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
        // SAFETY: the caller has AVX-512; what is stored goes into an array of that length.
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

/// The mask of the first `n < 16` lanes, for the last, partial vector of a loop; the other lanes are not accessed.
#[inline(always)]
fn mask16(n: usize) -> __mmask16 {
    ((1u32 << n) - 1) as __mmask16
}

impl Memory<V512> for Plain {
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

impl Memory<V512> for Shared {
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

impl Vector for V256 {
    const LANES: usize = 8;
    const SCORE_BLOCK: (usize, usize) = (3, 4);
    const PRODUCT_BLOCK: (usize, usize) = (4, 2);
    #[cfg(feature = "train")]
    const PANEL_VECTORS: usize = 2;
    #[cfg(feature = "train")]
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

    /// As that of [`V512`]; the k-th code of each word is converted.
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
        // SAFETY: the caller has AVX2 and FMA; what is stored goes into an array of that length.
        unsafe {
            let pairs = _mm256_hadd_ps(_mm256_hadd_ps(v[0].0, v[1].0), _mm256_hadd_ps(v[2].0, v[3].0));
            let sums = _mm_add_ps(_mm256_castps256_ps128(pairs), _mm256_extractf128_ps::<1>(pairs));
            let mut out = [0.0; 4];
            _mm_storeu_ps(out.as_mut_ptr(), sums);
            out
        }
    }
}

/// Eight times −1 and eight times 0: the eight from `8 - n` on are the mask of the first `n` lanes.
static FIRST_LANES: [i32; 16] = [-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0];

#[inline(always)]
unsafe fn mask8(n: usize) -> __m256i {
    // SAFETY: the caller has AVX2, and `n` is below 8: eight of the sixteen numbers are read.
    unsafe { _mm256_loadu_si256(FIRST_LANES.as_ptr().add(8 - n).cast()) }
}

impl Memory<V256> for Plain {
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

impl Memory<V256> for Shared {
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
