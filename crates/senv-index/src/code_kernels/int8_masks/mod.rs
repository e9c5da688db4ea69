//! Finds the products of rows of 8-bit integers that reach a bound, sixteen rows at a time.
//!
//! Sums of integers are exact, so every level gives the same answer.
//!
//! Sixteen rows form a block, with one lane each. A block consists of steps of 64 bytes: four values per row, row after
//! row, each stored with 128 added. The other side is broadcast, so no sum crosses lanes. Products are compared in the
//! registers where they are summed.

#[cfg(target_arch = "x86_64")]
mod x86;

/// Rows in a block of packed integers.
pub(crate) const INT8_ROWS: usize = 16;
/// Values of each row in a step.
const STEP_VALUES: usize = 4;
const STEP_BYTES: usize = INT8_ROWS * STEP_VALUES;

/// Bytes in a block of sixteen rows of `width` values, a multiple of 4; `None` on overflow.
#[cfg(test)]
const fn int8_block_bytes(width: usize) -> Option<usize> {
    width.checked_mul(INT8_ROWS)
}

/// Whether [`int8_masks`] is faster than f32 products on this processor.
#[must_use]
pub(crate) fn has_fast_int8() -> bool {
    #[cfg(target_arch = "x86_64")]
    return x86::has_vnni();
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Writes a row into lane `lane` of a block.
///
/// # Panics
/// If the lane does not exist, or the block is too short for the row.
pub(crate) fn pack_int8(row: &[i8], lane: usize, block: &mut [u8]) {
    assert!(lane < INT8_ROWS, "lane {lane}");
    for (values, step) in row.chunks(STEP_VALUES).zip(block.chunks_exact_mut(STEP_BYTES)) {
        let bytes = &mut step[lane * STEP_VALUES..][..STEP_VALUES];
        bytes.iter_mut().zip(values).for_each(|(byte, &value)| *byte = value.cast_unsigned() ^ 128);
    }
}

/// Sets a bit for each lane whose product with the row is at least `least`: bit `l` of `masks[r n + b]` for row `r` and
/// block `b` of n. Lanes that were never packed contain rows of -128.
///
/// | name | meaning | shape |
/// | --- | --- | --- |
/// | `rows` | values of -127 to 127 | rows of `width` |
/// | `packed` | blocks of sixteen rows | whole blocks of `width` times [`INT8_ROWS`] bytes |
/// | `masks` | bits, overwritten | rows × blocks |
///
/// # Panics
/// If a slice's length does not match its shape, or the width is not a multiple of 4 from 4 to 65,536.
pub(crate) fn int8_masks(rows: &[i8], packed: &[u8], width: usize, least: i32, masks: &mut [u16]) {
    assert!((STEP_VALUES..=1 << 16).contains(&width) && width.is_multiple_of(STEP_VALUES), "width {width}");
    let block = width * INT8_ROWS;
    assert!(rows.len().is_multiple_of(width), "{} values are not whole rows of {width}", rows.len());
    assert!(packed.len().is_multiple_of(block), "{} bytes are not whole blocks of {block}", packed.len());
    super::check_len(masks.len(), rows.len() / width * (packed.len() / block));
    // Values were stored with 128 added, so each row's bound rises by what that adds to its products.
    let bound = |row: &[i8]| {
        let sum: i64 = row.iter().map(|&x| i64::from(x)).sum();
        // No product of bytes exceeds an i32 (65,536 x 127 x 255 < 2³¹).
        (i64::from(least) + 128 * sum).clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32
    };
    let bounds: Vec<i32> = rows.chunks_exact(width).map(bound).collect();
    #[cfg(target_arch = "x86_64")]
    if x86::has_vnni() {
        // SAFETY: the processor has the instructions, and the lengths were checked.
        #[allow(unsafe_code)]
        return unsafe { x86::vnni(rows, packed, width, &bounds, masks) };
    }
    portable(rows, packed, width, &bounds, masks);
}

/// The reference implementation.
fn portable(rows: &[i8], packed: &[u8], width: usize, bounds: &[i32], masks: &mut [u16]) {
    let n_blocks = packed.len() / (width * INT8_ROWS);
    for ((row, &bound), masks) in rows.chunks_exact(width).zip(bounds).zip(masks.chunks_exact_mut(n_blocks.max(1))) {
        for (block, mask) in packed.chunks_exact(width * INT8_ROWS).zip(masks) {
            let mut sums = [0_i32; INT8_ROWS];
            for (step, values) in block.chunks_exact(STEP_BYTES).zip(row.chunks_exact(STEP_VALUES)) {
                for (sum, bytes) in sums.iter_mut().zip(step.chunks_exact(STEP_VALUES)) {
                    *sum += bytes.iter().zip(values).map(|(&b, &x)| i32::from(b) * i32::from(x)).sum::<i32>();
                }
            }
            *mask = sums.iter().rev().fold(0, |mask, &sum| mask << 1 | u16::from(sum >= bound));
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::Rng;

    use super::*;
    use senv_core::rng::stream;

    #[test]
    fn a_product_at_the_bound_counts_and_one_below_does_not() {
        let mut block = vec![128; int8_block_bytes(4).unwrap_or(0)];
        pack_int8(&[3, -2, 0, 1], 5, &mut block);
        let mut masks = [0];
        int8_masks(&[10, 1, 7, 2], &block, 4, 30, &mut masks); // 30 - 2 + 0 + 2
        assert_eq!(masks, [1 << 5]);
        int8_masks(&[10, 1, 7, 2], &block, 4, 31, &mut masks);
        assert_eq!(masks, [0]);
    }

    #[test]
    fn every_level_finds_the_products_that_reach_the_bound() {
        let mut stream = stream(3, "test", &[]);
        let mut next = || ((stream.next_u64() >> 40) % 255) as i32 - 127;
        for (m, n, width) in [(1, 1, 4), (3, 17, 8), (8, 32, 64), (21, 100, 60), (16, 47, 128), (0, 5, 4), (5, 0, 4)] {
            let rows: Vec<i8> = (0..m * width).map(|_| next() as i8).collect();
            let others: Vec<i8> = (0..n * width).map(|_| next() as i8).collect();
            let n_blocks = usize::div_ceil(n, INT8_ROWS);
            let block = int8_block_bytes(width).unwrap();
            let mut packed = vec![0; n_blocks * block];
            for (i, row) in others.chunks_exact(width).enumerate() {
                pack_int8(row, i % INT8_ROWS, &mut packed[i / INT8_ROWS * block..][..block]);
            }
            let product = |a: usize, b: usize| -> i32 {
                let (x, y) = (&rows[a * width..][..width], &others[b * width..][..width]);
                x.iter().zip(y).map(|(&x, &y)| i32::from(x) * i32::from(y)).sum()
            };
            for least in [i32::MIN, -100_000, 0, 1, 5000, 127 * 127 * width as i32, i32::MAX] {
                let mut masks = vec![7; m * n_blocks];
                int8_masks(&rows, &packed, width, least, &mut masks);
                for a in 0..m {
                    for b in 0..n {
                        let bit = masks[a * n_blocks + b / INT8_ROWS] >> (b % INT8_ROWS) & 1;
                        assert_eq!(bit == 1, product(a, b) >= least, "{a} {b} of {m} {n} {width}, {least}");
                    }
                }
            }
        }
    }
}
