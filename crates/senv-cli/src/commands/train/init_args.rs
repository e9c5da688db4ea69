//! Initial vectors that are first trained on the text of the run.

use clap::ValueEnum;
use senv::Pretraining;

/// Where word vectors start.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct InitArgs {
    /// How word vectors start without --init-vectors.
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
    /// At random.
    Random,
    /// Trained by word2vec (CBOW) on the sentences of this run.
    Word2vec,
    /// Trained by Sent2Vec on the sentences of this run.
    Sent2vec,
}

impl InitArgs {
    /// The system that trains them, if any.
    pub(crate) fn pretraining(self) -> Option<Pretraining> {
        match self.init {
            InitArg::Random => None,
            InitArg::Word2vec => Some(Pretraining::Word2Vec),
            InitArg::Sent2vec => Some(Pretraining::Sent2Vec),
        }
    }
}
