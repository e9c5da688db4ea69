//! The sum of many rows of 4-bit codes, kept in registers until it is complete: `y = Σ_r s_r q_r`.
//!
//! Every level converts a code exactly to f32, multiplies, rounds, adds and rounds, with rows in the given order:
//! bit-identical to [`add_int4`](super::add_int4) row by row.

/// Rows of signed half bytes, each with a scale: the input of [`sum_int4`](super::sum_int4).
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct Int4Rows<'r> {
    /// The codes, the lower half of each byte first.
    pub codes: &'r [u8],
    /// Bytes from the start of a row to the start of the next.
    pub stride: usize,
    /// One scale per row.
    pub scales: &'r [f32],
}

/// The sum, row by row.
pub(super) fn portable(rows: Int4Rows<'_>, ids: &[u32], out: &mut [f32]) {
    columns_by_row(rows, ids, 0, out, super::compressed::add_int4_row);
}

/// The sum of an even number of columns starting at `at`, row by row.
#[inline(always)]
pub(super) fn columns_by_row(
    rows: Int4Rows<'_>,
    ids: &[u32],
    at: usize,
    out: &mut [f32],
    add: impl Fn(f32, &[u8], &mut [f32]),
) {
    let n_bytes = out.len().div_ceil(2);
    out.fill(0.0);
    for &id in ids {
        add(rows.scales[id as usize], &rows.codes[id as usize * rows.stride + at / 2..][..n_bytes], out);
    }
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(super) use blocks::sum as in_blocks;

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[allow(unsafe_code)]
mod blocks {
    use super::{Int4Rows, columns_by_row};
    use crate::kernels::{compressed, prefetch, vector::Vector};

    /// Rows that are prefetched before the first is added.
    const ROWS_AT_ONCE: usize = 64;

    /// The sum, in blocks of the level, then the remaining columns.
    ///
    /// # Safety
    /// As for [`Vector`]; every named row has as many codes as `out` has values.
    #[inline(always)]
    pub(in crate::kernels) unsafe fn sum<V: Vector>(rows: Int4Rows<'_>, ids: &[u32], out: &mut [f32]) {
        let mut at = 0;
        for &id in ids.iter().take(ROWS_AT_ONCE) {
            let row = rows.codes.as_ptr().wrapping_add(id as usize * rows.stride);
            for line in (0..out.len() / 2).step_by(64) {
                prefetch(row.wrapping_add(line));
            }
        }
        if V::INT4_COLUMNS > 0 {
            for block in out.chunks_exact_mut(V::INT4_COLUMNS) {
                // SAFETY: the block is within the columns of `out`.
                unsafe {
                    V::sum_int4_block(rows.codes.as_ptr().add(at / 2), rows.stride, rows.scales.as_ptr(), ids, block);
                }
                at += V::INT4_COLUMNS;
            }
        }
        if at < out.len() {
            columns_by_row(rows, ids, at, &mut out[at..], |c, x, y| {
                // SAFETY: the caller has the instructions.
                compressed::add_int4_row_by(c, x, y, |c, x, y| unsafe { V::add_int4_block(c, x, y) });
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        kernels,
        kernels::{dispatch, level::Level, row_sums::sum_int4},
    };
    use senv_base::{TokenId, hash::mix};

    #[test]
    fn the_sum_has_the_bits_of_the_rows_one_after_another_at_every_level() {
        const N_ROWS: usize = 7;
        for n in (1..=140).chain([255, 256, 257, 300, 512, 769]) {
            let stride = usize::div_ceil(n, 2) + n % 3;
            let codes: Vec<u8> = (0..(N_ROWS * stride) as u64).map(|i| mix(i ^ (n as u64) << 32) as u8).collect();
            let scales: Vec<f32> = (0..N_ROWS).map(|i| (i as f32 + 0.7).sin().abs()).collect();
            let rows = Int4Rows { codes: &codes, stride, scales: &scales };
            for ids in [vec![], vec![4], vec![6, 0, 2, 2, 5, 1]] {
                let mut expected = vec![0.0; n];
                for &id in &ids {
                    let codes = &codes[id as usize * stride..][..n.div_ceil(2)];
                    kernels::add_int4(scales[id as usize], codes, &mut expected);
                }
                let expected: Vec<u32> = expected.iter().map(|x| x.to_bits()).collect();
                for level in Level::available() {
                    let mut out = vec![7.0; n];
                    dispatch::sum_int4_rows(level, rows, &ids, &mut out);
                    let out: Vec<u32> = out.iter().map(|x| x.to_bits()).collect();
                    assert_eq!(out, expected, "{level:?}, {n} columns of rows {ids:?}");
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "a row of 2")]
    fn a_row_past_the_end_is_refused() {
        let rows = Int4Rows { codes: &[0; 4], stride: 2, scales: &[1.0; 2] };
        sum_int4(rows, &[0, 2].map(TokenId), &mut [0.0; 4]);
    }

    #[test]
    #[should_panic(expected = "5 values of 2 rows")]
    fn rows_that_are_too_short_are_refused() {
        let rows = Int4Rows { codes: &[0; 4], stride: 2, scales: &[1.0; 2] };
        sum_int4(rows, &[TokenId(0)], &mut [0.0; 5]);
    }
}
