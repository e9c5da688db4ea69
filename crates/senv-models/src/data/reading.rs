//! From text to the tokens of a recurrent encoder, and vectors of many sentences at once.

use crate::base::range::require;
use ndarray::Array2;
use senv_core::{Coverage, Result as CoreResult, Rows, Scratch, Table, TokenBatch, TokenId, Tokenizer, Vocabulary};
use serde::{Deserialize, Serialize};

/// The names of the end token and of the one for unknown words, as in the release of Skip-thoughts.
pub(crate) const SPECIAL: [&str; 2] = ["<eos>", "UNK"];

/// The end of a sentence, the first word of every vocabulary here.
pub(crate) const END: TokenId = TokenId(0);

/// What stands for unknown words, the second.
pub(crate) const UNKNOWN: TokenId = TokenId(1);

/// Sentences that are encoded at a time where there are many.
const A_BATCH: usize = 128;

/// How text becomes the tokens that an encoder reads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// How text is cut.
    pub tokenizer: Tokenizer,
    /// Tokens of a sentence that are read, at least 1; the rest is cut off.
    pub max_tokens: usize,
    /// What stands for a word that is not known; without it such words are left out.
    pub unknown: Option<TokenId>,
    /// What is read after the last word.
    pub end: Option<TokenId>,
}

/// What [`Reading::read`] met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ReadSentence {
    pub(crate) coverage: Coverage,
    /// Whether the sentence was longer than the limit.
    pub(crate) cut: bool,
}

impl Reading {
    /// Refuses what makes no sense with a vocabulary of `n_words`.
    pub(crate) fn check(&self, n_words: usize) -> crate::Result<()> {
        require(self.max_tokens >= 1, "max_tokens", "at least 1", self.max_tokens as f64)?;
        for token in self.unknown.iter().chain(&self.end) {
            let known = token.index() < n_words;
            require(known, "token for unknown words or the end", "one of the vocabulary", f64::from(token.0))?;
        }
        Ok(())
    }

    /// Writes the tokens of a sentence to `out`, cleared first; none where no word that is read is known. Words beyond
    /// the limit do not count as known.
    pub(crate) fn read(
        &self,
        vocabulary: &Vocabulary,
        text: &str,
        scratch: &mut String,
        out: &mut Vec<TokenId>,
    ) -> ReadSentence {
        out.clear();
        let (mut tokens, mut known, mut cut) = (0, 0, false);
        self.tokenizer.for_each(text, scratch, |token| {
            // In training the names of the special tokens are words that are not known.
            let special = self.unknown.is_some() && SPECIAL.contains(&token);
            let id = vocabulary.id(token).filter(|_| !special);
            tokens += 1;
            if let Some(read) = id.or(self.unknown) {
                if out.len() < self.max_tokens {
                    out.push(read);
                    known += usize::from(id.is_some());
                } else {
                    cut = true;
                }
            }
        });
        if known == 0 {
            out.clear();
        } else {
            out.extend(self.end);
        }
        ReadSentence { coverage: Coverage::new(tokens, known), cut }
    }
}

/// A batch of sentences that holds nothing of the size of the vocabulary: its tokens are numbered anew.
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

/// The vectors of many sentences, in batches of about equal length.
pub(crate) fn encode_many(
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
    for places in order.chunks(A_BATCH) {
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

/// The vector of one sentence.
pub(crate) fn encode_one(
    sentence: &str,
    scratch: &mut Scratch,
    out: &mut [f32],
    read: impl FnOnce(&str, &mut String, &mut Vec<TokenId>) -> Coverage,
    encode: impl FnOnce(&[&[TokenId]]) -> CoreResult<Array2<f32>>,
) -> Coverage {
    let mut tokens = std::mem::take(&mut scratch.tokens);
    let coverage = read(sentence, &mut scratch.text, &mut tokens);
    let vector = encode(&[&tokens]);
    // Shapes were checked when the model was made; tokens come from its vocabulary.
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

    fn met(reading: &Reading, text: &str) -> (Vec<u32>, usize, usize, bool) {
        let vocabulary = Vocabulary::from_counts([("<eos>", 3), ("UNK", 1), ("cat", 9), ("sat", 4)], 17).unwrap();
        let mut tokens = Vec::new();
        let met = reading.read(&vocabulary, text, &mut String::new(), &mut tokens);
        (tokens.iter().map(|token| token.0).collect(), met.coverage.tokens, met.coverage.known, met.cut)
    }

    fn reading(unknown: Option<TokenId>) -> Reading {
        Reading { tokenizer: Tokenizer::blank(), max_tokens: 2, unknown, end: None }
    }

    #[test]
    fn what_is_cut_off_is_not_known() {
        let reading = reading(Some(UNKNOWN));
        assert_eq!(met(&reading, "cat sat sat"), (vec![2, 3], 3, 2, true));
        assert_eq!(met(&reading, "x y cat"), (vec![], 3, 0, true), "no word that is read is known");
        assert_eq!(met(&Reading { unknown: None, ..reading }, "x y cat"), (vec![2], 3, 1, false));
    }

    #[test]
    fn names_of_special_tokens_are_unknown_words_where_there_are_such() {
        let reading = reading(Some(UNKNOWN));
        assert_eq!(met(&reading, "cat <eos>"), (vec![2, 1], 2, 1, false));
        assert_eq!(met(&reading, "UNK <eos>"), (vec![], 2, 0, false));
        assert_eq!(met(&Reading { unknown: None, ..reading }, "cat <eos>"), (vec![2, 0], 2, 2, false));
    }
}
