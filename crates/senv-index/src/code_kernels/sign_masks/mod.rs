//! Finds the rows of signs that differ from each other in few places, eight rows at a time.
//!
//! A sign is a bit, and a row is stored in words of 64 signs. Places after the last sign are zero in all rows. Eight
//! rows form a block, with one lane each: the first words of all eight, then their second words, and so on. Counts are
//! exact, so every level gives the same answer.

#[cfg(target_arch = "x86_64")]
mod x86;

/// Rows in a block of packed signs.
pub(crate) const SIGN_ROWS: usize = 8;

/// Whether [`sign_masks`] is faster than products of 8-bit integers on this processor.
#[must_use]
pub(crate) fn has_fast_signs() -> bool {
    #[cfg(target_arch = "x86_64")]
    return x86::has_popcnt();
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Packs concatenated rows of `n_words` into blocks of eight; zeros fill the last block.
///
/// # Panics
/// If `n_words` is 0, or does not divide the length of `rows`.
pub(crate) fn pack_signs(rows: &[u64], n_words: usize) -> Vec<u64> {
    super::check_len(rows.len() % n_words, 0);
    let block = n_words * SIGN_ROWS;
    let mut packed = vec![0; rows.len().div_ceil(block) * block];
    for (block, rows) in packed.chunks_exact_mut(block).zip(rows.chunks(block)) {
        for (lane, row) in rows.chunks_exact(n_words).enumerate() {
            block.iter_mut().skip(lane).step_by(SIGN_ROWS).zip(row).for_each(|(word, &signs)| *word = signs);
        }
    }
    packed
}

/// The number of places in which two rows differ.
#[inline]
pub(crate) fn n_different(a: &[u64], b: &[u64]) -> u32 {
    a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones()).sum()
}

/// Sets a bit for each lane whose differences from the row are within the limit of the row or of the lane. It is bit
/// `l` of `masks[r n + b]` for row `r` and block `b` of n. Lanes that were never packed contain rows of zeros.
///
/// | name | meaning | shape |
/// | --- | --- | --- |
/// | `rows` | signs | rows of `n_words` |
/// | `limits` | places in which a lane can differ; below 0 nothing matches | rows |
/// | `packed` | blocks of eight rows ([`pack_signs`]) | whole blocks of `n_words` times [`SIGN_ROWS`] |
/// | `lane_limits` | places in which a row can differ | blocks × [`SIGN_ROWS`] |
/// | `masks` | bits, overwritten | rows × blocks |
///
/// # Panics
/// If a slice's length does not match its shape, or `n_words` is 0.
pub(crate) fn sign_masks(
    rows: &[u64],
    limits: &[i64],
    packed: &[u64],
    lane_limits: &[i64],
    n_words: usize,
    masks: &mut [u8],
) {
    let block = n_words * SIGN_ROWS;
    super::check_len(rows.len(), limits.len() * n_words);
    super::check_len(packed.len() % block, 0);
    super::check_len(lane_limits.len(), packed.len() / n_words);
    super::check_len(masks.len(), limits.len() * (packed.len() / block));
    #[cfg(target_arch = "x86_64")]
    if x86::has_popcnt() {
        // SAFETY: the processor has the instructions, and the lengths were checked.
        #[allow(unsafe_code)]
        return unsafe { x86::popcnt(rows, limits, packed, lane_limits, n_words, masks) };
    }
    portable(rows, limits, packed, lane_limits, n_words, masks);
}

/// The reference implementation.
fn portable(rows: &[u64], limits: &[i64], packed: &[u64], lane_limits: &[i64], n_words: usize, masks: &mut [u8]) {
    let n_blocks = packed.len() / (n_words * SIGN_ROWS);
    for ((row, &limit), masks) in rows.chunks_exact(n_words).zip(limits).zip(masks.chunks_exact_mut(n_blocks.max(1))) {
        let blocks = packed.chunks_exact(n_words * SIGN_ROWS).zip(lane_limits.chunks_exact(SIGN_ROWS));
        for ((block, lane_limits), mask) in blocks.zip(masks) {
            let mut counts = [0_i64; SIGN_ROWS];
            for (lanes, &signs) in block.chunks_exact(SIGN_ROWS).zip(row) {
                counts.iter_mut().zip(lanes).for_each(|(n, lane)| *n += i64::from((lane ^ signs).count_ones()));
            }
            let fits = counts.iter().zip(lane_limits).map(|(&n, &lane_limit)| n <= limit.max(lane_limit));
            *mask = fits.rev().fold(0, |mask, fits| mask << 1 | u8::from(fits));
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::Rng;
    use senv_core::rng::stream;

    use super::*;

    #[test]
    fn a_count_at_the_limit_counts_and_one_above_does_not() {
        let packed = pack_signs(&[0b1011, 0b0001, 0b1111], 1);
        let mut masks = [0];
        // They differ from 0001 in 2, 0 and 3 places, and the lanes after them in 1.
        for (limit, mask) in [(-1, 0), (0, 0b010), (1, 0b1111_1010), (2, 0b1111_1011), (3, 0b1111_1111)] {
            sign_masks(&[0b0001], &[limit], &packed, &[i64::MIN; SIGN_ROWS], 1, &mut masks);
            assert_eq!(masks, [mask], "{limit}");
        }
        // Or within the limit of its lane.
        sign_masks(&[0b0001], &[0], &packed, &[1, 2, 3, 0, 1, 2, 0, 0], 1, &mut masks);
        assert_eq!(masks, [0b0011_0110]);
    }

    #[test]
    fn every_level_finds_the_rows_that_differ_in_few_places() {
        let mut stream = stream(6, "test", &[]);
        let mut next = || stream.next_u64();
        for (m, n, n_words) in [(1, 1, 1), (3, 17, 2), (4, 16, 4), (21, 100, 5), (9, 40, 9), (0, 5, 1), (5, 0, 3)] {
            let rows: Vec<u64> = (0..m * n_words).map(|_| next()).collect();
            let others: Vec<u64> = (0..n * n_words).map(|_| next()).collect();
            let packed = pack_signs(&others, n_words);
            let n_blocks = n.div_ceil(SIGN_ROWS);
            let half = n_words as i64 * 32;
            for shift in [-half - 1, -4, 0, 3, half] {
                let limits: Vec<i64> = (0..m as i64).map(|row| half + shift + row % 3).collect();
                let lanes = 0..(n_blocks * SIGN_ROWS) as i64;
                let lane_limits: Vec<i64> = lanes.map(|lane| half - 3 + lane % 7).collect();
                let [mut masks, mut reference] = [0; 2].map(|_| vec![7; m * n_blocks]);
                sign_masks(&rows, &limits, &packed, &lane_limits, n_words, &mut masks);
                portable(&rows, &limits, &packed, &lane_limits, n_words, &mut reference);
                assert_eq!(masks, reference);
                for (a, &limit) in limits.iter().enumerate() {
                    for b in 0..n {
                        let count = n_different(&rows[a * n_words..][..n_words], &others[b * n_words..][..n_words]);
                        let bit = masks[a * n_blocks + b / SIGN_ROWS] >> (b % SIGN_ROWS) & 1;
                        assert_eq!(
                            bit == 1,
                            i64::from(count) <= limit.max(lane_limits[b]),
                            "{a} {b} of {m} {n} {n_words}, {limit}"
                        );
                    }
                }
            }
        }
    }
}
