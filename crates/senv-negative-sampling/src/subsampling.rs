//! Subsampling: drops occurrences of frequent tokens.
//!
//! Equation: `keep-probability`

use rand::Rng;
use senv_core::{Error, Result, rng::Stream};

/// Keep probabilities of the tokens, as thresholds for a 32-bit draw.
///
/// ```text
/// q_p(w) = min(1, sqrt(t / f(w)) + t / f(w))       f(w) = count(w) / tokens of the corpus
/// ```
///
/// Sent2Vec keeps a *target* with this probability and leaves contexts whole (Pagliardini, Gupta and Jaggi,
/// "Unsupervised Learning of Sentence Embeddings using Compositional n-Gram Features", 2018, section 2.1). Instead,
/// word2vec drops the occurrence from the sentence. The denominator counts every token of the corpus, including those
/// below the minimum count. A token below `min_count` is never kept.
#[derive(Debug, Clone)]
pub struct Subsampling {
    thresholds: Vec<u64>,
}

/// The probability of keeping an occurrence of a token with relative frequency `frequency`.
#[must_use]
pub fn keep_probability(frequency: f64, threshold: f64) -> f64 {
    if frequency <= 0.0 {
        return 1.0;
    }
    ((threshold / frequency).sqrt() + threshold / frequency).min(1.0)
}

impl Subsampling {
    /// Computes keep probabilities for tokens of these counts in a corpus of `corpus_tokens`, at `threshold` t;
    /// `f64::INFINITY` keeps everything. Tokens that occur fewer than `min_count` times are never kept.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] if the threshold is not positive.
    pub fn new(counts: &[u64], corpus_tokens: u64, threshold: f64, min_count: u64) -> Result<Self> {
        if threshold.is_nan() || threshold <= 0.0 {
            return Err(Error::InvalidParameter {
                name: "subsampling threshold",
                requirement: "positive",
                got: threshold.to_string(),
            });
        }
        let thresholds = counts
            .iter()
            .map(|&count| {
                if count < min_count {
                    return 0;
                }
                let keep = keep_probability(count as f64 / corpus_tokens.max(1) as f64, threshold);
                (keep * 4_294_967_296.0).round() as u64
            })
            .collect();
        Ok(Self { thresholds })
    }

    /// Whether this occurrence of `token` is kept.
    #[inline]
    pub fn keeps(&self, token: u32, rng: &mut Stream) -> bool {
        self.keeps_at(token, rng.next_u32())
    }

    /// Whether it is kept for this uniform 32-bit number.
    #[inline]
    fn keeps_at(&self, token: u32, random: u32) -> bool {
        u64::from(random) < self.thresholds[token as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reference numbers made in f64 by the project's generator make_golden.py (sent2vec.json, keep_probability).
    const COUNTS: [u64; 6] = [100_000, 5_000, 300, 40, 6, 5];
    const TOTAL: u64 = 105_351;

    #[test]
    fn keep_probabilities_equal_the_reference_numbers() {
        let expected = [
            (
                1e-5,
                [
                    0.003256316978068827,
                    0.014726279838997661,
                    0.0627712983786593,
                    0.18862684390344134,
                    0.5946136386394133,
                    0.6697248752469751,
                ],
            ),
            (1e-3, [0.033511328780688264, 0.16622597838997663, 0.9437659837865929, 1.0, 1.0, 1.0]),
        ];
        for (t, keeps) in expected {
            for (count, keep) in COUNTS.into_iter().zip(keeps) {
                assert!((keep_probability(count as f64 / TOTAL as f64, t) - keep).abs() < 1e-10);
            }
        }
    }

    #[test]
    fn the_share_kept_is_the_probability() {
        let subsampling = Subsampling::new(&COUNTS, TOTAL, 1e-5, 6).unwrap();
        let mut rng = senv_core::rng::stream(5, "keep", &[]);
        let n = 400_000;
        for (token, count) in COUNTS.into_iter().enumerate() {
            let p = if count < 6 { 0.0 } else { keep_probability(count as f64 / TOTAL as f64, 1e-5) };
            let kept = (0..n).filter(|_| subsampling.keeps(token as u32, &mut rng)).count() as f64;
            let deviation = (f64::from(n) * p * (1.0 - p)).sqrt();
            assert!((kept - f64::from(n) * p).abs() <= 4.0 * deviation, "token {token}: {kept} of {n}, p = {p}");
            assert_eq!(subsampling.thresholds[token] > 0, count >= 6);
        }
    }

    #[test]
    fn an_infinite_threshold_keeps_all_and_bad_ones_are_refused() {
        let all = Subsampling::new(&COUNTS, TOTAL, f64::INFINITY, 1).unwrap();
        let mut rng = senv_core::rng::stream(5, "keep", &[]);
        assert!((0..10_000).all(|i| all.keeps(i % 6, &mut rng)));
        for t in [0.0, -1.0, f64::NAN] {
            assert!(Subsampling::new(&COUNTS, TOTAL, t, 1).is_err());
        }
    }

    #[test]
    fn a_token_below_the_minimum_is_never_kept_and_a_rare_one_always() {
        let subsampling = Subsampling::new(&[1, 5], 1000, f64::INFINITY, 2).unwrap();
        for random in [0, u32::MAX] {
            assert!(!subsampling.keeps_at(0, random) && subsampling.keeps_at(1, random));
        }
    }
}
