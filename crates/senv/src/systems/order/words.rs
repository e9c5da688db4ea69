//! The words of an order part: those of a table, and buckets of unknown ones, with their fixed features.
//!
//! Equation: `order-features`
//!
//! ```text
//! e(w) = [ r(w) / |r(w)| ; x(w) ]       r: the row of the table;  x ~ N(0, I/k), k values drawn from a hash of w and a seed
//! e(u) = [ s(u) / √D ; x(u) ]           u: the bucket of an unknown word;  s ∈ {−1, 1}^D by a hash (`unknown-word`)
//! ```
//!
//! Word w of the table has its id; bucket i of unknown words has the id V + i. A name that no text has held before opens and closes
//! skip-bigrams of its own, so that it matters where it stands.

use senv_core::{
    Coverage, Scratch, StaticEncoder, Table, TokenId, init,
    rng::stream,
    words::{look_up_parts, unknown_word_value},
};
use senv_ngram::fnv1a;

use crate::error::Result;

/// Buckets of unknown words.
pub(super) const BUCKETS: usize = 8192;

/// The words of a table with the buckets of unknown ones.
#[derive(Debug, Clone, Copy)]
pub(super) struct Words<'t> {
    pub(super) table: &'t StaticEncoder,
    /// Number of random features of a word, k.
    pub(super) random: usize,
    pub(super) seed: u64,
}

impl Words<'_> {
    /// Words of the table and buckets together.
    pub(super) fn len(self) -> usize {
        self.table.vocabulary().len() + BUCKETS
    }

    /// Number of features of a word.
    pub(super) fn n_features(self) -> usize {
        self.table.rows().dim() + self.random
    }

    /// Writes the features of a word.
    pub(super) fn features(self, word: usize, out: &mut [f32]) {
        let vocabulary = self.table.vocabulary();
        let (row, random) = out.split_at_mut(self.table.rows().dim());
        let hash = match word.checked_sub(vocabulary.len()) {
            None => {
                self.table.rows().row_into(word, row);
                senv_core::kernels::l2_normalize(row);
                fnv1a(vocabulary.token(TokenId(word as u32)).as_bytes())
            }
            Some(bucket) => {
                row.fill(0.0);
                init::add_signs(&format!("bucket {bucket}"), unknown_word_value(1.0, row.len()), row);
                // A word of the table may have this hash, but not this place.
                return self.random_features(&[1, bucket as u64], random);
            }
        };
        self.random_features(&[0, u64::from(hash)], random);
    }

    fn random_features(self, place: &[u64], out: &mut [f32]) {
        let deviation = 1.0 / (self.random.max(1) as f64).sqrt();
        // N(0, 1/k) is a distribution: this cannot fail.
        let _ = init::normal(&mut stream(self.seed, "order words", place), out, deviation);
    }

    /// The features of all words, a row each.
    pub(super) fn table_of_features(self) -> Result<Table> {
        let mut table = Table::zeros(self.len(), self.n_features())?;
        for word in 0..self.len() {
            self.features(word, table.row_mut(word));
        }
        Ok(table)
    }

    /// The words of a text in their order, into `tokens` (cleared first), buckets of unknown ones in their places. The vectors of
    /// unknown words are summed in `unknown`, where the table has such vectors.
    pub(super) fn read(self, text: &str, scratch: &mut Scratch) -> Coverage {
        let (vocabulary, dim) = (self.table.vocabulary(), self.table.rows().dim());
        let Scratch { text: buffer, tokens, unknown, .. } = scratch;
        unknown.clear();
        let value = self.table.unknown_word_length().map(|length| unknown_word_value(length, dim));
        let mut n_unknown = 0;
        let place_unknown = |part: &str, tokens: &mut Vec<TokenId>| {
            n_unknown += 1;
            tokens.push(TokenId((vocabulary.len() + fnv1a(part.as_bytes()) as usize % BUCKETS) as u32));
            if let Some(value) = value {
                unknown.resize(dim, 0.0);
                init::add_signs(part, value, unknown);
            }
        };
        // A table that leaves unknown words out does not look for their parts either.
        let tokenizer = self.table.tokenizer();
        let n = match value {
            Some(_) => look_up_parts(vocabulary, tokenizer, text, buffer, tokens, place_unknown),
            None => vocabulary.known_tokens_or(tokenizer, text, buffer, tokens, place_unknown),
        };
        let hashed = if value.is_some() { n_unknown } else { 0 };
        Coverage { hashed, ..Coverage::new(n, tokens.len() - n_unknown) }
    }

    /// The words of a text, at most `longest`.
    pub(super) fn tokens(self, text: &str, longest: usize, scratch: &mut Scratch) -> Vec<TokenId> {
        self.read(text, scratch);
        scratch.tokens.iter().copied().take(longest).collect()
    }
}
