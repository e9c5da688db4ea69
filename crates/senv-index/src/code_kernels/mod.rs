//! The inner loops of a search: products of integer codes with queries, and the transform and rounding that turn rows
//! into codes.
//!
//! Kernels detect the processor's instructions when they run. Sums are of integers, or of f32 values in a fixed order,
//! so every processor gives the same results.

mod int8_masks;
mod nibbles;
mod planes;
mod sign_masks;
mod transform;

pub(crate) use int8_masks::{INT8_ROWS, has_fast_int8, int8_masks, pack_int8};
pub(crate) use nibbles::{
    NIBBLE_ROWS, nibble_block_bytes, nibble_estimate, nibble_query_len, nibble_scores, pack_nibbles,
};
pub(crate) use planes::{
    PLANE_ROWS, PlaneQuery, low_row_bytes, low_scores, pack_low, pack_top, place_top, plane_estimate, plane_masks,
    top_block_bytes, top_scores,
};
pub(crate) use sign_masks::{SIGN_ROWS, has_fast_signs, n_different, pack_signs, sign_masks};
pub(crate) use transform::{quantize_4_bits, walsh_hadamard};

/// Panics if slices differ in length.
#[inline(always)]
fn check_len(got: usize, expected: usize) {
    assert!(got == expected, "a vector of {got} values, expected {expected}");
}

/// One step of SplitMix64 (Steele, Lea and Flood 2014), which generates test values.
#[cfg(test)]
fn mix(state: u64) -> u64 {
    let mut z = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
