//! Named, seeded streams of random numbers.
//!
//! One stream a purpose and place: `stream(seed, "negatives", &[epoch, block])` gives the same values in every
//! program, on every machine and at any thread count, and two names never share a stream. The generator is
//! PCG XSL-RR 128/64 ("Pcg64", O'Neill 2014), whose output its specification fixes.

#[cfg(feature = "train")]
use rand::SeedableRng;

/// The random generator of every stream.
#[cfg(feature = "train")]
pub type Stream = rand_pcg::Pcg64;

/// The stream of `purpose` at `place` under `seed`.
///
/// ```
/// use rand::Rng;
/// let mut a = senv_core::rng::stream(7, "initialise", &[0]);
/// let mut b = senv_core::rng::stream(7, "initialise", &[0]);
/// assert_eq!(a.next_u64(), b.next_u64());
/// let mut c = senv_core::rng::stream(7, "initialise", &[1]);
/// assert_ne!(a.next_u64(), c.next_u64());
/// ```
#[cfg(feature = "train")]
#[must_use]
pub fn stream(seed: u64, purpose: &str, place: &[u64]) -> Stream {
    // Four words of SplitMix64 output over the seed, the name and the place.
    let mut state = mix_text(seed, purpose);
    for &coordinate in place {
        state = mix(state ^ coordinate);
    }
    let mut bytes = [0; 32];
    for word in bytes.chunks_exact_mut(8) {
        state = mix(state);
        word.copy_from_slice(&state.to_le_bytes());
    }
    Stream::from_seed(bytes)
}

/// The increment of the counter of SplitMix64: 2⁶⁴ over the golden ratio.
pub(crate) const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// One step of SplitMix64 (Steele, Lea and Flood 2014).
#[inline(always)]
pub(crate) fn mix(state: u64) -> u64 {
    let mut z = state.wrapping_add(GOLDEN);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// SplitMix64 over `seed` and the bytes of a text.
#[inline]
pub(crate) fn mix_text(seed: u64, text: &str) -> u64 {
    let mut state = seed;
    for chunk in text.as_bytes().chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        state = mix(state ^ u64::from_le_bytes(word));
    }
    mix(state ^ text.len() as u64)
}

#[cfg(all(test, feature = "train"))]
mod tests {
    use super::*;
    use rand::Rng;

    #[test]
    fn the_numbers_of_a_stream_are_fixed() {
        let mut rng = stream(1, "negatives", &[2, 3]);
        let seen = [rng.next_u64(), rng.next_u64()];
        let mut again = stream(1, "negatives", &[2, 3]);
        assert_eq!(seen, [again.next_u64(), again.next_u64()]);
    }

    #[test]
    fn name_place_and_seed_each_make_another_stream() {
        let first = |seed, name, place: &[u64]| stream(seed, name, place).next_u64();
        let base = first(1, "a", &[0]);
        for other in
            [first(2, "a", &[0]), first(1, "b", &[0]), first(1, "a", &[1]), first(1, "a", &[0, 0]), first(1, "a", &[])]
        {
            assert_ne!(base, other);
        }
    }
}
