//! Expands queries with words of the texts found first.
//!
//! Equation: `query-expansion`
//!
//! ```text
//! p(w)  = mean over texts d of tf(w, d) / |d|            r(w) = p(w) idf(w), of the words where it is highest; 0 of others
//! q'(w) = (1 - λ) q(w) / Σ q + λ r(w) / Σ r
//! ```
//!
//! (Abdul-Jaleel et al. 2004, known as RM3, with texts of equal weight; words are chosen as in Rocchio 1971.) Frequent
//! words in those texts tend to be other words for the query's subject.

use std::collections::BTreeMap;

use super::bm25::{Bm25, WordQuery};

impl Bm25 {
    /// Adds the `n_words` most characteristic words of these texts to the query. They get `share` of its weight, from 0
    /// to 1. Ignores text numbers that do not exist.
    ///
    /// ```
    /// use senv_index::documents::{Bm25, Bm25Params};
    /// let texts = ["a car, an automobile", "the automobile stops", "rain on the hills"];
    /// let index = Bm25::new(texts, &Bm25Params::default());
    /// let query = index.query("car");
    /// let expanded = index.expanded(&query, &[0], 4, 0.5);
    /// assert_eq!(index.weighted_scores(&query)[1], 0.0);
    /// assert!(index.weighted_scores(&expanded)[1] > 0.0);
    /// ```
    #[must_use]
    pub fn expanded(&self, query: &WordQuery, texts: &[usize], n_words: usize, share: f32) -> WordQuery {
        let mut ratios: BTreeMap<u32, f32> = BTreeMap::new();
        for &text in texts.iter().filter(|&&text| text < self.len()) {
            let start = if text == 0 { 0 } else { self.ends[text - 1] };
            let words = &self.of_texts[start..self.ends[text]];
            let length: u32 = words.iter().map(|&(_, count)| count).sum();
            for &(word, count) in words {
                *ratios.entry(word).or_default() += count as f32 / length as f32;
            }
        }
        let mut telling: Vec<(u32, f32)> =
            ratios.into_iter().map(|(word, ratio)| (word, ratio * self.idf(word))).collect();
        telling.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        telling.truncate(n_words);
        let parts = [(&query.0, 1.0 - share), (&telling, share)].map(|(words, share)| {
            let sum: f32 = words.iter().map(|&(_, weight)| weight).sum();
            let scale = if sum > 0.0 { share / sum } else { 0.0 };
            words.iter().map(move |&(word, weight)| (word, weight * scale))
        });
        WordQuery(parts.into_iter().flatten().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documents::Bm25Params;

    #[test]
    fn weights_are_those_of_the_equation() {
        let index = Bm25::new(["cat dog dog", "cat rain", "sun"], &Bm25Params::default());
        let query = index.query("cat cat sun");
        let expanded = index.expanded(&query, &[0, 1, 9], 2, 0.25);
        // cat: (1/3 + 1/2) idf(2), dog: 2/3 idf(1), rain: 1/2 idf(1).
        let idf = |df: f32| (1.0 + (3.0 - df + 0.5) / (df + 0.5)).ln();
        let (dog, rain) = (2.0 / 3.0 * idf(1.0), 0.5 * idf(1.0));
        assert!(rain > (1.0 / 3.0 + 0.5) * idf(2.0));
        let expected =
            [(0, 0.25), (0, 0.25), (3, 0.25), (1, 0.25 * dog / (dog + rain)), (2, 0.25 * rain / (dog + rain))];
        assert_eq!(expanded.0.len(), expected.len());
        for (&(word, weight), (expected_word, expected)) in expanded.0.iter().zip(expected) {
            assert!(word == expected_word && (weight - expected).abs() < 1e-6, "{expanded:?}");
        }
        // Without texts, the query is only scaled.
        let same = index.weighted_scores(&index.expanded(&query, &[], 5, 0.0));
        let scores = index.weighted_scores(&query);
        assert!(same.iter().zip(&scores).all(|(a, b)| (3.0 * a - b).abs() < 1e-6));
        assert!(index.expanded(&WordQuery::default(), &[], 5, 0.5).is_empty());
    }
}
