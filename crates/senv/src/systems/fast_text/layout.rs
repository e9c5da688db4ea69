//! The layout of the `.bin` files of fastText and of Sent2Vec's program, checked before memory is allocated.
//!
//! Fields are little-endian, without padding:
//!
//! 1. i32 793712314; i32 version: 12 or 11. Sent2Vec's program also writes 11.
//! 2. i32 dimension, window, epochs, minimum count, negatives, longest word n-gram, loss, model, buckets. Model 5 only:
//!    i32 buckets of character n-grams. Then i32 shortest and longest character n-gram, updates of the learning rate;
//!    f64 subsampling threshold. Models: 1 CBOW, 2 skip-gram, 3 supervised. Sent2Vec's program adds 4 Sent2Vec and 5
//!    CBOW with character and word n-grams.
//! 3. i32 entries, words, labels; i64 tokens of the corpus; i64 pairs in the table of kept n-grams, or -1 if all are
//!    kept. Each entry: its bytes, a zero, i64 count, u8 type (0 word, 1 label). Words come before labels.
//! 4. u8 1 if the input matrix is quantized; i64 rows, i64 columns, f32 values row by row; then the same for the output
//!    matrix. Files of Sent2Vec's program may end before the output matrix, which encoding does not need.

use std::{
    ops::{Range, RangeInclusive},
    path::Path,
};

use super::{
    args::{Args, Method, Word},
    matrix::{Matrix, Quantized, Quantizer},
};
use crate::error::{Error, Result};

/// The first bytes of the file.
pub(super) const MAGIC: [u8; 4] = 793_712_314_i32.to_le_bytes();

/// Bytes of the shortest dictionary entry: a zero, a count and a type.
const SHORTEST_ENTRY: u64 = 10;

/// The longest character n-gram accepted; 6 or fewer is usual.
pub(super) const LONGEST_CHAR_NGRAM: u32 = 255;

/// The maximum number of bytes accepted for a word. fastText reads words of any length, but opening a file sums the
/// vectors of all character n-grams of each word.
const LONGEST_WORD: usize = 1 << 16;

/// The maximum number of character n-grams accepted for all words together; the largest published models have a few
/// hundred million. Opening a file sums all their vectors, and many short words cost as much as one long word.
const MOST_CHAR_NGRAMS: u64 = 1 << 30;

/// The maximum number of rows that a Sent2Vec model may have after those of n-grams. The program adds one row per
/// bucket of character n-grams (1 by default), although such a model has no character n-grams, and does not record
/// their number.
const MOST_UNUSED: u64 = 1 << 31;

/// The content of the dictionary.
struct Dictionary {
    corpus_tokens: u64,
    words: Vec<Word>,
    n_labels: u32,
    kept: Option<Vec<(u32, u32)>>,
}

/// The position of each part in a file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Layout {
    pub(super) args: Args,
    pub(super) corpus_tokens: u64,
    pub(super) words: Vec<Word>,
    /// For a pruned model: the kept buckets, in order, each with its row after those of words.
    pub(super) kept: Option<Vec<(u32, u32)>>,
    /// The input matrix: the rows of words, then those of n-grams.
    pub(super) input: Matrix,
}

impl Layout {
    /// Reads everything but the values of the matrices.
    pub(super) fn read(path: &Path, bytes: &[u8]) -> Result<Self> {
        let mut reader = Reader { path, bytes, at: 0 };
        if reader.take(4, "the magic number")? != MAGIC {
            return Err(reader.bad("this is not a .bin file of fastText or Sent2Vec".into()));
        }
        let version = reader.i32("the version")?;
        if !matches!(version, 11 | 12) {
            return Err(reader.bad(format!(
                "the file has format version {version}, and only 11 and 12 are supported; another release of fastText \
                wrote it"
            )));
        }
        let args = reader.args(version)?;
        let Dictionary { corpus_tokens, words, n_labels, kept } = reader.dictionary(args.buckets)?;
        let n_char_ngrams = args.char_ngrams_at_most(&words);
        if n_char_ngrams > MOST_CHAR_NGRAMS {
            let lengths = format!("of {} to {} characters", args.min_n, args.max_n);
            return Err(reader.bad(format!(
                "the words have about {n_char_ngrams} n-grams {lengths}, above the limit of {MOST_CHAR_NGRAMS}; the \
                file is damaged"
            )));
        }
        let is_quantized = reader.flag("whether the matrix is quantized")?;
        let n_ngrams = match &kept {
            Some(kept) => kept.len() as u64,
            None => u64::from(args.buckets) + u64::from(args.char_buckets),
        };
        let n_rows = words.len() as u64 + n_ngrams;
        let n_unused = if args.method == Method::Sent2Vec { MOST_UNUSED } else { 0 };
        let input = reader.matrix("input", is_quantized, n_rows..=n_rows + n_unused, args.dim)?;
        let ends_early = matches!(args.method, Method::Sent2Vec | Method::CbowWithNgrams) && reader.left() == 0;
        if !ends_early {
            // Only a quantized model has a quantized output matrix, regardless of this flag.
            let is_quantized = reader.flag("whether the output matrix is quantized")? && is_quantized;
            let n = if args.method == Method::Supervised { u64::from(n_labels) } else { words.len() as u64 };
            reader.matrix("output", is_quantized, n..=n, args.dim)?;
        }
        match reader.left() {
            0 => Ok(Self { args, corpus_tokens, words, kept, input }),
            left => Err(reader.bad(format!("{left} bytes follow the output matrix, expected the end of the file"))),
        }
    }
}

/// A reader that starts at the beginning of a file.
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
        let cut = || self.bad(format!("the file ends inside {what}, at byte {}; it is truncated", self.bytes.len()));
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

    /// Reads a number that must not be negative.
    fn count(&mut self, what: &str) -> Result<u32> {
        let n = self.i32(what)?;
        u32::try_from(n).map_err(|_| self.bad(format!("{what} is {n}, expected 0 or more; the file is damaged")))
    }

    fn long_count(&mut self, what: &str) -> Result<u64> {
        let n = self.i64(what)?;
        u64::try_from(n).map_err(|_| self.bad(format!("{what} is {n}, expected 0 or more; the file is damaged")))
    }

    /// Reads a number within a range.
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
        let min_count = self.count("the minimum count of a word")?;
        let negatives = self.count("the number of negatives")?;
        let word_ngrams = self.count("the longest word n-gram")?;
        // Version 12 added one-versus-all.
        self.within("the loss", 1..if version == 12 { 5 } else { 4 })?;
        let method = match self.i32("the model")? {
            1 => Method::Cbow,
            2 => Method::SkipGram,
            3 => Method::Supervised,
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
        // Older classifiers have none, regardless of what the file says.
        let max_n = if method == Method::Supervised && version == 11 { 0 } else { max_n };
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
            Method::Cbow | Method::SkipGram | Method::Supervised => {
                ("character", args.has_char_ngrams() && buckets == 0)
            }
        };
        if lacking {
            return Err(self.bad(format!("there are {what} n-grams but no rows for them; the file is damaged")));
        }
        if method == Method::Sent2Vec && !(1..256).contains(&word_ngrams) {
            let reason = format!("the longest word n-gram is {word_ngrams}, expected 1 to 255; the file is damaged");
            return Err(self.bad(reason));
        }
        Ok(args)
    }

    /// Reads the number of corpus tokens and the words. Labels, which a text can contain by chance, are left out.
    fn dictionary(&mut self, buckets: u32) -> Result<Dictionary> {
        let (n, n_words) = (self.count("the number of entries")?, self.count("the number of words")?);
        let n_labels = self.count("the number of labels")?;
        if n_words.checked_add(n_labels) != Some(n) || n_words == 0 {
            let reason = format!("{n_words} words and {n_labels} labels in {n} entries; the file is damaged");
            return Err(self.bad(reason));
        }
        let corpus_tokens = self.long_count("the number of tokens")?;
        let n_kept = match self.i64("the number of kept n-grams")? {
            -1 => None,
            n_kept if (0..=i64::from(buckets)).contains(&n_kept) => Some(n_kept as u32),
            other => {
                let reason =
                    format!("{other} kept n-grams of {buckets}, expected -1 or 0 to {buckets}; the file is damaged");
                return Err(self.bad(reason));
            }
        };
        let (needed, left) = (u64::from(n) * SHORTEST_ENTRY, self.left());
        if needed > left {
            let reason = format!(
                "{n} entries take at least {needed} bytes, but {left} are left; the file is truncated or \
                    damaged"
            );
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
                    let reason = format!("{what} is a word of {len} bytes, above the limit of {LONGEST_WORD}");
                    return Err(self.bad(reason));
                }
                words.push(Word { text: start..start + len, count });
            }
        }
        let kept = n_kept.map(|n| self.kept(n, buckets)).transpose()?;
        Ok(Dictionary { corpus_tokens, words, n_labels, kept })
    }

    /// Reads the table of kept n-grams: buckets with their rows, each row once.
    fn kept(&mut self, n: u32, buckets: u32) -> Result<Vec<(u32, u32)>> {
        let what = "the table of kept n-grams";
        let (needed, left) = (8 * u64::from(n), self.left());
        if needed > left {
            return Err(self.bad(format!("{what} takes {needed} bytes, but {left} are left; the file is truncated")));
        }
        let mut kept = Vec::with_capacity(n as usize);
        for _ in 0..n {
            kept.push((self.within(what, 0..buckets)?, self.within(what, 0..n)?));
        }
        kept.sort_unstable();
        if kept.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return Err(self.bad(format!("{what} has a duplicate bucket; the file is damaged")));
        }
        Ok(kept)
    }

    /// Reads a matrix of this shape.
    fn matrix(&mut self, name: &str, is_quantized: bool, n_rows: RangeInclusive<u64>, dim: u32) -> Result<Matrix> {
        let what = format!("the {name} matrix");
        let has_norms = is_quantized && self.flag(&format!("whether {what} has norms"))?;
        let (rows, columns) = (self.i64(&what)?, self.i64(&what)?);
        let Some(n) = u64::try_from(rows).ok().filter(|n| n_rows.contains(n) && columns == i64::from(dim)) else {
            let n_rows = n_rows.start();
            let reason = format!(
                "{what} has {rows} rows of {columns} values, expected {n_rows} rows of {dim}; the file is damaged"
            );
            return Err(self.bad(reason));
        };
        if !is_quantized {
            // No overflow: fewer than 2^34 rows of 2^16 values.
            return Ok(Matrix::Dense(self.block(n * u64::from(dim) * 4, &what)?));
        }
        let n_codes = u64::from(self.count(&format!("the number of codes of {what}"))?);
        let codes = self.block(n_codes, &what)?;
        let quantizer = self.quantizer(&what, dim)?;
        if n * quantizer.n_parts as u64 != n_codes {
            let reason =
                format!("{what} has {n_codes} codes for {n} rows of {}; the file is damaged", quantizer.n_parts);
            return Err(self.bad(reason));
        }
        let norms = match has_norms {
            true => Some((self.block(n, &what)?, self.quantizer(&format!("the norms of {what}"), 1)?)),
            false => None,
        };
        Ok(Matrix::Quantized(Quantized { codes, quantizer, norms }))
    }

    /// Reads the quantizer for vectors of `dim` values.
    fn quantizer(&mut self, what: &str, dim: u32) -> Result<Quantizer> {
        let what = format!("the quantizer of {what}");
        let [found, n_parts, part, last] = [(); 4].map(|()| self.count(&what));
        let (found, n_parts, part, last) = (found?, n_parts?, part?, last?);
        let fits = part > 0 && found == dim && n_parts == dim.div_ceil(part) && last == dim - (n_parts - 1) * part;
        if !fits {
            let reason = format!(
                "{what} has {n_parts} parts of {part} values (the last of {last}) for {found} values, expected {dim}; \
                the file is damaged"
            );
            return Err(self.bad(reason));
        }
        let (dim, n_parts, part) = (dim as usize, n_parts as usize, part as usize);
        let centroids = self.block(Quantizer::n_bytes(dim) as u64, &what)?;
        let values = self.bytes[centroids.clone()].as_chunks().0;
        if values.iter().any(|value| !f32::from_le_bytes(*value).is_finite()) {
            return Err(self.bad(format!("{what} has a value that is NaN or infinite; the file is damaged")));
        }
        Ok(Quantizer { dim, n_parts, part, centroids })
    }

    /// Reads a block of `needed` bytes.
    fn block(&mut self, needed: u64, what: &str) -> Result<Range<usize>> {
        let left = self.left();
        if needed > left {
            return Err(self.bad(format!("{what} takes {needed} bytes, but {left} are left; the file is truncated")));
        }
        let start = self.at;
        self.take(usize::try_from(needed).unwrap_or(usize::MAX), what)?;
        Ok(start..self.at)
    }
}
