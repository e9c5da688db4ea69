//! What is read before training starts.

use std::path::PathBuf;

use senv_core::{Corpus, TextOptions, Tokenizer, Vocabulary};
use senv_store::Embeddings;

use super::start::Start;
use crate::{
    base::sealed::Sealed,
    check::{CheckParams, CheckText},
    data::SourceReport,
    error::Result,
};

/// What a system reads of its input before it trains ([`System::read_input`](crate::System::read_input)).
///
/// The default methods are for data without a check and without vectors to start from. The trait is sealed: this crate
/// implements it, and others call it.
pub trait TrainingData: Sealed {
    /// Returns the dimension of the vectors that training starts from, if any.
    fn start_dim(&self) -> Option<usize> {
        None
    }

    /// Returns the tokenizer of its text, if the data and not the settings determine it.
    fn tokenizer(&self) -> Option<&Tokenizer> {
        None
    }

    /// Returns what was used of each file of pairs, and what was left out.
    fn reports(&self) -> Vec<&SourceReport> {
        Vec::new()
    }

    /// Returns sentences to check the model on; `None` if there are none. With `hold_out`, those of a longer text are
    /// held out of training.
    ///
    /// # Errors
    /// If the sentences cannot be read again with these options, or do not fit into memory.
    fn check_text(&mut self, params: &CheckParams, text: &TextOptions, hold_out: bool) -> Result<Option<CheckText>> {
        let _ = (params, text, hold_out);
        Ok(None)
    }

    /// Trains vectors on all sentences, to start from, and returns whether that is possible.
    ///
    /// # Errors
    /// The errors of `train`.
    fn pretrain(&mut self, train: &mut dyn FnMut(&Vocabulary, &Corpus) -> Result<Embeddings>) -> Result<bool> {
        let _ = train;
        Ok(false)
    }
}

/// An input that is read during training.
#[derive(Debug)]
pub struct Unread<'a, I: ?Sized> {
    /// The input.
    pub input: &'a I,
    /// What training starts from.
    pub start: Start<'a>,
}

/// An input with sentences to check a trained model on. The trait is sealed: this crate implements it, and others call
/// it.
pub trait SampledInput: Sealed {
    /// Returns a sample of its sentences; `None` if they cannot be read a second time.
    ///
    /// # Errors
    /// If the text cannot be read.
    fn sample(&self, params: &CheckParams, text: &TextOptions) -> Result<Option<CheckText>>;
}

/// Files of text.
impl Sealed for [PathBuf] {}

impl SampledInput for [PathBuf] {
    fn sample(&self, params: &CheckParams, text: &TextOptions) -> Result<Option<CheckText>> {
        let are_files = self.iter().all(|path| path.metadata().is_ok_and(|file| file.is_file()));
        are_files.then(|| CheckText::read(self, text, params)).transpose()
    }
}

impl<I: ?Sized> Sealed for Unread<'_, I> {}

impl<I: SampledInput + ?Sized> TrainingData for Unread<'_, I> {
    fn start_dim(&self) -> Option<usize> {
        match self.start {
            Start::Vectors(vectors) => Some(vectors.dim()),
            Start::Random | Start::Model(_) => None,
        }
    }

    /// Uses a quarter of the usual sentences, because these models read word by word.
    fn check_text(&mut self, params: &CheckParams, text: &TextOptions, _: bool) -> Result<Option<CheckText>> {
        self.input.sample(&CheckParams { n_sentences: params.n_sentences.div_ceil(4), ..params.clone() }, text)
    }
}
