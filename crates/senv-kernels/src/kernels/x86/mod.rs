//! AVX-512 and AVX2 with FMA.
//!
//! Only the inline assembly at the end of each part accesses shared memory; [`super::shared`] explains why.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

mod v256;
mod v512;

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

/// Unpacks the signed half bytes of 32 bytes, the lower half of each first, into four times sixteen bytes.
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

/// Four values of each register: `[a[0][i], a[1][i], a[2][i], a[3][i]]` in part `i / 4` of result `i mod 4`.
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
