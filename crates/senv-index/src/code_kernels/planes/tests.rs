//! Every level against the reference.

use super::{masks::portable_masks, *};
use crate::code_kernels::mix;

type Top = fn(&[u8], &[&PlaneQuery], usize, &mut [i32]);
type Low = fn(&[u8], &[u32], &PlaneQuery, usize, &mut [i32]);

/// Every level of this processor, by name.
fn levels() -> Vec<(&'static str, Top, Low)> {
    #[cfg_attr(not(target_arch = "x86_64"), allow(unused_mut))]
    let mut levels: Vec<(&'static str, Top, Low)> = vec![(
        "dispatched",
        |codes, queries, _, out| top_scores(codes, queries, out),
        |codes, rows, query, _, out| low_scores(codes, rows, query, out),
    )];
    #[cfg(target_arch = "x86_64")]
    #[allow(unsafe_code)]
    {
        if x86::has_avx512() {
            // SAFETY: the processor has the instructions, and the tests give lengths that fit.
            let (top, low): (Top, Low) = (
                |c, q, s, out| unsafe { x86::top_512(c, q, s, out) },
                |c, r, q, s, out| unsafe { x86::low_512(c, r, q, s, out) },
            );
            levels.push(("avx512", top, low));
        }
        if x86::has_avx2() {
            // SAFETY: as above.
            let (top, low): (Top, Low) = (
                |c, q, s, out| unsafe { x86::top_256(c, q, s, out) },
                |c, r, q, s, out| unsafe { x86::low_256(c, r, q, s, out) },
            );
            levels.push(("avx2", top, low));
        }
    }
    levels
}

/// Values whose groups of four sum to at most 63.
fn query(dim: usize, key: u64) -> PlaneQuery {
    let value = |i: usize| (mix(key ^ (i as u64) << 13) % 31) as i8 - 15;
    PlaneQuery::new(&(0..dim).map(value).collect::<Vec<_>>())
}

fn bytes(n: usize, key: u64) -> Vec<u8> {
    (0..n as u64).map(|i| mix(key ^ i) as u8).collect()
}

#[test]
fn both_planes_together_give_the_sum_of_products_of_the_codes() {
    for dim in [1, 3, 4, 5, 8, 9, 63, 64, 65, 300, 384] {
        let (block_bytes, row_bytes) = (top_block_bytes(dim).unwrap(), low_row_bytes(dim).unwrap());
        let (mut top, mut low) = (vec![0; 2 * block_bytes], vec![0; 128 * row_bytes]);
        let rows: Vec<Vec<u8>> =
            (0..128).map(|r| (0..dim as u64).map(|i| mix(r << 32 ^ i) as u8 & 15).collect()).collect();
        for (r, row) in rows.iter().enumerate() {
            let mut bits = vec![0; dim.div_ceil(8)];
            pack_top(row, &mut bits);
            place_top(&bits, r % 64, &mut top[r / 64 * block_bytes..][..block_bytes]);
            pack_low(row, &mut low[r * row_bytes..][..row_bytes]);
        }
        let queries: Vec<PlaneQuery> = (0..3).map(|key| query(dim, key)).collect();
        let mut tops = vec![7; 3 * 128];
        portable_top(&top, &queries.iter().collect::<Vec<_>>(), dim.div_ceil(8), &mut tops);
        for (q, query) in queries.iter().enumerate() {
            let mut lows = vec![7; 128];
            portable_low(&low, &(0..128).collect::<Vec<_>>(), query, dim.div_ceil(64), &mut lows);
            for (r, row) in rows.iter().enumerate() {
                let expected: i32 = row.iter().zip(query.values()).map(|(&u, &y)| i32::from(u) * i32::from(y)).sum();
                assert_eq!(8 * tops[q * 128 + r] + lows[r], expected, "dimension {dim}, query {q}, row {r}");
            }
        }
    }
}

#[test]
fn every_level_gives_the_integers_of_the_reference() {
    for dim in (1..=80_usize).chain([255, 256, 257, 300, 384, 1024, 4096, 4097, 4160]) {
        for (m, blocks) in [(0, 3), (1, 0), (1, 1), (1, 2), (2, 3), (3, 1), (4, 2), (5, 3), (9, 5)] {
            let (key, steps) = (mix((dim * 131 + m * 17 + blocks) as u64), dim.div_ceil(8));
            let codes = bytes(blocks * steps * TOP_BYTES, key);
            let queries: Vec<PlaneQuery> = (0..m as u64).map(|q| query(dim, key ^ q)).collect();
            let queries: Vec<&PlaneQuery> = queries.iter().collect();
            let mut expected = vec![1; m * blocks * PLANE_ROWS];
            portable_top(&codes, &queries, steps, &mut expected);
            for (name, top, _) in levels() {
                let mut out = vec![2; expected.len()];
                top(&codes, &queries, steps, &mut out);
                assert_eq!(out, expected, "{name}, dimension {dim}, {m} queries, {blocks} blocks");
            }
        }
        let steps = dim.div_ceil(64);
        let (codes, query) = (bytes(40 * steps * LOW_BYTES, dim as u64), query(dim, 3));
        for rows in [vec![], vec![39], (0..40).rev().collect::<Vec<u32>>(), vec![7; 20]] {
            let mut expected = vec![1; rows.len()];
            portable_low(&codes, &rows, &query, steps, &mut expected);
            for (name, _, low) in levels() {
                let mut out = vec![2; rows.len()];
                low(&codes, &rows, &query, steps, &mut out);
                assert_eq!(out, expected, "{name}, dimension {dim}, rows {rows:?}");
            }
        }
    }
}

#[test]
fn the_largest_sums_do_not_overflow_at_any_level() {
    for dim in [8, 64, 4096, 1 << 16] {
        for group in [[63, 0, 0, 0], [-63, 0, 0, 0], [16, 16, 16, 15], [-16, -16, -15, -16]] {
            let query = PlaneQuery::new(&group.repeat(dim / 4));
            let sum = group.iter().map(|&w| i32::from(w)).sum::<i32>() * dim as i32 / 4;
            let top = vec![0xff; top_block_bytes(dim).unwrap()];
            let low = vec![0xff; low_row_bytes(dim).unwrap()];
            for (name, top_scores, low_scores) in levels() {
                let (mut tops, mut lows) = ([0; PLANE_ROWS], [0]);
                top_scores(&top, &[&query], dim.div_ceil(8), &mut tops);
                assert_eq!(tops, [sum; PLANE_ROWS], "{name}, {dim} of {group:?}");
                low_scores(&low, &[0], &query, dim.div_ceil(64), &mut lows);
                assert_eq!(lows, [7 * sum], "{name}, {dim} of {group:?}");
            }
        }
    }
}

#[test]
fn masks_have_a_bit_for_each_estimate_that_reaches_the_floor() {
    let n = 5 * PLANE_ROWS;
    let sums: Vec<i32> = (0..n as u64).map(|i| (mix(i) % 90_001) as i32 - 45_000).collect();
    let upper = |x: f32| (x.to_bits() >> 16) as u16;
    let mut scales: Vec<u16> = (0..n).map(|i| upper(0.01 + (i % 7) as f32)).collect();
    (scales[3], scales[4]) = (upper(f32::NAN), 0);
    for offset in [0, -17, 12_345] {
        let reached = plane_estimate(sums[40], offset, scales[40]);
        for floor in [f32::NEG_INFINITY, 0.0, reached, 1e6, f32::INFINITY] {
            let (mut masks, mut expected) = ([7; 5], [9; 5]);
            plane_masks(&sums, offset, &scales, floor, &mut masks);
            portable_masks(&sums, offset, &scales, floor, &mut expected);
            assert_eq!(masks, expected);
            #[cfg(target_arch = "x86_64")]
            #[allow(unsafe_code)]
            if x86::has_avx2() {
                masks = [7; 5];
                // SAFETY: the processor has the instructions, and the lengths fit.
                unsafe { x86::masks_256(&sums, offset, &scales, floor, &mut masks) };
                assert_eq!(masks, expected);
            }
            for r in 0..n {
                let reaches = plane_estimate(sums[r], offset, scales[r]) >= floor;
                assert_eq!(masks[r / 64] >> (r % 64) & 1 == 1, reaches, "row {r}");
            }
        }
    }
}

#[test]
#[should_panic(expected = "63 bytes of top bits are not whole blocks of 64")]
fn a_block_that_is_cut_short_is_refused() {
    top_scores(&[0; 63], &[&PlaneQuery::new(&[1; 8])], &mut [0; 64]);
}

#[test]
#[should_panic(expected = "24 bytes of lower bits have no row Some(1)")]
fn a_row_that_is_not_there_is_refused() {
    low_scores(&[0; 24], &[0, 1], &PlaneQuery::new(&[1; 8]), &mut [0; 2]);
}

#[test]
#[should_panic(expected = "four values of a query add up to 64, expected at most 63")]
fn a_query_that_is_too_large_is_refused() {
    let _ = PlaneQuery::new(&[0, 0, 0, 0, 63, -1]);
}

#[test]
fn an_example_by_hand() {
    let codes = [3, 15, 8];
    let (mut bits, mut block, mut row) =
        ([0], vec![0; top_block_bytes(3).unwrap_or(0)], vec![0; low_row_bytes(3).unwrap_or(0)]);
    pack_top(&codes, &mut bits);
    place_top(&bits, 5, &mut block);
    pack_low(&codes, &mut row);
    let query = PlaneQuery::new(&[-10, 1, 7]);
    let (mut top, mut low) = ([0; PLANE_ROWS], [0]);
    top_scores(&block, &[&query], &mut top);
    low_scores(&row, &[0], &query, &mut low);
    assert_eq!(8 * top[5] + low[0], 3 * -10 + 15 + 8 * 7);
}
