//! Shared code of the benchmarks: synthetic text with the statistics of novels, generated from a seed.
//!
//! Word frequencies follow f(r) ∝ 1 / (r + 2.7)^1.2 over 38,771 words (r: rank from 1), which is Zipf's law with
//! Mandelbrot's correction. Sentences have 3 + Exp(mean 18.5) tokens. The table compares the text with 16.9 million
//! tokens of real novels:
//!
//! | statistic | this text | novels |
//! | --- | --- | --- |
//! | share of the most frequent word | 6 % | 6 % |
//! | share of tokens left by subsampling at t = 1e-5 | .25 | .24 |
//! | sentence length: median, 90th and 99th percentile | 15, 45, 88 | 17, 43, 85 |
//!
//! Words are independent of each other, so bigrams repeat less than in real text, and caches profit less from them.

#![forbid(unsafe_code)]

use rand::RngExt;
use rand_distr::{Distribution, Exp};
use senv_core::{
    Error, Sentences, TokenId, Vocabulary,
    rng::{Stream, stream},
};

/// Size of the vocabulary.
pub const N_WORDS: usize = 38_771;
/// Size of the corpus that the counts of the vocabulary refer to.
pub const CORPUS_TOKENS: f64 = 16.9e6;
/// Seed of all random numbers.
pub const SEED: u64 = 1;

const SHIFT: f64 = 2.7;
const EXPONENT: f64 = 1.2;

/// A vocabulary, and sentences drawn from it.
#[derive(Debug, Clone)]
pub struct Text {
    /// The words, most frequent first, with their expected counts in [`CORPUS_TOKENS`] tokens.
    pub vocabulary: Vocabulary,
    /// Cumulative relative frequencies.
    cumulative: Vec<f64>,
}

impl Text {
    /// Creates the vocabulary described for this crate.
    ///
    /// # Errors
    /// Only if this code is faulty.
    pub fn new() -> Result<Self, Error> {
        let weights = (1..=N_WORDS).map(|rank| (rank as f64 + SHIFT).powf(-EXPONENT));
        let total: f64 = weights.clone().sum();
        let mut sum = 0.0;
        let cumulative = weights
            .clone()
            .map(|w| {
                sum += w / total;
                sum
            })
            .collect();
        let counts: Vec<u64> = weights.map(|w| (w / total * CORPUS_TOKENS).round() as u64).collect();
        let tokens = counts.iter().sum();
        let words = counts.iter().enumerate().map(|(id, &count)| (spell(id), count));
        Ok(Self { vocabulary: Vocabulary::from_counts(words, tokens)?, cumulative })
    }

    /// Draws a word.
    fn draw(&self, rng: &mut Stream) -> TokenId {
        let u: f64 = rng.random();
        let id = self.cumulative.partition_point(|&sum| sum <= u).min(N_WORDS - 1);
        TokenId(id as u32)
    }

    /// Draws `n` sentences of varying length.
    ///
    /// # Panics
    /// Never: the rate of the distribution is positive.
    #[must_use]
    pub fn sentences(&self, n: usize) -> Sentences {
        let mut rng = stream(SEED, "sentences", &[]);
        let length = Exp::new(1.0 / 18.5).expect("a positive rate");
        let mut sentences = Sentences::new();
        for _ in 0..n {
            let n_tokens = 3 + length.sample(&mut rng) as usize;
            sentences.push((0..n_tokens).map(|_| self.draw(&mut rng)));
        }
        sentences
    }

    /// Draws `n` sentences of `n_tokens` tokens each.
    #[must_use]
    pub fn sentences_of(&self, n_tokens: usize, n: usize) -> Sentences {
        let mut rng = stream(SEED, "sentences of one length", &[n_tokens as u64]);
        let mut sentences = Sentences::new();
        for _ in 0..n {
            sentences.push((0..n_tokens).map(|_| self.draw(&mut rng)));
        }
        sentences
    }

    /// Sentences as text, with words separated by spaces.
    #[must_use]
    pub fn lines(&self, sentences: &Sentences) -> Vec<String> {
        let words = |sentence: &[TokenId]| sentence.iter().map(|&id| self.vocabulary.token(id)).collect::<Vec<_>>();
        sentences.iter().map(|sentence| words(sentence).join(" ")).collect()
    }
}

/// A pronounceable word for each id. Frequent words are short: two letters for the first hundred, then four, then six.
fn spell(id: usize) -> String {
    const CONSONANTS: &[u8; 20] = b"bcdfghjklmnpqrstvwxz";
    const VOWELS: &[u8; 5] = b"aeiou";
    let mut word = String::new();
    let mut rest = id + 1;
    while rest > 0 {
        rest -= 1;
        word.push(char::from(CONSONANTS[rest % 100 / 5]));
        word.push(char::from(VOWELS[rest % 5]));
        rest /= 100;
    }
    word
}

/// Pseudo-random values in [−1, 1), the same on every call.
#[must_use]
pub fn numbers(n: usize, purpose: &str) -> Vec<f32> {
    let mut rng = stream(SEED, purpose, &[]);
    (0..n).map(|_| rng.random_range(-1.0..1.0)).collect()
}

/// Median, minimum and maximum of measurements, as `2.0 [1.0, 4.0]` with `decimals` decimals. For an even number, it is
/// the upper median. A single measurement has no range, and without measurements the text is empty.
#[must_use]
pub fn spread(numbers: &[f64], decimals: usize) -> String {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.as_slice() {
        [] => String::new(),
        [least, .., greatest] => {
            let median = sorted[sorted.len() / 2];
            format!("{median:.decimals$} [{least:.decimals$}, {greatest:.decimals$}]")
        }
        [only] => format!("{only:.decimals$}"),
    }
}

/// Peak resident memory of a process (`self` or a process id) so far, in bytes, or `None` if the system does not report
/// it.
#[must_use]
pub fn peak_of(process: &str) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_has_the_statistics_that_are_claimed() {
        let text = Text::new().unwrap();
        assert_eq!(text.vocabulary.len(), N_WORDS);
        assert!((text.vocabulary.frequency(TokenId(0)) - 0.062).abs() < 1e-3);
        assert!(text.vocabulary.counts().is_sorted_by(|a, b| a >= b));
        assert!(text.vocabulary.counts()[N_WORDS - 1] >= 5);

        let sentences = text.sentences(20_000);
        let n_tokens = sentences.n_tokens() as f64;
        assert!((n_tokens / 20_000.0 - 21.0).abs() < 0.5, "mean length");
        let mut lengths: Vec<usize> = sentences.iter().map(<[TokenId]>::len).collect();
        lengths.sort_unstable();
        for (share, expected) in [(0.5, 15), (0.9, 45), (0.99, 88)] {
            let got = lengths[(share * 20_000.0) as usize];
            assert!(got.abs_diff(expected) <= 1 + expected / 20, "percentile {share}: {got}");
        }
        let first = sentences.iter().flatten().filter(|id| id.0 == 0).count() as f64;
        assert!((first / n_tokens - 0.062).abs() < 2e-3, "share of the first word");
        let keep = |id: TokenId| {
            let ratio = 1e-5 / text.vocabulary.frequency(id);
            (ratio.sqrt() + ratio).min(1.0)
        };
        let kept: f64 = sentences.iter().flatten().map(|&id| keep(id)).sum::<f64>() / n_tokens;
        assert!((kept - 0.25).abs() < 0.01, "share of targets {kept}");
    }

    #[test]
    fn measurements_are_printed_as_median_least_and_greatest() {
        assert_eq!(spread(&[4.0, 1.0, 2.0], 1), "2.0 [1.0, 4.0]");
        assert_eq!(spread(&[4.0, 1.0], 0), "4 [1, 4]");
        assert_eq!((spread(&[0.123], 2), spread(&[], 2)), ("0.12".to_owned(), String::new()));
    }

    #[test]
    fn lines_read_back_are_the_sentences() {
        let text = Text::new().unwrap();
        let sentences = text.sentences_of(21, 50);
        for (line, sentence) in text.lines(&sentences).iter().zip(sentences.iter()) {
            let read: Vec<TokenId> = line.split(' ').map(|word| text.vocabulary.id(word).unwrap()).collect();
            assert_eq!(read, sentence);
        }
    }
}
