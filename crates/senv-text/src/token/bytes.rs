//! Classifies the bytes of a text eight at a time, so results are examined once per token instead of once per byte.

/// A one in each byte.
const EACH: u64 = u64::MAX / 255;
/// The top bit of each byte.
const UPPER: u64 = 128 * EACH;

/// Which of up to 64 bytes are at most the space character, as all ASCII white space is: bit `i` for byte `i`.
#[inline]
pub(super) fn low_bytes(bytes: &[u8]) -> u64 {
    // The top bit of a byte: set if the byte has it, or if the sum of its lower seven bits and 127 - 32 does.
    bits(bytes, |x| !(((x & !UPPER) + 95 * EACH) | x))
}

/// Which of up to 64 bytes are not ASCII letters or digits: bit `i` for byte `i`.
#[inline]
pub(super) fn mark_bytes(bytes: &[u8]) -> u64 {
    bits(bytes, |x| {
        let small = x & !UPPER;
        // The top bit of a sum says whether the byte is at least `from`.
        let reaches = |x: u64, from: u8| x + u64::from(128 - from) * EACH;
        let lower = small | (32 * EACH);
        let letter = reaches(lower, b'a') & !reaches(lower, b'z' + 1);
        let digit = reaches(small, b'0') & !reaches(small, b'9' + 1);
        !(letter | digit) | x
    })
}

/// The top bits of `class` applied to each eight bytes, one bit per byte.
#[inline(always)]
fn bits(bytes: &[u8], class: impl Fn(u64) -> u64) -> u64 {
    let of_eight =
        |word: [u8; 8]| ((class(u64::from_le_bytes(word)) & UPPER) >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56;
    let (words, rest) = bytes.as_chunks::<8>();
    let mut all = 0;
    for (i, &word) in words.iter().enumerate() {
        all |= of_eight(word) << (8 * i);
    }
    if !rest.is_empty() {
        let mut word = [0; 8];
        word[..rest.len()].copy_from_slice(rest);
        all |= (of_eight(word) & ((1 << rest.len()) - 1)) << (8 * words.len());
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_has_its_class_wherever_it_stands() {
        for byte in 0..=u8::MAX {
            for (n, at) in (1..=64).flat_map(|n| (0..n).map(move |at| (n, at))) {
                for others in [b'a', b' ', 0xff] {
                    let mut bytes = [others; 64];
                    bytes[at] = byte;
                    let bit = |bits: u64, i: usize| bits >> i & 1 == 1;
                    let (low, mark) = (low_bytes(&bytes[..n]), mark_bytes(&bytes[..n]));
                    assert_eq!(bit(low, at), byte <= b' ', "{byte} at {at} of {n}");
                    assert_eq!(bit(mark, at), !byte.is_ascii_alphanumeric(), "{byte} at {at} of {n}");
                    let all = |i: usize| if i == at { byte } else { others };
                    assert!((0..64).all(|i| bit(low, i) == (i < n && all(i) <= b' ')), "{byte} among {others}");
                    assert!((0..64).all(|i| bit(mark, i) == (i < n && !all(i).is_ascii_alphanumeric())));
                }
            }
        }
    }
}
