//! TF-IDF: sentences compared by their words, without vectors, a baseline of the Sent2Vec paper. It only counts how
//! many sentences contain each word.
//!
//! Equation: `tf-idf`
//!
//! ```text
//! idf(w)     = ln((1 + N) / (1 + df(w))) + 1      N sentences, df(w) of them hold w
//! weight(w)  = count of w in the sentence · idf(w), all weights of a sentence divided by their norm
//! similarity = Σ_w weight_a(w) weight_b(w)
//! ```
//!
//! A vector has as many values as there are words, nearly all of them 0. It is therefore a list of words and weights,
//! and [`TfIdf`] is not a [`SentenceEncoder`](senv_core::SentenceEncoder).
//!
//! # References
//! Salton and Buckley, Information Processing & Management 24(5), 1988; Hill, Cho and Korhonen, NAACL 2016.

use senv_core::{Corpus, TokenId, Tokenizer, Vocabulary, corpus::BlockBuffer};

use crate::{
    base::{text_files::TextFiles, train_options::TrainOptions},
    error::Result,
};

/// How TF-IDF reads text.
///
/// ```
/// use senv::data::TfIdfParams;
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("text.txt");
/// std::fs::write(&path, "the cat sat\nthe dog barked\nthe cat slept\n")?;
/// let words = TfIdfParams::default().fit_files(&path, &Default::default())?;
/// // Both share two words with "the cat slept"; "slept" is rarer than "the".
/// assert!(words.similarity("the cat slept", "cat slept") > words.similarity("the cat slept", "the cat"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct TfIdfParams {
    /// Splits sentences into words; [`Tokenizer::words`] with lower-casing by default.
    pub tokenizer: Tokenizer,
    /// Words that occur less often are unknown; 1 by default. Ignored if a vocabulary is given.
    pub min_count: u64,
    /// How many of the most frequent words are used; the others are unknown. 200,000 by default, as in Sent2Vec's
    /// paper.
    pub max_words: usize,
}

impl Default for TfIdfParams {
    fn default() -> Self {
        Self { tokenizer: Tokenizer::words().lowercase(true), min_count: 1, max_words: 200_000 }
    }
}

impl TfIdfParams {
    /// Counts the words of text files with one sentence per line.
    ///
    /// # Errors
    /// If the text cannot be used, or the observer stops the reading.
    pub fn fit_files(&self, text: impl TextFiles, options: &TrainOptions<'_>) -> Result<TfIdf> {
        let (vocabulary, corpus) = options.read(&text.paths(), &self.tokenizer, self.min_count)?;
        self.fit(vocabulary, &corpus)
    }

    /// Counts the words of a corpus whose ids are of `vocabulary`.
    ///
    /// # Errors
    /// [`senv_core::Error::InvalidParameter`] if `max_words` is 0; [`senv_core::Error::Io`] if the corpus cannot be
    /// read back from its temporary file.
    pub fn fit(&self, vocabulary: Vocabulary, corpus: &Corpus) -> Result<TfIdf> {
        if self.max_words == 0 {
            let (requirement, got) = ("at least 1", "0".into());
            return Err(senv_core::Error::InvalidParameter { name: "max_words", requirement, got }.into());
        }
        let n = vocabulary.len().min(self.max_words);
        let mut n_sentences_with = vec![0u64; n];
        // The last sentence that contained a word, counted from 1, so a repeated word counts once.
        let mut last_in = vec![0u64; n];
        let mut block = BlockBuffer::default();
        for i in 0..corpus.n_blocks() {
            corpus.read_block(i, &mut block)?;
            for (sentence, number) in block.iter().zip(block.first_sentence() + 1..) {
                for word in sentence.iter().map(|word| word.index()).filter(|&word| word < n) {
                    n_sentences_with[word] += u64::from(last_in[word] != number);
                    last_in[word] = number;
                }
            }
        }
        let n_sentences = corpus.n_sentences() as f64;
        let idf = |df: u64| ((1.0 + n_sentences) / (1.0 + df as f64)).ln() + 1.0;
        Ok(TfIdf {
            tokenizer: self.tokenizer.clone(),
            vocabulary,
            idf: n_sentences_with.into_iter().map(idf).collect(),
        })
    }
}

/// Words and the weight of each.
#[derive(Debug, Clone)]
pub struct TfIdf {
    tokenizer: Tokenizer,
    vocabulary: Vocabulary,
    /// For the first words of the vocabulary; the others are unknown.
    idf: Vec<f64>,
}

impl TfIdf {
    /// Returns all words of the text, most frequent first. Those beyond [`TfIdfParams::max_words`] have no weight.
    #[must_use]
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// Returns the idf of a word: 1 if every sentence contains it, higher for rarer words; `None` for an unknown word.
    #[must_use]
    pub fn idf(&self, word: &str) -> Option<f64> {
        self.idf.get(self.vocabulary.id(word)?.index()).copied()
    }

    /// Returns the token ids of the known words of a sentence, with weights of norm 1; empty without a known word.
    #[must_use]
    pub fn weights(&self, sentence: &str) -> Vec<(TokenId, f64)> {
        let mut words = Vec::new();
        self.vocabulary.known_tokens(&self.tokenizer, sentence, &mut String::new(), &mut words);
        words.retain(|word| word.index() < self.idf.len());
        words.sort_unstable();
        let of_word = |same: &[TokenId]| (same[0], same.len() as f64 * self.idf[same[0].index()]);
        let mut weights: Vec<(TokenId, f64)> = words.chunk_by(TokenId::eq).map(of_word).collect();
        let norm = weights.iter().map(|(_, weight)| weight * weight).sum::<f64>().sqrt();
        weights.iter_mut().for_each(|(_, weight)| *weight /= norm);
        weights
    }

    /// Returns the cosine of two sentences, in `[0, 1]`; 0 if either has no known word.
    #[must_use]
    pub fn similarity(&self, first: &str, second: &str) -> f64 {
        let (first, second) = (self.weights(first), self.weights(second));
        let of_second = |word| second.binary_search_by_key(&word, |&(other, _)| other).map_or(0.0, |at| second[at].1);
        first.iter().map(|&(word, weight)| weight * of_second(word)).sum::<f64>().min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use senv_core::Sentences;
    use serde_json::Value;

    use super::*;

    fn vocabulary() -> Vocabulary {
        Vocabulary::from_counts([("a", 3), ("b", 3), ("c", 2), ("d", 4)], 12).unwrap()
    }

    #[test]
    fn weights_are_those_of_the_reference() {
        let file: Value = serde_json::from_str(include_str!("../../tests/data/tf_idf.json")).unwrap();
        let (tolerance, case) = (file["tolerance_abs"].as_f64().unwrap(), &file["cases"][0]);
        let documents: Vec<Vec<u32>> = serde_json::from_value(case["docs"].clone()).unwrap();
        let expected: Vec<Vec<f64>> = serde_json::from_value(case["matrix"].clone()).unwrap();
        let (idf, names): (Vec<f64>, _) = (serde_json::from_value(case["idf"].clone()).unwrap(), ["a", "b", "c", "d"]);
        let mut sentences = Sentences::new();
        documents.iter().for_each(|words| sentences.push(words.iter().map(|&word| TokenId(word))));
        let model = TfIdfParams::default().fit(vocabulary(), &Corpus::from_sentences(sentences)).unwrap();

        for (name, expected) in names.iter().zip(&idf) {
            assert!((model.idf(name).unwrap() - expected).abs() < tolerance);
        }
        let text = |words: &[u32]| words.iter().map(|&word| names[word as usize]).collect::<Vec<_>>().join(" ");
        for (document, expected) in documents.iter().zip(&expected) {
            let mut row = vec![0.0; names.len()];
            model.weights(&text(document)).iter().for_each(|(word, weight)| row[word.index()] = *weight);
            for (got, expected) in row.iter().zip(expected) {
                assert!((got - expected).abs() < tolerance, "{row:?} instead of {expected:?}");
            }
        }
        for (first, a) in documents.iter().zip(&expected) {
            for (second, b) in documents.iter().zip(&expected) {
                let cosine: f64 = a.iter().zip(b).map(|(x, y)| x * y).sum();
                assert!((model.similarity(&text(first), &text(second)) - cosine).abs() < tolerance);
            }
        }
    }

    #[test]
    fn words_beyond_the_limit_and_new_ones_are_unknown() {
        let mut sentences = Sentences::new();
        sentences.push([0, 1, 2, 3, 3].map(TokenId));
        sentences.push([3].map(TokenId));
        let params = TfIdfParams { max_words: 2, ..TfIdfParams::default() };
        let model = params.fit(vocabulary(), &Corpus::from_sentences(sentences)).unwrap();
        assert_eq!((model.idf("b"), model.idf("c"), model.idf("new")), (Some((3.0f64 / 2.0).ln() + 1.0), None, None));
        assert!(
            TfIdfParams { max_words: 0, ..params }
                .fit(vocabulary(), &Corpus::from_sentences(Sentences::new()))
                .is_err()
        );
        assert_eq!(model.weights("c d new"), []);
        assert_eq!(
            (model.similarity("a c", "a d new"), model.similarity("a", ""), model.similarity("", "")),
            (1.0, 0.0, 0.0)
        );
    }
}
