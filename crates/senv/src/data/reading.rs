//! From text to the tokens of a recurrent encoder, and encoding of many sentences.

use crate::base::range::require;
use ndarray::Array2;
use senv_core::{
    Coverage, Result as CoreResult, Rows, Scratch, Table, TokenId, Tokenizer, Vocabulary, arrays::TokenBatch,
};
use serde::{Deserialize, Serialize};

/// The names of the end token and the token for unknown words, as in the release of Skip-thoughts.
pub(crate) const SPECIAL: [&str; 2] = ["<eos>", "UNK"];

/// The end of a sentence, the first word of every vocabulary here.
pub(crate) const END: TokenId = TokenId(0);

/// The token for unknown words, the second word.
pub(crate) const UNKNOWN: TokenId = TokenId(1);

/// The maximum number of sentences per batch.
const A_BATCH: usize = 128;

/// The maximum number of tokens per batch, unless one sentence is longer. The hidden states of these tokens take most
/// of a batch's memory. Batches of 128 sentences of up to 128 tokens are not affected.
const A_BATCH_TOKENS: usize = 1 << 14;

/// The maximum number of tokens of a sentence that are encoded, unless training read more. No real sentence has as
/// many. The limit bounds the memory for a line that is not a sentence: 0.4 GB with the largest encoders of the papers
/// (2400 units).
pub(crate) const MOST_TOKENS: usize = 10_000;

/// How text becomes the tokens that an encoder reads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// The tokenizer.
    pub tokenizer: Tokenizer,
    /// The maximum number of tokens of a sentence that are read in training, at least 1. It does not limit encoding
    /// after training.
    pub max_tokens: usize,
    /// The token for unknown words; without it they are left out.
    pub unknown: Option<TokenId>,
    /// The token read after the last word.
    pub end: Option<TokenId>,
}

impl Reading {
    /// Returns a reading of known words only, at most `max_tokens` per training sentence.
    pub(crate) fn known_words(tokenizer: Tokenizer, max_tokens: usize) -> Self {
        Self { tokenizer, max_tokens, unknown: None, end: None }
    }

    /// Refuses settings that do not fit a vocabulary of `n_words`.
    pub(crate) fn check(&self, n_words: usize) -> crate::Result<()> {
        require(self.max_tokens >= 1, "max_tokens", "at least 1", self.max_tokens as f64)?;
        for token in self.unknown.iter().chain(&self.end) {
            let known = token.index() < n_words;
            require(known, "the token for unknown words or the end", "in the vocabulary", f64::from(token.0))?;
        }
        Ok(())
    }

    /// Clears `out` and writes the tokens of a sentence to encode; none without a known word. The training limit does
    /// not apply: only tokens after the first 10,000 are not read, and do not count as known.
    pub(crate) fn read(
        &self,
        vocabulary: &Vocabulary,
        text: &str,
        scratch: &mut String,
        out: &mut Vec<TokenId>,
    ) -> Coverage {
        self.read_at_most(self.max_tokens.max(MOST_TOKENS), vocabulary, text, scratch, out)
    }

    /// Does the same as the method for encoding, but reads at most `max_tokens` tokens of a training sentence.
    pub(crate) fn read_to_train(
        &self,
        vocabulary: &Vocabulary,
        text: &str,
        scratch: &mut String,
        out: &mut Vec<TokenId>,
    ) -> Coverage {
        self.read_at_most(self.max_tokens, vocabulary, text, scratch, out)
    }

    fn read_at_most(
        &self,
        most: usize,
        vocabulary: &Vocabulary,
        text: &str,
        scratch: &mut String,
        out: &mut Vec<TokenId>,
    ) -> Coverage {
        let Some(unknown) = self.unknown else {
            // Looking up only known words is faster.
            let tokens = vocabulary.known_tokens(&self.tokenizer, text, scratch, out).tokens;
            let unread = out.len().saturating_sub(most);
            out.truncate(most);
            let known = out.len();
            out.extend(self.end.filter(|_| known > 0));
            return Coverage { unread, ..Coverage::new(tokens, known) };
        };
        out.clear();
        let (mut tokens, mut known, mut unread) = (0, 0, 0);
        self.tokenizer.for_each(text, scratch, |token| {
            // In training, the names of the special tokens are unknown words.
            let id = vocabulary.id(token).filter(|_| !SPECIAL.contains(&token));
            tokens += 1;
            if out.len() < most {
                out.push(id.unwrap_or(unknown));
                known += usize::from(id.is_some());
            } else {
                unread += 1;
            }
        });
        if known == 0 {
            out.clear();
        } else {
            out.extend(self.end);
        }
        Coverage { unread, ..Coverage::new(tokens, known) }
    }
}

/// Gathers a batch of sentences with renumbered tokens, so nothing in it has the size of the vocabulary.
pub(crate) fn gather(words: &Table, sentences: &[&[TokenId]]) -> CoreResult<(TokenBatch, Array2<f32>)> {
    let mut distinct: Vec<TokenId> = sentences.iter().copied().flatten().copied().collect();
    distinct.sort_unstable();
    distinct.dedup();
    let place = |token: &TokenId| TokenId(distinct.partition_point(|other| other < token) as u32);
    let local: Vec<Vec<TokenId>> = sentences.iter().map(|sentence| sentence.iter().map(place).collect()).collect();
    let mut batch = TokenBatch::new();
    batch.assign(local.iter().map(Vec::as_slice))?;
    let mut rows = Array2::zeros((distinct.len(), words.dim()));
    for (mut row, token) in rows.rows_mut().into_iter().zip(&distinct) {
        row.assign(&ndarray::ArrayView1::from(Rows::row(words, token.index())));
    }
    Ok((batch, rows))
}

/// Encodes many sentences, in batches of about equal length.
pub(crate) fn encode_batch_by_length(
    sentences: &[&str],
    dim: usize,
    mut read: impl FnMut(&str, &mut String, &mut Vec<TokenId>) -> Coverage,
    encode: impl Fn(&[&[TokenId]]) -> CoreResult<Array2<f32>>,
) -> CoreResult<(Array2<f32>, Vec<Coverage>)> {
    let mut scratch = String::new();
    let mut coverage = Vec::with_capacity(sentences.len());
    let mut tokens: Vec<Vec<TokenId>> = Vec::with_capacity(sentences.len());
    for sentence in sentences {
        let mut out = Vec::new();
        coverage.push(read(sentence, &mut scratch, &mut out));
        tokens.push(out);
    }
    let mut order: Vec<usize> = (0..sentences.len()).collect();
    order.sort_by_key(|&i| std::cmp::Reverse(tokens[i].len()));
    let too_large = senv_core::Error::TooLarge { rows: sentences.len(), dim };
    let n = sentences.len().checked_mul(dim).ok_or(too_large)?;
    let mut values = Vec::new();
    values.try_reserve_exact(n).map_err(|_| senv_core::Error::TooLarge { rows: sentences.len(), dim })?;
    values.resize(n, 0.0);
    let mut rest = &order[..];
    while !rest.is_empty() {
        let (places, later) = rest.split_at(first_batch(rest.iter().map(|&i| tokens[i].len())));
        rest = later;
        let batch: Vec<&[TokenId]> = places.iter().map(|&i| &tokens[i][..]).collect();
        let vectors = encode(&batch)?;
        for (&i, vector) in places.iter().zip(vectors.rows()) {
            values[i * dim..][..dim].iter_mut().zip(vector).for_each(|(to, &x)| *to = x);
        }
    }
    let values = Array2::from_shape_vec((sentences.len(), dim), values)
        .map_err(|_| senv_core::Error::TooLarge { rows: sentences.len(), dim })?;
    Ok((values, coverage))
}

/// Returns how many of the sentences of these lengths form the first batch, at least 1.
fn first_batch(lengths: impl Iterator<Item = usize>) -> usize {
    let sums = lengths.scan(0_usize, |sum, n| {
        *sum = sum.saturating_add(n);
        Some(*sum)
    });
    sums.take(A_BATCH).take_while(|&sum| sum <= A_BATCH_TOKENS).count().max(1)
}

/// Writes the vector of one sentence to `out`.
pub(crate) fn encode_into_with(
    sentence: &str,
    scratch: &mut Scratch,
    out: &mut [f32],
    read: impl FnOnce(&str, &mut String, &mut Vec<TokenId>) -> Coverage,
    encode: impl FnOnce(&[&[TokenId]]) -> CoreResult<Array2<f32>>,
) -> Coverage {
    let mut tokens = std::mem::take(&mut scratch.tokens);
    let coverage = read(sentence, &mut scratch.text, &mut tokens);
    let vector = encode(&[&tokens]);
    // Shapes were checked when the model was built, and tokens come from its vocabulary.
    debug_assert!(vector.is_ok());
    match vector {
        Ok(vector) if vector.len() == out.len() => out.iter_mut().zip(&vector).for_each(|(to, &x)| *to = x),
        _ => out.fill(0.0),
    }
    scratch.tokens = tokens;
    coverage
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vocabulary() -> Vocabulary {
        Vocabulary::from_counts([("<eos>", 3), ("UNK", 1), ("cat", 9), ("sat", 4)], 17).unwrap()
    }

    /// What is read of a text: its tokens, the known and the unread ones.
    type Met = (Vec<u32>, usize, usize, usize);

    fn met(tokens: &[TokenId], coverage: Coverage) -> Met {
        (tokens.iter().map(|token| token.0).collect(), coverage.tokens, coverage.known, coverage.unread)
    }

    fn trained(reading: &Reading, text: &str) -> Met {
        let mut tokens = Vec::new();
        let coverage = reading.read_to_train(&vocabulary(), text, &mut String::new(), &mut tokens);
        met(&tokens, coverage)
    }

    fn encoded(reading: &Reading, text: &str) -> Met {
        let mut tokens = Vec::new();
        let coverage = reading.read(&vocabulary(), text, &mut String::new(), &mut tokens);
        met(&tokens, coverage)
    }

    fn reading(unknown: Option<TokenId>) -> Reading {
        Reading { tokenizer: Tokenizer::whitespace(), max_tokens: 2, unknown, end: None }
    }

    #[test]
    fn what_is_cut_off_in_training_is_not_known() {
        let reading = reading(Some(UNKNOWN));
        assert_eq!(trained(&reading, "cat sat sat"), (vec![2, 3], 3, 2, 1));
        assert_eq!(trained(&reading, "x y cat"), (vec![], 3, 0, 1), "no word that is read is known");
        assert_eq!(trained(&Reading { unknown: None, ..reading }, "x y cat"), (vec![2], 3, 1, 0));
    }

    #[test]
    fn what_training_cuts_off_is_encoded() {
        let reading = reading(Some(UNKNOWN));
        assert_eq!(encoded(&reading, "cat sat sat"), (vec![2, 3, 3], 3, 3, 0));
        assert_eq!(encoded(&reading, "x y cat"), (vec![1, 1, 2], 3, 1, 0));
        assert_eq!(encoded(&Reading { end: Some(END), ..reading }, "x y cat"), (vec![1, 1, 2, 0], 3, 1, 0));
    }

    #[test]
    fn the_bound_of_memory_cuts_and_says_how_much() {
        let reading = Reading { end: Some(END), ..reading(Some(UNKNOWN)) };
        for (n, unread) in [(MOST_TOKENS, 0), (MOST_TOKENS + 1, 1), (MOST_TOKENS + 900, 900)] {
            let (tokens, all, known, left) = encoded(&reading, &"cat ".repeat(n));
            assert_eq!((tokens.len(), tokens.last()), (MOST_TOKENS + 1, Some(&END.0)), "the end is always read");
            assert_eq!((all, known, left), (n, MOST_TOKENS, unread));
        }
        // A model that was trained on more than that encodes no less.
        let more = Reading { max_tokens: MOST_TOKENS + 5, ..reading };
        assert_eq!(encoded(&more, &"cat ".repeat(MOST_TOKENS + 5)).3, 0);
    }

    #[test]
    fn batches_hold_128_sentences_and_fewer_long_ones() {
        let first = |lengths: &[usize]| first_batch(lengths.iter().copied());
        assert_eq!(first(&[128; 200]), 128);
        assert_eq!(first(&[129; 200]), 127);
        assert_eq!(first(&[9000, 7000, 384, 1]), 3);
        assert_eq!(first(&[A_BATCH_TOKENS + 1, 1]), 1, "a longer one stands alone");
        assert_eq!(first(&[0; 200]), 128);
        assert_eq!(first(&[3]), 1);
    }

    #[test]
    fn names_of_special_tokens_are_unknown_words_where_there_are_such() {
        let reading = reading(Some(UNKNOWN));
        assert_eq!(encoded(&reading, "cat <eos>"), (vec![2, 1], 2, 1, 0));
        assert_eq!(encoded(&reading, "UNK <eos>"), (vec![], 2, 0, 0));
        assert_eq!(encoded(&Reading { unknown: None, ..reading }, "cat <eos>"), (vec![2, 0], 2, 2, 0));
    }
}
