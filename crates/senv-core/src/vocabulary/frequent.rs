//! A hash table of the frequent tokens, with one memory access for most look-ups.

use super::key::{Key, hash_short, short_key};
use crate::TokenId;

/// Entries at most: 768 KiB.
const MOST_PLACES: usize = 1 << 15;

/// Short tokens at an index given by their hash; where several share one, the most frequent.
///
/// An entry has all bytes of its token, so a look-up reads one cache line where the whole table reads four, one after
/// another; and as nearly all tokens of a text are frequent, nearly all are found here.
#[derive(Debug, Clone)]
pub(super) struct Frequent {
    /// A power of two.
    places: Vec<Place>,
}

/// A short token; a length beyond 16 marks a free entry.
#[derive(Debug, Clone, Copy)]
struct Place {
    key: Key,
    length: u32,
    id: u32,
}

impl Frequent {
    /// From all tokens, the most frequent first.
    pub(super) fn new<'a>(tokens: impl ExactSizeIterator<Item = &'a [u8]>) -> Self {
        let n = (2 * tokens.len()).next_power_of_two().min(MOST_PLACES);
        let mut frequent = Self { places: vec![Place { key: (0, 0), length: u32::MAX, id: 0 }; n] };
        for (id, token) in (0..).zip(tokens) {
            let Some(key) = short_key(token) else { continue };
            let place = frequent.place(hash_short(key));
            let place = &mut frequent.places[place];
            if place.length == u32::MAX {
                *place = Place { key, length: token.len() as u32, id };
            }
        }
        frequent
    }

    #[inline]
    fn place(&self, hash: u64) -> usize {
        (hash >> 16) as usize & (self.places.len() - 1)
    }

    /// The id of a short token, if it is here.
    #[inline]
    pub(super) fn find(&self, key: Key, length: usize, hash: u64) -> Option<TokenId> {
        let place = &self.places[self.place(hash)];
        (place.key == key && place.length as usize == length).then_some(TokenId(place.id))
    }
}
