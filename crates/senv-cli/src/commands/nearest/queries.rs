//! The queries of `senv nearest`.

use std::path::Path;

use ndarray::Array2;
use senv::{KnownWords, Model};
use senv_core::{Coverage, SentenceEncoder};

use crate::{
    commands::known_words::{MANY_QUERIES, foreign_query, unknown_query, warn_of_few},
    failure::Result,
};

/// The queries and their vectors.
pub(super) struct Queries<'a> {
    pub(super) texts: &'a [&'a str],
    vectors: Array2<f32>,
    pub(super) coverage: Vec<Coverage>,
    pub(super) words: Vec<KnownWords>,
    model: &'a Model,
    /// The file of the model.
    path: &'a Path,
}

impl<'a> Queries<'a> {
    /// Encodes the queries.
    pub(super) fn encode(
        encoder: &dyn SentenceEncoder,
        model: &'a Model,
        path: &'a Path,
        texts: &'a [&'a str],
    ) -> Result<Self> {
        let (vectors, coverage) = encoder.encode_batch(texts)?;
        let words = texts.iter().map(|text| model.known_words([text])).collect();
        let queries = Self { texts, vectors, coverage, words, model, path };
        for (text, vector) in texts.iter().zip(queries.rows()) {
            model.check_finite(path, text, vector)?;
        }
        Ok(queries)
    }

    /// Fails if no query has a neighbor because none has a known word.
    pub(super) fn refuse_unknown(&self) -> Result {
        let unknown = |i: &usize| self.vectors.row(*i).iter().all(|&x| x == 0.0);
        match self.texts {
            [first, ..]
                if (0..self.texts.len()).all(|i| unknown(&i)) && self.words.iter().any(|words| words.known > 0) =>
            {
                let message = format!(
                    "the vectors of the known words in {first} add up to zero, so it has no neighbors",
                    first = senv_core::quoted(first)
                );
                Err(std::io::Error::other(message).into())
            }
            [first, rest @ ..] if (0..self.texts.len()).all(|i| unknown(&i)) => {
                let others = match rest.len() {
                    0 => String::new(),
                    1 => ", nor of 1 other query".to_owned(),
                    n => format!(", nor of {n} other queries"),
                };
                let message = format!(
                    "no word of {first} is known to the model{others}; train a model on text that has it (senv train), or use \
                     another (--model)",
                    first = senv_core::quoted(first)
                );
                Err(std::io::Error::other(message).into())
            }
            _ => Ok(()),
        }
    }

    /// The warning for a query with no or few known words.
    pub(super) fn warning(&self, i: usize) -> Option<String> {
        let (text, words) = (self.texts[i], self.words[i]);
        let unknown = unknown_query(text, self.vectors.row(i).iter().all(|&x| x == 0.0), words);
        let is_one_of_few = self.texts.len() < MANY_QUERIES;
        unknown.or_else(|| is_one_of_few.then(|| foreign_query(self.path, self.model, text, words)).flatten())
    }

    /// Warns once for many queries.
    pub(super) fn warn(&self) {
        if self.texts.len() >= MANY_QUERIES {
            let mut known = KnownWords::default();
            self.words.iter().take(KnownWords::SAMPLE).for_each(|&words| known += words);
            warn_of_few(self.path, known);
        }
    }

    /// Their vectors.
    pub(super) fn rows(&self) -> Vec<&[f32]> {
        self.vectors.rows().into_iter().filter_map(|row| row.to_slice()).collect()
    }
}
