//! Finds the rows whose estimate is high enough.

use super::PLANE_ROWS;
#[cfg(target_arch = "x86_64")]
use super::x86;

/// Finds the rows with an estimate of at least `floor`: bit `l` of `masks[b]` is set where `(2 sums[r] - offset)
/// scales[r] ≥ floor` for row r = 64 b + l. Scales are the upper halves of f32 values. Every processor rounds once in
/// the conversion and once in the product.
///
/// # Panics
/// If the numbers of scales and sums differ, or there is not one mask per 64 sums.
pub(crate) fn plane_masks(sums: &[i32], offset: i32, scales: &[u16], floor: f32, masks: &mut [u64]) {
    super::super::check_len(scales.len(), sums.len());
    super::super::check_len(masks.len() * PLANE_ROWS, sums.len());
    #[cfg(target_arch = "x86_64")]
    if x86::has_avx512() {
        // SAFETY: the processor has the instructions, and the lengths were checked.
        #[allow(unsafe_code)]
        return unsafe { x86::masks_512(sums, offset, scales, floor, masks) };
    } else if x86::has_avx2() {
        // SAFETY: as above.
        #[allow(unsafe_code)]
        return unsafe { x86::masks_256(sums, offset, scales, floor, masks) };
    }
    portable_masks(sums, offset, scales, floor, masks);
}

/// The reference implementation.
#[inline(always)]
pub(super) fn portable_masks(sums: &[i32], offset: i32, scales: &[u16], floor: f32, masks: &mut [u64]) {
    let blocks = sums.as_chunks::<PLANE_ROWS>().0.iter().zip(scales.as_chunks::<PLANE_ROWS>().0);
    for (mask, (sums, scales)) in masks.iter_mut().zip(blocks) {
        *mask = 0;
        for (l, (&sum, &scale)) in sums.iter().zip(scales).enumerate() {
            *mask |= u64::from(plane_estimate(sum, offset, scale) >= floor) << l;
        }
    }
}

/// `(2 sum - offset) scale`, as [`plane_masks`] computes it; `scale` is the upper half of an f32 value.
#[inline(always)]
#[must_use]
pub(crate) fn plane_estimate(sum: i32, offset: i32, scale: u16) -> f32 {
    (2 * sum - offset) as f32 * f32::from_bits(u32::from(scale) << 16)
}
