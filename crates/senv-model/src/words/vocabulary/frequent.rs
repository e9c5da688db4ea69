//! A hash table of frequent tokens that needs one memory access for most look-ups.

use super::key::{Key, hash_short, short_key};
use senv_base::TokenId;
use senv_kernels::kernels;

/// The maximum number of entries: 3 MiB, half of them used.
const MOST_ENTRIES: usize = 1 << 17;

/// Short tokens with open addressing: a token is at the index of its hash or after it.
///
/// An entry contains all bytes of its token, so a look-up reads one cache line instead of the four of the full table,
/// which depend on each other. Nearly all tokens of a text are frequent, so nearly all are found here. Frequent tokens
/// are inserted first, so the search finds them at its start.
#[derive(Debug, Clone)]
pub(super) struct Frequent {
    /// The entries: a power of two, at least half of them free.
    entries: Vec<TokenEntry>,
    /// Whether every short token is in the table.
    is_complete: bool,
}

/// A short token and its length plus 1; 0 marks a free entry.
#[derive(Debug, Clone, Copy)]
struct TokenEntry {
    key: Key,
    length: u32,
    id: u32,
}

impl Frequent {
    /// Builds the table from all tokens, most frequent first.
    pub(super) fn new<'a>(tokens: impl ExactSizeIterator<Item = &'a [u8]>) -> Self {
        let n = (2 * tokens.len()).next_power_of_two().clamp(2, MOST_ENTRIES);
        let mut frequent = Self { entries: vec![TokenEntry { key: (0, 0), length: 0, id: 0 }; n], is_complete: true };
        let mut taken = 0;
        for (id, token) in (0..).zip(tokens) {
            let Some(key) = short_key(token) else { continue };
            if taken == n / 2 {
                frequent.is_complete = false;
                break;
            }
            taken += 1;
            let mut index = frequent.index(hash_short(key));
            while frequent.entries[index].length != 0 {
                index = (index + 1) & (n - 1);
            }
            frequent.entries[index] = TokenEntry { key, length: token.len() as u32 + 1, id };
        }
        frequent
    }

    #[inline]
    fn index(&self, hash: u64) -> usize {
        (hash >> 16) as usize & (self.entries.len() - 1)
    }

    /// Prefetches the entry of a token before a search.
    #[inline]
    pub(super) fn prefetch(&self, hash: u64) {
        kernels::prefetch(&raw const self.entries[self.index(hash)]);
    }

    /// Returns the id of a short token. The `Err` of a missing token says whether another table may contain it.
    #[inline]
    pub(super) fn find(&self, key: Key, length: usize, hash: u64) -> Result<TokenId, bool> {
        let (mut at, length) = (self.index(hash), length as u32 + 1);
        loop {
            let entry = &self.entries[at];
            if entry.length == length && entry.key == key {
                return Ok(TokenId(entry.id));
            }
            if entry.length == 0 {
                return Err(!self.is_complete);
            }
            at = (at + 1) & (self.entries.len() - 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_short_tokens_are_here_until_half_of_the_entries_are_taken() {
        for n in [0, 1, 2, 3, 1000, MOST_ENTRIES / 2, MOST_ENTRIES / 2 + 1] {
            let tokens: Vec<String> = (0..n).map(|i| format!("{i:x}")).collect();
            let frequent = Frequent::new(tokens.iter().map(|token| token.as_bytes()));
            let find = |token: &str| {
                let key = short_key(token.as_bytes()).expect("short");
                frequent.find(key, token.len(), hash_short(key))
            };
            for (i, token) in tokens.iter().enumerate().take(MOST_ENTRIES / 2) {
                assert_eq!(find(token), Ok(TokenId(i as u32)));
            }
            let is_complete = n <= MOST_ENTRIES / 2;
            for token in ["", "x", "y\0"].into_iter().chain(tokens.get(MOST_ENTRIES / 2).map(String::as_str)) {
                assert_eq!(find(token), Err(!is_complete), "{token:?} of {n}");
            }
        }
    }

    #[test]
    fn nothing_and_null_characters_are_tokens_too() {
        let frequent = Frequent::new(["", "\0", "\0\0"].into_iter().map(str::as_bytes));
        for (id, length) in (0..).zip(0..3) {
            assert_eq!(frequent.find((0, 0), length, hash_short((0, 0))), Ok(TokenId(id)));
        }
        assert_eq!(frequent.find((0, 0), 3, hash_short((0, 0))), Err(false));
    }
}
