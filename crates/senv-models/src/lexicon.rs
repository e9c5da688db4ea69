//! From text to numbers of rows: known words, and the character n-grams of unknown ones where a model has rows for them.

use senv_core::{Coverage, TokenId, Tokenizer, Vocabulary};
use senv_ngram::CharNgrams;
use serde::{Deserialize, Serialize};

use crate::Result;

/// Rows for what is not in the vocabulary: names, numbers, misspellings, rare forms.
///
/// An unknown word counts as the sum of its character n-grams, word boundaries included (`character-n-grams`), each a row
/// found by hashing. So two sentences that share an unknown name are alike for that, and a rare form is near its stem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubwordParams {
    /// Shortest n-gram in characters, at least 1.
    pub min_n: usize,
    /// Longest n-gram.
    pub max_n: usize,
    /// Rows that n-grams share.
    pub buckets: u32,
}

impl Default for SubwordParams {
    fn default() -> Self {
        Self { min_n: 3, max_n: 5, buckets: 20_000 }
    }
}

/// Tokenizer, vocabulary and n-grams of a model.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lexicon<'a> {
    pub(crate) tokenizer: &'a Tokenizer,
    pub(crate) vocabulary: &'a Vocabulary,
    pub(crate) subwords: Option<Subwords>,
}

impl Lexicon<'_> {
    /// The numbers of the tokens of `text` that have any.
    pub(crate) fn number(&self, text: &str, scratch: &mut String, tokens: &mut Vec<TokenId>) -> Coverage {
        let Some(subwords) = &self.subwords else {
            return self.vocabulary.known_tokens(self.tokenizer, text, scratch, tokens);
        };
        tokens.clear();
        let mut coverage = Coverage::default();
        self.tokenizer.for_each(text, scratch, |token| {
            let before = tokens.len();
            match self.vocabulary.id(token) {
                Some(id) => tokens.push(id),
                None => subwords.push(token, tokens),
            }
            coverage.tokens += 1;
            coverage.known += usize::from(tokens.len() > before);
        });
        coverage
    }
}

/// The rows of n-grams: behind those of `n_words` words.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Subwords {
    n_words: u32,
    n_grams: CharNgrams,
}

impl Subwords {
    pub(crate) fn new(params: SubwordParams, vocabulary: &Vocabulary) -> Result<Self> {
        let SubwordParams { min_n, max_n, buckets } = params;
        crate::fit::require(min_n >= 1, "shortest character n-gram", "at least 1", min_n as f64)?;
        let n_words = vocabulary.len() as u32;
        let fits = n_words.checked_add(buckets).is_some();
        crate::fit::require(fits, "buckets of character n-grams", "below 2^32 with all words", f64::from(buckets))?;
        Ok(Self { n_words, n_grams: CharNgrams::new(min_n, max_n, buckets)? })
    }

    pub(crate) fn params(&self) -> SubwordParams {
        let n_grams = &self.n_grams;
        SubwordParams { min_n: n_grams.min_n(), max_n: n_grams.max_n(), buckets: n_grams.n_buckets() }
    }

    /// Rows of the table: words and buckets.
    pub(crate) fn n_rows(&self) -> usize {
        self.n_words as usize + self.n_grams.n_buckets() as usize
    }

    /// The numbers of the n-grams of an unknown word.
    pub(crate) fn push(&self, word: &str, tokens: &mut Vec<TokenId>) {
        if self.n_grams.max_n() == 1 {
            tokens.push(TokenId(self.n_words + senv_ngram::fnv1a_signed(word.as_bytes()) % self.n_grams.n_buckets()));
            return;
        }
        self.n_grams.for_each(word, |n_gram| tokens.push(TokenId(self.n_words + n_gram.bucket)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_words_have_their_rows_and_unknown_ones_those_of_their_n_grams() {
        let vocabulary = Vocabulary::from_counts([("the", 5), ("cat", 2)], 7).unwrap();
        let tokenizer = Tokenizer::words().lowercase(true);
        let params = SubwordParams { min_n: 3, max_n: 3, buckets: 100 };
        let subwords = Subwords::new(params, &vocabulary).unwrap();
        assert_eq!(subwords.n_rows(), 102);
        let lexicon = Lexicon { tokenizer: &tokenizer, vocabulary: &vocabulary, subwords: Some(subwords) };
        let (mut scratch, mut tokens) = (String::new(), Vec::new());
        // <zoo> has the runs <zo, zoo, oo>.
        let coverage = lexicon.number("The zoo cat", &mut scratch, &mut tokens);
        assert_eq!((coverage.tokens, coverage.known, tokens.len()), (3, 3, 5));
        assert_eq!((tokens[0], tokens[4]), (TokenId(0), TokenId(1)));
        assert!(tokens[1..4].iter().all(|token| (2..102).contains(&token.0)));
        let without = Lexicon { subwords: None, ..lexicon };
        let coverage = without.number("The zoo cat", &mut scratch, &mut tokens);
        assert_eq!((coverage.tokens, coverage.known, tokens.len()), (3, 2, 2));
        assert!(Subwords::new(SubwordParams { min_n: 0, ..params }, &vocabulary).is_err());
        assert!(Subwords::new(SubwordParams { buckets: u32::MAX, ..params }, &vocabulary).is_err());
    }
}
