//! AVX-512 with VNNI, and AVX2.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::{NIBBLE_ROWS, STEP_BYTES, STEP_CODES};

#[inline]
pub(super) fn has_vnni() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512vnni")
        && is_x86_feature_detected!("avx512bw")
}

#[inline]
pub(super) fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2")
}

/// The location of a call's products: pointers whose lengths the caller has checked.
#[derive(Clone, Copy)]
struct Shape {
    codes: *const u8,
    queries: *const i8,
    out: *mut i32,
    steps: usize,
    /// Rows of all blocks.
    n: usize,
}

impl Shape {
    fn new(codes: &[u8], queries: &[i8], steps: usize, out: &mut [i32]) -> (Self, usize, usize) {
        let (blocks, m) = (codes.len() / (steps * STEP_BYTES), queries.len() / (steps * STEP_CODES));
        let n = blocks * NIBBLE_ROWS;
        (Self { codes: codes.as_ptr(), queries: queries.as_ptr(), out: out.as_mut_ptr(), steps, n }, m, blocks)
    }

    /// The first byte of a block.
    #[inline(always)]
    fn block(self, block: usize) -> *const u8 {
        self.codes.wrapping_add(block * self.steps * STEP_BYTES)
    }

    /// The first value of a query.
    #[inline(always)]
    fn query(self, query: usize) -> *const i8 {
        self.queries.wrapping_add(query * self.steps * STEP_CODES)
    }

    /// The products of a query with a block.
    #[inline(always)]
    fn out(self, query: usize, block: usize) -> *mut i32 {
        self.out.wrapping_add(query * self.n + block * NIBBLE_ROWS)
    }
}

/// Calls a tile for all queries and blocks: many queries at a time, then the rest with another tile or singly. A single
/// query reads the blocks in memory order, which is faster than reading several places at the same time.
macro_rules! tiles {
    ($tile:ident, $one:ident, $shape:expr, $m:expr, $blocks:expr, $($q:literal),*) => {{
        let (shape, m, blocks) = ($shape, $m, $blocks);
        let mut query = 0;
        $(
            while query + $q <= m {
                for block in 0..blocks {
                    $tile::<$q>(shape, query, block);
                }
                query += $q;
            }
        )*
        while query < m {
            for block in 0..blocks {
                $one(shape, query, block);
            }
            query += 1;
        }
    }};
}

/// The prefetch distance for a single query, in bytes.
const AHEAD: usize = 4096;

/// # Safety
/// The processor has the features, and the slices contain whole blocks, queries and products for `steps`.
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
pub(super) unsafe fn vnni(codes: &[u8], queries: &[i8], steps: usize, out: &mut [i32]) {
    let (shape, m, blocks) = Shape::new(codes, queries, steps, out);
    // SAFETY: queries and blocks are below their counts.
    unsafe { tiles!(vnni_tile, vnni_one, shape, m, blocks, 8, 4) }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
unsafe fn vnni_tile<const Q: usize>(shape: Shape, query: usize, block: usize) {
    // SAFETY: the caller has checked that this block, these queries and their products exist.
    unsafe {
        let half = _mm512_set1_epi8(15);
        let mut sums = [_mm512_setzero_si512(); Q];
        for step in 0..shape.steps {
            let bytes = _mm512_loadu_si512(shape.block(block).add(step * STEP_BYTES).cast());
            let low = _mm512_and_si512(bytes, half);
            let high = _mm512_and_si512(_mm512_srli_epi16::<4>(bytes), half);
            for (q, sum) in sums.iter_mut().enumerate() {
                let values = shape.query(query + q).add(step * STEP_CODES).cast::<i32>();
                *sum = _mm512_dpbusd_epi32(*sum, low, _mm512_set1_epi32(values.read_unaligned()));
                *sum = _mm512_dpbusd_epi32(*sum, high, _mm512_set1_epi32(values.add(1).read_unaligned()));
            }
        }
        for (q, sum) in sums.into_iter().enumerate() {
            _mm512_storeu_si512(shape.out(query + q, block).cast(), sum);
        }
    }
}

/// Processes two steps at a time, in four independent sums.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
unsafe fn vnni_one(shape: Shape, query: usize, block: usize) {
    // SAFETY: the caller has checked that this block, this query and its products exist. The prefetch is a hint.
    unsafe {
        let half = _mm512_set1_epi8(15);
        let mut sums = [_mm512_setzero_si512(); 4];
        let mut add = |step: usize, k: usize| {
            let bytes = shape.block(block).add(step * STEP_BYTES);
            _mm_prefetch::<_MM_HINT_T0>(bytes.wrapping_add(AHEAD).cast());
            let bytes = _mm512_loadu_si512(bytes.cast());
            let low = _mm512_and_si512(bytes, half);
            let high = _mm512_and_si512(_mm512_srli_epi16::<4>(bytes), half);
            let values = shape.query(query).add(step * STEP_CODES).cast::<i32>();
            sums[k] = _mm512_dpbusd_epi32(sums[k], low, _mm512_set1_epi32(values.read_unaligned()));
            sums[k + 1] = _mm512_dpbusd_epi32(sums[k + 1], high, _mm512_set1_epi32(values.add(1).read_unaligned()));
        };
        for step in (0..shape.steps / 2 * 2).step_by(2) {
            add(step, 0);
            add(step + 1, 2);
        }
        if shape.steps % 2 == 1 {
            add(shape.steps - 1, 0);
        }
        let (first, second) = (_mm512_add_epi32(sums[0], sums[1]), _mm512_add_epi32(sums[2], sums[3]));
        _mm512_storeu_si512(shape.out(query, block).cast(), _mm512_add_epi32(first, second));
    }
}

/// # Safety
/// The processor has AVX2, and the slices contain whole blocks, queries and products for `steps`.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn avx2(codes: &[u8], queries: &[i8], steps: usize, out: &mut [i32]) {
    let (shape, m, blocks) = Shape::new(codes, queries, steps, out);
    // SAFETY: queries and blocks are below their counts.
    unsafe { tiles!(avx2_tile, avx2_one, shape, m, blocks, 4) }
}

/// Steps whose products fit in 16-bit sums: eight times 2 · 15 · 128.
const SHORT_STEPS: usize = 4;

#[inline]
#[target_feature(enable = "avx2")]
unsafe fn avx2_one(shape: Shape, query: usize, block: usize) {
    // SAFETY: the caller guarantees it.
    unsafe { avx2_tile::<1>(shape, query, block) }
}

#[inline]
#[target_feature(enable = "avx2")]
unsafe fn avx2_tile<const Q: usize>(shape: Shape, query: usize, block: usize) {
    // SAFETY: the caller has checked that this block, these queries and their products exist.
    unsafe {
        let (half, ones) = (_mm256_set1_epi8(15), _mm256_set1_epi16(1));
        let mut sums = [[_mm256_setzero_si256(); 2]; Q];
        let mut step = 0;
        while step < shape.steps {
            let end = shape.steps.min(step + SHORT_STEPS);
            let mut short = [[_mm256_setzero_si256(); 2]; Q];
            while step < end {
                for part in 0..2 {
                    let bytes = _mm256_loadu_si256(shape.block(block).add(step * STEP_BYTES + part * 32).cast());
                    let low = _mm256_and_si256(bytes, half);
                    let high = _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), half);
                    for (q, short) in short.iter_mut().enumerate() {
                        let values = shape.query(query + q).add(step * STEP_CODES).cast::<i32>();
                        let first = _mm256_set1_epi32(values.read_unaligned());
                        let second = _mm256_set1_epi32(values.add(1).read_unaligned());
                        short[part] = _mm256_add_epi16(short[part], _mm256_maddubs_epi16(low, first));
                        short[part] = _mm256_add_epi16(short[part], _mm256_maddubs_epi16(high, second));
                    }
                }
                step += 1;
            }
            for (sum, short) in sums.as_flattened_mut().iter_mut().zip(short.as_flattened()) {
                *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(*short, ones));
            }
        }
        for (q, sum) in sums.into_iter().enumerate() {
            let out = shape.out(query + q, block);
            _mm256_storeu_si256(out.cast(), sum[0]);
            _mm256_storeu_si256(out.add(8).cast(), sum[1]);
        }
    }
}
