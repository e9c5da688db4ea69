//! The words of an order part: those of a table, and buckets of unknown words, with their fixed features.
//!
//! Equation: `order-features`
//!
//! ```text
//! e(w) = [ r(w) / |r(w)| ; x(w) ]       r: the row of the table;  x ∈ {−1/√k, 1/√k}^k by a hash of w
//! e(u) = [ s(u) / √D ; x(u) ]           u: the bucket of an unknown word;  s ∈ {−1, 1}^D by a hash (`unknown-word`)
//! ```
//!
//! Word w of the table has its id; bucket i of unknown words has the id V + i. A name that is in no training text opens
//! and closes its own skip-bigrams, so its position matters.

use super::part_norm;
use crate::{
    Coverage, Scratch, StaticEncoder, add_signs,
    words::{look_up_parts, unknown_word_value},
};
use senv_base::{TokenId, hash::mix_text};
use senv_kernels::kernels;

/// The number of buckets of unknown words.
pub const UNKNOWN_BUCKETS: usize = 8192;

/// The words of a table, followed by the buckets of unknown words.
///
/// ```
/// use senv_core::{Scratch, StaticEncoder, Table, Tokenizer, Vocabulary, static_model::{CompressedRows, RowEncoding, order::OrderWords}};
/// let vocabulary = Vocabulary::from_counts([("cat", 1)], 1)?;
/// let rows = CompressedRows::compress(&Table::from_vec(1, 2, vec![3.0, 4.0])?, RowEncoding::F32)?;
/// let table = StaticEncoder::new(Tokenizer::words(), vocabulary, rows, Some(5.0))?;
/// let words = OrderWords { table: &table, random: 4 };
/// let mut features = [0.0; 6];
/// words.features(0, &mut features);
/// assert_eq!(features.map(f32::abs), [0.6, 0.8, 0.5, 0.5, 0.5, 0.5]);
///
/// let mut scratch = Scratch::default();
/// let coverage = words.read("cat Ishmael cat", &mut scratch);
/// assert_eq!((coverage.tokens, coverage.known, coverage.hashed), (3, 2, 1));
/// assert_eq!(scratch.tokens[0], scratch.tokens[2]);
/// assert!((1..words.len()).contains(&scratch.tokens[1].index()));
/// # Ok::<(), senv_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct OrderWords<'t> {
    /// The table.
    pub table: &'t StaticEncoder,
    /// The number of random features of a word, k.
    pub random: usize,
}

impl OrderWords<'_> {
    /// The number of words of the table and of buckets; never 0.
    #[must_use]
    #[allow(clippy::len_without_is_empty)]
    pub fn len(self) -> usize {
        self.table.vocabulary().len() + UNKNOWN_BUCKETS
    }

    /// The number of features of a word.
    #[must_use]
    pub fn n_features(self) -> usize {
        self.table.rows().dim() + self.random
    }

    /// Writes the features of a word.
    ///
    /// # Panics
    /// If there is no such word, or `out` does not have [`OrderWords::n_features`] values.
    pub fn features(self, word: usize, out: &mut [f32]) {
        let vocabulary = self.table.vocabulary();
        assert!(word < self.len() && out.len() == self.n_features(), "features of word {word} in {} values", out.len());
        let (row, random) = out.split_at_mut(self.table.rows().dim());
        random.fill(0.0);
        let value = unknown_word_value(1.0, random.len());
        match word.checked_sub(vocabulary.len()) {
            None => {
                self.table.rows().row_into(word, row);
                let norm = part_norm(row);
                if norm > 0.0 {
                    kernels::scale((1.0 / norm) as f32, row);
                }
                add_signs(&format!("order word {}", vocabulary.token(TokenId(word as u32))), value, random);
            }
            Some(bucket) => {
                row.fill(0.0);
                add_signs(&format!("bucket {bucket}"), unknown_word_value(1.0, row.len()), row);
                add_signs(&format!("order bucket {bucket}"), value, random);
            }
        }
    }

    /// Reads the words of a text, in order, into the tokens of `scratch` (cleared first), with buckets in place of
    /// unknown words. If the table has vectors for unknown words, their sum goes to `scratch.unknown`.
    pub fn read(self, text: &str, scratch: &mut Scratch) -> Coverage {
        let (vocabulary, dim) = (self.table.vocabulary(), self.table.rows().dim());
        let Scratch { text: buffer, tokens, unknown, .. } = scratch;
        unknown.clear();
        let value = self.table.unknown_word_length().map(|length| unknown_word_value(length, dim));
        let mut n_unknown = 0;
        let place_unknown = |part: &str, tokens: &mut Vec<TokenId>| {
            n_unknown += 1;
            tokens.push(TokenId((vocabulary.len() + bucket_of(part)) as u32));
            if let Some(value) = value {
                unknown.resize(dim, 0.0);
                add_signs(part, value, unknown);
            }
        };
        // A table that leaves unknown words out does not look up their parts either.
        let tokenizer = self.table.tokenizer();
        let n = match value {
            Some(_) => look_up_parts(vocabulary, tokenizer, text, buffer, tokens, place_unknown),
            None => vocabulary.known_tokens_or(tokenizer, text, buffer, tokens, place_unknown),
        };
        let hashed = if value.is_some() { n_unknown } else { 0 };
        Coverage { hashed, ..Coverage::new(n, tokens.len() - n_unknown) }
    }

    /// Returns the words of a text, at most `longest`.
    #[must_use]
    pub fn tokens(self, text: &str, longest: usize, scratch: &mut Scratch) -> Vec<TokenId> {
        self.read(text, scratch);
        scratch.tokens.iter().copied().take(longest).collect()
    }
}

/// The bucket of an unknown word.
fn bucket_of(word: &str) -> usize {
    (mix_text(u64::from_le_bytes(*b"order bu"), word) % UNKNOWN_BUCKETS as u64) as usize
}
