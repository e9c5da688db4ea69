//! The remainder of a division by a fixed number, computed without a division.
//!
//! Equation: `constant-remainder`
//!
//! ```text
//! m = ⌊(2^64 − 1) / d⌋     q = ⌊h · m / 2^64⌋     r = h − q · d,  minus d again if r ≥ d
//! ```
//!
//! m = 2^64/d − e with 0 < e ≤ 1, so h·m/2^64 = h/d − e·h/2^64 > h/d − 1. Thus q is the quotient or one less, and a
//! single correction makes r exact for every h below 2^64. The method is from Barrett, "Implementing the RSA public key
//! encryption algorithm on a standard digital signal processor", 1986; here the whole word is the shift.

use crate::{Error, Result};

/// A number of hash buckets, prepared for taking remainders.
///
/// ```
/// let buckets = senv_ngram::Buckets::new(2_000_000)?;
/// assert_eq!(buckets.of(u64::MAX), (u64::MAX % 2_000_000) as u32);
/// # Ok::<(), senv_ngram::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Buckets {
    n: u32,
    reciprocal: u64,
}

impl Buckets {
    /// Prepares `n` buckets.
    ///
    /// # Errors
    /// [`Error::InvalidBuckets`] if `n` is 0.
    pub const fn new(n: u32) -> Result<Self> {
        if n == 0 {
            return Err(Error::InvalidBuckets { got: 0 });
        }
        Ok(Self { n, reciprocal: u64::MAX / n as u64 })
    }

    /// The number of buckets.
    #[must_use]
    pub const fn len(&self) -> u32 {
        self.n
    }

    /// Always `false`: there is at least one bucket.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        false
    }

    /// The bucket of a hash: `hash mod n`, exactly.
    #[inline]
    #[must_use]
    pub const fn of(&self, hash: u64) -> u32 {
        let n = self.n as u64;
        let quotient = ((hash as u128 * self.reciprocal as u128) >> 64) as u64;
        // Below 2n: subtract n unless that is negative. Plain x86-64 has no vector instruction for 64-bit comparisons;
        // without one, a sentence of 20 bigrams takes 52 ns instead of 61 ns.
        let less = hash.wrapping_sub(quotient.wrapping_mul(n)).wrapping_sub(n) as i64;
        (less as u32).wrapping_add((less >> 63) as u32 & self.n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_remainder_is_exact_around_every_multiple_that_is_hard() {
        for n in
            [1, 2, 3, 7, 1000, 65_535, 65_536, 1_999_993, 2_000_000, 1 << 31, (1 << 31) + 1, u32::MAX - 1, u32::MAX]
        {
            let buckets = Buckets::new(n).unwrap();
            let d = u64::from(n);
            let last = u64::MAX / d;
            for multiple in [0, 1, 2, last / 2, last - 1, last].map(|k: u64| k.wrapping_mul(d)) {
                for h in [multiple.wrapping_sub(1), multiple, multiple.wrapping_add(1), multiple.wrapping_add(d - 1)] {
                    assert_eq!(u64::from(buckets.of(h)), h % d, "{h} mod {n}");
                }
            }
            assert_eq!(u64::from(buckets.of(u64::MAX)), u64::MAX % d);
        }
    }

    #[test]
    fn no_bucket_at_all_is_refused() {
        assert!(matches!(Buckets::new(0), Err(Error::InvalidBuckets { got: 0 })));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn the_remainder_is_that_of_a_division(h in any::<u64>(), n in 1..=u32::MAX, shift in 0..32_u32) {
            let n = (n >> shift).max(1);
            prop_assert_eq!(u64::from(Buckets::new(n).unwrap().of(h)), h % u64::from(n));
        }
    }
}
