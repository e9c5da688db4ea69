//! Counts the tokens of a text.

use hashbrown::HashTable;

use super::{
    Vocabulary,
    key::{Key, SHORT, hash, hash_short, short_key},
    no_memory,
};
use senv_base::{Error, Result};

/// Counts tokens. Each gets a provisional id in the order of first appearance.
///
/// ```
/// use senv_core::words::VocabularyBuilder;
/// let vocabulary = "the cat and the dog".split(' ').collect::<VocabularyBuilder>().finish(1)?;
/// assert_eq!(vocabulary.iter().map(|(_, word, count)| (word, count)).next(), Some(("the", 2)));
/// # Ok::<(), senv_core::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct VocabularyBuilder {
    text: String,
    entries: Vec<Entry>,
    index: HashTable<u32>,
    /// Recently seen short tokens, indexed by their hash. Most tokens of a text are found here, with one access to
    /// memory that stays in the processor cache.
    recent: Vec<Recent>,
}

/// All data of a token in one place: the entry of a rare token is in main memory, and is fetched once.
#[derive(Debug, Clone, Copy)]
struct Entry {
    /// The bytes of a short token, or the hash of a long one.
    key: Key,
    count: u64,
    /// The end of the token in the text.
    end: u64,
}

impl Entry {
    /// The hash of the token, which starts at `start`.
    fn hash(&self, start: usize) -> u64 {
        if self.end as usize - start <= SHORT { hash_short(self.key) } else { self.key.0 }
    }
}

/// A short token; a length above 16 marks a free entry.
#[derive(Debug, Clone, Copy)]
struct Recent {
    key: Key,
    length: u32,
    id: u32,
}

/// The number of entries for recent tokens, a power of two: 96 KiB.
const RECENT: usize = 4096;

impl<T: AsRef<str>> Extend<T> for VocabularyBuilder {
    fn extend<I: IntoIterator<Item = T>>(&mut self, tokens: I) {
        for token in tokens {
            self.add(token.as_ref());
        }
    }
}

impl<T: AsRef<str>> FromIterator<T> for VocabularyBuilder {
    fn from_iter<I: IntoIterator<Item = T>>(tokens: I) -> Self {
        let mut all = Self::default();
        all.extend(tokens);
        all
    }
}

impl VocabularyBuilder {
    /// Like [`VocabularyBuilder::add`], but returns an error if memory runs out; for large texts.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] if there is no memory for another token.
    #[inline]
    pub fn try_add(&mut self, token: &str) -> Result<u32> {
        self.make_room(token.len())?;
        Ok(self.add(token))
    }

    /// Like [`VocabularyBuilder::add_many`], but returns an error if memory runs out; for large texts.
    ///
    /// # Errors
    /// The errors of [`VocabularyBuilder::try_add`].
    #[doc(hidden)]
    pub fn try_add_many(&mut self, token: &str, count: u64) -> Result<u32> {
        self.make_room(token.len())?;
        Ok(self.add_many(token, count))
    }

    /// Reserves memory for a token with this number of bytes.
    #[inline]
    fn make_room(&mut self, bytes: usize) -> Result<()> {
        let Self { text, entries, index, .. } = self;
        let has_room = text.capacity() - text.len() >= bytes
            && entries.len() < entries.capacity()
            && index.len() < index.capacity();
        if has_room { Ok(()) } else { self.grow(bytes) }
    }

    #[cold]
    fn grow(&mut self, bytes: usize) -> Result<()> {
        let Self { text, entries, index, .. } = self;
        let needed = text.len() + bytes + entries.len() * (size_of::<Entry>() + size_of::<u32>());
        text.try_reserve(bytes).and_then(|()| entries.try_reserve(1)).map_err(|_| no_memory(needed))?;
        let start = |i: u32| if i == 0 { 0 } else { entries[i as usize - 1].end as usize };
        let rehash = |&i: &u32| entries[i as usize].hash(start(i));
        index.try_reserve(1, rehash).map_err(|_| no_memory(needed))
    }

    /// Counts one token and returns its provisional id. The program aborts if memory runs out; for a large text, use
    /// [`VocabularyBuilder::try_add`].
    #[inline]
    pub fn add(&mut self, token: &str) -> u32 {
        let Some(key) = short_key(token.as_bytes()) else { return self.add_many(token, 1) };
        let hash = hash_short(key);
        let place = (hash >> 16) as usize & (RECENT - 1);
        if let Some(recent) = self.recent.get(place)
            && recent.key == key
            && recent.length as usize == token.len()
        {
            self.entries[recent.id as usize].count += 1;
            return recent.id;
        }
        let id = self.add_hashed(token, key, hash, 1);
        if self.recent.is_empty() {
            self.recent.resize(RECENT, Recent { key: (0, 0), length: u32::MAX, id: 0 });
        }
        self.recent[place] = Recent { key, length: token.len() as u32, id };
        id
    }

    /// Counts `count` occurrences of a token and returns its provisional id.
    pub fn add_many(&mut self, token: &str, count: u64) -> u32 {
        let hash = hash(token.as_bytes());
        let key = short_key(token.as_bytes()).unwrap_or((hash, 0));
        self.add_hashed(token, key, hash, count)
    }

    fn add_hashed(&mut self, token: &str, key: Key, hash: u64, count: u64) -> u32 {
        let Self { text, entries, index, .. } = self;
        let start = |i: u32| if i == 0 { 0 } else { entries[i as usize - 1].end as usize };
        let same = |&i: &u32| {
            let entry = &entries[i as usize];
            entry.key == key
                && entry.end as usize - start(i) == token.len()
                && (token.len() <= SHORT || &text[start(i)..entry.end as usize] == token)
        };
        let rehash = |&i: &u32| entries[i as usize].hash(start(i));
        match index.entry(hash, same, rehash) {
            hashbrown::hash_table::Entry::Occupied(slot) => {
                let id = *slot.get();
                entries[id as usize].count += count;
                id
            }
            hashbrown::hash_table::Entry::Vacant(slot) => {
                let id = entries.len() as u32;
                slot.insert(id);
                text.push_str(token);
                entries.push(Entry { key, count, end: text.len() as u64 });
                id
            }
        }
    }

    /// Returns a token and its count.
    #[doc(hidden)]
    pub fn get(&self, id: u32) -> (&str, u64) {
        let Entry { count, end, .. } = self.entries[id as usize];
        (&self.text[self.start(id)..end as usize], count)
    }

    /// The start of a token in the text.
    fn start(&self, id: u32) -> usize {
        if id == 0 { 0 } else { self.entries[id as usize - 1].end as usize }
    }

    /// Returns all provisional ids, sorted by the bytes of their tokens.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] if there is no memory for sorting.
    #[doc(hidden)]
    pub fn ids_by_token(&self) -> Result<Vec<u32>> {
        // The first bytes nearly always decide and are adjacent in memory; the tokens themselves are scattered.
        let first = |token: &str| {
            let mut bytes = [0; 8];
            let n = token.len().min(8);
            bytes[..n].copy_from_slice(&token.as_bytes()[..n]);
            u64::from_be_bytes(bytes)
        };
        let (mut order, mut ids, n) = (Vec::<(u64, u32)>::new(), Vec::new(), self.len());
        let needed = n * (size_of::<(u64, u32)>() + size_of::<u32>());
        order.try_reserve_exact(n).and_then(|()| ids.try_reserve_exact(n)).map_err(|_| no_memory(needed))?;
        order.extend((0..).zip(self.iter()).map(|(id, (token, _))| (first(token), id)));
        order.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| self.get(a.1).0.cmp(self.get(b.1).0)));
        ids.extend(order.into_iter().map(|(_, id)| id));
        Ok(ids)
    }

    /// The minimum memory of the tokens in bytes; the memory reserved for more tokens can be as large again.
    #[doc(hidden)]
    pub fn bytes(&self) -> usize {
        self.text.len() + self.len() * (size_of::<Entry>() + 2 * size_of::<u32>())
    }

    /// The number of distinct tokens so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether no token was counted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Iterates over tokens and counts in the order of first appearance.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, u64)> + '_ {
        let mut start = 0;
        self.entries.iter().map(move |entry| {
            let token = &self.text[start..entry.end as usize];
            start = entry.end as usize;
            (token, entry.count)
        })
    }

    /// Builds the vocabulary of tokens that occur at least `min_count` times. Tokens are sorted by descending count,
    /// equal counts by bytes, so the order depends only on the text.
    ///
    /// # Errors
    /// [`Error::EmptyVocabulary`] if no token remains.
    pub fn finish(&self, min_count: u64) -> Result<Vocabulary> {
        self.finish_at_most(min_count, None)
    }

    /// Like [`VocabularyBuilder::finish`], with at most `max_tokens` tokens. The rarest are left out; among equal
    /// counts, the last by bytes.
    ///
    /// # Errors
    /// [`Error::EmptyVocabulary`] if no token remains.
    pub fn finish_at_most(&self, min_count: u64, max_tokens: Option<usize>) -> Result<Vocabulary> {
        self.finish_keeping(min_count, max_tokens, &[], 0)
    }

    /// Like [`VocabularyBuilder::finish_at_most`], but always keeps the tokens with these provisional ids, even beyond
    /// the limit. `others` is the number of occurrences of tokens that were counted elsewhere.
    ///
    /// # Errors
    /// [`Error::EmptyVocabulary`] if no token remains.
    #[doc(hidden)]
    pub fn finish_keeping(
        &self,
        min_count: u64,
        max_tokens: Option<usize>,
        keep: &[u32],
        others: u64,
    ) -> Result<Vocabulary> {
        let room = |n: usize, bytes: usize| no_memory(n * bytes);
        let mut stays = Vec::new();
        stays.try_reserve_exact(self.len()).map_err(|_| room(self.len(), 1))?;
        stays.resize(self.len(), false);
        keep.iter().for_each(|&id| stays[id as usize] = true);
        let (mut stay, mut kept) = (Vec::new(), Vec::new());
        let n_kept = self.entries.iter().filter(|entry| entry.count >= min_count.max(1)).count() + keep.len();
        kept.try_reserve_exact(n_kept).map_err(|_| room(n_kept, size_of::<(&str, u64)>()))?;
        for (token, &stays) in self.iter().zip(&stays) {
            if stays {
                stay.push(token);
            } else if token.1 >= min_count.max(1) {
                kept.push(token);
            }
        }
        let by_count = |a: &(&str, u64), b: &(&str, u64)| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0));
        if let Some(max_tokens) = max_tokens {
            kept.sort_unstable_by(by_count);
            kept.truncate(max_tokens.max(1).saturating_sub(stay.len()));
        }
        kept.append(&mut stay);
        if kept.is_empty() {
            let highest = self.entries.iter().map(|entry| entry.count).max().unwrap_or(0);
            return Err(Error::EmptyVocabulary { min_count, distinct: self.len(), highest });
        }
        kept.sort_unstable_by(by_count);
        Vocabulary::from_counts(kept, self.entries.iter().map(|entry| entry.count).sum::<u64>() + others)
    }
}
