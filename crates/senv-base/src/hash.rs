//! SplitMix64: pseudorandom numbers that depend only on a seed and a text.

/// The increment of SplitMix64's counter: 2⁶⁴ divided by the golden ratio.
pub const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// One step of SplitMix64 (Steele, Lea and Flood 2014).
#[inline(always)]
pub fn mix(state: u64) -> u64 {
    let mut z = state.wrapping_add(GOLDEN);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// SplitMix64 over `seed` and the bytes of a text.
#[inline]
pub fn mix_text(seed: u64, text: &str) -> u64 {
    let mut state = seed;
    for chunk in text.as_bytes().chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        state = mix(state ^ u64::from_le_bytes(word));
    }
    mix(state ^ text.len() as u64)
}
