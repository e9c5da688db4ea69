//! Products of 4-bit codes with queries of 8-bit integers, sixteen rows at a time.
//!
//! Sums of integers are exact, so every level gives the same ones.
//!
//! Sixteen rows form a block, with one lane each. A block consists of steps of 64 bytes: four bytes per row, row after
//! row, with eight codes of each. In step `s`, byte `b` of a row has code `8 s + b` in its lower half and code `8 s + 4
//! + b` in its upper half. Zeros follow the last code of a row. A query is broadcast, so no sum crosses lanes.

#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(target_arch = "x86_64")]
mod x86;

/// Rows in a block of 4-bit codes.
pub(crate) const NIBBLE_ROWS: usize = 16;
/// Codes of each row in a step.
pub(super) const STEP_CODES: usize = 8;
/// Bytes in a step.
pub(super) const STEP_BYTES: usize = NIBBLE_ROWS * STEP_CODES / 2;

/// Bytes in a block of sixteen rows of `dim` codes; `None` on overflow.
#[must_use]
pub(crate) const fn nibble_block_bytes(dim: usize) -> Option<usize> {
    dim.div_ceil(STEP_CODES).checked_mul(STEP_BYTES)
}

/// Values in a query for codes of dimension `dim`. Values past `dim` have no effect, as their codes are 0.
#[must_use]
pub(crate) const fn nibble_query_len(dim: usize) -> usize {
    dim.next_multiple_of(STEP_CODES)
}

/// Writes a row's codes, each from 0 to 15, into lane `lane` of a block that is zero there.
///
/// # Panics
/// If the lane does not exist, or the block is too short for the codes.
pub(crate) fn pack_nibbles(codes: &[u8], lane: usize, block: &mut [u8]) {
    assert!(lane < NIBBLE_ROWS, "lane {lane}");
    for (step, codes) in block.chunks_exact_mut(STEP_BYTES).zip(codes.chunks(STEP_CODES)) {
        let bytes = &mut step[lane * 4..][..4];
        let (low, high) = codes.split_at(codes.len().min(4));
        bytes.iter_mut().zip(low).for_each(|(byte, &code)| *byte |= code & 15);
        bytes.iter_mut().zip(high).for_each(|(byte, &code)| *byte |= code << 4);
    }
}

/// The codes of lane `lane` of a block.
///
/// # Panics
/// If the lane does not exist, or the block is too short for the codes.
#[cfg(test)]
fn unpack_nibbles(block: &[u8], lane: usize, codes: &mut [u8]) {
    for (i, code) in codes.iter_mut().enumerate() {
        let byte = block[i / STEP_CODES * STEP_BYTES + lane * 4 + i % 4];
        *code = if i % STEP_CODES < 4 { byte & 15 } else { byte >> 4 };
    }
}

/// The product of every query with every row: `out[q n + r] = Σ_i queries[q][i] codes[r][i]`, with n the total number
/// of rows.
///
/// | name | meaning | shape |
/// | --- | --- | --- |
/// | `codes` | blocks of sixteen rows | whole blocks of [`nibble_block_bytes`] |
/// | `queries` | values of -127 to 127 | whole queries of [`nibble_query_len`] |
/// | `out` | products, overwritten | queries × rows |
///
/// Exact: every processor gives the same integers.
///
/// # Panics
/// If a slice's length does not match its shape, or the dimension is 0 or above 65,536.
pub(crate) fn nibble_scores(codes: &[u8], queries: &[i8], dim: usize, out: &mut [i32]) {
    check(codes, queries, dim, out);
    let steps = dim.div_ceil(STEP_CODES);
    #[cfg(target_arch = "x86_64")]
    if x86::has_vnni() {
        // SAFETY: the processor has the instructions, and the lengths were checked.
        #[allow(unsafe_code)]
        return unsafe { x86::vnni(codes, queries, steps, out) };
    } else if x86::has_avx2() {
        // SAFETY: as above.
        #[allow(unsafe_code)]
        return unsafe { x86::avx2(codes, queries, steps, out) };
    }
    #[cfg(target_arch = "aarch64")]
    {
        // SAFETY: every aarch64 has NEON, and the lengths were checked.
        #[allow(unsafe_code)]
        return unsafe { neon::neon(codes, queries, steps, out) };
    }
    #[allow(unreachable_code)]
    portable(codes, queries, steps, out);
}

/// Panics unless the shapes fit and no sum can overflow.
fn check(codes: &[u8], queries: &[i8], dim: usize, out: &[i32]) {
    assert!((1..=1 << 16).contains(&dim), "dimension {dim} of codes");
    let (block, query) = (dim.div_ceil(STEP_CODES) * STEP_BYTES, nibble_query_len(dim));
    assert!(codes.len().is_multiple_of(block), "{} bytes of codes are not whole blocks of {block}", codes.len());
    assert!(queries.len().is_multiple_of(query), "{} values are not whole queries of {query}", queries.len());
    super::check_len(out.len(), codes.len() / block * NIBBLE_ROWS * (queries.len() / query));
}

/// The reference implementation.
fn portable(codes: &[u8], queries: &[i8], steps: usize, out: &mut [i32]) {
    let n = codes.len() / (steps * STEP_BYTES) * NIBBLE_ROWS;
    for (query, out) in queries.chunks_exact(steps * STEP_CODES).zip(out.chunks_exact_mut(n.max(1))) {
        for (block, out) in codes.chunks_exact(steps * STEP_BYTES).zip(out.as_chunks_mut::<NIBBLE_ROWS>().0) {
            let mut sums = [0_i32; NIBBLE_ROWS];
            for (step, query) in block.as_chunks::<STEP_BYTES>().0.iter().zip(query.as_chunks::<STEP_CODES>().0) {
                let q = query.map(i32::from);
                for (sum, bytes) in sums.iter_mut().zip(step.as_chunks::<4>().0) {
                    for (b, &byte) in bytes.iter().enumerate() {
                        *sum += i32::from(byte & 15) * q[b] + i32::from(byte >> 4) * q[b + 4];
                    }
                }
            }
            *out = sums;
        }
    }
}

/// `(2 sum - offset) scale`: on every processor, rounded once in the conversion and once in the product.
#[inline(always)]
#[must_use]
pub(crate) fn nibble_estimate(sum: i32, offset: i32, scale: f32) -> f32 {
    (2 * sum - offset) as f32 * scale
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code_kernels::mix;

    #[test]
    fn an_example_by_hand() {
        let mut block = vec![0; nibble_block_bytes(2).unwrap_or(0)];
        pack_nibbles(&[3, 15], 5, &mut block);
        let mut query = vec![0; nibble_query_len(2)];
        query[..2].copy_from_slice(&[-10, 1]);
        let mut out = [0; NIBBLE_ROWS];
        nibble_scores(&block, &query, 2, &mut out);
        assert_eq!((out[5], out[6]), (-15, 0));
    }

    type Scores = fn(&[u8], &[i8], usize, &mut [i32]);

    /// Every level of this processor, by name.
    fn levels() -> Vec<(&'static str, Scores)> {
        #[cfg_attr(not(target_arch = "x86_64"), allow(unused_mut))]
        let mut levels: Vec<(&'static str, Scores)> = vec![("dispatched", |codes, queries, steps, out| {
            nibble_scores(codes, queries, steps * STEP_CODES, out);
        })];
        #[cfg(target_arch = "x86_64")]
        #[allow(unsafe_code)]
        {
            if x86::has_vnni() {
                // SAFETY: the processor has the instructions, and the test gives lengths that fit.
                levels.push(("vnni", |c, q, steps, out| unsafe { x86::vnni(c, q, steps, out) }));
            }
            if x86::has_avx2() {
                // SAFETY: as above.
                levels.push(("avx2", |c, q, steps, out| unsafe { x86::avx2(c, q, steps, out) }));
            }
        }
        levels
    }

    fn queries(m: usize, dim: usize, key: u64) -> Vec<i8> {
        // The last values are past the codes of the row: they can be anything.
        let value = |i: u64| (mix(key ^ i << 13) % 255) as i32 - 127;
        (0..(m * nibble_query_len(dim)) as u64).map(|i| value(i) as i8).collect()
    }

    #[test]
    fn the_reference_is_the_sum_of_products_of_unpacked_codes() {
        for dim in [1, 3, 4, 5, 8, 9, 64, 300] {
            let bytes = nibble_block_bytes(dim).unwrap();
            let mut codes = vec![0; 2 * bytes];
            let rows: Vec<Vec<u8>> =
                (0..32).map(|r| (0..dim as u64).map(|i| mix(r << 32 ^ i) as u8 & 15).collect()).collect();
            for (r, row) in rows.iter().enumerate() {
                let block = &mut codes[r / 16 * bytes..][..bytes];
                pack_nibbles(row, r % 16, block);
                let mut back = vec![0; dim];
                unpack_nibbles(block, r % 16, &mut back);
                assert_eq!(&back, row);
            }
            let queries = queries(3, dim, 5);
            let mut out = vec![7; 3 * 32];
            portable(&codes, &queries, dim.div_ceil(8), &mut out);
            for (q, query) in queries.chunks(nibble_query_len(dim)).enumerate() {
                for (r, row) in rows.iter().enumerate() {
                    let expected: i32 = row.iter().zip(query).map(|(&u, &y)| i32::from(u) * i32::from(y)).sum();
                    assert_eq!(out[q * 32 + r], expected, "dimension {dim}, query {q}, row {r}");
                }
            }
        }
    }

    #[test]
    fn every_level_gives_the_integers_of_the_reference() {
        for dim in (1..=80_usize).chain([255, 256, 257, 300, 384, 514, 1024, 4099]) {
            for (m, blocks) in [(0, 3), (1, 0), (1, 1), (1, 4), (2, 7), (3, 5), (8, 2), (9, 6), (21, 3)] {
                let steps = dim.div_ceil(STEP_CODES);
                let key = mix((dim * 131 + m * 17 + blocks) as u64);
                let codes: Vec<u8> = (0..(blocks * steps * STEP_BYTES) as u64).map(|i| mix(key ^ i) as u8).collect();
                let queries = queries(m, dim, key);
                let mut expected = vec![1; m * blocks * NIBBLE_ROWS];
                portable(&codes, &queries, steps, &mut expected);
                for (name, scores) in levels() {
                    let mut out = vec![2; expected.len()];
                    scores(&codes, &queries, steps, &mut out);
                    assert_eq!(out, expected, "{name}, dimension {dim}, {m} queries, {blocks} blocks");
                }
            }
        }
    }

    #[test]
    fn the_largest_sums_do_not_overflow_at_any_level() {
        for dim in [8, 64, 1 << 16] {
            let codes = vec![0xff; nibble_block_bytes(dim).unwrap()];
            for value in [127, -127, -128] {
                for (name, scores) in levels() {
                    let mut out = [0; NIBBLE_ROWS];
                    scores(&codes, &vec![value; dim], dim / 8, &mut out);
                    assert_eq!(out, [15 * i32::from(value) * dim as i32; NIBBLE_ROWS], "{name}, {dim} times {value}");
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "63 bytes of codes are not whole blocks of 64")]
    fn a_block_that_is_cut_short_is_refused() {
        nibble_scores(&[0; 63], &[0; 8], 3, &mut [0; 16]);
    }

    #[test]
    #[should_panic(expected = "a vector of 15 values, expected 16")]
    fn too_little_room_for_the_products_is_refused() {
        nibble_scores(&[0; 64], &[0; 8], 3, &mut [0; 15]);
    }
}
