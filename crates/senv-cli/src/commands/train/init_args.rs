//! Initial vectors that are trained first, on the text of the run itself.

use std::time::Instant;

use clap::ValueEnum;
use senv::{InitialVectorReport, Pretraining, TrainOptions};
use senv_core::{Corpus, Observer, Tokenizer, Vocabulary};
use senv_store::Embeddings;

use super::data_args::VectorArgs;
use crate::{
    output::{duration, grouped},
    progress::{TrainingProgress, Unit},
};

/// Where word vectors start.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct InitArgs {
    /// Where word vectors start without --init-vectors.
    #[arg(
        long,
        value_name = "HOW",
        default_value = "random",
        conflicts_with_all = ["init_vectors", "init_model"],
        help_heading = "Training"
    )]
    init: InitArg,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum InitArg {
    /// Drawn.
    Random,
    /// As word2vec (CBOW) leaves them after its usual epochs on the sentences of this run.
    Word2vec,
    /// As Sent2Vec leaves them after its usual epochs on the sentences of this run.
    Sent2vec,
}

/// What initial vectors share with the run they are for.
pub(crate) struct Shared<'a> {
    pub(crate) tokenizer: &'a Tokenizer,
    pub(crate) dim: usize,
    pub(crate) seed: u64,
}

impl InitArgs {
    /// Whether vectors are to be trained first.
    pub(crate) fn is_trained(self) -> bool {
        self.pretraining().is_some()
    }

    fn pretraining(self) -> Option<Pretraining> {
        match self.init {
            InitArg::Random => None,
            InitArg::Word2vec => Some(Pretraining::Word2Vec),
            InitArg::Sent2vec => Some(Pretraining::Sent2Vec),
        }
    }

    fn name(self) -> &'static str {
        match self.init {
            InitArg::Random => "random",
            InitArg::Word2vec => "word2vec",
            InitArg::Sent2vec => "Sent2Vec",
        }
    }

    /// The vectors, if they are to be trained.
    pub(crate) fn train(
        self,
        vocabulary: &Vocabulary,
        corpus: &Corpus,
        shared: &Shared<'_>,
        threads: usize,
        progress: &TrainingProgress,
    ) -> senv::Result<Option<Embeddings>> {
        let Some(pretraining) = self.pretraining() else { return Ok(None) };
        let began = Instant::now();
        let &Shared { tokenizer, dim, seed } = shared;
        let options = TrainOptions { threads, observer: progress, ..TrainOptions::default() };
        progress.stage_of(format!("{} first", self.name()), Some(pretraining.epochs()), Unit::Words);
        let vectors = pretraining.vectors(vocabulary, corpus, tokenizer, dim, seed, &options)?;
        progress.stage_is_over();
        progress.note(&format!("initial vectors of {} trained in {}", self.name(), duration(began.elapsed())));
        Ok(Some(vectors))
    }

    /// How many words start where.
    pub(crate) fn line(self, vectors: &VectorArgs, found: InitialVectorReport) -> String {
        match self.init {
            InitArg::Random => vectors.line(found),
            _ => {
                let (words, found) = (grouped(found.words as u64), grouped(found.found as u64));
                format!("{found} of {words} words start from vectors of {} trained on the same text", self.name())
            }
        }
    }
}
