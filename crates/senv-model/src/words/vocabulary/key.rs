//! Keys of tokens: the bytes of a short token as two integers, and a hash.

/// The bytes of a token of up to 16, padded with zeros. With the length they identify the token.
pub(super) type Key = (u64, u64);

/// The maximum length of a token with a [`Key`].
pub(super) const SHORT: usize = 16;

/// The key of a token of up to 16 bytes.
#[inline]
pub(super) fn short_key(bytes: &[u8]) -> Option<Key> {
    let eight = |at: usize| bytes.get(at..at + 8).and_then(|b| b.try_into().ok()).map(u64::from_le_bytes);
    let four = |at: usize| bytes.get(at..at + 4).and_then(|b| b.try_into().ok()).map(u32::from_le_bytes);
    let n = bytes.len();
    // Where the last bytes overlap with the first, they are read twice, which does not matter.
    match n {
        9..=16 => Some((eight(0)?, eight(n - 8)? >> (8 * (16 - n)))),
        8 => Some((eight(0)?, 0)),
        4..=7 => Some((u64::from(four(0)?) | u64::from(four(n - 4)?) << (8 * (n - 4)), 0)),
        1..=3 => {
            let byte = |at: usize| u64::from(bytes[at]) << (8 * at);
            Some((byte(0) | byte(n / 2) | byte(n - 1), 0))
        }
        0 => Some((0, 0)),
        _ => None,
    }
}

/// The key of `text[start..end]`, without a branch on the length: nearly all tokens are short and are followed by
/// enough text to read 16 bytes.
#[inline]
pub(super) fn key_within(text: &[u8], start: usize, end: usize) -> Option<Key> {
    let n = end - start;
    match text.get(start..start + SHORT).and_then(|window| window.try_into().ok()) {
        Some(window) if (1..=SHORT).contains(&n) => {
            let whole = u128::from_le_bytes(window) & (u128::MAX >> (8 * (SHORT - n)));
            Some((whole as u64, (whole >> 64) as u64))
        }
        _ => short_key(&text[start..end]),
    }
}

/// The high and low halves of a product, combined by exclusive or.
#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let wide = u128::from(a) * u128::from(b);
    (wide as u64) ^ (wide >> 64) as u64
}

const HASH_KEYS: [u64; 2] = [0x9E37_79B9_7F4A_7C15, 0xD6E8_FEB8_6659_FD93];

/// The hash of a short token.
#[inline]
pub(super) fn hash_short((low, high): Key) -> u64 {
    fold(low ^ HASH_KEYS[0], high ^ HASH_KEYS[1])
}

/// A fast hash of short strings. It is used only in memory, so it can change between releases.
#[inline]
pub(super) fn hash(bytes: &[u8]) -> u64 {
    short_key(bytes).map_or_else(|| hash_long(bytes), hash_short)
}

#[cold]
fn hash_long(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let state = words.iter().fold(HASH_KEYS[0], |state, &word| fold(state ^ u64::from_le_bytes(word), HASH_KEYS[1]));
    let rest = rest.iter().fold(0, |rest, &byte| rest << 8 | u64::from(byte));
    hash_short((fold(state, HASH_KEYS[0]) ^ bytes.len() as u64, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_the_bytes_wherever_the_token_stands() {
        let text: Vec<u8> = (1..=40).collect();
        for start in 0..text.len() {
            for end in start..=text.len() {
                let token = &text[start..end];
                let expected = (token.len() <= SHORT).then(|| {
                    let mut bytes = [0; SHORT];
                    bytes[..token.len()].copy_from_slice(token);
                    let whole = u128::from_le_bytes(bytes);
                    (whole as u64, (whole >> 64) as u64)
                });
                assert_eq!(short_key(token), expected);
                assert_eq!(key_within(&text, start, end), expected);
            }
        }
    }
}
