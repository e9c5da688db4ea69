//! The settings of the model in a `.bin` file, and its words.

use std::ops::Range;

/// The training method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    Cbow,
    SkipGram,
    Sent2Vec,
    /// CBOW with character and word n-grams, from Sent2Vec's program.
    CbowWithNgrams,
    /// A classifier.
    Supervised,
}

/// The settings that the file records.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Args {
    pub(super) method: Method,
    pub(super) dim: u32,
    pub(super) epochs: u32,
    pub(super) min_count: u32,
    pub(super) negatives: u32,
    pub(super) word_ngrams: u32,
    /// Buckets of word n-grams; of character n-grams for [`Method::Cbow`] and [`Method::SkipGram`]; of both for
    /// [`Method::Supervised`].
    pub(super) buckets: u32,
    /// Buckets of character n-grams, stored after those of word n-grams, for [`Method::CbowWithNgrams`].
    pub(super) char_buckets: u32,
    pub(super) min_n: u32,
    pub(super) max_n: u32,
    pub(super) subsample: f64,
}

/// A word of the dictionary.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Word {
    /// The range of its bytes in the file.
    pub(super) text: Range<usize>,
    pub(super) count: u64,
}

impl Args {
    /// Whether words have character n-grams.
    pub(super) fn has_char_ngrams(&self) -> bool {
        self.max_n > 0 && self.min_n <= self.max_n && self.method != Method::Sent2Vec
    }

    /// The number of character n-grams of these words if each byte is a character: an upper bound.
    pub(super) fn char_ngrams_at_most(&self, words: &[Word]) -> u64 {
        let lengths = if self.has_char_ngrams() { u64::from(self.max_n - self.min_n) + 1 } else { 0 };
        words.iter().map(|word| (word.text.len() as u64 + 2) * lengths).sum()
    }
}
