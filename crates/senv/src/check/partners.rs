//! How well the partner of a sentence is found among the partners of all others.
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

/// Pairs of sentences that mean the same, of which nothing was trained on.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Partners {
    first: Vec<String>,
    second: Vec<String>,
}

impl Partners {
    /// At most so many of these pairs, in order; a pair is left out where one of its sentences was there already, for which of two equal
    /// partners is meant nobody can know.
    pub(crate) fn new(pairs: impl IntoIterator<Item = [String; 2]>, most: usize) -> Self {
        let (mut partners, mut seen) = (Self::default(), HashSet::new());
        for [first, second] in pairs {
            if partners.len() == most {
                break;
            }
            if first != second && !seen.contains(&first) && !seen.contains(&second) {
                seen.extend([first.clone(), second.clone()]);
                partners.first.push(first);
                partners.second.push(second);
            }
        }
        partners
    }

    /// How many pairs.
    pub(crate) fn len(&self) -> usize {
        self.first.len()
    }

    /// What an encoder finds.
    pub(crate) fn asked_of<E: SentenceEncoder + ?Sized>(&self, encoder: &E) -> Result<Found> {
        let encode =
            |sentences: &[String]| encoder.encode_batch(&sentences.iter().map(String::as_str).collect::<Vec<_>>());
        let ((first, _), (second, _)) = (encode(&self.first)?, encode(&self.second)?);
        let of = |row: usize| (first.row(row), second.row(row));
        self.found(|i, j| match (of(i).0.to_slice(), of(j).1.to_slice()) {
            (Some(first), Some(second)) => f64::from(kernels::cosine(first, second)),
            _ => 0.0,
        })
    }

    /// What TF-IDF finds, whose counts are those of the pairs.
    pub(crate) fn asked_of_tf_idf(&self, tokenizer: &Tokenizer) -> Result<Found> {
        let n = self.len();
        let texts = [&self.first[..], &self.second].concat();
        match TfIdfVectors::new(&texts, tokenizer)? {
            Some(words) => self.found(|i, j| words.cosine([i, n + j])),
            None => self.found(|_, _| 0.0),
        }
    }

    /// By the cosine of first sentence `i` and second sentence `j`.
    fn found(&self, cosine: impl Fn(usize, usize) -> f64) -> Result<Found> {
        let n = self.len();
        let mut found = Found::default();
        found.reciprocal_ranks.try_reserve_exact(n).map_err(|_| CoreError::TooLarge { rows: n, dim: 1 })?;
        let mut nearer = 0.0;
        for i in 0..n {
            let own = cosine(i, i);
            let mut rank = 1u32;
            for other in (0..n).filter(|&j| j != i).map(|j| cosine(i, j)) {
                // Not a number is no success either.
                let order = other.partial_cmp(&own);
                rank += u32::from(order != Some(Ordering::Less));
                nearer += match order {
                    Some(Ordering::Less) => 1.0,
                    Some(Ordering::Equal) => 0.5,
                    _ => 0.0,
                };
            }
            found.reciprocal_ranks.push(1.0 / f64::from(rank));
        }
        found.auc = nearer / (n * n.saturating_sub(1)).max(1) as f64;
        Ok(found)
    }
}

/// What an encoder found of partners.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Found {
    /// One over the rank of each partner.
    pub(crate) reciprocal_ranks: Vec<f64>,
    /// Probability that a partner is nearer than another one, in `[0, 1]`.
    pub(crate) auc: f64,
}

impl Found {
    /// The mean reciprocal rank; 0 of no pairs.
    pub(crate) fn mrr(&self) -> f64 {
        self.reciprocal_ranks.iter().sum::<f64>() / self.reciprocal_ranks.len().max(1) as f64
    }

    /// By how many standard errors of the paired difference this is ahead of `other`; 0 where nothing differs.
    pub(crate) fn ahead_of(&self, other: &Self) -> f64 {
        let n = self.reciprocal_ranks.len() as f64;
        let differences: Vec<f64> =
            self.reciprocal_ranks.iter().zip(&other.reciprocal_ranks).map(|(a, b)| a - b).collect();
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

    /// The vector that the sentence writes out.
    struct Spelled;
    impl SentenceEncoder for Spelled {
        fn dim(&self) -> usize {
            2
        }
        fn encode_into(&self, sentence: &str, _: &mut Scratch, out: &mut [f32]) -> Coverage {
            out.iter_mut().zip(sentence.split(' ')).for_each(|(x, number)| *x = number.parse().unwrap());
            Coverage::new(1, 1)
        }
    }

    fn partners(pairs: &[[&str; 2]]) -> Partners {
        Partners::new(pairs.iter().map(|pair| pair.map(str::to_owned)), usize::MAX)
    }

    #[test]
    fn ranks_are_those_counted_by_hand() {
        // Angles in degrees: 0 -> 10, 45 -> 90 (10 is nearer), 90 -> 60 (90 is nearer).
        let three = partners(&[["1 0", "0.985 0.174"], ["0.707 0.707", "0 1"], ["0 2", "0.5 0.866"]]);
        let found = three.asked_of(&Spelled).unwrap();
        assert_eq!(found.reciprocal_ranks, [1.0, 1.0 / 3.0, 0.5]);
        assert!((found.mrr() - 11.0 / 18.0).abs() < 1e-12);
        // Of six comparisons: two of the first, none of the second, one of the third.
        assert!((found.auc - 0.5).abs() < 1e-12);
    }

    #[test]
    fn a_tie_is_no_success_and_equal_texts_are_asked_once() {
        let equal = partners(&[["1 0", "0 1"], ["2 0", "0 2"]]);
        let found = equal.asked_of(&Spelled).unwrap();
        assert_eq!((found.mrr(), found.auc), (0.5, 0.5));
        assert_eq!(partners(&[["a", "b"], ["a", "c"], ["d", "b"], ["e", "e"], ["f", "g"]]).len(), 2);
        assert_eq!(Partners::new([["a".into(), "b".into()], ["c".into(), "d".into()]], 1).len(), 1);
    }

    #[test]
    fn tf_idf_finds_shared_words() {
        let words = partners(&[["a red car", "the red car"], ["two dogs run", "dogs run fast"], ["it rains", "rain"]]);
        let found = words.asked_of_tf_idf(&Tokenizer::words()).unwrap();
        assert_eq!(found.reciprocal_ranks, [1.0, 1.0, 1.0 / 3.0]);
        assert_eq!(partners(&[]).asked_of_tf_idf(&Tokenizer::words()).unwrap().mrr(), 0.0);
    }

    #[test]
    fn differences_are_counted_in_standard_errors() {
        let found = |ranks: &[f64]| Found { reciprocal_ranks: ranks.to_vec(), auc: 0.5 };
        let (a, b) = (found(&[1.0, 1.0, 0.5, 1.0]), found(&[0.5, 1.0, 0.5, 0.5]));
        // Mean .25, standard deviation .2887, error .1443.
        assert!((a.ahead_of(&b) - 1.732).abs() < 1e-3);
        assert_eq!((a.ahead_of(&a), b.ahead_of(&a) < 0.0), (0.0, true));
    }
}
