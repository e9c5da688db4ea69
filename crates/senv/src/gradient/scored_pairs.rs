//! Pairs that people have scored, to choose among trained weights: the score of an encoder is the mean over the sets of
//! Pearson's r between its cosines and theirs.

use std::path::Path;

use ndarray::Axis;
use senv_core::{Sentences, TextOptions, TextReader, Tokenizer, Vocabulary, arrays::TokenBatch, kernels};
use senv_encoders::Encoder;

use crate::{
    average::encoder::known_tokens,
    base::fingerprint::Fingerprint,
    error::{Error, Result},
    gradient::Weights,
};

/// Scored pairs of one file.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoredPairs {
    /// The file, as a name.
    pub name: String,
    /// Score, first and second sentence.
    pub pairs: Vec<(f64, String, String)>,
}

impl ScoredPairs {
    /// Reads `score, first, second`, separated by tabs; more columns may follow.
    ///
    /// # Errors
    /// [`Error::BadLine`] for another layout or a score that is no number; [`Error::TooFewPairs`] below two pairs.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let mut reader = TextReader::open(&[path], &TextOptions::default())?;
        let mut pairs = Vec::new();
        while let Some(line) = reader.next_line()? {
            let bad = |reason: String| Error::BadLine { path: path.to_owned(), line: line.number, reason };
            let mut cells = line.text.split('\t');
            let (Some(score), Some(first), Some(second)) = (cells.next(), cells.next(), cells.next()) else {
                let n = line.text.split('\t').count();
                return Err(bad(format!(
                    "{n} columns; expected three, separated by tabs: score, first sentence, second"
                )));
            };
            let value: f64 = score.trim().parse().map_err(|_| bad(format!("the score {score:?} is no number")))?;
            if !value.is_finite() {
                return Err(bad(format!("the score {score} is not finite")));
            }
            pairs.push((value, first.to_owned(), second.to_owned()));
        }
        if pairs.len() < 2 {
            return Err(Error::TooFewPairs { path: path.to_owned(), n: pairs.len() });
        }
        Ok(Self { name: path.display().to_string(), pairs })
    }
}

impl ScoredPairs {
    /// A number that changes with any of the pairs.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let pairs = self.pairs.iter();
        pairs.fold(Fingerprint::new(), |sum, (score, a, b)| sum.scores(&[*score]).text(a).text(b)).hex()
    }
}

/// Scored pairs as token ids.
#[derive(Debug, Clone)]
pub(crate) struct Validation {
    sets: Vec<Set>,
    batch: TokenBatch,
}

#[derive(Debug, Clone)]
struct Set {
    /// The first sentences, then the second ones.
    sentences: Sentences,
    gold: Vec<f64>,
}

impl Validation {
    /// Numbers the sentences of these sets.
    #[must_use]
    pub(crate) fn new(sets: &[ScoredPairs], tokenizer: &Tokenizer, vocabulary: &Vocabulary) -> Self {
        let (mut scratch, mut tokens) = (String::new(), Vec::new());
        let mut number = |set: &ScoredPairs| {
            let mut sentences = Sentences::new();
            let texts = set.pairs.iter().map(|pair| &pair.1).chain(set.pairs.iter().map(|pair| &pair.2));
            for text in texts {
                known_tokens(tokenizer, vocabulary, text, &mut scratch, &mut tokens);
                sentences.push(tokens.iter().copied());
            }
            Set { sentences, gold: set.pairs.iter().map(|pair| pair.0).collect() }
        };
        Self { sets: sets.iter().map(&mut number).collect(), batch: TokenBatch::new() }
    }

    /// Whether there is nothing to validate with.
    #[must_use]
    pub(crate) fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    /// The mean over the sets of Pearson's r; NaN where r is not defined on one of them, as when all cosines are equal.
    ///
    /// # Errors
    /// If shapes do not fit, or memory is lacking.
    pub(crate) fn score<E: Encoder<f32>>(&mut self, encoder: &E, weights: &Weights) -> Result<Option<f64>> {
        let mut sum = 0.0;
        for set in &self.sets {
            self.batch.assign(set.sentences.iter())?;
            let words = self.batch.gather(&weights.words)?;
            let (vectors, _) = encoder.forward(&weights.parameters[0], &self.batch, words.view())?;
            let (first, second) = vectors.view().split_at(Axis(0), set.gold.len());
            let cosine = |(u, v): (ndarray::ArrayView1<'_, f32>, ndarray::ArrayView1<'_, f32>)| {
                let (u, v) = (u.to_slice().unwrap_or_default(), v.to_slice().unwrap_or_default());
                f64::from(kernels::cosine(u, v))
            };
            let cosines: Vec<f64> = first.outer_iter().zip(second.outer_iter()).map(cosine).collect();
            sum += correlation(&set.gold, &cosines);
        }
        Ok((!self.sets.is_empty()).then(|| sum / self.sets.len() as f64))
    }

    /// What identifies the sets.
    pub(crate) fn fingerprint(&self) -> Fingerprint {
        self.sets.iter().fold(Fingerprint::new(), |sum, set| sum.sentences(&set.sentences).scores(&set.gold))
    }
}

/// Pearson's r; NaN where it is not defined: a number that is none, or numbers that are all equal.
pub(crate) fn correlation(gold: &[f64], scores: &[f64]) -> f64 {
    if scores.iter().any(|score| !score.is_finite()) {
        return f64::NAN;
    }
    senv_metrics::pearson_r(gold, scores).ok().flatten().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        file
    }

    #[test]
    fn bad_lines_are_named_and_one_pair_is_too_few() {
        for (text, expected) in [
            ("1\ta\n", "2 columns"),
            ("1\ta\tb\nx\tc\td\n", "\"x\""),
            ("inf\ta\tb\n1\ta\tb\n", "not finite"),
            ("1\ta\tb\n", "at least two"),
            ("", "at least two"),
        ] {
            let error = ScoredPairs::read(file(text).path()).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
        let error = ScoredPairs::read(file("1\ta\tb\nx\tc\td\n").path()).unwrap_err().to_string();
        assert!(error.contains(":2:"), "{error}");
        assert_eq!(ScoredPairs::read(file("1\ta\tb\n2\tc\td\textra\n").path()).unwrap().pairs.len(), 2);
    }
}
