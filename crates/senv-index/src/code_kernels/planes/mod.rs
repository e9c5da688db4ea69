//! Four-bit codes in two planes. Top bits are stored for 64 rows at a time, to compare all rows with a query. The three
//! lower bits are stored row by row, to compare some of them.
//!
//! Sums of integers are exact, so every level gives the same ones.
//!
//! A block of top bits covers 64 rows, with one lane each. It consists of a 64-byte step per eight codes. Byte `l`
//! belongs to lane `l`, and its bit `i` is the top bit of code `8 s + i` in step `s`. Each half of a byte indexes a
//! table of sixteen sums. The query has one table per four codes.
//!
//! The lower bits of a row are stored in steps of 24 bytes for 64 codes. Byte `i` of the first sixteen has the two
//! lowest bits of the codes `i`, `16 + i`, `32 + i` and `48 + i` of the step, lowest bits first. Bit `j` of the last 64
//! is the third bit of code `j`. Zeros follow the last code in both planes.

mod masks;
#[cfg(target_arch = "aarch64")]
mod neon;
mod query;
#[cfg(test)]
mod tests;
#[cfg(target_arch = "x86_64")]
mod x86;

pub(crate) use masks::{plane_estimate, plane_masks};
pub(crate) use query::PlaneQuery;

/// Rows in a block of top bits.
pub(crate) const PLANE_ROWS: usize = 64;
/// Codes in a step of top bits.
const TOP_CODES: usize = 8;
/// Bytes in a step of top bits.
const TOP_BYTES: usize = PLANE_ROWS;
/// Codes in a step of lower bits.
const LOW_CODES: usize = 64;
/// Bytes in a step of lower bits.
const LOW_BYTES: usize = LOW_CODES * 3 / 8;
/// Bytes of a query's tables for a step of top bits: sixteen sums of the first four codes, then sixteen of the others.
const TABLE_BYTES: usize = 32;
/// Steps of top bits whose sums, 126 each, fit in 16 bits; an even number.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
const SHORT_STEPS: usize = 512;
/// The prefetch distance for lower bits, in rows.
#[cfg(target_arch = "x86_64")]
const ROWS_AHEAD: usize = 8;

/// Bytes for the top bits of 64 rows of `dim` codes; `None` on overflow.
#[must_use]
pub(crate) const fn top_block_bytes(dim: usize) -> Option<usize> {
    dim.div_ceil(TOP_CODES).checked_mul(TOP_BYTES)
}

/// Bytes for the lower bits of a row of `dim` codes; `None` on overflow.
#[must_use]
pub(crate) const fn low_row_bytes(dim: usize) -> Option<usize> {
    dim.div_ceil(LOW_CODES).checked_mul(LOW_BYTES)
}

/// Gathers one bit from each of up to eight bytes, the first into the lowest bit.
#[inline(always)]
fn gather_bits(codes: &[u8], bit: u32) -> u8 {
    let mut bytes = [0; 8];
    bytes[..codes.len()].copy_from_slice(codes);
    let bits = u64::from_le_bytes(bytes) >> bit & 0x0101_0101_0101_0101;
    // Bit 8 i moves to 56 + i; no other product reaches that position.
    (bits.wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8
}

/// Writes the top bits of a row's codes, each from 0 to 15: one byte per eight codes, in the layout of a block's lane.
///
/// # Panics
/// If `row` does not have the length that the codes need.
pub(crate) fn pack_top(codes: &[u8], row: &mut [u8]) {
    super::check_len(row.len(), codes.len().div_ceil(TOP_CODES));
    for (byte, codes) in row.iter_mut().zip(codes.chunks(TOP_CODES)) {
        *byte = gather_bits(codes, 3);
    }
}

/// Copies the top bits of a row into lane `lane` of a block.
///
/// # Panics
/// If the lane does not exist, or the block's length does not match the row.
pub(crate) fn place_top(row: &[u8], lane: usize, block: &mut [u8]) {
    assert!(lane < PLANE_ROWS, "lane {lane}");
    super::check_len(block.len(), row.len() * TOP_BYTES);
    for (step, &byte) in block.as_chunks_mut::<TOP_BYTES>().0.iter_mut().zip(row) {
        step[lane] = byte;
    }
}

/// Writes the lower bits of a row's codes.
///
/// # Panics
/// If `row` does not have the length that the codes need.
pub(crate) fn pack_low(codes: &[u8], row: &mut [u8]) {
    super::check_len(row.len(), codes.len().div_ceil(LOW_CODES) * LOW_BYTES);
    for (step, codes) in row.as_chunks_mut::<LOW_BYTES>().0.iter_mut().zip(codes.chunks(LOW_CODES)) {
        let mut whole = [0; LOW_CODES];
        whole[..codes.len()].copy_from_slice(codes);
        let (pairs, bits) = step.split_at_mut(16);
        for (i, byte) in pairs.iter_mut().enumerate() {
            let pair = |k: usize| (whole[16 * k + i] & 3) << (2 * k);
            *byte = pair(0) | pair(1) | pair(2) | pair(3);
        }
        for (byte, codes) in bits.iter_mut().zip(whole.as_chunks::<8>().0) {
            *byte = gather_bits(codes, 2);
        }
    }
}

/// The product of every query with the top bits of every row: `out[q n + r] = Σ_i queries[q][i] top[r][i]`, with n the
/// total number of rows and top bits of 0 or 1.
///
/// | name | meaning | shape |
/// | --- | --- | --- |
/// | `codes` | blocks of the top bits of 64 rows | whole blocks of [`top_block_bytes`] |
/// | `queries` | each of the same dimension | |
/// | `out` | products, overwritten | queries × rows |
///
/// Exact: every processor gives the same integers. The products with whole codes are eight times these plus those of
/// [`low_scores`].
///
/// # Panics
/// If a slice's length does not match its shape, or queries differ in dimension.
pub(crate) fn top_scores(codes: &[u8], queries: &[&PlaneQuery], out: &mut [i32]) {
    let Some(first) = queries.first() else { return super::check_len(out.len(), 0) };
    assert!(queries.iter().all(|query| query.dim() == first.dim()), "queries of different dimensions");
    let steps = first.dim().div_ceil(TOP_CODES);
    let block = steps * TOP_BYTES;
    assert!(codes.len().is_multiple_of(block), "{} bytes of top bits are not whole blocks of {block}", codes.len());
    super::check_len(out.len(), codes.len() / block * PLANE_ROWS * queries.len());
    #[cfg(target_arch = "x86_64")]
    if x86::has_avx512() {
        // SAFETY: the processor has the instructions, and the lengths were checked.
        #[allow(unsafe_code)]
        return unsafe { x86::top_512(codes, queries, steps, out) };
    } else if x86::has_avx2() {
        // SAFETY: as above.
        #[allow(unsafe_code)]
        return unsafe { x86::top_256(codes, queries, steps, out) };
    }
    #[cfg(target_arch = "aarch64")]
    {
        // SAFETY: every aarch64 has NEON, and the lengths were checked.
        #[allow(unsafe_code)]
        return unsafe { neon::top(codes, queries, steps, out) };
    }
    #[allow(unreachable_code)]
    portable_top(codes, queries, steps, out);
}

/// The product of a query with the lower bits of some rows: `out[i] = Σ_j query[j] low[rows[i]][j]`, with lower bits
/// from 0 to 7.
///
/// `codes` has the lower bits of all rows, [`low_row_bytes`] each. Exact: every processor gives the same integers.
///
/// # Panics
/// If the numbers of products and rows differ, or a row does not exist.
pub(crate) fn low_scores(codes: &[u8], rows: &[u32], query: &PlaneQuery, out: &mut [i32]) {
    super::check_len(out.len(), rows.len());
    let steps = query.dim().div_ceil(LOW_CODES);
    let (row_bytes, largest) = (steps * LOW_BYTES, rows.iter().copied().max());
    let fits = largest.is_none_or(|row| (row as usize) < codes.len() / row_bytes);
    assert!(fits, "{} bytes of lower bits have no row {largest:?}", codes.len());
    #[cfg(target_arch = "x86_64")]
    if x86::has_avx512() {
        // SAFETY: the processor has the instructions, and the rows exist.
        #[allow(unsafe_code)]
        return unsafe { x86::low_512(codes, rows, query, steps, out) };
    } else if x86::has_avx2() {
        // SAFETY: as above.
        #[allow(unsafe_code)]
        return unsafe { x86::low_256(codes, rows, query, steps, out) };
    }
    #[cfg(target_arch = "aarch64")]
    {
        // SAFETY: every aarch64 has NEON, and the rows exist.
        #[allow(unsafe_code)]
        return unsafe { neon::low(codes, rows, query, steps, out) };
    }
    #[allow(unreachable_code)]
    portable_low(codes, rows, query, steps, out);
}

/// The reference implementation, without the tables of the query.
fn portable_top(codes: &[u8], queries: &[&PlaneQuery], steps: usize, out: &mut [i32]) {
    let n = codes.len() / (steps * TOP_BYTES) * PLANE_ROWS;
    for (query, out) in queries.iter().zip(out.chunks_exact_mut(n.max(1))) {
        for (block, out) in codes.chunks_exact(steps * TOP_BYTES).zip(out.as_chunks_mut::<PLANE_ROWS>().0) {
            let mut sums = [0_i32; PLANE_ROWS];
            for (step, w) in block.as_chunks::<TOP_BYTES>().0.iter().zip(query.values().as_chunks::<TOP_CODES>().0) {
                for (sum, byte) in sums.iter_mut().zip(step) {
                    for (i, &w) in w.iter().enumerate() {
                        *sum += i32::from(w) * i32::from(byte >> i & 1);
                    }
                }
            }
            *out = sums;
        }
    }
}

/// The reference implementation.
fn portable_low(codes: &[u8], rows: &[u32], query: &PlaneQuery, steps: usize, out: &mut [i32]) {
    for (out, &row) in out.iter_mut().zip(rows) {
        let row = &codes[row as usize * steps * LOW_BYTES..][..steps * LOW_BYTES];
        let step_sum = |(step, w): (&[u8; LOW_BYTES], &[i8; LOW_CODES])| -> i32 {
            let low = |j: usize| step[j % 16] >> (j / 16 * 2) & 3 | (step[16 + j / 8] >> (j % 8) & 1) << 2;
            w.iter().enumerate().map(|(j, &w)| i32::from(w) * i32::from(low(j))).sum()
        };
        let steps = row.as_chunks::<LOW_BYTES>().0.iter().zip(query.values().as_chunks::<LOW_CODES>().0);
        *out = steps.map(step_sum).sum();
    }
}
