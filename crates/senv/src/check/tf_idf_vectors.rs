//! Comparison of sentences by TF-IDF.

use std::collections::HashSet;

use senv_core::{Corpus, Sentences, TokenId, Tokenizer, words::VocabularyBuilder};

use crate::{data::tf_idf::TfIdfParams, error::Result};

/// The number of sentences whose TF-IDF candidates are compared.
const N_ANCHORS: usize = 800;
/// The ranks of the candidates to compare, nearest by TF-IDF first. They range from many shared words to few, so there
/// is an order to agree with.
const PLACES: [usize; 5] = [0, 2, 8, 30, 100];
/// Words that occur in more than one in this many sentences do not produce candidates, because nearly all sentences
/// share one of them.
const TOO_FREQUENT: usize = 20;

/// Two sentences of the sample.
pub(super) type Pair = [usize; 2];

/// The TF-IDF vectors of the sample, with document frequencies from the sample itself.
pub(super) struct TfIdfVectors(Vec<Vec<(TokenId, f64)>>);

impl TfIdfVectors {
    /// Creates the vectors; `None` if no sentence has a word.
    pub(super) fn new(texts: &[String], tokenizer: &Tokenizer) -> Result<Option<Self>> {
        let (mut builder, mut scratch) = (VocabularyBuilder::default(), String::new());
        let mut add = |token: &str| {
            builder.add(token);
        };
        texts.iter().for_each(|sentence| tokenizer.for_each(sentence, &mut scratch, &mut add));
        if builder.is_empty() {
            return Ok(None);
        }
        let vocabulary = builder.finish(1)?;
        let (mut sentences, mut tokens) = (Sentences::new(), Vec::new());
        for sentence in texts {
            vocabulary.known_tokens(tokenizer, sentence, &mut scratch, &mut tokens);
            sentences.push(tokens.iter().copied());
        }
        let params = TfIdfParams { tokenizer: tokenizer.clone(), max_words: usize::MAX, ..TfIdfParams::default() };
        let words = params.fit(vocabulary, &Corpus::from_sentences(sentences))?;
        Ok(Some(Self(texts.iter().map(|sentence| words.weights(sentence)).collect())))
    }

    /// Returns the cosine of two sentences, in `[0, 1]`; 0 if they share no word.
    pub(super) fn cosine(&self, [first, second]: Pair) -> f64 {
        let (mut first, mut second) = (self.0[first].as_slice(), self.0[second].as_slice());
        let mut sum = 0.0;
        while let ([(a, x), rest_a @ ..], [(b, y), rest_b @ ..]) = (first, second) {
            sum += if a == b { x * y } else { 0.0 };
            (first, second) = (if a <= b { rest_a } else { first }, if b <= a { rest_b } else { second });
        }
        sum.min(1.0)
    }

    /// Returns pairs that share words, many or few. Sentences spread over the sample are each paired with those at a
    /// few ranks among all sentences that share a word with them, nearest first.
    pub(super) fn sharing(&self, texts: &[String], usable: &[usize]) -> Vec<Pair> {
        let n_words = self.0.iter().flatten().map(|&(word, _)| word.index() + 1).max().unwrap_or(0);
        let mut holding: Vec<Vec<(usize, f64)>> = vec![Vec::new(); n_words];
        for &sentence in usable {
            self.0[sentence].iter().for_each(|&(word, weight)| holding[word.index()].push((sentence, weight)));
        }
        let (mut pairs, mut seen) = (Vec::new(), HashSet::new());
        let mut scores = vec![0.0; self.0.len()];
        for &anchor in usable.iter().step_by(usable.len().div_ceil(N_ANCHORS).max(1)) {
            let mut candidates = Vec::new();
            for &(word, weight) in &self.0[anchor] {
                let holding = &holding[word.index()];
                if holding.len() * TOO_FREQUENT > usable.len().max(2 * TOO_FREQUENT) {
                    continue;
                }
                for &(other, its) in holding {
                    if scores[other] == 0.0 {
                        candidates.push(other);
                    }
                    scores[other] += weight * its;
                }
            }
            candidates.sort_unstable_by(|&a, &b| scores[b].total_cmp(&scores[a]).then(a.cmp(&b)));
            let differs = |&&other: &&usize| texts[other] != texts[anchor];
            let others: Vec<usize> = candidates.iter().filter(differs).copied().collect();
            let chosen = PLACES.iter().filter_map(|&place| others.get(place));
            pairs.extend(chosen.map(|&other| [anchor.min(other), anchor.max(other)]).filter(|&pair| seen.insert(pair)));
            candidates.iter().for_each(|&other| scores[other] = 0.0);
        }
        pairs
    }
}
