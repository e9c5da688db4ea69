//! What is read before training begins, as every run sees it.

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
/// The default methods are those of data of which a run knows nothing: no check, no vectors to start from. It is
/// sealed: this crate implements it, and others call it.
pub trait TrainingData: Sealed {
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
    /// where there are none.
    ///
    /// # Errors
    /// If the sentences cannot be read once more, as this text is read, or do not fit into memory.
    fn check_text(&mut self, params: &CheckParams, text: &TextOptions, hold_out: bool) -> Result<Option<CheckText>> {
        let _ = (params, text, hold_out);
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

/// An input whose sentences a model that was trained on it can be checked on. It is sealed: this crate implements it,
/// and others call it.
pub trait SampledInput: Sealed {
    /// A sample of its sentences; `None` where they cannot be read a second time.
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

    /// A quarter of what is usual: these models read sentences word by word.
    fn check_text(&mut self, params: &CheckParams, text: &TextOptions, _: bool) -> Result<Option<CheckText>> {
        self.input.sample(&CheckParams { n_sentences: params.n_sentences.div_ceil(4), ..params.clone() }, text)
    }
}
