//! What is read before training begins, as every run sees it.

use senv_core::{Corpus, Tokenizer, Vocabulary};
use senv_store::Embeddings;

use super::start::Start;
use crate::{
    check::{CheckParams, CheckText},
    data::SourceReport,
    error::Result,
};

/// What a system reads of its input before it trains ([`System::read_input`](crate::System::read_input)).
///
/// The default methods are those of data of which a run knows nothing: no check, no vectors to start from.
pub trait TrainingData {
    /// The dimension of the vectors that training starts from, where it starts from some.
    fn start_dim(&self) -> Option<usize> {
        None
    }

    /// How its text is tokenized, where the data and not the settings say so.
    fn tokenizer(&self) -> Option<&Tokenizer> {
        None
    }

    /// What was taken of each file of pairs, and what was left out.
    fn reports(&self) -> Vec<&SourceReport> {
        Vec::new()
    }

    /// Sentences to check the model on; of a longer text they are held out of training where `hold_out` says so. `None`
    /// where the data are no running text.
    ///
    /// # Errors
    /// If the sentences cannot be read once more, or do not fit into memory.
    fn check_text(&mut self, params: &CheckParams, hold_out: bool) -> Result<Option<CheckText>> {
        let _ = (params, hold_out);
        Ok(None)
    }

    /// Trains vectors on all sentences, to start from; returns whether that is possible.
    ///
    /// # Errors
    /// Those of `train`.
    fn pretrain(&mut self, train: &mut dyn FnMut(&Vocabulary, &Corpus) -> Result<Embeddings>) -> Result<bool> {
        let _ = train;
        Ok(false)
    }
}

/// An input that is read while it is trained on.
#[derive(Debug)]
pub struct Unread<'a, I: ?Sized> {
    /// The input.
    pub input: &'a I,
    /// What training starts from.
    pub start: Start<'a>,
}

impl<I: ?Sized> TrainingData for Unread<'_, I> {
    fn start_dim(&self) -> Option<usize> {
        match self.start {
            Start::Vectors(vectors) => Some(vectors.dim()),
            Start::Random | Start::Model(_) => None,
        }
    }
}
