//! The rank of the second sentence of each held-out pair among those of all pairs, by cosine to the first.
//!
//! Equation: `mean-reciprocal-rank`
//!
//! ```text
//! rank_i = 1 + |{ j ≠ i : cos(a_i, b_j) ≥ cos(a_i, b_i) }|      pairs (a_i, b_i), all b distinct
//! MRR    = 1/n Σ_i 1 / rank_i                                  in (0, 1]; about ln(n)/n by chance
//! ```

use std::{cmp::Ordering, collections::HashSet};

use senv_core::{Error as CoreError, SentenceEncoder, Tokenizer, kernels};

use super::tf_idf_vectors::TfIdfVectors;
use crate::error::Result;

/// Pairs of sentences that mean the same thing and were not in the training data.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct HeldOutPairs {
    first: Vec<String>,
    second: Vec<String>,
}

impl HeldOutPairs {
    /// Keeps the first `most` of these pairs. A pair that repeats a sentence of another one is left out, because two
    /// equal second sentences cannot be ranked.
    pub(crate) fn new(pairs: impl IntoIterator<Item = [String; 2]>, most: usize) -> Self {
        let (mut held_out, mut seen) = (Self::default(), HashSet::new());
        for [first, second] in pairs {
            if held_out.len() == most {
                break;
            }
            if first != second && !seen.contains(&first) && !seen.contains(&second) {
                seen.extend([first.clone(), second.clone()]);
                held_out.first.push(first);
                held_out.second.push(second);
            }
        }
        held_out
    }

    /// Returns the number of pairs.
    pub(crate) fn len(&self) -> usize {
        self.first.len()
    }

    /// Ranks by the vectors of an encoder.
    pub(crate) fn ranks_by<E: SentenceEncoder + ?Sized>(&self, encoder: &E) -> Result<PairRanks> {
        let encode =
            |sentences: &[String]| encoder.encode_batch(&sentences.iter().map(String::as_str).collect::<Vec<_>>());
        let ((first, _), (second, _)) = (encode(&self.first)?, encode(&self.second)?);
        let of = |row: usize| (first.row(row), second.row(row));
        self.ranks(|i, j| match (of(i).0.to_slice(), of(j).1.to_slice()) {
            (Some(first), Some(second)) => f64::from(kernels::cosine(first, second)),
            _ => 0.0,
        })
    }

    /// Ranks by TF-IDF, with the document frequencies of the pairs themselves.
    pub(crate) fn ranks_by_tf_idf(&self, tokenizer: &Tokenizer) -> Result<PairRanks> {
        let n = self.len();
        let texts = [&self.first[..], &self.second].concat();
        match TfIdfVectors::new(&texts, tokenizer)? {
            Some(words) => self.ranks(|i, j| words.cosine([i, n + j])),
            None => self.ranks(|_, _| 0.0),
        }
    }

    /// Ranks by a cosine of first sentence `i` and second sentence `j`.
    fn ranks(&self, cosine: impl Fn(usize, usize) -> f64) -> Result<PairRanks> {
        let n = self.len();
        let mut ranks = PairRanks::default();
        ranks.reciprocal.try_reserve_exact(n).map_err(|_| CoreError::TooLarge { rows: n, dim: 1 })?;
        let mut nearer = 0.0;
        for i in 0..n {
            let own = cosine(i, i);
            let mut rank = 1u32;
            for other in (0..n).filter(|&j| j != i).map(|j| cosine(i, j)) {
                // NaN also means failure.
                let order = other.partial_cmp(&own);
                rank += u32::from(order != Some(Ordering::Less));
                nearer += match order {
                    Some(Ordering::Less) => 1.0,
                    Some(Ordering::Equal) => 0.5,
                    _ => 0.0,
                };
            }
            ranks.reciprocal.push(1.0 / f64::from(rank));
        }
        ranks.auc = nearer / (n * n.saturating_sub(1)).max(1) as f64;
        Ok(ranks)
    }
}

/// Ranks of held-out pairs.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct PairRanks {
    /// The reciprocal rank of each pair.
    pub(crate) reciprocal: Vec<f64>,
    /// The probability that the second sentence of the same pair is nearer than that of another pair, in `[0, 1]`.
    pub(crate) auc: f64,
}

impl PairRanks {
    /// Returns the mean reciprocal rank; 0 without pairs.
    pub(crate) fn mrr(&self) -> f64 {
        self.reciprocal.iter().sum::<f64>() / self.reciprocal.len().max(1) as f64
    }

    /// Returns the lead over `other` in standard errors of the paired difference; 0 if nothing differs.
    pub(crate) fn ahead_of(&self, other: &Self) -> f64 {
        let n = self.reciprocal.len() as f64;
        let differences: Vec<f64> = self.reciprocal.iter().zip(&other.reciprocal).map(|(a, b)| a - b).collect();
        let mean = differences.iter().sum::<f64>() / n;
        let squares: f64 = differences.iter().map(|d| (d - mean) * (d - mean)).sum();
        let error = (squares / (n * (n - 1.0))).sqrt();
        if error > 0.0 { mean / error } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use senv_core::{Coverage, Scratch};

    use super::*;

    /// An encoder whose sentences spell out their vectors.
    struct Spelled;
    impl SentenceEncoder for Spelled {
        fn dim(&self) -> usize {
            2
        }
        fn encode_sentence(&self, sentence: &str, _: &mut Scratch, out: &mut [f32]) -> Coverage {
            out.iter_mut().zip(sentence.split(' ')).for_each(|(x, number)| *x = number.parse().unwrap());
            Coverage::new(1, 1)
        }
    }

    fn held_out(pairs: &[[&str; 2]]) -> HeldOutPairs {
        HeldOutPairs::new(pairs.iter().map(|pair| pair.map(str::to_owned)), usize::MAX)
    }

    #[test]
    fn ranks_are_those_counted_by_hand() {
        // Angles in degrees: 0 -> 10, 45 -> 90 (10 is nearer), 90 -> 60 (90 is nearer).
        let three = held_out(&[["1 0", "0.985 0.174"], ["0.707 0.707", "0 1"], ["0 2", "0.5 0.866"]]);
        let ranks = three.ranks_by(&Spelled).unwrap();
        assert_eq!(ranks.reciprocal, [1.0, 1.0 / 3.0, 0.5]);
        assert!((ranks.mrr() - 11.0 / 18.0).abs() < 1e-12);
        // Of six comparisons: two of the first, none of the second, one of the third.
        assert!((ranks.auc - 0.5).abs() < 1e-12);
    }

    #[test]
    fn a_tie_is_no_success_and_equal_texts_are_asked_once() {
        let equal = held_out(&[["1 0", "0 1"], ["2 0", "0 2"]]);
        let ranks = equal.ranks_by(&Spelled).unwrap();
        assert_eq!((ranks.mrr(), ranks.auc), (0.5, 0.5));
        assert_eq!(held_out(&[["a", "b"], ["a", "c"], ["d", "b"], ["e", "e"], ["f", "g"]]).len(), 2);
        assert_eq!(HeldOutPairs::new([["a".into(), "b".into()], ["c".into(), "d".into()]], 1).len(), 1);
    }

    #[test]
    fn tf_idf_finds_shared_words() {
        let words = held_out(&[["a red car", "the red car"], ["two dogs run", "dogs run fast"], ["it rains", "rain"]]);
        let ranks = words.ranks_by_tf_idf(&Tokenizer::words()).unwrap();
        assert_eq!(ranks.reciprocal, [1.0, 1.0, 1.0 / 3.0]);
        assert_eq!(held_out(&[]).ranks_by_tf_idf(&Tokenizer::words()).unwrap().mrr(), 0.0);
    }

    #[test]
    fn differences_are_counted_in_standard_errors() {
        let of = |ranks: &[f64]| PairRanks { reciprocal: ranks.to_vec(), auc: 0.5 };
        let (a, b) = (of(&[1.0, 1.0, 0.5, 1.0]), of(&[0.5, 1.0, 0.5, 0.5]));
        // Mean 0.25, standard deviation 0.2887, standard error 0.1443.
        assert!((a.ahead_of(&b) - 1.732).abs() < 1e-3);
        assert_eq!((a.ahead_of(&a), b.ahead_of(&a) < 0.0), (0.0, true));
    }
}
