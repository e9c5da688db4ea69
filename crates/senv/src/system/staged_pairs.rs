//! Pairs that were read for a system.

use std::borrow::Cow;

use senv_core::{Corpus, Sentences, TextOptions, Vocabulary};
use senv_store::Embeddings;

use super::{start::Start, training_data::TrainingData};
use crate::{
    base::sealed::Sealed,
    check::{CheckParams, CheckText},
    data::{PairData, SecondStage, SourceReport},
    error::Result,
};

/// Pairs that were read for a system ([`System::read_input`](crate::System::read_input)): those of each stage, with one
/// vocabulary, and what training starts from.
#[derive(Debug)]
pub struct StagedPairs<'a> {
    /// The pairs of the first or only stage.
    pub first: PairData,
    /// The pairs of the second stage, and its settings.
    pub second: Option<(PairData, SecondStage)>,
    /// What training starts from.
    pub start: Start<'a>,
    /// The vectors of the start, or those that were trained first.
    pub vectors: Option<Cow<'a, Embeddings>>,
}

impl StagedPairs<'_> {
    fn stages(&self) -> impl Iterator<Item = &PairData> {
        std::iter::once(&self.first).chain(self.second.iter().map(|(data, _)| data))
    }
}

impl Sealed for StagedPairs<'_> {}

impl TrainingData for StagedPairs<'_> {
    fn start_dim(&self) -> Option<usize> {
        self.vectors.as_ref().map(|vectors| vectors.dim())
    }

    fn reports(&self) -> Vec<&SourceReport> {
        self.stages().flat_map(|data| &data.reports).collect()
    }

    /// Uses the running text among the inputs, or the pairs if there is none.
    fn check_text(&mut self, params: &CheckParams, _: &TextOptions, hold_out: bool) -> Result<Option<CheckText>> {
        if hold_out {
            CheckText::hold_out(&mut self.first, params)
        } else {
            Ok(CheckText::of_pairs(&self.first, params).or_else(|| CheckText::of_pair_sentences(&self.first, params)))
        }
    }

    fn pretrain(&mut self, train: &mut dyn FnMut(&Vocabulary, &Corpus) -> Result<Embeddings>) -> Result<bool> {
        let mut sentences = Sentences::new();
        for source in self.stages().flat_map(|data| &data.sources) {
            source.sentences().iter().for_each(|sentence| sentences.push(sentence.iter().copied()));
        }
        self.vectors = Some(Cow::Owned(train(&self.first.vocabulary, &Corpus::from_sentences(sentences))?));
        Ok(true)
    }
}
