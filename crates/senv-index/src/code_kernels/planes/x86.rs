//! AVX-512 with byte instructions and VNNI, and AVX2.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::{LOW_BYTES, LOW_CODES, PLANE_ROWS, PlaneQuery, ROWS_AHEAD, SHORT_STEPS, TABLE_BYTES, TOP_BYTES};

#[inline]
pub(super) fn has_avx512() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vnni")
}

#[inline]
pub(super) fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2")
}

/// The location of a call's products: pointers whose lengths the caller has checked.
#[derive(Clone, Copy)]
struct Shape<'a> {
    codes: *const u8,
    queries: &'a [&'a PlaneQuery],
    out: *mut i32,
    steps: usize,
    /// Rows of all blocks.
    n: usize,
}

impl<'a> Shape<'a> {
    fn new(codes: &[u8], queries: &'a [&'a PlaneQuery], steps: usize, out: &mut [i32]) -> (Self, usize) {
        let blocks = codes.len() / (steps * TOP_BYTES);
        let n = blocks * PLANE_ROWS;
        (Self { codes: codes.as_ptr(), queries, out: out.as_mut_ptr(), steps, n }, blocks)
    }

    /// The first byte of a step of a block.
    #[inline(always)]
    fn step(self, block: usize, step: usize) -> *const u8 {
        self.codes.wrapping_add((block * self.steps + step) * TOP_BYTES)
    }

    /// The products of a query with a block.
    #[inline(always)]
    fn out(self, query: usize, block: usize) -> *mut i32 {
        self.out.wrapping_add(query * self.n + block * PLANE_ROWS)
    }
}

/// Calls a tile for all queries and blocks: `$q` queries with `$b` blocks, then the remaining blocks singly.
macro_rules! tiles {
    ($tile:ident, $shape:expr, $blocks:expr, $b:literal, $($q:literal),*) => {{
        const B: usize = $b;
        let (shape, blocks) = ($shape, $blocks);
        let mut query = 0;
        $({
            const Q: usize = $q;
            while query + Q <= shape.queries.len() {
                let mut block = 0;
                while block + B <= blocks {
                    $tile::<Q, B>(shape, query, block);
                    block += B;
                }
                while block < blocks {
                    $tile::<Q, 1>(shape, query, block);
                    block += 1;
                }
                query += Q;
            }
        })*
    }};
}

/// The prefetch distance for a single query, in bytes.
const AHEAD: usize = 4096;
/// The prefetch distance for the first of several queries, in bytes.
const FAR_AHEAD: usize = 16_384;

/// # Safety
/// The processor has the features, and the slices contain whole blocks, queries and products for `steps`.
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
pub(super) unsafe fn top_512(codes: &[u8], queries: &[&PlaneQuery], steps: usize, out: &mut [i32]) {
    let (shape, blocks) = Shape::new(codes, queries, steps, out);
    // SAFETY: queries and blocks are below their counts.
    unsafe { tiles!(tile_512, shape, blocks, 2, 4, 1) }
}

/// Each 16-bit value has the sums of two rows, one per byte. The sums of both bytes wrap around 16 bits in `both`;
/// those of the upper bytes do not in `upper`. Their difference gives the lower ones.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
unsafe fn tile_512<const Q: usize, const B: usize>(shape: Shape<'_>, query: usize, block: usize) {
    // SAFETY: the caller has checked that these blocks, these queries and their products exist. The prefetch is a hint.
    unsafe {
        let half = _mm512_set1_epi8(15);
        // Multiplying by this leaves the upper byte of each 16-bit value. A shift would wait for the shuffles.
        let take_upper = _mm512_set1_epi16(0x0100);
        // Alternates 128 bits from the first operand and the second.
        let order = |first: i64| {
            let q = [first, first + 1, first + 8, first + 9, first + 2, first + 3, first + 10, first + 11];
            _mm512_loadu_si512(q.as_ptr().cast())
        };
        let mut start = 0;
        while start < shape.steps {
            let end = shape.steps.min(start + SHORT_STEPS);
            let mut both = [[_mm512_setzero_si512(); B]; Q];
            let mut upper = [[_mm512_setzero_si512(); B]; Q];
            // Two steps at a time: four sums of at most 63 fit in a byte.
            let mut step = start;
            while step < end {
                let next = (step + 1).min(end - 1);
                let (mut low, mut high) = ([[half; 2]; B], [[half; 2]; B]);
                for b in 0..B {
                    for (i, step) in [step, next].into_iter().enumerate() {
                        let bytes = shape.step(block + b, step);
                        if Q == 1 {
                            _mm_prefetch::<_MM_HINT_T0>(bytes.wrapping_add(AHEAD).cast());
                        } else if query == 0 {
                            _mm_prefetch::<_MM_HINT_T1>(bytes.wrapping_add(FAR_AHEAD).cast());
                        }
                        let bytes = _mm512_loadu_si512(bytes.cast());
                        low[b][i] = _mm512_and_si512(bytes, half);
                        high[b][i] = _mm512_and_si512(_mm512_srli_epi16::<4>(bytes), half);
                    }
                }
                for q in 0..Q {
                    let tables = shape.queries.get_unchecked(query + q).tables().add(step * TABLE_BYTES);
                    let table = |i: usize| _mm512_broadcast_i32x4(_mm_loadu_si128(tables.add(i * 16).cast()));
                    let (first, second) = (table(0), table(1));
                    // The tables are padded with one step of zeros.
                    let (third, fourth) = (table(2), table(3));
                    for b in 0..B {
                        let one = _mm512_add_epi8(
                            _mm512_shuffle_epi8(first, low[b][0]),
                            _mm512_shuffle_epi8(second, high[b][0]),
                        );
                        let two = _mm512_add_epi8(
                            _mm512_shuffle_epi8(third, low[b][1]),
                            _mm512_shuffle_epi8(fourth, high[b][1]),
                        );
                        let sum = _mm512_add_epi8(one, two);
                        both[q][b] = _mm512_add_epi16(both[q][b], sum);
                        upper[q][b] = _mm512_add_epi16(upper[q][b], _mm512_maddubs_epi16(sum, take_upper));
                    }
                }
                step += 2;
            }
            for q in 0..Q {
                let negative = _mm512_set1_epi32(shape.queries.get_unchecked(query + q).negative());
                for b in 0..B {
                    let odd = upper[q][b];
                    let even = _mm512_sub_epi16(both[q][b], _mm512_slli_epi16::<8>(odd));
                    let (low, high) = (_mm512_unpacklo_epi16(even, odd), _mm512_unpackhi_epi16(even, odd));
                    let out = shape.out(query + q, block + b);
                    for half in 0..2 {
                        let rows = _mm512_permutex2var_epi64(low, order(4 * half), high);
                        let parts = [_mm512_castsi512_si256(rows), _mm512_extracti64x4_epi64::<1>(rows)];
                        for (part, rows) in parts.into_iter().enumerate() {
                            let out = out.add(half as usize * 32 + part * 16);
                            let before = if start == 0 { negative } else { _mm512_loadu_si512(out.cast()) };
                            _mm512_storeu_si512(out.cast(), _mm512_add_epi32(before, _mm512_cvtepu16_epi32(rows)));
                        }
                    }
                }
            }
            start = end;
        }
    }
}

/// # Safety
/// The processor has AVX2, and the slices contain whole blocks, queries and products for `steps`.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn top_256(codes: &[u8], queries: &[&PlaneQuery], steps: usize, out: &mut [i32]) {
    let (shape, blocks) = Shape::new(codes, queries, steps, out);
    // SAFETY: queries and blocks are below their counts.
    unsafe { tiles!(tile_256, shape, blocks, 1, 2, 1) }
}

/// Like [`tile_512`], in two halves of a block.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn tile_256<const Q: usize, const B: usize>(shape: Shape<'_>, query: usize, block: usize) {
    // SAFETY: the caller has checked that these blocks, these queries and their products exist.
    unsafe {
        let half = _mm256_set1_epi8(15);
        for part in 0..2 * B {
            let (block, at) = (block + part / 2, part % 2 * 32);
            let mut start = 0;
            while start < shape.steps {
                let end = shape.steps.min(start + SHORT_STEPS);
                let mut both = [_mm256_setzero_si256(); Q];
                let mut upper = [_mm256_setzero_si256(); Q];
                for step in start..end {
                    let bytes = _mm256_loadu_si256(shape.step(block, step).add(at).cast());
                    let low = _mm256_and_si256(bytes, half);
                    let high = _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), half);
                    for q in 0..Q {
                        let tables = shape.queries.get_unchecked(query + q).tables().add(step * TABLE_BYTES);
                        let first = _mm256_broadcastsi128_si256(_mm_loadu_si128(tables.cast()));
                        let second = _mm256_broadcastsi128_si256(_mm_loadu_si128(tables.add(16).cast()));
                        let sum = _mm256_add_epi8(_mm256_shuffle_epi8(first, low), _mm256_shuffle_epi8(second, high));
                        both[q] = _mm256_add_epi16(both[q], sum);
                        upper[q] = _mm256_add_epi16(upper[q], _mm256_srli_epi16::<8>(sum));
                    }
                }
                for q in 0..Q {
                    let negative = _mm256_set1_epi32(shape.queries.get_unchecked(query + q).negative());
                    let odd = upper[q];
                    let even = _mm256_sub_epi16(both[q], _mm256_slli_epi16::<8>(odd));
                    let (low, high) = (_mm256_unpacklo_epi16(even, odd), _mm256_unpackhi_epi16(even, odd));
                    let parts = [
                        _mm256_castsi256_si128(low),
                        _mm256_castsi256_si128(high),
                        _mm256_extracti128_si256::<1>(low),
                        _mm256_extracti128_si256::<1>(high),
                    ];
                    for (part, rows) in parts.into_iter().enumerate() {
                        let out = shape.out(query + q, block).add(at + part * 8);
                        let before = if start == 0 { negative } else { _mm256_loadu_si256(out.cast()) };
                        _mm256_storeu_si256(out.cast(), _mm256_add_epi32(before, _mm256_cvtepu16_epi32(rows)));
                    }
                }
                start = end;
            }
        }
    }
}

/// Prefetches the lower bits of a row.
#[inline(always)]
fn fetch(codes: &[u8], rows: &[u32], i: usize, row_bytes: usize) {
    if let Some(&row) = rows.get(i + ROWS_AHEAD) {
        let row = codes.as_ptr().wrapping_add(row as usize * row_bytes);
        for byte in (0..row_bytes.min(512)).step_by(64).chain(std::iter::once(row_bytes - 1)) {
            // SAFETY: a prefetch is a hint and valid for any address.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(row.wrapping_add(byte).cast()) }
        }
    }
}

/// # Safety
/// The processor has the features, and the rows exist.
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
pub(super) unsafe fn low_512(codes: &[u8], rows: &[u32], query: &PlaneQuery, steps: usize, out: &mut [i32]) {
    // SAFETY: each row has `steps` steps, and the query has the same number of values.
    unsafe {
        let shift = _mm512_set_epi32(6, 6, 6, 6, 4, 4, 4, 4, 2, 2, 2, 2, 0, 0, 0, 0);
        let (three, four) = (_mm512_set1_epi8(3), _mm512_set1_epi8(4));
        for (i, (out, &row)) in out.iter_mut().zip(rows).enumerate() {
            fetch(codes, rows, i, steps * LOW_BYTES);
            let row = codes.as_ptr().add(row as usize * steps * LOW_BYTES);
            let mut sum = _mm512_setzero_si512();
            for step in 0..steps {
                let bytes = row.add(step * LOW_BYTES);
                let pairs = _mm512_broadcast_i32x4(_mm_loadu_si128(bytes.cast()));
                let pairs = _mm512_and_si512(_mm512_srlv_epi32(pairs, shift), three);
                let bits = bytes.add(16).cast::<u64>().read_unaligned();
                let low = _mm512_mask_add_epi8(pairs, bits, pairs, four);
                let values = _mm512_loadu_si512(query.values().as_ptr().add(step * LOW_CODES).cast());
                sum = _mm512_dpbusd_epi32(sum, low, values);
            }
            *out = _mm512_reduce_add_epi32(sum);
        }
    }
}

/// # Safety
/// The processor has AVX2, and the rows exist.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn low_256(codes: &[u8], rows: &[u32], query: &PlaneQuery, steps: usize, out: &mut [i32]) {
    // SAFETY: each row has `steps` steps, and the query has the same number of values.
    unsafe {
        let shifts = [_mm256_set_epi32(2, 2, 2, 2, 0, 0, 0, 0), _mm256_set_epi32(6, 6, 6, 6, 4, 4, 4, 4)];
        let (three, four, ones) = (_mm256_set1_epi8(3), _mm256_set1_epi8(4), _mm256_set1_epi16(1));
        // Byte j of 32 gets byte j / 8 of four, where bit j % 8 is tested.
        let spread = _mm256_set_epi64x(0x0303_0303_0303_0303, 0x0202_0202_0202_0202, 0x0101_0101_0101_0101, 0);
        let bit = _mm256_set1_epi64x(0x8040_2010_0804_0201_u64 as i64);
        for (i, (out, &row)) in out.iter_mut().zip(rows).enumerate() {
            fetch(codes, rows, i, steps * LOW_BYTES);
            let row = codes.as_ptr().add(row as usize * steps * LOW_BYTES);
            let mut sum = _mm256_setzero_si256();
            for step in 0..steps {
                let bytes = row.add(step * LOW_BYTES);
                let both = _mm256_broadcastsi128_si256(_mm_loadu_si128(bytes.cast()));
                for (half, shift) in shifts.into_iter().enumerate() {
                    let pairs = _mm256_and_si256(_mm256_srlv_epi32(both, shift), three);
                    let bits = bytes.add(16 + 4 * half).cast::<i32>().read_unaligned();
                    let bits = _mm256_and_si256(_mm256_shuffle_epi8(_mm256_set1_epi32(bits), spread), bit);
                    let low = _mm256_or_si256(pairs, _mm256_and_si256(_mm256_cmpeq_epi8(bits, bit), four));
                    let values = query.values().as_ptr().add(step * LOW_CODES + 32 * half);
                    let products = _mm256_maddubs_epi16(low, _mm256_loadu_si256(values.cast()));
                    sum = _mm256_add_epi32(sum, _mm256_madd_epi16(products, ones));
                }
            }
            let mut parts = [0; 8];
            _mm256_storeu_si256(parts.as_mut_ptr().cast(), sum);
            *out = parts.iter().sum();
        }
    }
}

/// # Safety
/// The processor has AVX-512 F, the numbers of scales and sums are equal, and there is a mask per 64.
#[target_feature(enable = "avx512f")]
pub(super) unsafe fn masks_512(sums: &[i32], offset: i32, scales: &[u16], floor: f32, masks: &mut [u64]) {
    // SAFETY: 64 sums and scales are read for each mask.
    unsafe {
        let (offset, floor) = (_mm512_set1_epi32(offset), _mm512_set1_ps(floor));
        for (b, mask) in masks.iter_mut().enumerate() {
            *mask = 0;
            for part in 0..4 {
                let at = b * PLANE_ROWS + part * 16;
                let sum = _mm512_loadu_si512(sums.as_ptr().add(at).cast());
                let scale = _mm512_cvtepu16_epi32(_mm256_loadu_si256(scales.as_ptr().add(at).cast()));
                let scale = _mm512_castsi512_ps(_mm512_slli_epi32::<16>(scale));
                let value = _mm512_cvtepi32_ps(_mm512_sub_epi32(_mm512_slli_epi32::<1>(sum), offset));
                let reached = _mm512_cmp_ps_mask::<_CMP_GE_OQ>(_mm512_mul_ps(value, scale), floor);
                *mask |= u64::from(reached) << (part * 16);
            }
        }
    }
}

/// # Safety
/// The processor has AVX2, the numbers of scales and sums are equal, and there is a mask per 64.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn masks_256(sums: &[i32], offset: i32, scales: &[u16], floor: f32, masks: &mut [u64]) {
    // SAFETY: 64 sums and scales are read for each mask.
    unsafe {
        let (offset, floor) = (_mm256_set1_epi32(offset), _mm256_set1_ps(floor));
        for (b, mask) in masks.iter_mut().enumerate() {
            *mask = 0;
            for part in 0..8 {
                let at = b * PLANE_ROWS + part * 8;
                let sum = _mm256_loadu_si256(sums.as_ptr().add(at).cast());
                let scale = _mm256_cvtepu16_epi32(_mm_loadu_si128(scales.as_ptr().add(at).cast()));
                let scale = _mm256_castsi256_ps(_mm256_slli_epi32::<16>(scale));
                let value = _mm256_cvtepi32_ps(_mm256_sub_epi32(_mm256_slli_epi32::<1>(sum), offset));
                let reached = _mm256_cmp_ps::<_CMP_GE_OQ>(_mm256_mul_ps(value, scale), floor);
                *mask |= (_mm256_movemask_ps(reached) as u64) << (part * 8);
            }
        }
    }
}
