//! The loops that write the features of a sentence: one for words, one for bigrams, one for any order.
//!
//! They run for every sentence of every epoch. Bigrams are by far the most common choice. Their loop avoids an
//! unpredictable branch: it writes dropped features too, and overwrites them with the next feature.

use senv_core::{FeatureList, RowId, TokenId};

use crate::{DropoutMask, DropoutScheme, hash::append};

pub(crate) trait RowsOf {
    /// The row of a word.
    fn word(&self, token: TokenId) -> RowId;
    /// The contribution of a token to the hash of an n-gram.
    fn operand(&self, token: TokenId) -> u64;
    /// The row of an n-gram with this hash.
    fn bucket(&self, hash: u64) -> RowId;
}

/// Writes words and n-grams up to `max_n`; without dropout, `n_features` in all.
#[inline]
pub(crate) fn features(
    rows_of: &impl RowsOf,
    tokens: &[TokenId],
    (max_n, n_features): (usize, usize),
    dropped: Option<(DropoutScheme, &DropoutMask)>,
    out: &mut FeatureList,
) {
    use DropoutScheme::{Paper, Release, Tokens};
    match (max_n, dropped) {
        (1, _) => words(rows_of, tokens, out),
        (2, None) => bigrams(rows_of, tokens, out),
        (2, Some((Tokens | Release, mask))) => {
            some_bigrams(rows_of, tokens, |i| !(mask.contains(i) | mask.contains(i + 1)), out);
        }
        // The index of a bigram is that of its first token.
        (2, Some((Paper, mask))) => some_bigrams(rows_of, tokens, |i| !mask.contains(i), out),
        (_, None) => any_order(rows_of, tokens, (max_n, n_features), KeepAll, out),
        (_, Some((Tokens | Release, mask))) => any_order(rows_of, tokens, (max_n, n_features), DropTokens(mask), out),
        (_, Some((Paper, mask))) => {
            any_order(rows_of, tokens, (max_n, n_features), DropNgrams { mask, number: 0 }, out);
        }
    }
}

/// Words only.
#[inline]
fn words(rows_of: &impl RowsOf, tokens: &[TokenId], out: &mut FeatureList) {
    let n = tokens.len();
    let (rows, ends, first) = out.resize(n, n);
    rows.iter_mut().zip(tokens).for_each(|(row, &token)| *row = rows_of.word(token));
    ends.iter_mut().zip(0..).for_each(|(end, i)| *end = i);
    first.iter_mut().zip(0..).for_each(|(first, i)| *first = i);
}

/// Words and bigrams without dropout.
#[inline]
fn bigrams(rows_of: &impl RowsOf, tokens: &[TokenId], out: &mut FeatureList) {
    let Some((&last, _)) = tokens.split_last() else {
        out.clear();
        return;
    };
    let n = tokens.len();
    let (rows, ends, first) = out.resize(n, 2 * n - 1);
    for (rows, pair) in rows.chunks_exact_mut(2).zip(tokens.windows(2)) {
        rows[0] = rows_of.word(pair[0]);
        rows[1] = rows_of.bucket(append(rows_of.operand(pair[0]), rows_of.operand(pair[1])));
    }
    rows[2 * n - 2] = rows_of.word(last);
    // Token i has its word at 2i, followed by its bigram, which ends at i + 1.
    ends.iter_mut().zip(0_u32..).for_each(|(end, i)| *end = i.div_ceil(2));
    first.iter_mut().zip(0_u32..).for_each(|(first, i)| *first = 2 * i);
}

/// Words, and the bigrams whose first token `keep` accepts.
#[inline]
fn some_bigrams(rows_of: &impl RowsOf, tokens: &[TokenId], keep: impl Fn(usize) -> bool, out: &mut FeatureList) {
    let Some((&last, _)) = tokens.split_last() else {
        out.clear();
        return;
    };
    let n = tokens.len();
    let (rows, ends, first) = out.resize(n, 2 * n - 1);
    let mut at = 0;
    for (i, (pair, first)) in tokens.windows(2).zip(first.iter_mut()).enumerate() {
        *first = at as u32;
        let (row, end) = (&mut rows[at..at + 2], &mut ends[at..at + 2]);
        row[0] = rows_of.word(pair[0]);
        row[1] = rows_of.bucket(append(rows_of.operand(pair[0]), rows_of.operand(pair[1])));
        (end[0], end[1]) = (i as u32, i as u32 + 1);
        at += 1 + usize::from(keep(i));
    }
    first[n - 1] = at as u32;
    (rows[at], ends[at]) = (rows_of.word(last), n as u32 - 1);
    out.truncate(at + 1);
}

/// Words and n-grams up to `max_n`, one at a time.
#[inline]
fn any_order(
    rows_of: &impl RowsOf,
    tokens: &[TokenId],
    (max_n, n_features): (usize, usize),
    mut keep: impl Keep,
    out: &mut FeatureList,
) {
    let n = tokens.len();
    let (rows, ends, first) = out.resize(n, n_features);
    let mut at = 0;
    for (start, (&token, first)) in tokens.iter().zip(first).enumerate() {
        *first = at as u32;
        (rows[at], ends[at]) = (rows_of.word(token), start as u32);
        at += 1;
        if !keep.token(start) {
            continue;
        }
        let mut hash = rows_of.operand(token);
        for (end, &token) in tokens.iter().enumerate().take((start + max_n).min(n)).skip(start + 1) {
            if !keep.token(end) {
                break;
            }
            hash = append(hash, rows_of.operand(token));
            (rows[at], ends[at]) = (rows_of.bucket(hash), end as u32);
            at += usize::from(keep.n_gram());
        }
    }
    out.truncate(at);
}

/// The choices of dropout, called in feature order.
trait Keep {
    /// Whether n-grams can contain this token.
    fn token(&self, token: usize) -> bool;
    /// Whether the next n-gram is kept.
    fn n_gram(&mut self) -> bool;
}

struct KeepAll;

impl Keep for KeepAll {
    #[inline]
    fn token(&self, _: usize) -> bool {
        true
    }
    #[inline]
    fn n_gram(&mut self) -> bool {
        true
    }
}

struct DropTokens<'a>(&'a DropoutMask);

impl Keep for DropTokens<'_> {
    #[inline]
    fn token(&self, token: usize) -> bool {
        !self.0.contains(token)
    }
    #[inline]
    fn n_gram(&mut self) -> bool {
        true
    }
}

/// Drops n-grams, by their number in the sentence.
struct DropNgrams<'a> {
    mask: &'a DropoutMask,
    number: usize,
}

impl Keep for DropNgrams<'_> {
    #[inline]
    fn token(&self, _: usize) -> bool {
        true
    }
    #[inline]
    fn n_gram(&mut self) -> bool {
        self.number += 1;
        !self.mask.contains(self.number - 1)
    }
}
