//! Any encoder with its trained weights, ready to compute sentence vectors.

use std::{
    panic::{RefUnwindSafe, UnwindSafe},
    sync::Arc,
};

use ndarray::Array2;
use senv_core::{
    Coverage, Error as CoreError, Result as CoreResult, Scratch, SentenceEncoder, Table, TokenId, Tokenizer,
    Vocabulary, arrays::Parameters,
};

use super::{Weights, trainable_encoder::AnyEncoder};
use crate::{
    data::reading::{Reading, encode_batch_by_length, gather},
    error::Result,
};

/// An encoder over word vectors with its trained weights: the result of training your own encoder with
/// [`PairObjective`](super::PairObjective) or your own objective. Words outside the vocabulary are left out.
///
/// It has no file format, since senv does not know your encoder. Save [`WordEncoder::words`] and
/// [`WordEncoder::parameters`] and build it again with [`WordEncoder::new`], or write your own kind of model
/// ([`SavedModel`](crate::model::SavedModel)). If only the word vectors were trained,
/// [`Model::from_embeddings`](crate::Model::from_embeddings) makes a model that can be saved.
#[derive(Debug, Clone)]
pub struct WordEncoder {
    reading: Reading,
    vocabulary: Vocabulary,
    words: Table,
    encoder: Arc<dyn AnyEncoder>,
    parameters: Parameters<f32>,
}

/// It is read and never changed, so a panic leaves nothing half done.
impl UnwindSafe for WordEncoder {}
impl RefUnwindSafe for WordEncoder {}

impl WordEncoder {
    /// Combines an encoder with trained weights; their first group of parameters belongs to the encoder.
    ///
    /// # Errors
    /// [`CoreError::ShapeMismatch`] if the weights do not belong to the encoder, or do not have one row per word.
    pub fn new(
        tokenizer: Tokenizer,
        vocabulary: Vocabulary,
        encoder: impl AnyEncoder + 'static,
        weights: Weights,
    ) -> Result<Self> {
        let Weights { words, parameters } = weights;
        if words.n_rows() != vocabulary.len() {
            let (what, expected, got) = ("table of word vectors", vocabulary.len(), words.n_rows());
            return Err(CoreError::ShapeMismatch { what, expected, got }.into());
        }
        let parameters = parameters.into_iter().next().unwrap_or_default();
        // All tokens are read; the limit only applies to a line that is not a sentence.
        let reading = Reading::known_words(tokenizer, 1);
        let encoder = Self { reading, vocabulary, words, encoder: Arc::new(encoder), parameters };
        // A mismatch is found here, not at the first sentence.
        if !encoder.vocabulary.is_empty() {
            encoder.vectors(&[&[TokenId(0)]])?;
        }
        Ok(encoder)
    }

    /// The known words.
    #[must_use]
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// The tokenizer.
    #[must_use]
    pub fn tokenizer(&self) -> &Tokenizer {
        &self.reading.tokenizer
    }

    /// The word vectors, the input of the encoder.
    #[must_use]
    pub fn words(&self) -> &Table {
        &self.words
    }

    /// The weights of the encoder.
    #[must_use]
    pub fn parameters(&self) -> &Parameters<f32> {
        &self.parameters
    }

    /// The vectors of these sentences.
    fn vectors(&self, sentences: &[&[TokenId]]) -> CoreResult<Array2<f32>> {
        let (batch, rows) = gather(&self.words, sentences)?;
        Ok(self.encoder.forward(&self.parameters, &batch, rows.view())?.0)
    }
}

senv_core::encoding_methods!([] WordEncoder);

impl SentenceEncoder for WordEncoder {
    fn dim(&self) -> usize {
        self.encoder.dim()
    }

    fn encode_sentence(&self, sentence: &str, scratch: &mut Scratch, out: &mut [f32]) -> Coverage {
        self.try_encode_into(sentence, scratch, out).unwrap_or_else(|_| {
            out.fill(0.0);
            Coverage::default()
        })
    }

    fn try_encode_into(&self, sentence: &str, scratch: &mut Scratch, out: &mut [f32]) -> CoreResult<Coverage> {
        let Scratch { text, tokens, .. } = scratch;
        let coverage = self.reading.read(&self.vocabulary, sentence, text, tokens);
        let vector = self.vectors(&[tokens])?;
        if vector.len() != out.len() {
            let (what, expected, got) = ("output slice for a vector", vector.len(), out.len());
            return Err(CoreError::ShapeMismatch { what, expected, got });
        }
        out.iter_mut().zip(&vector).for_each(|(to, &x)| *to = x);
        Ok(coverage)
    }

    fn encode_batch(&self, sentences: &[&str]) -> CoreResult<(Array2<f32>, Vec<Coverage>)> {
        let read = |text: &str, scratch: &mut String, out: &mut Vec<TokenId>| {
            self.reading.read(&self.vocabulary, text, scratch, out)
        };
        encode_batch_by_length(sentences, self.dim(), read, |batch| self.vectors(batch))
    }
}

#[cfg(test)]
mod tests {
    use senv_encoders::{Average, Pooling};

    use super::*;

    fn encoder(rows: usize) -> Result<WordEncoder> {
        let vocabulary = Vocabulary::from_counts([("rain", 2), ("falls", 1)], 3).unwrap();
        let words = Table::from_vec(rows, 2, (0..2 * rows).map(|x| x as f32).collect())?;
        let weights = Weights { words, parameters: vec![Parameters::new()] };
        WordEncoder::new(Tokenizer::whitespace(), vocabulary, Average::new(2, Pooling::Mean), weights)
    }

    #[test]
    fn one_sentence_and_many_have_the_same_vectors() {
        let encoder = encoder(2).unwrap();
        let sentences = ["rain falls", "", "falls in May", "snow"];
        let (all, coverage) = encoder.encode_batch(&sentences).unwrap();
        assert_eq!(all, ndarray::array![[1.0, 2.0], [0.0, 0.0], [2.0, 3.0], [0.0, 0.0]]);
        assert_eq!(coverage.iter().map(|c| (c.tokens, c.known)).collect::<Vec<_>>(), [(2, 2), (0, 0), (3, 1), (1, 0)]);
        for (sentence, vector) in sentences.iter().zip(all.rows()) {
            assert_eq!(encoder.encode_one(sentence), vector);
        }
    }

    #[test]
    fn weights_of_other_shapes_are_refused() {
        assert!(encoder(3).is_err());
        let vocabulary = Vocabulary::from_counts([("rain", 2)], 2).unwrap();
        let weights = Weights { words: Table::zeros(1, 3).unwrap(), parameters: vec![Parameters::new()] };
        let other = WordEncoder::new(Tokenizer::words(), vocabulary, Average::new(2, Pooling::Mean), weights);
        assert!(other.is_err());
    }
}
