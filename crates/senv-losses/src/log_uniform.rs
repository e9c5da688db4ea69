//! The sampled words of a sampled softmax, drawn log-uniformly by frequency rank.
//!
//! Equation: `log-uniform-candidates`

use rand::RngExt;
use senv_core::rng::Stream;

use crate::error::{Error, Result, check_range};

/// Distinct words drawn from the log-uniform distribution for one batch, and the number of draws.
///
/// ```text
/// (F1)  P(k) = ln((k + 2) / (k + 1)) / ln(V + 1)         k: rank by frequency, from 0; V words
/// (F2)  E(k) = 1 − (1 − P(k))^tries                      chance to be among distinct draws; tries: draws it took
/// ```
///
/// ```
/// use senv_core::rng::stream;
/// use senv_losses::SampledWords;
/// let words = SampledWords::draw(&mut stream(1, "candidates", &[0]), 20_000, 512)?;
/// assert_eq!(words.ids().len(), 512);
/// assert!(words.n_tries() > 512); // Frequent words are drawn repeatedly.
/// # Ok::<(), senv_losses::Error>(())
/// ```
///
/// # References
/// S. Jean, K. Cho, R. Memisevic, Y. Bengio, ACL 2015, and TensorFlow's `log_uniform_candidate_sampler`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SampledWords {
    n_words: usize,
    ids: Vec<u32>,
    n_tries: u64,
}

impl SampledWords {
    /// Draws `n` distinct words from a vocabulary of `n_words` in order of descending frequency.
    ///
    /// # Errors
    /// [`senv_core::Error::InvalidParameter`] unless `n` is from 1 to `n_words`.
    pub fn draw(rng: &mut Stream, n_words: usize, n: usize) -> Result<Self> {
        check_range("sampled words", "from 1 to the size of the vocabulary", n as f64, n >= 1 && n <= n_words)?;
        let range = (n_words as f64).ln_1p();
        let mut seen = vec![0u64; n_words.div_ceil(64)];
        let (mut ids, mut n_tries) = (Vec::with_capacity(n), 0);
        while ids.len() < n {
            // e^(u ln(V + 1)) is below k + 2 with probability ln(k + 2) / ln(V + 1): (F1).
            let k = ((rng.random::<f64>() * range).exp() as usize).saturating_sub(1).min(n_words - 1);
            n_tries += 1;
            let (word, bit) = (k / 64, 1 << (k % 64));
            if seen[word] & bit == 0 {
                seen[word] |= bit;
                ids.push(k as u32);
            }
        }
        ids.sort_unstable();
        Ok(Self { n_words, ids, n_tries })
    }

    /// Takes words chosen by the caller, in any order.
    ///
    /// # Errors
    /// [`Error::TargetOutOfRange`] if a word is not below `n_words`; [`senv_core::Error::InvalidParameter`] if there
    /// are no words, a repeated word, or more words than draws.
    pub fn new(n_words: usize, mut ids: Vec<u32>, n_tries: u64) -> Result<Self> {
        if let Some(example) = ids.iter().position(|&id| id as usize >= n_words) {
            return Err(Error::TargetOutOfRange { example, target: ids[example], n_targets: n_words });
        }
        ids.sort_unstable();
        let distinct = !ids.is_empty() && ids.windows(2).all(|pair| pair[0] != pair[1]);
        check_range("sampled words", "distinct, at least one", ids.len() as f64, distinct)?;
        check_range("tries", "at least as many as words", n_tries as f64, n_tries >= ids.len() as u64)?;
        Ok(Self { n_words, ids, n_tries })
    }

    /// The words, ascending.
    #[must_use]
    pub fn ids(&self) -> &[u32] {
        &self.ids
    }

    /// The number of words in the vocabulary.
    #[must_use]
    pub fn n_words(&self) -> usize {
        self.n_words
    }

    /// The number of draws.
    #[must_use]
    pub fn n_tries(&self) -> u64 {
        self.n_tries
    }

    /// (F2) for the word `id`, in `(0, 1]`: its expected count among the draws.
    #[must_use]
    pub fn expected_count(&self, id: u32) -> f64 {
        let p = (1.0 / (f64::from(id) + 1.0)).ln_1p() / (self.n_words as f64).ln_1p(); // (F1)
        -(self.n_tries as f64 * (-p).ln_1p()).exp_m1()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use senv_core::rng::stream;

    #[test]
    fn first_draws_follow_the_law() {
        let (n_words, n) = (50, 20_000);
        let mut counts = vec![0.0; n_words];
        for i in 0..n {
            let words = SampledWords::draw(&mut stream(1, "candidates", &[i]), n_words, 1).unwrap();
            counts[words.ids()[0] as usize] += 1.0;
        }
        let law = SampledWords::new(n_words, vec![0], 1).unwrap(); // One draw: E is P.
        let total: f64 = (0..n_words as u32).map(|k| law.expected_count(k)).sum();
        assert!((total - 1.0).abs() < 1e-12);
        let chi: f64 = (0..n_words as u32)
            .map(|k| {
                let expected = law.expected_count(k) * n as f64;
                let difference: f64 = counts[k as usize] - expected;
                difference * difference / expected
            })
            .sum();
        let free = (n_words - 1) as f64;
        assert!((chi - free).abs() < 4.0 * (2.0 * free).sqrt(), "{chi}");
    }

    #[test]
    fn draws_are_distinct_and_as_frequent_as_expected() {
        let (n_words, n, rounds) = (40, 15, 3000);
        let (mut seen, mut expected) = (vec![0.0; n_words], vec![0.0; n_words]);
        for i in 0..rounds {
            let words = SampledWords::draw(&mut stream(2, "candidates", &[i]), n_words, n).unwrap();
            assert!(words.ids().len() == n && words.ids().windows(2).all(|pair| pair[0] < pair[1]));
            words.ids().iter().for_each(|&id| seen[id as usize] += 1.0 / rounds as f64);
            (0..n_words).for_each(|k| expected[k] += words.expected_count(k as u32) / rounds as f64);
        }
        // Given the number of draws, the counts follow (F2). That number is random, so they are within 0.03 here.
        assert!(seen.iter().zip(&expected).all(|(seen, expected): (&f64, &f64)| (seen - expected).abs() < 0.03));
        let all = SampledWords::draw(&mut stream(3, "candidates", &[]), n_words, n_words).unwrap();
        assert!(all.ids().iter().copied().eq(0..n_words as u32));
        assert!(all.expected_count(0) > 0.999);
    }

    #[test]
    fn words_that_cannot_be() {
        let rng = &mut stream(3, "candidates", &[]);
        assert!(SampledWords::draw(rng, 5, 0).is_err() && SampledWords::draw(rng, 5, 6).is_err());
        assert!(matches!(SampledWords::new(5, vec![1, 5], 9), Err(Error::TargetOutOfRange { target: 5, .. })));
        for (ids, tries) in [(vec![], 3), (vec![1, 2, 1], 3), (vec![1, 2, 3], 2)] {
            assert!(matches!(SampledWords::new(5, ids, tries), Err(Error::Core(_))));
        }
    }

    #[test]
    fn the_number_of_draws_is_kept() {
        assert_eq!(SampledWords::new(5, vec![1, 3], 9).unwrap().n_tries(), 9);
        // Getting all four words took at least four draws, usually more.
        let tries = |i| SampledWords::draw(&mut stream(5, "candidates", &[i]), 4, 4).unwrap().n_tries();
        assert!((0..20).all(|i| tries(i) >= 4) && (0..20).any(|i| tries(i) > 4));
    }
}
