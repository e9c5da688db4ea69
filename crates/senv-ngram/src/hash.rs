//! The string hash of fastText, and two ways to combine words into the hash of an n-gram.
//!
//! Equation: `fnv1a-signed`
//!
//! ```text
//! h_0 = 2166136261     h_i = ((h_{i−1} xor s(b_i)) · 16777619) mod 2^32     b_1, b_2, ...: bytes of the string
//! s(b) = b, sign-extended from 8 to 32 bits: bytes from 0x80 on flip the upper 24 bits too
//! ```
//!
//! Equation: `n-gram-hash`
//!
//! ```text
//! g(a_1) = a_1     g(a_1 .. a_n) = (g(a_1 .. a_{n−1}) · 116049371 + a_n) mod 2^64
//! bucket = g mod n_buckets
//! a = number of the token (Sent2Vec), or its string hash, sign-extended from 32 to 64 bits (fastText)
//! ```
//!
//! The textbook FNV-1a (Fowler, Noll, Vo) takes its bytes unsigned. fastText once relied on a signed `char`, and keeps
//! the result for the sake of published models. The two agree on ASCII and differ elsewhere. Pagliardini et al.,
//! "Unsupervised Learning of Sentence Embeddings using Compositional n-Gram Features", NAACL 2018, says "the same hash
//! as fastText". But its release only shares the multiplier of fastText. It combines token ids, so its buckets depend
//! on the order of the vocabulary.

use serde::{Deserialize, Serialize};

/// The multiplier between the words of an n-gram.
pub(crate) const MULTIPLIER: u64 = 116_049_371;

const OFFSET: u32 = 2_166_136_261;
const PRIME: u32 = 16_777_619;

/// The initial state, for hashes that are computed byte by byte.
pub(crate) const START: u32 = OFFSET;

/// Adds one byte to [`fnv1a_signed`].
#[inline]
pub(crate) const fn step_signed(hash: u32, byte: u8) -> u32 {
    (hash ^ (byte as i8 as i32 as u32)).wrapping_mul(PRIME)
}

/// The 32-bit FNV-1a hash with sign-extended bytes, which is the string hash of fastText and Sent2Vec.
///
/// ```
/// assert_eq!(senv_ngram::fnv1a_signed(b"foobar"), 0xbf9c_f968);
/// ```
#[must_use]
pub const fn fnv1a_signed(bytes: &[u8]) -> u32 {
    let (mut hash, mut i) = (OFFSET, 0);
    while i < bytes.len() {
        hash = step_signed(hash, bytes[i]);
        i += 1;
    }
    hash
}

/// The 32-bit FNV-1a hash as its authors define it; equal to [`fnv1a_signed`] on ASCII.
///
/// ```
/// assert_eq!(senv_ngram::fnv1a(b"foobar"), 0xbf9c_f968);
/// assert_ne!(senv_ngram::fnv1a("ä".as_bytes()), senv_ngram::fnv1a_signed("ä".as_bytes()));
/// ```
#[must_use]
pub const fn fnv1a(bytes: &[u8]) -> u32 {
    let (mut hash, mut i) = (OFFSET, 0);
    while i < bytes.len() {
        hash = (hash ^ bytes[i] as u32).wrapping_mul(PRIME);
        i += 1;
    }
    hash
}

/// The contribution of a word to the hash of an n-gram.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum NgramScheme {
    /// Its token id, as in the Sent2Vec release.
    #[default]
    TokenIds,
    /// Its string hash ([`fnv1a_signed`]), as in fastText; does not depend on the vocabulary's order.
    TokenHashes,
}

#[cfg(feature = "train")]
senv_core::named_values!(NgramScheme {
    TokenIds = "token-ids": "Of the ids of the tokens, as in the released code",
    TokenHashes = "token-hashes": "Of the strings of the tokens, as in fastText: independent of the vocabulary",
});

/// A string hash as an operand of an n-gram: sign-extended to 64 bits, as in fastText.
#[inline]
#[must_use]
pub const fn hash_operand(hash: u32) -> u64 {
    hash as i32 as i64 as u64
}

/// The hash of an n-gram extended by one word; a single word is its own hash.
#[inline]
#[must_use]
pub const fn append(hash: u64, operand: u64) -> u64 {
    hash.wrapping_mul(MULTIPLIER).wrapping_add(operand)
}

#[cfg(test)]
mod tests {
    use super::*;

    // Reference numbers made with NumPy in f64 and Python integers by the project's generator make_golden.py
    // (sent2vec.json, fnv1a_32_signed_bytes).
    const WORDS: [&str; 9] = ["a", "foobar", "the", "</s>", "cat", "naïve", "你好", "don't", ""];
    const SIGNED: [u32; 9] =
        [3826002220, 3214735720, 3020861980, 3617362777, 108289031, 3440832043, 718964643, 1773164909, 2166136261];
    const UNSIGNED: [u32; 9] =
        [3826002220, 3214735720, 3020861980, 3617362777, 108289031, 2577008683, 2257816995, 1773164909, 2166136261];

    #[test]
    fn both_string_hashes_give_the_reference_numbers() {
        assert_eq!(WORDS.map(|w| fnv1a_signed(w.as_bytes())), SIGNED);
        assert_eq!(WORDS.map(|w| fnv1a(w.as_bytes())), UNSIGNED);
    }

    #[test]
    fn a_string_hash_is_sign_extended() {
        assert_eq!(hash_operand(1), 1);
        assert_eq!(hash_operand(0x8000_0000), 0xFFFF_FFFF_8000_0000);
        assert_eq!(hash_operand(u32::MAX), u64::MAX);
    }

    #[test]
    fn n_gram_hashes_wrap_at_64_bits() {
        // 2^32 · 116049371 has 59 bits; one more factor goes beyond 64.
        let two = append(u64::from(u32::MAX), 7);
        assert_eq!(u128::from(two), u128::from(u32::MAX) * 116_049_371 + 7);
        let three = append(two, 9);
        assert_eq!(u128::from(three), (u128::from(two) * 116_049_371 + 9) % (1 << 64));
    }
}
