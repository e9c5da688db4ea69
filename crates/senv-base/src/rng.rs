//! Named, seeded streams of random numbers.
//!
//! There is one stream per purpose and place. `stream(seed, "negatives", &[epoch, block])` gives the same values in
//! every program, on every machine and at any thread count, and two names never share a stream. The generator is PCG
//! XSL-RR 128/64 ("Pcg64", O'Neill 2014), whose output is fixed by its specification.

use crate::hash::{mix, mix_text};
// Traits that draw numbers from a [`Stream`].
pub use rand::{Rng, RngExt};
use rand::{SeedableRng, TryRng};
use rand_pcg::Pcg64;
use std::convert::Infallible;

/// A stream of random numbers, created by [`stream`]; use the traits [`Rng`] and [`RngExt`] to draw from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stream(Pcg64);

impl TryRng for Stream {
    type Error = Infallible;

    #[inline]
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.0.try_next_u32()
    }

    #[inline]
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.0.try_next_u64()
    }

    #[inline]
    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.0.try_fill_bytes(bytes)
    }
}

/// Creates the stream of `purpose` at `place` under `seed`.
///
/// ```
/// use senv_core::rng::Rng;
/// let mut a = senv_core::rng::stream(7, "initialise", &[0]);
/// let mut b = senv_core::rng::stream(7, "initialise", &[0]);
/// assert_eq!(a.next_u64(), b.next_u64());
/// let mut c = senv_core::rng::stream(7, "initialise", &[1]);
/// assert_ne!(a.next_u64(), c.next_u64());
/// ```
#[must_use]
pub fn stream(seed: u64, purpose: &str, place: &[u64]) -> Stream {
    // Four words of SplitMix64 output from the seed, the name and the place.
    let mut state = mix_text(seed, purpose);
    for &coordinate in place {
        state = mix(state ^ coordinate);
    }
    let mut bytes = [0; 32];
    for word in bytes.chunks_exact_mut(8) {
        state = mix(state);
        word.copy_from_slice(&state.to_le_bytes());
    }
    Stream(Pcg64::from_seed(bytes))
}

#[cfg(test)]
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
