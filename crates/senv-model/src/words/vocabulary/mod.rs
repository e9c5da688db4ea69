//! Maps tokens to ids and counts.

mod builder;
mod frequent;
mod key;
mod longest;

use std::fmt;

use hashbrown::HashTable;

use crate::{Coverage, Terms};
pub use builder::VocabularyBuilder;
use frequent::Frequent;
use key::{Key, SHORT, hash, hash_short, key_within, short_key};
use senv_base::{Error, Result, TokenId};
use senv_text::Tokenizer;

/// The tokens of a model, most frequent first.
///
/// Tokens are stored back to back in one string, with a hash table of ids. So a vocabulary is written and read as two
/// arrays, and a look-up takes one hash and, nearly always, one comparison.
///
/// ```
/// use senv_core::Vocabulary;
/// let vocabulary = Vocabulary::from_counts([("cat", 3), ("sat", 2)], 9)?;
/// let id = vocabulary.id("sat").expect("known");
/// assert_eq!((vocabulary.token(id), vocabulary.count(id)), ("sat", 2));
/// assert_eq!(vocabulary.id("dog"), None);
/// # Ok::<(), senv_core::Error>(())
/// ```
#[derive(Clone)]
pub struct Vocabulary {
    text: String,
    /// Token `i` is `text[offsets[i]..offsets[i + 1]]`.
    offsets: Vec<u32>,
    counts: Vec<u64>,
    index: HashTable<u32>,
    frequent: Frequent,
    /// Whether a token contains a space, as phrases of other programs do.
    has_phrases: bool,
    corpus_tokens: u64,
    terms: Option<Box<str>>,
}

/// Prints its size, not its tokens.
impl fmt::Debug for Vocabulary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Vocabulary")
            .field("len", &self.counts.len())
            .field("terms", &self.terms)
            .finish_non_exhaustive()
    }
}

/// The number of tokens that are looked up at the same time.
const LOOK_AHEAD: usize = 8;

/// A token of a text that is not looked up yet: its key if it is short, the hash of the key, and its position.
#[derive(Debug, Clone, Copy, Default)]
struct Waiting {
    key: Key,
    hash: u64,
    start: usize,
    end: usize,
}

impl Vocabulary {
    /// Creates a vocabulary of these tokens in this order. `corpus_tokens` counts every token of the corpus, including
    /// those that were left out.
    ///
    /// # Errors
    /// [`Error::BadVocabulary`] if a token is repeated, or the tokens have more than 2^32 bytes.
    pub fn from_counts<S: AsRef<str>>(tokens: impl IntoIterator<Item = (S, u64)>, corpus_tokens: u64) -> Result<Self> {
        let (mut text, mut offsets, mut counts) = (String::new(), vec![0], Vec::new());
        for (token, count) in tokens {
            let (token, needed) = (token.as_ref(), text.len() + 12 * (counts.len() + 1));
            let reserved = text.try_reserve(token.len()).and_then(|()| offsets.try_reserve(1));
            reserved.and_then(|()| counts.try_reserve(1)).map_err(|_| no_memory(needed))?;
            text.push_str(token);
            offsets.push(
                u32::try_from(text.len())
                    .map_err(|_| Error::BadVocabulary { reason: "more than 4 GiB of tokens".into() })?,
            );
            counts.push(count);
        }
        Self::from_parts(text, offsets, counts, corpus_tokens)
    }

    /// Creates a vocabulary from its stored parts.
    ///
    /// # Errors
    /// [`Error::BadVocabulary`] if offsets, counts and text do not match or a token is repeated.
    pub fn from_parts(text: String, offsets: Vec<u32>, counts: Vec<u64>, corpus_tokens: u64) -> Result<Self> {
        let bad = |reason: String| Error::BadVocabulary { reason };
        if offsets.len() != counts.len() + 1 || offsets[0] != 0 || offsets[counts.len()] as usize != text.len() {
            return Err(bad(format!("{} offsets for {} counts and {} bytes", offsets.len(), counts.len(), text.len())));
        }
        if u32::try_from(counts.len()).is_err() {
            return Err(bad("more than 2^32 tokens".into()));
        }
        for w in offsets.windows(2) {
            if w[0] > w[1] || !text.is_char_boundary(w[0] as usize) {
                return Err(bad(format!("token boundary {} is out of order or inside a character", w[0])));
            }
        }
        let mut index = HashTable::new();
        // The table is still empty, so nothing is rehashed.
        index.try_reserve(counts.len(), |_| 0).map_err(|_| no_memory(counts.len() * size_of::<u32>()))?;
        let token = |i: u32| &text[offsets[i as usize] as usize..offsets[i as usize + 1] as usize];
        for id in 0..counts.len() as u32 {
            let word = token(id);
            let rehash = |&other: &u32| hash(token(other).as_bytes());
            match index.entry(hash(word.as_bytes()), |&other| token(other) == word, rehash) {
                hashbrown::hash_table::Entry::Vacant(slot) => slot.insert(id),
                hashbrown::hash_table::Entry::Occupied(slot) => {
                    return Err(bad(format!(
                        "duplicate token {word}, at {} and at {id}",
                        slot.get(),
                        word = senv_base::quoted(word)
                    )));
                }
            };
        }
        let frequent = Frequent::new((0..counts.len() as u32).map(|id| token(id).as_bytes()));
        let has_phrases = text.as_bytes().contains(&b' ');
        Ok(Self { text, offsets, counts, index, frequent, has_phrases, corpus_tokens, terms: None })
    }

    /// The number of tokens.
    #[must_use]
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// Whether there are no tokens.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Returns the id of a token, if it is in the vocabulary.
    #[inline]
    #[must_use]
    pub fn id(&self, token: &str) -> Option<TokenId> {
        let key = short_key(token.as_bytes()).unwrap_or_default();
        self.find(token.as_bytes(), key, hash_short(key))
    }

    /// Looks up the tokens of a text, in order, and writes their ids to `out` (cleared first). Unknown tokens are left
    /// out.
    ///
    /// For `scratch`, see [`Tokenizer::for_each`]. Nothing is allocated once it and `out` have grown.
    pub fn known_tokens(
        &self,
        tokenizer: &Tokenizer,
        text: &str,
        scratch: &mut String,
        out: &mut Vec<TokenId>,
    ) -> Coverage {
        let tokens = self.known_tokens_or(tokenizer, text, scratch, out, |_, _| {});
        Coverage::new(tokens, out.len())
    }

    /// Like [`Vocabulary::known_tokens`], but passes every unknown token to `unknown`, with the ids found so far, which
    /// it can extend. Returns the number of tokens.
    pub fn known_tokens_or(
        &self,
        tokenizer: &Tokenizer,
        text: &str,
        scratch: &mut String,
        out: &mut Vec<TokenId>,
        mut unknown: impl FnMut(&str, &mut Vec<TokenId>),
    ) -> usize {
        out.clear();
        if tokenizer.is_longest_first() {
            return self.longest_known(tokenizer, text, scratch, out, &mut unknown);
        }
        let mut n = 0;
        // While the table entry of a token comes from memory, some other tokens are found.
        let mut waiting = [Waiting::default(); LOOK_AHEAD];
        let text = tokenizer.for_each_within(text, scratch, |text, start, end| {
            let bytes = text.as_bytes();
            // Long tokens have no key, and are recognized by their length.
            let key = key_within(bytes, start, end).unwrap_or_default();
            let hash = hash_short(key);
            self.frequent.prefetch(hash);
            let next = &mut waiting[n % LOOK_AHEAD];
            let first = std::mem::replace(next, Waiting { key, hash, start, end });
            if n >= LOOK_AHEAD {
                self.found(text, first, out, &mut unknown);
            }
            n += 1;
        });
        for i in n.saturating_sub(LOOK_AHEAD)..n {
            self.found(text, waiting[i % LOOK_AHEAD], out, &mut unknown);
        }
        n
    }

    /// Adds the id of a token to `out`, or passes the token to `unknown`.
    #[inline(always)]
    fn found(
        &self,
        text: &str,
        Waiting { key, hash, start, end }: Waiting,
        out: &mut Vec<TokenId>,
        unknown: &mut impl FnMut(&str, &mut Vec<TokenId>),
    ) {
        match self.find(&text.as_bytes()[start..end], key, hash) {
            Some(id) => out.push(id),
            None => unknown(&text[start..end], out),
        }
    }

    /// Finds a token; `key` and `hash` are used only if it is short.
    #[inline(always)]
    fn find(&self, token: &[u8], key: Key, hash: u64) -> Option<TokenId> {
        if token.len() > SHORT {
            return self.find_rare(token, key::hash(token));
        }
        match self.frequent.find(key, token.len(), hash) {
            Ok(id) => Some(id),
            Err(true) => self.find_rare(token, hash),
            Err(false) => None,
        }
    }

    #[inline(never)]
    fn find_rare(&self, token: &[u8], hash: u64) -> Option<TokenId> {
        self.index.find(hash, |&id| self.token(TokenId(id)).as_bytes() == token).map(|&id| TokenId(id))
    }

    /// Returns the token of an id.
    ///
    /// # Panics
    /// If the id is not below [`Vocabulary::len`].
    #[inline]
    #[must_use]
    pub fn token(&self, id: TokenId) -> &str {
        &self.text[self.offsets[id.index()] as usize..self.offsets[id.index() + 1] as usize]
    }

    /// Returns how often the token occurred in the corpus.
    ///
    /// # Panics
    /// If the id is not below [`Vocabulary::len`].
    #[must_use]
    pub fn count(&self, id: TokenId) -> u64 {
        self.counts[id.index()]
    }

    /// The counts, in the order of the ids.
    #[must_use]
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// The number of all tokens of the corpus, including those that were left out: the denominator of relative
    /// frequencies.
    #[must_use]
    pub fn corpus_tokens(&self) -> u64 {
        self.corpus_tokens
    }

    /// The terms of use of these words and of what was trained for them, if they come from a model with terms.
    /// Human-readable text that model files keep. [`Terms`] reads the license in it.
    #[must_use]
    pub fn terms(&self) -> Option<&str> {
        self.terms.as_deref()
    }

    /// Returns the vocabulary with the terms of `other`, if it has some, in addition to its own ([`Terms::and`]).
    /// `other` contains the words whose vectors training starts from.
    #[must_use]
    pub fn with_terms_of(self, other: Option<&Self>) -> Self {
        let Some(terms) = other.and_then(Self::terms) else { return self };
        let both = self.terms().map_or_else(|| terms.to_owned(), |own| Terms::new(own).and(Terms::new(terms)));
        self.with_terms(Some(&both))
    }

    /// Returns the vocabulary with these terms.
    #[must_use]
    pub fn with_terms(mut self, terms: Option<&str>) -> Self {
        self.terms = terms.map(Into::into);
        self
    }

    /// The relative frequency of a token in the corpus, in `[0, 1]`; 0 if the corpus is unknown.
    #[must_use]
    pub fn frequency(&self, id: TokenId) -> f64 {
        if self.corpus_tokens == 0 { 0.0 } else { self.count(id) as f64 / self.corpus_tokens as f64 }
    }

    /// Iterates over ids, tokens and counts, in the order of the ids.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (TokenId, &str, u64)> + '_ {
        self.counts.iter().enumerate().map(|(i, &count)| {
            let id = TokenId(i as u32);
            (id, self.token(id), count)
        })
    }

    /// The tokens back to back, as [`Vocabulary::from_parts`] takes them.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The boundaries of the tokens in [`Vocabulary::text`], one more than there are tokens.
    #[must_use]
    pub fn offsets(&self) -> &[u32] {
        &self.offsets
    }
}

fn no_memory(bytes: usize) -> Error {
    Error::OutOfMemory { what: "a vocabulary", bytes: bytes as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_by_count_then_bytes_and_the_cut_keeps_the_denominator() {
        let mut builder = VocabularyBuilder::default();
        for token in "b a c a b d ä".split(' ') {
            builder.add(token);
        }
        let vocabulary = builder.finish(1).unwrap();
        let order: Vec<&str> = vocabulary.iter().map(|(_, token, _)| token).collect();
        assert_eq!(order, ["a", "b", "c", "d", "ä"]);
        let cut = builder.finish(2).unwrap();
        assert_eq!((cut.len(), cut.corpus_tokens()), (2, 7));
        assert_eq!(cut.frequency(TokenId(0)), 2.0 / 7.0);
        assert_eq!(builder.finish_at_most(1, Some(3)).unwrap().text(), "abc");
        assert_eq!(builder.finish_at_most(2, Some(9)).unwrap().text(), "ab");
        let rare = builder.add_many("d", 0);
        let new = builder.add_many("new", 0);
        let keeping = |min_count, max| {
            let vocabulary = builder.finish_keeping(min_count, max, &[new, rare], 0).unwrap();
            vocabulary.iter().map(|(_, token, count)| format!("{token}{count}")).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(
            [keeping(2, None), keeping(1, Some(3)), keeping(9, None)],
            ["a2 b2 d1 new0", "a2 d1 new0", "d1 new0"]
        );
        assert_eq!(keeping(1, Some(1)), "d1 new0", "what stays is more than the limit");
        assert!(matches!(builder.finish(3), Err(Error::EmptyVocabulary { min_count: 3, distinct: 6, highest: 2 })));
    }

    #[test]
    fn every_token_is_found_again_and_no_other() {
        let words: Vec<String> = (0..5000).map(|i| format!("w{i}-{}", "x".repeat(i % 20))).collect();
        let vocabulary = Vocabulary::from_counts(words.iter().map(|w| (w, 1)), 5000).unwrap();
        for (i, word) in words.iter().enumerate() {
            assert_eq!(vocabulary.id(word), Some(TokenId(i as u32)));
            assert_eq!(vocabulary.id(&format!("{word}?")), None);
        }
        assert_eq!(vocabulary.id(""), None);
    }

    #[test]
    fn the_tokens_of_a_text_are_found_with_any_text_behind_them() {
        let words: Vec<String> = (0..100_000).map(|i| format!("{}{i}", "é".repeat(i % 9))).collect();
        let vocabulary = Vocabulary::from_counts(words.iter().map(|w| (w, 1)), 100_000).unwrap();
        let (mut scratch, mut ids) = (String::new(), Vec::new());
        for i in (0..words.len() - 40).step_by(37) {
            let text = format!("{} no {}", words[i..i + 40].join(" "), words[i]);
            let ends = [0, 1, 20].map(|cut| text.len() - cut);
            for end in ends.into_iter().filter(|&end| text.is_char_boundary(end)) {
                for tokenizer in [Tokenizer::whitespace(), Tokenizer::words().lowercase(true)] {
                    let coverage = vocabulary.known_tokens(&tokenizer, &text[..end], &mut scratch, &mut ids);
                    let tokens = tokenizer.tokens(&text[..end]);
                    let expected: Vec<TokenId> = tokens.iter().filter_map(|token| vocabulary.id(token)).collect();
                    assert_eq!(ids, expected);
                    assert_eq!(coverage, Coverage::new(tokens.len(), expected.len()));
                    assert!(expected.len() >= 34 && expected[0] == TokenId(i as u32));
                }
            }
        }
    }

    #[test]
    fn counting_agrees_with_a_map_for_tokens_of_every_length() {
        let mut words: Vec<String> = (0..40).flat_map(|n| ["a", "b", "\0"].map(|c| c.repeat(n))).collect();
        words.extend((0..20_000).map(|i| format!("{:x}", i * i)));
        words.extend((0..3000).map(|i| format!("{}{i}", "é".repeat(i % 9))));
        let mut builder = VocabularyBuilder::default();
        let mut map = std::collections::HashMap::<&str, (u32, u64)>::new();
        for i in 0..200_000_usize {
            let word = &words[i.wrapping_mul(i) % words.len()];
            let next = map.len() as u32;
            let entry = map.entry(word).or_insert((next, 0));
            entry.1 += 1;
            assert_eq!(builder.add(word), entry.0, "{word:?}");
        }
        assert_eq!(builder.len(), map.len());
        assert!(builder.iter().all(|(word, count)| map[word].1 == count));
    }

    #[test]
    fn parts_that_do_not_fit_are_refused() {
        let parts = |text: &str, offsets: &[u32], counts: &[u64]| {
            Vocabulary::from_parts(text.into(), offsets.into(), counts.into(), 0)
        };
        assert!(parts("ab", &[0, 1, 2], &[1, 1]).is_ok());
        assert!(parts("ab", &[0, 1], &[1]).is_err(), "text left over");
        assert!(parts("ab", &[0, 1, 2], &[1]).is_err(), "counts missing");
        assert!(parts("ab", &[0, 2, 1, 2], &[1, 1, 1]).is_err(), "offset falls back");
        assert!(parts("ä", &[0, 1, 2], &[1, 1]).is_err(), "inside a character");
        assert!(parts("aa", &[0, 1, 2], &[1, 1]).is_err(), "repeated");
        assert!(parts("", &[], &[]).is_err(), "no offsets");
    }
}
