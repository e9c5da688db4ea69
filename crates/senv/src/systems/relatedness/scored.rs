//! Scored pairs as token ids, read as a model reads text.

use senv_core::{Sentences, Vocabulary};
use senv_losses::{ScoreGrid, check_score};

use crate::{
    data::reading::Reading,
    error::{Error, Result},
    gradient::{scored_pairs::ScoredPairs, trainable_encoder::TrainableEncoder},
};

/// Scored pairs as token ids.
pub(super) struct Scored {
    /// The first sentences, then the second ones.
    pub(super) sentences: Sentences,
    pub(super) gold: Vec<f64>,
}

impl Scored {
    pub(super) fn new(
        pairs: &ScoredPairs,
        grid: ScoreGrid,
        (reading, encoder): (&Reading, &dyn TrainableEncoder),
        vocabulary: &Vocabulary,
    ) -> Result<Self> {
        let (mut sentences, mut scratch, mut tokens) = (Sentences::new(), String::new(), Vec::new());
        for (line, (score, ..)) in pairs.pairs.iter().enumerate() {
            check_score(*score, grid).map_err(|error| Error::BadLine {
                path: pairs.name.clone().into(),
                line: line as u64 + 1,
                reason: error.to_string(),
            })?;
        }
        for text in pairs.pairs.iter().map(|pair| &pair.1).chain(pairs.pairs.iter().map(|pair| &pair.2)) {
            reading.read_to_train(vocabulary, text, &mut scratch, &mut tokens);
            encoder.arrange(&mut tokens);
            sentences.push(tokens.iter().copied());
        }
        Ok(Self { sentences, gold: pairs.pairs.iter().map(|pair| pair.0).collect() })
    }
}
