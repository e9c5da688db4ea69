//! Arguments shared by the systems that train encoder and decoder on running text, and a run of any of them.

use std::path::{Path, PathBuf};

use senv::{FitParams, TrainOptions, Trained};
use senv_core::{CorpusOptions, Tokenizer, hyperparameters::Hyperparameters};
use senv_store::Embeddings;

use super::{
    data_args::VectorArgs,
    files::RunFiles,
    hyper_args::{HyperArgs, Shown, epochs_of},
    input_args::InputArgs,
    job::Job,
    outcome::Outcome,
};
use crate::{failure::Result, progress::Unit, text::TextArgs};

/// Running text, and its hyperparameters.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct RunningText<S: Shown> {
    #[command(flatten)]
    input: InputArgs,
    /// Held-out text of the same layout. The score is minus the loss a token on it; the weights with the best are kept.
    #[arg(long, value_name = "FILE", num_args = 1.., help_heading = "Validation")]
    dev: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) files: RunFiles,
    #[command(flatten)]
    pub(crate) vectors: VectorArgs,
    /// Folder for the token ids of the text while training, four bytes a word [default: that of MODEL]
    #[arg(long, value_name = "DIR", help_heading = "Files")]
    scratch_dir: Option<PathBuf>,
    #[command(flatten)]
    params: HyperArgs<S>,
    #[command(flatten)]
    text: TextArgs,
}

/// A system that trains on running text, as the program sees it.
pub(crate) trait TextSystem: Hyperparameters {
    type Model;

    /// Dimension of the word vectors, tokenizer and loop.
    fn parts(&mut self) -> (&mut usize, &mut Tokenizer, &mut FitParams);

    fn train(&self, input: &[PathBuf], options: &TrainOptions<'_, &[PathBuf]>) -> senv::Result<Trained<Self::Model>>;

    fn save(model: &Self::Model, path: &Path) -> senv::Result<()>;
}

/// Implements [`TextSystem`] for parameters with `fit_files`.
macro_rules! text_system {
    ($params:ty => $model:ty) => {
        impl crate::commands::train::text_args::TextSystem for $params {
            type Model = $model;

            fn parts(&mut self) -> (&mut usize, &mut senv_core::Tokenizer, &mut senv::FitParams) {
                (&mut self.dim, &mut self.tokenizer, &mut self.fit)
            }

            fn train(
                &self,
                input: &[std::path::PathBuf],
                options: &senv::TrainOptions<'_, &[std::path::PathBuf]>,
            ) -> senv::Result<senv::Trained<$model>> {
                self.fit_files(input, options)
            }

            fn save(model: &$model, path: &std::path::Path) -> senv::Result<()> {
                model.save(path)
            }
        }
    };
}
pub(crate) use text_system;

impl<S: TextSystem + Shown> RunningText<S> {
    fn corpus_options(&self, threads: usize) -> CorpusOptions {
        self.files.corpus_options(&self.text, self.scratch_dir.as_ref(), threads)
    }

    /// Trains from the first check to the file.
    pub(crate) fn run(&self, mut params: S, threads: usize) -> Result {
        self.params.check_training(!self.dev.is_empty())?;
        self.params.apply(&mut params)?;
        let (_, _, fit) = params.parts();
        let epochs = epochs_of(fit);
        let read = self.input.paths().iter().chain(&self.dev).chain(&self.vectors.init_vectors);
        let job = Job::new(&self.files, &read.map(PathBuf::as_path).collect::<Vec<_>>())?;
        job.run(
            epochs,
            Unit::Examples,
            |progress| {
                let vectors = self.vectors.open()?;
                let (dim, tokenizer, _) = params.parts();
                self.params.fit_dim(dim, vectors.as_ref().map(Embeddings::dim));
                *tokenizer = tokenizer.fitted_to_files(self.input.paths(), progress);
                let options = TrainOptions {
                    vectors: vectors.as_ref(),
                    dev: (!self.dev.is_empty()).then_some(&self.dev[..]),
                    text: self.corpus_options(threads),
                    ..self.files.options(threads, progress)
                };
                let trained = params.train(self.input.paths(), &options)?;
                let found = self.vectors.line(trained.initial);
                let mut outcome = Outcome::of_gradient_in(Unit::Examples, trained);
                outcome.lines.insert(0, found);
                Ok(outcome)
            },
            S::save,
        )
    }
}
