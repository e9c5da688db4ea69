//! Initial vectors that are trained first, on the text of the run itself.

use std::time::Instant;

use clap::ValueEnum;
use senv_core::{Corpus, Error as CoreError, Observer, Tokenizer, Vocabulary};
use senv_models::{InitialVectorReport, Model, Sent2VecParams, Stopped, TextSystem, Trained, Word2VecParams};
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
    pub(crate) threads: usize,
}

impl InitArgs {
    /// Whether vectors are to be trained first.
    pub(crate) fn is_trained(self) -> bool {
        self.init != InitArg::Random
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
        progress: &TrainingProgress,
    ) -> senv_models::Result<Option<Embeddings>> {
        let began = Instant::now();
        let (tokenizer, dim) = (shared.tokenizer.clone(), shared.dim);
        let tell = |epochs| progress.stage_of(format!("{} first", self.name()), Some(epochs), Unit::Words);
        let model = match self.init {
            InitArg::Random => return Ok(None),
            InitArg::Word2vec => {
                let mut params = Word2VecParams { dim, tokenizer, ..Word2VecParams::default() };
                (params.training.seed, params.training.threads) = (shared.seed, shared.threads);
                tell(params.training.epochs);
                whole(params.fit(vocabulary.clone(), corpus, progress)?).map(Model::from)
            }
            InitArg::Sent2vec => {
                // Every word is predicted: the text is what it is, and the run itself knows all of these words.
                let mut params = Sent2VecParams { dim, tokenizer, min_target_count: 1, ..Sent2VecParams::default() };
                (params.training.seed, params.training.threads) = (shared.seed, shared.threads);
                tell(params.training.epochs);
                whole(params.fit(vocabulary.clone(), corpus, progress)?).map(Model::from)
            }
        }?;
        progress.stage_is_over();
        progress.note(&format!("initial vectors of {} trained in {}", self.name(), duration(began.elapsed())));
        model.to_embeddings().map(Some)
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

/// The model of a run that was not stopped.
fn whole<M>(trained: Trained<M>) -> senv_models::Result<M> {
    match trained.stopped == Stopped::Interrupted {
        true => Err(CoreError::Interrupted { action: "training the initial vectors" }.into()),
        false => Ok(trained.model),
    }
}
