//! Models with their own classifier or score, for the evaluation.

use senv_eval::{Entailment, PairClassifier, PairScorer};

use crate::{
    error::Error,
    systems::{Relatedness, Snli},
};

impl PairClassifier for Snli {
    fn classify_batch(&self, pairs: &[(&str, &str)]) -> senv_core::Result<Vec<Entailment>> {
        let labels = self.labels(pairs).map_err(|error| of_core(error, pairs.len(), self.dim()))?;
        // Both sides have the same three names.
        Ok(labels.into_iter().filter_map(Entailment::from_name).collect())
    }
}

impl PairScorer for Relatedness {
    fn score_batch(&self, pairs: &[(&str, &str)]) -> senv_core::Result<Vec<f64>> {
        let score = |&(first, second): &(&str, &str)| self.score(first, second);
        pairs.iter().map(score).collect::<Result<_, _>>().map_err(|error| of_core(error, 2, self.dim()))
    }
}

fn of_core(error: Error, rows: usize, dim: usize) -> senv_core::Error {
    match error {
        Error::Core(error) => error,
        // A head reads two vectors of its own encoder, so the only possible error is a lack of memory.
        _ => senv_core::Error::TooLarge { rows, dim },
    }
}
