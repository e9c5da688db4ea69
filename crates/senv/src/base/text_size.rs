//! Settings that fit the size of a text.
//!
//! The papers' defaults are for billions of words. On a few million words they leave the vectors close to where they
//! started, and to each other. The settings here were measured on 0.1 and 1.5 million words of news, and on 54 million
//! words of novels, reviews, encyclopedia and news (`docs/results.md`).

use std::{fs, path::Path};

use senv_core::{Corpus, Result, corpus::BlockBuffer};

use super::memory_text::line;

/// Bytes per word, including the space after it, in English.
const BYTES_A_WORD: f64 = 5.9;

/// The compression ratio of text.
const COMPRESSION: f64 = 2.7;

/// The number of words below which a text is small, and the number at or above which it is large.
const SMALL: u64 = 300_000;
const LARGE: u64 = 5_000_000;

/// The maximum numbers of sentences and bytes read at the start of a file to estimate sentence length.
const SAMPLE: (usize, usize) = (2000, 1 << 20);

/// The size of a text: its words, and the words per sentence.
///
/// Before a text is read this is an estimate, which determines the minimum count of a known word. All other settings
/// use the counted words. A text thus trains the same model from a file, a column of a table, or standard input.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct TextSize {
    /// Words, with punctuation.
    pub words: u64,
    /// Words per sentence, separated by whitespace, at least 1: the harmonic mean, which gives short sentences more
    /// weight.
    pub sentence: f64,
}

impl TextSize {
    /// A text of 1.5 million words, assumed if nothing is known.
    pub const MEDIUM: Self = Self { words: 1_500_000, sentence: 20.0 };

    /// Estimates from the length of files and the first sentences of the first one.
    pub(super) fn of_beginning(paths: &[impl AsRef<Path>], first: &[String]) -> Self {
        let mut words = 0.0;
        for path in paths.iter().map(AsRef::as_ref) {
            let Some(file) = fs::metadata(path).ok().filter(fs::Metadata::is_file) else { return Self::MEDIUM };
            let compressed = path.extension().is_some_and(|ending| ending == "gz" || ending == "zst");
            words += file.len() as f64 / BYTES_A_WORD * if compressed { COMPRESSION } else { 1.0 };
        }
        let mut typical = TypicalSentence::default();
        first.iter().for_each(|line| typical.add(line));
        Self { words: words as u64, sentence: typical.words().unwrap_or(Self::MEDIUM.sentence) }
    }

    /// Estimates from sentences in memory, as for a file with these lines.
    ///
    /// ```
    /// assert_eq!(senv::data::TextSize::of_sentences(["one two three"; 590]).words, 1400);
    /// ```
    #[must_use]
    pub fn of_sentences<S: AsRef<str>>(sentences: impl IntoIterator<Item = S>) -> Self {
        let (mut bytes, mut typical) = (0.0, TypicalSentence::default());
        for sentence in sentences {
            let line = line(sentence.as_ref());
            bytes += (line.len() + 1) as f64;
            typical.add(&line);
        }
        let sentence = typical.words().unwrap_or(Self::MEDIUM.sentence);
        Self { words: (bytes / BYTES_A_WORD) as u64, sentence }
    }

    /// Measures a text that was read: its words and the first sentences.
    ///
    /// # Errors
    /// If the temporary file of the corpus cannot be read.
    pub(crate) fn of_corpus(corpus: &Corpus) -> Result<Self> {
        let (mut typical, mut block) = (TypicalSentence::default(), BlockBuffer::default());
        for number in 0..corpus.n_blocks() {
            if typical.is_full() {
                break;
            }
            corpus.read_block(number, &mut block)?;
            block.iter().for_each(|sentence| typical.add_words(sentence.len(), 6 * sentence.len()));
        }
        let sentence = typical.words().unwrap_or(Self::MEDIUM.sentence);
        let words = corpus.n_tokens() + corpus.n_unknown();
        Ok(Self { words, sentence })
    }

    /// Whether there are fewer than 300,000 words, about fifteen thousand sentences.
    #[must_use]
    pub(crate) fn is_small(self) -> bool {
        self.words < SMALL
    }

    /// Whether there are five million words or more.
    #[must_use]
    pub(crate) fn is_large(self) -> bool {
        self.words >= LARGE
    }

    /// Returns a number of epochs that falls with the square root of the size: `at_medium` for 1.5 million words.
    #[must_use]
    pub(crate) fn epochs(self, at_medium: f64, least: u32, most: u32) -> u32 {
        let epochs = at_medium * (Self::MEDIUM.words as f64 / self.words.max(1) as f64).sqrt();
        (epochs.round() as u32).clamp(least, most)
    }

    /// Returns the subsampling threshold: `at_large`, or more for a text so small that its rarest words would be
    /// skipped. A word that occurs once has the frequency 1 / words. At this threshold, a power of ten, it is always
    /// kept. At 1e-5 in a text of 50 words, it would be kept twice in a hundred times.
    #[must_use]
    pub(crate) fn subsample(self, at_large: f64) -> f64 {
        at_large.max(10_f64.powi(-(self.words.max(1).ilog10() as i32)))
    }

    /// Returns the minimum count of a known word.
    #[must_use]
    pub(crate) fn min_count(self) -> u64 {
        if self.is_large() { 5 } else { 2 }
    }
}

/// The harmonic mean of the lengths of the first sentences, in words.
#[derive(Default)]
struct TypicalSentence {
    sentences: usize,
    inverses: f64,
    bytes: usize,
}

impl TypicalSentence {
    fn is_full(&self) -> bool {
        self.sentences >= SAMPLE.0 || self.bytes >= SAMPLE.1
    }

    /// Adds a sentence, unless there are enough.
    fn add(&mut self, sentence: &str) {
        self.add_words(sentence.split_whitespace().count(), sentence.len());
    }

    /// Adds a sentence of this many words and bytes.
    fn add_words(&mut self, words: usize, bytes: usize) {
        if self.is_full() {
            return;
        }
        if words > 0 {
            (self.sentences, self.inverses) = (self.sentences + 1, self.inverses + 1.0 / words as f64);
        }
        self.bytes += bytes;
    }

    fn words(&self) -> Option<f64> {
        (self.sentences > 0).then(|| self.sentences as f64 / self.inverses)
    }
}

impl std::fmt::Display for TextSize {
    /// Formats as "1.5 million words", "20 thousand words", "800 words".
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let words = self.words as f64;
        if words < 1e3 {
            write!(f, "{} word{}", self.words, if self.words == 1 { "" } else { "s" })
        } else if words < 1e6 {
            write!(f, "{:.0} thousand words", words / 1e3)
        } else {
            write!(f, "{:.1} million words", words / 1e6)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smaller_texts_are_read_more_often() {
        let epochs = |words| TextSize { words, ..TextSize::MEDIUM }.epochs(10.0, 2, 30);
        assert_eq!([0, 100_000, 1_500_000, 6_000_000, 54_000_000].map(epochs), [30, 30, 10, 5, 2]);
    }

    #[test]
    fn files_without_a_length_count_as_medium_and_compressed_ones_as_what_they_hold() {
        assert_eq!(TextSize::of_files(&["no such file"]), TextSize::MEDIUM);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text.gz");
        std::fs::write(&path, [0; 5900]).unwrap();
        assert_eq!(TextSize::of_files(&[&path]).words, 2700);
        assert_eq!(TextSize::of_files(&[folder.path()]).sentence, 20.0, "cannot be read");
        let path = folder.path().join("text");
        std::fs::write(&path, "a b\n\nc d e f\n").unwrap();
        assert_eq!(TextSize::of_files(&[&path]).sentence, 8.0 / 3.0);
        let of = |words| TextSize { words, ..TextSize::MEDIUM };
        assert_eq!(of(1_534_000).to_string(), "1.5 million words");
        assert_eq!(of(42_100).to_string(), "42 thousand words");
        assert_eq!([of(0), of(1), of(999)].map(|size| size.to_string()), ["0 words", "1 word", "999 words"]);
    }
}
