//! Character n-grams of a word with marked boundaries, as in fastText.
//!
//! Equation: `character-n-grams`
//!
//! ```text
//! G(w) = { runs of min_n .. max_n code points of "<" w ">" } except "<" and ">" themselves
//! bucket(g) = FNV-1a(UTF-8 of g, bytes sign-extended) mod n_buckets
//! ```
//!
//! Bojanowski et al., "Enriching Word Vectors with Subword Information", TACL 2017, section 3.2. Repeated runs count
//! each time. The end-of-line token `</s>` has none, as in fastText.

use crate::{
    Buckets, Error, Result,
    hash::{START, step_signed},
};

/// The token that fastText puts at the end of each line; it has no character n-grams.
pub const END_OF_LINE: &str = "</s>";

/// One character n-gram: its position in the marked word `<word>`, in code points, and its bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CharNgram {
    /// First code point; 0 is the boundary mark `<`.
    pub start: usize,
    /// Number of code points.
    pub n: usize,
    /// Hash bucket, below the number of buckets.
    pub bucket: u32,
}

/// Character n-grams of `min_n` to `max_n` code points, word boundaries included, in hash buckets.
///
/// ```
/// let n_grams = senv_ngram::CharNgrams::new(3, 6, 2_000_000)?;
/// // <a> is the only run of three to six characters of the marked word.
/// let mut buckets = Vec::new();
/// n_grams.buckets_into("a", &mut buckets);
/// assert_eq!(buckets, [senv_ngram::fnv1a_signed(b"<a>") % 2_000_000]);
/// # Ok::<(), senv_ngram::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CharNgrams {
    min_n: usize,
    max_n: usize,
    buckets: Buckets,
}

impl CharNgrams {
    /// Creates n-grams of `min_n` to `max_n` code points (fastText: 3 to 6); 0 to 0 means none.
    ///
    /// # Errors
    /// [`Error::InvalidRange`] if `min_n` exceeds `max_n`; [`Error::InvalidBuckets`] if there are no buckets.
    pub fn new(min_n: usize, max_n: usize, n_buckets: u32) -> Result<Self> {
        if min_n > max_n {
            return Err(Error::InvalidRange { min_n, max_n });
        }
        Ok(Self { min_n, max_n, buckets: Buckets::new(n_buckets)? })
    }

    /// The shortest length in code points.
    #[must_use]
    pub fn min_n(&self) -> usize {
        self.min_n
    }

    /// The longest length in code points.
    #[must_use]
    pub fn max_n(&self) -> usize {
        self.max_n
    }

    /// The number of buckets.
    #[must_use]
    pub fn n_buckets(&self) -> u32 {
        self.buckets.len()
    }

    /// Calls `each` for every n-gram of `word`, ordered by start, then by length, without allocating.
    pub fn for_each(&self, word: &str, mut each: impl FnMut(CharNgram)) {
        if self.max_n == 0 || word == END_OF_LINE {
            return;
        }
        let mark_first = std::iter::once((0, "<"));
        let characters = word.char_indices().map(|(i, c)| (i, &word[i..i + c.len_utf8()]));
        let mark_last = [(word.len(), ">")];
        // Each start with the rest of the marked word; "<" starts before byte 0, ">" after the last byte.
        for (start, (at, character)) in mark_first.chain(characters).chain(mark_last).enumerate() {
            let (is_first, is_last) = (start == 0, at == word.len() && start > 0);
            let mut hash = character.bytes().fold(START, step_signed);
            let mut emit = |n: usize, hash: u32, lone_mark: bool| {
                if n >= self.min_n && !lone_mark {
                    each(CharNgram { start, n, bucket: self.buckets.of(u64::from(hash)) });
                }
            };
            emit(1, hash, is_first || is_last);
            if is_last {
                break;
            }
            let rest = if is_first { word } else { &word[at + character.len()..] };
            let mut n = 1;
            let mut bytes = [0; 4];
            for character in rest.chars().chain(['>']) {
                if n == self.max_n {
                    break;
                }
                n += 1;
                hash = character.encode_utf8(&mut bytes).bytes().fold(hash, step_signed);
                emit(n, hash, false);
            }
        }
    }

    /// Appends the buckets of the n-grams of `word` to `out`, ordered by start, then by length.
    pub fn buckets_into(&self, word: &str, out: &mut Vec<u32>) {
        self.for_each(word, |n_gram| out.push(n_gram.bucket));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fnv1a_signed;
    use proptest::prelude::*;

    /// The definition, allocating: every run of the marked word, and its position.
    fn runs(word: &str, min_n: usize, max_n: usize) -> Vec<(usize, String)> {
        let marked: Vec<char> = format!("<{word}>").chars().collect();
        let mut runs = Vec::new();
        for start in 0..marked.len() {
            for n in min_n.max(1)..=max_n.min(marked.len() - start) {
                if n > 1 || (start > 0 && start + 1 < marked.len()) {
                    runs.push((start, marked[start..start + n].iter().collect()));
                }
            }
        }
        runs
    }

    #[test]
    fn the_n_grams_of_where_are_those_of_the_paper() {
        // Section 3.2 of the paper lists <wh, whe, her, ere, re> for n = 3.
        let n_grams = CharNgrams::new(3, 3, 1 << 31).unwrap();
        let mut buckets = Vec::new();
        n_grams.buckets_into("where", &mut buckets);
        assert_eq!(buckets, ["<wh", "whe", "her", "ere", "re>"].map(|g| fnv1a_signed(g.as_bytes()) % (1 << 31)));
    }

    #[test]
    fn lone_marks_and_the_end_of_line_have_none() {
        let count = |min_n, max_n, word: &str| {
            let mut buckets = Vec::new();
            CharNgrams::new(min_n, max_n, 10).unwrap().buckets_into(word, &mut buckets);
            buckets.len()
        };
        assert_eq!(count(1, 1, "ab"), 2, "a and b, not the marks");
        assert_eq!(count(1, 1, "<"), 1, "a mark that is a character of the word counts");
        assert_eq!(count(1, 2, ""), 1, "<> remains of the empty word");
        assert_eq!(count(3, 6, END_OF_LINE), 0);
        assert_eq!(count(0, 0, "word"), 0);
        assert_eq!(count(0, 2, "ab"), count(1, 2, "ab"), "the shortest run has one character");
    }

    #[test]
    fn ranges_without_a_length_or_a_bucket_are_refused() {
        assert!(matches!(CharNgrams::new(4, 3, 10), Err(Error::InvalidRange { min_n: 4, max_n: 3 })));
        assert!(matches!(CharNgrams::new(3, 6, 0), Err(Error::InvalidBuckets { got: 0 })));
    }

    proptest! {
        #[test]
        fn every_run_comes_once_and_in_order(word in "\\PC{0,12}", min_n in 0..4_usize, more in 0..5_usize) {
            prop_assume!(word != END_OF_LINE);
            let max_n = min_n + more;
            let n_grams = CharNgrams::new(min_n, max_n, 97).unwrap();
            let mut seen = Vec::new();
            n_grams.for_each(&word, |g| seen.push(g));
            let expected: Vec<CharNgram> = runs(&word, min_n, max_n)
                .into_iter()
                .map(|(start, text)| CharNgram {
                    start,
                    n: text.chars().count(),
                    bucket: fnv1a_signed(text.as_bytes()) % 97,
                })
                .collect();
            prop_assert_eq!(seen, expected);
        }
    }
}
