//! Sizes of a data set: numbers of sentences, words and distinct words, and sentence lengths.

use std::{
    collections::HashSet,
    hash::{BuildHasher, RandomState},
};

use senv_core::Tokenizer;
use serde::Serialize;

use crate::report::{Align, TextTable, number};

/// The sizes of a data set. Repeated sentences count once in `n_distinct_sentences` and each time elsewhere.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DataSizes {
    /// Name of the data set.
    pub name: String,
    /// Number of pairs: the lines of a set of pairs, or the ordered pairs of two different sentences of one group.
    pub n_pairs: Option<u64>,
    /// Number of groups, such as images.
    pub n_groups: Option<u64>,
    /// Number of sentences.
    pub n_sentences: u64,
    /// Number of distinct sentences.
    pub n_distinct_sentences: u64,
    /// Number of tokens.
    pub n_tokens: u64,
    /// Number of distinct tokens, in lower case.
    pub n_distinct_tokens: u64,
    /// The mean length of a sentence in tokens.
    pub mean_length: Option<f64>,
    /// The standard deviation of the lengths.
    pub length_deviation: Option<f64>,
}

/// Counts the sentences of a text, one at a time. Memory grows with the number of distinct sentences and tokens.
///
/// ```
/// let mut sizes = senv_eval::TextSizes::default();
/// ["A dog runs.", "A dog runs.", "Rain"].iter().for_each(|sentence| sizes.add(sentence));
/// let sizes = sizes.finish("captions");
/// assert_eq!((sizes.n_sentences, sizes.n_distinct_sentences), (3, 2));
/// assert_eq!((sizes.n_tokens, sizes.n_distinct_tokens, sizes.mean_length), (9, 5, Some(3.0)));
/// ```
#[derive(Debug)]
pub struct TextSizes {
    tokenizer: Tokenizer,
    hasher: RandomState,
    // 64-bit hashes. Two of a million distinct sentences collide in one of 37 million texts.
    sentences: HashSet<u64>,
    tokens: HashSet<u64>,
    n_sentences: u64,
    n_tokens: u64,
    squares: f64,
}

impl Default for TextSizes {
    fn default() -> Self {
        Self {
            tokenizer: Tokenizer::words().lowercase(true),
            hasher: RandomState::new(),
            sentences: HashSet::new(),
            tokens: HashSet::new(),
            n_sentences: 0,
            n_tokens: 0,
            squares: 0.0,
        }
    }
}

impl TextSizes {
    /// Counts a sentence.
    pub fn add(&mut self, sentence: &str) {
        let hash = |text: &str| self.hasher.hash_one(text);
        self.sentences.insert(hash(sentence));
        let tokens = self.tokenizer.tokens(sentence);
        self.tokens.extend(tokens.iter().map(|token| hash(token)));
        self.n_sentences += 1;
        self.n_tokens += tokens.len() as u64;
        self.squares += (tokens.len() as f64).powi(2);
    }

    /// Returns the counts.
    #[must_use]
    pub fn finish(self, name: impl Into<String>) -> DataSizes {
        let (n, sum) = (self.n_sentences as f64, self.n_tokens as f64);
        let mean = (self.n_sentences > 0).then(|| sum / n);
        let squares = mean.map(|mean| (self.squares - n * mean * mean).max(0.0));
        DataSizes {
            name: name.into(),
            n_pairs: None,
            n_groups: None,
            n_sentences: self.n_sentences,
            n_distinct_sentences: self.sentences.len() as u64,
            n_tokens: self.n_tokens,
            n_distinct_tokens: self.tokens.len() as u64,
            mean_length: mean,
            length_deviation: squares.filter(|_| n > 1.0).map(|squares| (squares / (n - 1.0)).sqrt()),
        }
    }
}

impl DataSizes {
    /// Formats a table with one row per data set.
    #[must_use]
    pub fn to_text(sizes: &[Self]) -> String {
        let names =
            ["groups", "pairs", "sentences", "distinct", "tokens", "distinct", "tokens per sentence", "deviation"];
        let titles = names.map(|name| (name, Align::Right));
        let mut table = TextTable::new(std::iter::once(("data set", Align::Left)).chain(titles));
        for set in sizes {
            let optional = |n: Option<u64>| n.map_or_else(|| "-".to_owned(), |n| n.to_string());
            table.row([
                set.name.clone(),
                optional(set.n_groups),
                optional(set.n_pairs),
                set.n_sentences.to_string(),
                set.n_distinct_sentences.to_string(),
                set.n_tokens.to_string(),
                set.n_distinct_tokens.to_string(),
                number(set.mean_length, 2),
                number(set.length_deviation, 2),
            ]);
        }
        table.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lengths 1, 2 and 6: mean 3; squared deviations 4 + 1 + 9, divided by 2.
    #[test]
    fn lengths_have_their_mean_and_their_deviation() {
        let mut sizes = TextSizes::default();
        ["a", "a B", "a b c d e A"].iter().for_each(|sentence| sizes.add(sentence));
        let sizes = sizes.finish("x");
        assert_eq!((sizes.mean_length, sizes.n_distinct_tokens), (Some(3.0), 5));
        assert!((sizes.length_deviation.unwrap() - 7_f64.sqrt()).abs() < 1e-12);
        let text = DataSizes::to_text(&[DataSizes { n_pairs: Some(7), ..sizes }]);
        let last: Vec<&str> = text.lines().last().unwrap().split_whitespace().collect();
        assert_eq!(last, ["x", "-", "7", "3", "3", "9", "5", "3.00", "2.65"]);
        let none = TextSizes::default().finish("none");
        assert_eq!((none.mean_length, none.length_deviation), (None, None));
    }
}
