//! How rare a word is.

use std::collections::HashMap;

use senv_core::{TokenId, Tokenizer, Vocabulary, words::look_up_parts};

use super::words::{Known, Words};

/// A rarity that no known word has: of a word that is not in the vocabulary.
pub(super) const UNKNOWN: f32 = f32::MAX;

/// The rarity below which a word is a function word, which is in any text. Capitals do not make it a name.
const FUNCTION_WORD: f32 = 1_200.0;

/// The rarity of a word is about this times its rank, as in English.
const PER_RANK: f32 = 17.0;

/// The number of words from which a text tells what is rare, and the count up to which a word is rare in it.
const COUNTED_FROM: u64 = 10_000;
const RARE_COUNT: u64 = 2;

/// Tells the rarity of words: a word of rarity r is one in r words; 0 for a function word.
#[derive(Debug)]
pub(super) enum Lookup<'v> {
    Counts(&'v Vocabulary),
    /// Words are ordered by frequency.
    Ranks(&'v Vocabulary),
    /// The words of the texts themselves, by count, and their number.
    Texts(HashMap<String, u64>, u64),
}

impl<'v> Lookup<'v> {
    pub(super) fn new(vocabulary: &'v Vocabulary, texts: &[impl AsRef<str>]) -> Self {
        let counts = vocabulary.counts();
        if counts.is_empty() {
            let (mut counts, mut n) = (HashMap::new(), 0);
            for text in texts {
                let words = Words::of(text.as_ref(), |_, _| Known { rarity: 0.0, is_unknown: false });
                for word in &words.words {
                    *counts.entry(words.get(word).to_owned()).or_insert(0) += 1;
                    n += 1;
                }
            }
            return Self::Texts(counts, n);
        }
        let has_counts = vocabulary.corpus_tokens() > 0 && counts[0] > counts[counts.len() - 1];
        if has_counts { Self::Counts(vocabulary) } else { Self::Ranks(vocabulary) }
    }

    /// Looks up a word, in lower case and as written, or else the word that it is a form of.
    pub(super) fn get(&self, word: &str, written: &str) -> Known {
        let (vocabulary, rarity): (_, &dyn Fn(TokenId) -> f32) = match self {
            Self::Counts(vocabulary) => (*vocabulary, &|id| 1.0 / (vocabulary.frequency(id) as f32).max(1e-30)),
            Self::Ranks(vocabulary) => (*vocabulary, &|id| PER_RANK * id.0 as f32),
            Self::Texts(counts, n) => return of_count(counts.get(word).copied().unwrap_or(0), *n),
        };
        let lower = vocabulary.id(word).map(rarity);
        let cased = if written == word { None } else { vocabulary.id(written).map(rarity) };
        let found = match (lower, cased) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        let (is_unknown, rarity) = match found {
            Some(rarity) => (false, rarity),
            None => {
                let (mut scratch, mut ids) = (String::new(), Vec::new());
                look_up_parts(vocabulary, &Tokenizer::whitespace(), word, &mut scratch, &mut ids, |_, _| {});
                (true, ids.first().map_or(UNKNOWN, |&id| rarity(id)))
            }
        };
        Known { rarity: if rarity < FUNCTION_WORD { 0.0 } else { rarity }, is_unknown }
    }
}

fn of_count(count: u64, n: u64) -> Known {
    if n < COUNTED_FROM {
        return Known { rarity: 0.0, is_unknown: false };
    }
    let rarity = if count <= RARE_COUNT { UNKNOWN } else { n as f32 / count as f32 };
    Known { rarity: if rarity < FUNCTION_WORD { 0.0 } else { rarity }, is_unknown: count <= 1 }
}
