//! BM25: ranks texts by the words of a query.
//!
//! Equation: `bm25`
//!
//! ```text
//! score(q, d) = Σ_{w in q} idf(w) tf(w, d) / ( tf(w, d) + k1 (1 - b + b |d| / mean |d|) )
//! idf(w)      = ln(1 + (N - df(w) + 1/2) / (df(w) + 1/2))
//! ```
//!
//! (Robertson and Zaragoza 2009, in the form of Lucene.) A word that occurs twice in the query counts twice.
//! [`Stemming`] says what counts as a word.

use std::collections::HashMap;

use super::words::{Stemming, Words};

/// The two constants of BM25, and what counts as the same word.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bm25Params {
    /// How quickly repetitions of a word stop adding to the score; at least 0.
    pub k1: f32,
    /// How much the length of a text matters, from 0 to 1.
    pub b: f32,
    /// Whether words are reduced to English stems.
    pub stemming: Stemming,
}

impl Default for Bm25Params {
    /// 1.2 and 0.75, as in Lucene.
    fn default() -> Self {
        Self { k1: 1.2, b: 0.75, stemming: Stemming::Automatic }
    }
}

/// An in-memory index of texts, searched by their words.
///
/// ```
/// use senv_index::documents::{Bm25, Bm25Params};
/// let texts = ["the cat sat on the mat", "rain falls on the hills", "cats and dogs"];
/// let index = Bm25::new(texts, &Bm25Params::default());
/// let scores = index.scores("a cat");
/// assert!(scores[2] > scores[0] && scores[0] > 0.0 && scores[1] == 0.0);
/// ```
#[derive(Debug, Clone)]
pub struct Bm25 {
    params: Bm25Params,
    analyzer: Words,
    words: HashMap<String, u32>,
    /// For each word, the texts that contain it, ascending, and how often.
    postings: Vec<Vec<(u32, u32)>>,
    /// The number of words of each text.
    lengths: Vec<u32>,
    scoring: Scoring,
}

/// The terms of the equation, for texts whose number and length are known.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scoring {
    k1: f32,
    b: f32,
    n: f32,
    mean: f32,
}

impl Scoring {
    /// For `n` texts that have so many words together.
    pub(crate) fn new(params: &Bm25Params, n: usize, words: u64) -> Self {
        let mean = words as f64 / n.max(1) as f64;
        Self { k1: params.k1, b: params.b, n: n as f32, mean: (mean as f32).max(1e-9) }
    }

    /// The rarity of a word that so many texts contain.
    pub(crate) fn idf(&self, df: usize) -> f32 {
        let df = df as f32;
        (1.0 + (self.n - df + 0.5) / (df + 0.5)).ln()
    }

    /// What a word adds to the score of a text that contains it `tf` times and has `length` words.
    #[inline]
    pub(crate) fn term(&self, idf: f32, tf: u32, length: u32) -> f32 {
        let tf = tf as f32;
        idf * tf / (tf + self.k1 * (1.0 - self.b + self.b * length as f32 / self.mean))
    }
}

impl Bm25 {
    /// Indexes texts. Takes 8 bytes per distinct word of each text.
    #[must_use]
    pub fn new<'t>(texts: impl IntoIterator<Item = &'t str>, params: &Bm25Params) -> Self {
        let texts: Vec<&str> = texts.into_iter().collect();
        let analyzer = Words::of(&texts, params.stemming);
        let mut words: HashMap<String, u32> = HashMap::new();
        let mut postings: Vec<Vec<(u32, u32)>> = Vec::new();
        let mut lengths: Vec<u32> = Vec::new();
        for (text, number) in texts.into_iter().zip(0..) {
            let mut n = 0_u32;
            analyzer.for_each(text, |word| {
                n += 1;
                let next = postings.len() as u32;
                let word = match words.get(word) {
                    Some(&word) => word,
                    None => {
                        postings.push(Vec::new());
                        *words.entry(word.to_owned()).or_insert(next)
                    }
                };
                match postings[word as usize].last_mut() {
                    Some((last, count)) if *last == number => *count += 1,
                    _ => postings[word as usize].push((number, 1)),
                }
            });
            lengths.push(n);
        }
        let scoring = Scoring::new(params, lengths.len(), lengths.iter().copied().map(u64::from).sum());
        Self { params: *params, analyzer, words, postings, lengths, scoring }
    }

    /// The number of texts.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lengths.len()
    }

    /// Whether there are no texts.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lengths.is_empty()
    }

    /// The constants.
    #[must_use]
    pub fn params(&self) -> Bm25Params {
        self.params
    }

    /// Whether a text contains a word of the query.
    #[must_use]
    pub fn has_word_of(&self, query: &str) -> bool {
        !self.known_words(query).is_empty()
    }

    /// The score of every text, at least 0; it is 0 if the text contains no word of the query.
    #[must_use]
    pub fn scores(&self, query: &str) -> Vec<f32> {
        let mut scores = vec![0.0; self.len()];
        for word in self.known_words(query) {
            let postings = &self.postings[word as usize];
            let idf = self.scoring.idf(postings.len());
            for &(text, count) in postings {
                scores[text as usize] += self.scoring.term(idf, count, self.lengths[text as usize]);
            }
        }
        scores
    }

    /// The words of a query that some text contains, each as often as it occurs in the query.
    fn known_words(&self, query: &str) -> Vec<u32> {
        let mut words = Vec::new();
        self.analyzer.for_each(query, |word| words.extend(self.words.get(word)));
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_those_of_the_equation() {
        let index = Bm25::new(
            ["a cat sat", "cats, cats and a dog", "rain"],
            &Bm25Params { k1: 1.5, b: 0.5, ..Bm25Params::default() },
        );
        // Lengths 3, 5, 1, mean 3. cat: df 2, idf = ln(1 + 1.5 / 2.5); rain: df 1, idf = ln(1 + 2.5 / 1.5).
        let idf = |df: f32| (1.0 + (3.0 - df + 0.5) / (df + 0.5)).ln();
        let score = |df: f32, tf: f32, len: f32| idf(df) * tf / (tf + 1.5 * (0.5 + 0.5 * len / 3.0));
        let scores = index.scores("cat rain rain unknown");
        let expected = [score(2.0, 1.0, 3.0), score(2.0, 2.0, 5.0), 2.0 * score(1.0, 1.0, 1.0)];
        for (score, expected) in scores.iter().zip(expected) {
            assert!((score - expected).abs() < 1e-6, "{scores:?} {expected}");
        }
        assert!(Bm25::new([], &Bm25Params::default()).scores("cat").is_empty());
        assert_eq!(Bm25::new(["", "..."], &Bm25Params::default()).scores("cat"), [0.0, 0.0]);
        let hyphens = Bm25::new(["a semi-infinite plate", "x"], &Bm25Params::default());
        assert!(hyphens.scores("infinite")[0] > 0.0 && hyphens.scores("Semi-finite")[0] > 0.0);
    }
}
