//! The layout of the `.bin` files of fastText and of Sent2Vec's program, checked before memory is taken.
//!
//! Little-endian, packed without padding:
//!
//! 1. i32 793712314; i32 version: 12, or 11, which Sent2Vec's program writes too.
//! 2. i32 dimension, window, epochs, least count, negatives, longest word n-gram, loss, model, buckets, (for model 5 alone)
//!    buckets of character n-grams, shortest and longest character n-gram, updates of the learning rate; f64 threshold of
//!    subsampling. Models: 1 CBOW, 2 skip-gram, 3 supervised; of Sent2Vec's program 4 Sent2Vec, 5 CBOW with n-grams of
//!    characters and words.
//! 3. i32 entries, words, labels; i64 tokens of the corpus; i64 pairs of the table of kept n-grams, -1 where all are kept.
//!    For each entry its bytes, a zero, i64 count, u8 type (0 word, 1 label); words stand before labels.
//! 4. u8 1 where the input matrix is quantized; i64 rows, i64 columns, f32 values row by row; the output matrix likewise. Files
//!    of Sent2Vec's program may end before the latter, which encoding does without.

use std::{
    ops::{Range, RangeInclusive},
    path::Path,
};

use crate::error::{Error, Result};

/// The first bytes of the file.
pub(super) const MAGIC: [u8; 4] = 793_712_314_i32.to_le_bytes();

/// Bytes of the shortest entry of the dictionary: a zero, a count, a type.
const SHORTEST_ENTRY: u64 = 10;

/// The longest character n-gram that is believed; usual are 6 or fewer.
pub(super) const LONGEST_CHAR_NGRAM: u32 = 255;

/// The most bytes of a word that are believed. fastText reads any; of a longer one, the vectors of all its character
/// n-grams would be added up when the file is opened.
const LONGEST_WORD: usize = 1 << 16;

/// The most character n-grams of all words together that are believed: the largest published models have some hundred million.
/// Their vectors are all added up when a file is opened, and short words of a long file cost as much as one long word.
const MOST_CHAR_NGRAMS: u64 = 1 << 30;

/// Rows behind those of n-grams that a Sent2Vec model may have. The program makes as many as it has buckets of character
/// n-grams, 1 by default, though such a model has no character n-grams, and does not record their number.
const MOST_UNUSED: u64 = 1 << 31;

/// What was trained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    Cbow,
    SkipGram,
    Sent2Vec,
    /// CBOW with n-grams of characters and words, of Sent2Vec's program.
    CbowWithNgrams,
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
    /// Buckets of word n-grams, or for [`Method::Cbow`] and [`Method::SkipGram`] of character n-grams.
    pub(super) buckets: u32,
    /// Buckets of character n-grams behind those of word n-grams, for [`Method::CbowWithNgrams`].
    pub(super) char_buckets: u32,
    pub(super) min_n: u32,
    pub(super) max_n: u32,
    pub(super) subsample: f64,
}

/// A word of the dictionary.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Word {
    /// Where its bytes stand.
    pub(super) text: Range<usize>,
    pub(super) count: u64,
}

/// Where everything stands in a file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Layout {
    pub(super) args: Args,
    pub(super) corpus_tokens: u64,
    pub(super) words: Vec<Word>,
    /// The bytes of the input matrix: first the rows of words, then those of n-grams.
    pub(super) input: Range<usize>,
}

impl Layout {
    /// Reads everything but the values of the matrices.
    pub(super) fn read(path: &Path, bytes: &[u8]) -> Result<Self> {
        let mut reader = Reader { path, bytes, at: 0 };
        if reader.take(4, "the magic number")? != MAGIC {
            return Err(reader.bad("this is no .bin file of fastText or Sent2Vec's program".into()));
        }
        let version = reader.i32("the version")?;
        if !matches!(version, 11 | 12) {
            return Err(reader.bad(format!(
                "version {version} of the format, 11 and 12 are read; another release of fastText wrote it"
            )));
        }
        let args = reader.args(version)?;
        let (corpus_tokens, words) = reader.dictionary()?;
        let n_char_ngrams = args.char_ngrams_at_most(&words);
        if n_char_ngrams > MOST_CHAR_NGRAMS {
            let lengths = format!("of {} to {} characters", args.min_n, args.max_n);
            return Err(reader.bad(format!(
                "the words have some {n_char_ngrams} n-grams {lengths}, at most {MOST_CHAR_NGRAMS} are read; the file is damaged"
            )));
        }
        match reader.flag("whether the matrix is quantized")? {
            false => {}
            true => {
                let reason =
                    "a quantized model (.ftz), which is not read: give the .bin file that it was made of, or its .vec";
                return Err(reader.bad(reason.into()));
            }
        }
        let n_rows = words.len() as u64 + u64::from(args.buckets) + u64::from(args.char_buckets);
        let n_unused = if args.method == Method::Sent2Vec { MOST_UNUSED } else { 0 };
        let input = reader.matrix("input", n_rows..=n_rows + n_unused, args.dim)?;
        let ends_early = matches!(args.method, Method::Sent2Vec | Method::CbowWithNgrams) && reader.left() == 0;
        if !ends_early {
            // Only the output matrix of a quantized model is quantized, whatever the flag says.
            reader.flag("whether the output matrix is quantized")?;
            reader.matrix("output", words.len() as u64..=words.len() as u64, args.dim)?;
        }
        match reader.left() {
            0 => Ok(Self { args, corpus_tokens, words, input }),
            left => Err(reader.bad(format!("{left} bytes follow the output matrix, where the file should end"))),
        }
    }
}

/// Reads a file from its start.
struct Reader<'f> {
    path: &'f Path,
    bytes: &'f [u8],
    at: usize,
}

impl<'f> Reader<'f> {
    fn bad(&self, reason: String) -> Error {
        Error::BadWeights { path: self.path.to_owned(), reason }
    }

    fn left(&self) -> u64 {
        (self.bytes.len() - self.at) as u64
    }

    fn take(&mut self, n: usize, what: &str) -> Result<&'f [u8]> {
        let cut = || self.bad(format!("the file ends within {what}, at byte {}; it is cut short", self.bytes.len()));
        let end = self.at.checked_add(n).filter(|&end| end <= self.bytes.len()).ok_or_else(cut)?;
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N, what)?);
        Ok(array)
    }

    fn i32(&mut self, what: &str) -> Result<i32> {
        Ok(i32::from_le_bytes(self.array(what)?))
    }

    fn i64(&mut self, what: &str) -> Result<i64> {
        Ok(i64::from_le_bytes(self.array(what)?))
    }

    /// A number that may not be negative.
    fn count(&mut self, what: &str) -> Result<u32> {
        let n = self.i32(what)?;
        u32::try_from(n).map_err(|_| self.bad(format!("{what} is {n}, expected 0 or more; the file is damaged")))
    }

    fn long_count(&mut self, what: &str) -> Result<u64> {
        let n = self.i64(what)?;
        u64::try_from(n).map_err(|_| self.bad(format!("{what} is {n}, expected 0 or more; the file is damaged")))
    }

    /// A number within a range.
    fn within(&mut self, what: &str, range: Range<u32>) -> Result<u32> {
        let n = self.count(what)?;
        if range.contains(&n) {
            return Ok(n);
        }
        let Range { start, end } = range;
        Err(self.bad(format!("{what} is {n}, expected {start} to {}; the file is damaged", end - 1)))
    }

    fn flag(&mut self, what: &str) -> Result<bool> {
        match self.array(what)? {
            [0] => Ok(false),
            [1] => Ok(true),
            [other] => Err(self.bad(format!("{what} is {other}, expected 0 or 1; the file is damaged"))),
        }
    }

    fn args(&mut self, version: i32) -> Result<Args> {
        let dim = self.within("the dimension", 1..65_537)?;
        self.count("the window")?;
        let epochs = self.count("the number of epochs")?;
        let min_count = self.count("the least count of a word")?;
        let negatives = self.count("the number of negatives")?;
        let word_ngrams = self.count("the longest word n-gram")?;
        // One-versus-all is of version 12.
        self.within("the loss", 1..if version == 12 { 5 } else { 4 })?;
        let method = match self.i32("the model")? {
            1 => Method::Cbow,
            2 => Method::SkipGram,
            3 => {
                let reason =
                    "a supervised model, which classifies; it is not read: give its .vec file for the word vectors";
                return Err(self.bad(reason.into()));
            }
            4 if version == 11 => Method::Sent2Vec,
            5 if version == 11 => Method::CbowWithNgrams,
            other => {
                let known = if version == 11 { "1 to 5" } else { "1 to 3" };
                return Err(self.bad(format!("the model is {other}, expected {known}; the file is damaged")));
            }
        };
        let buckets = self.count("the number of n-gram rows")?;
        let char_buckets = match method {
            Method::CbowWithNgrams => self.count("the number of rows of character n-grams")?,
            _ => 0,
        };
        let min_n = self.count("the shortest character n-gram")?;
        let max_n = self.within("the longest character n-gram", 0..LONGEST_CHAR_NGRAM + 1)?;
        self.count("how often the learning rate is updated")?;
        let subsample = f64::from_le_bytes(self.array("the threshold of subsampling")?);
        let args = Args {
            method,
            dim,
            epochs,
            min_count,
            negatives,
            word_ngrams,
            buckets,
            char_buckets,
            min_n,
            max_n,
            subsample,
        };
        let (what, lacking) = match method {
            Method::Sent2Vec => ("word", word_ngrams > 1 && buckets == 0),
            Method::CbowWithNgrams => ("character", args.has_char_ngrams() && char_buckets == 0),
            Method::Cbow | Method::SkipGram => ("character", args.has_char_ngrams() && buckets == 0),
        };
        if lacking {
            return Err(self.bad(format!("there are {what} n-grams and no rows for them; the file is damaged")));
        }
        if method == Method::Sent2Vec && !(1..256).contains(&word_ngrams) {
            let reason = format!("the longest word n-gram is {word_ngrams}, expected 1 to 255; the file is damaged");
            return Err(self.bad(reason));
        }
        Ok(args)
    }

    /// Tokens of the corpus, and the words; labels, which a text may hold by chance, are left out.
    fn dictionary(&mut self) -> Result<(u64, Vec<Word>)> {
        let (n, n_words) = (self.count("the number of entries")?, self.count("the number of words")?);
        let n_labels = self.count("the number of labels")?;
        if n_words.checked_add(n_labels) != Some(n) || n_words == 0 {
            let reason = format!("{n_words} words and {n_labels} labels in {n} entries; the file is damaged");
            return Err(self.bad(reason));
        }
        let corpus_tokens = self.long_count("the number of tokens")?;
        match self.i64("the number of kept n-grams")? {
            -1 => {}
            pruned @ 0.. => {
                let reason = format!("a pruned model with {pruned} kept n-grams, as in .ftz files, which is not read");
                return Err(self.bad(reason));
            }
            other => return Err(self.bad(format!("{other} kept n-grams, expected -1 or more; the file is damaged"))),
        }
        let (needed, left) = (u64::from(n) * SHORTEST_ENTRY, self.left());
        if needed > left {
            let reason =
                format!("{n} entries take {needed} bytes or more, {left} are left; the file is cut short or damaged");
            return Err(self.bad(reason));
        }
        let mut words = Vec::new();
        let no_memory = |_| senv_core::Error::TooLarge { rows: n as usize, dim: 1 };
        words.try_reserve_exact(n_words as usize).map_err(no_memory)?;
        for i in 0..n {
            let what = format!("entry {i} of the dictionary");
            let rest = &self.bytes[self.at..];
            let len = memchr::memchr(0, rest).unwrap_or(rest.len());
            let start = self.at;
            self.take(len + 1, &what)?;
            let (count, kind) = (self.long_count(&what)?, self.array(&what)?);
            let expected = u8::from(i >= n_words);
            if kind != [expected] {
                let reason = format!("{what} has the type {}, expected {expected}; the file is damaged", kind[0]);
                return Err(self.bad(reason));
            }
            if i < n_words {
                if len > LONGEST_WORD {
                    let reason = format!("{what} is a word of {len} bytes, at most {LONGEST_WORD} are read");
                    return Err(self.bad(reason));
                }
                words.push(Word { text: start..start + len, count });
            }
        }
        Ok((corpus_tokens, words))
    }

    /// The bytes of a matrix of this shape.
    fn matrix(&mut self, name: &str, n_rows: RangeInclusive<u64>, dim: u32) -> Result<Range<usize>> {
        let what = format!("the {name} matrix");
        let (rows, columns) = (self.i64(&what)?, self.i64(&what)?);
        let Some(n) = u64::try_from(rows).ok().filter(|n| n_rows.contains(n) && columns == i64::from(dim)) else {
            let n_rows = n_rows.start();
            let reason = format!(
                "{what} has {rows} rows of {columns} values, words and n-grams ask for {n_rows} of {dim}; the file is damaged"
            );
            return Err(self.bad(reason));
        };
        // Below 2^34 rows of 2^16 values.
        let (needed, left) = (n * u64::from(dim) * 4, self.left());
        if needed > left {
            return Err(self.bad(format!("{what} takes {needed} bytes, {left} are left; the file is cut short")));
        }
        let start = self.at;
        self.take(usize::try_from(needed).unwrap_or(usize::MAX), &what)?;
        Ok(start..self.at)
    }
}

impl Args {
    /// Whether words have character n-grams.
    pub(super) fn has_char_ngrams(&self) -> bool {
        self.max_n > 0 && self.min_n <= self.max_n && self.method != Method::Sent2Vec
    }

    /// How many character n-grams these words have, if each byte is a character.
    fn char_ngrams_at_most(&self, words: &[Word]) -> u64 {
        let lengths = if self.has_char_ngrams() { u64::from(self.max_n - self.min_n) + 1 } else { 0 };
        words.iter().map(|word| (word.text.len() as u64 + 2) * lengths).sum()
    }
}
