//! `senv train relatedness`: a model and scored pairs to a model that reads scores.

use std::path::PathBuf;

use senv_models::{Model, Relatedness, RelatednessParams, TrainOptions};

use super::{
    data_args::read_graded,
    files::RunFiles,
    hyper_args::{HyperArgs, epochs_of},
    job::Job,
    outcome::Outcome,
};
use crate::{failure::Result, progress::Unit};

/// Arguments of fine-tuning.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct RelatednessArgs {
    /// The model to fine-tune: an average of words without n-grams (pp, siamese-cbow, fast-sent, word2vec, sent2vec, word
    /// vectors), cse, snli, p-thought, rnn-ae, bow-ae, or a skip-thought model of one part.
    #[arg(long, short, value_name = "FILE", help_heading = "Files")]
    model: PathBuf,
    /// Scored pairs, SCORE, FIRST, SECOND, separated by tabs, or a part of SICK as `senv eval sick` takes it.
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    train: PathBuf,
    /// Scored pairs that choose the best weights, by Pearson's r; without them the last weights are kept.
    #[arg(long, value_name = "FILE", help_heading = "Validation")]
    dev: Option<PathBuf>,
    #[command(flatten)]
    files: RunFiles,
    #[command(flatten)]
    params: HyperArgs<RelatednessParams>,
}

impl RelatednessArgs {
    fn params(&self) -> Result<RelatednessParams> {
        let mut params = RelatednessParams::default();
        self.params.apply(&mut params)?;
        Ok(params)
    }

    pub(crate) fn run(&self, threads: usize) -> Result {
        self.params.check_training(self.dev.is_some())?;
        let params = self.params()?;
        let mut read = vec![self.model.as_path(), &self.train];
        read.extend(self.dev.as_deref());
        let job = Job::new(&self.files, &read)?;
        let train = read_graded(&self.train)?;
        let dev = self.dev.as_deref().map(read_graded).transpose()?;
        job.run(
            epochs_of(&params.fit),
            Unit::Pairs,
            |progress| {
                let base = Model::open_verified(&self.model)?;
                let options = TrainOptions { dev: dev.as_ref(), ..self.files.options(threads, progress) };
                Ok(Outcome::of_gradient(params.fit(&base, &train, &options)?))
            },
            |model: &Relatedness, path| model.save(path),
        )
    }
}
