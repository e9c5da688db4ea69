//! Scored pairs as token ids, by the way in which a model reads text.

use senv_core::{Coverage, Sentences, TokenId, Tokenizer, Vocabulary};
use senv_losses::{ScoreGrid, check_score};
use serde::{Deserialize, Serialize};

use crate::{
    average::encoder::known_tokens,
    data::reading::Reading,
    error::{Error, Result},
    gradient::{scored_pairs::ScoredPairs, trainable_encoder::TrainableEncoder},
};

/// How text becomes token ids.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum TextReading {
    /// With a limit, and tokens for unknown words and the end: recurrent encoders.
    Sequence(Reading),
    /// Known words alone.
    Words(Tokenizer),
}

impl TextReading {
    pub(super) fn tokenizer(&self) -> &Tokenizer {
        match self {
            Self::Sequence(reading) => &reading.tokenizer,
            Self::Words(tokenizer) => tokenizer,
        }
    }

    /// Refuses tokens for unknown words and the end that a vocabulary of `n_words` lacks.
    pub(super) fn check(&self, n_words: usize) -> Result<()> {
        match self {
            Self::Sequence(reading) => reading.check(n_words),
            Self::Words(_) => Ok(()),
        }
    }

    /// Writes the token ids of a sentence to `out`.
    pub(super) fn read(
        &self,
        vocabulary: &Vocabulary,
        text: &str,
        scratch: &mut String,
        out: &mut Vec<TokenId>,
    ) -> Coverage {
        match self {
            Self::Sequence(reading) => reading.read(vocabulary, text, scratch, out),
            Self::Words(tokenizer) => known_tokens(tokenizer, vocabulary, text, scratch, out),
        }
    }

    /// The same of a sentence that is trained on: no more of it than the base model read in training.
    pub(super) fn read_to_train(
        &self,
        vocabulary: &Vocabulary,
        text: &str,
        scratch: &mut String,
        out: &mut Vec<TokenId>,
    ) -> Coverage {
        match self {
            Self::Sequence(reading) => reading.read_to_train(vocabulary, text, scratch, out),
            Self::Words(tokenizer) => known_tokens(tokenizer, vocabulary, text, scratch, out),
        }
    }
}

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
        (reading, encoder): (&TextReading, &TrainableEncoder),
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
