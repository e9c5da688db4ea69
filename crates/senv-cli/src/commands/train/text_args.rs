//! Arguments shared by the systems with decoders that train on running text, and a run of any of them.

use std::path::{Path, PathBuf};

use senv_core::{CorpusOptions, Observer, Tokenizer};
use senv_models::{FitParams, Initial, Trained};
use senv_store::Embeddings;

use super::{
    data_args::{VectorArgs, WordArgs},
    files::RunFiles,
    fit_args::{FitArgs, StartArgs, epochs_of},
    job::Job,
    outcome::Outcome,
};
use crate::{failure::Result, progress::Unit};

/// Running text, what is made of it, and how words begin.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct RunningText {
    /// Text in order, one sentence a line, a blank line between documents; plain, .gz or .zst; - is standard input.
    #[arg(long, short, value_name = "FILE", num_args = 1.., required = true, help_heading = "Files")]
    input: Vec<PathBuf>,
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
    pub(crate) start: StartArgs,
    #[command(flatten)]
    pub(crate) fit: FitArgs,
    #[command(flatten)]
    pub(crate) words: WordArgs,
}

/// A system that learns from running text, as the program sees it.
pub(crate) trait TextSystem {
    type Model;

    /// Word vectors and loop.
    fn parts(&mut self) -> (&mut usize, &mut Initial, &mut FitParams);

    fn tokenizer(&mut self) -> &mut Tokenizer;

    fn train(
        &self,
        input: &[PathBuf],
        dev: &[PathBuf],
        options: &CorpusOptions,
        vectors: Option<&Embeddings>,
        observer: &dyn Observer,
    ) -> senv_models::Result<Trained<Self::Model>>;

    fn save(model: &Self::Model, path: &Path) -> senv_models::Result<()>;
}

/// Implements [`TextSystem`] for parameters with `fit_files`.
macro_rules! text_system {
    ($params:ty => $model:ty) => {
        impl crate::commands::train::text_args::TextSystem for $params {
            type Model = $model;

            fn parts(&mut self) -> (&mut usize, &mut senv_models::Initial, &mut senv_models::FitParams) {
                (&mut self.dim, &mut self.initial, &mut self.fit)
            }

            fn tokenizer(&mut self) -> &mut senv_core::Tokenizer {
                &mut self.tokenizer
            }

            fn train(
                &self,
                input: &[std::path::PathBuf],
                dev: &[std::path::PathBuf],
                options: &senv_core::CorpusOptions,
                vectors: Option<&senv_store::Embeddings>,
                observer: &dyn senv_core::Observer,
            ) -> senv_models::Result<senv_models::Trained<$model>> {
                self.fit_files(input, dev, options, vectors, observer)
            }

            fn save(model: &$model, path: &std::path::Path) -> senv_models::Result<()> {
                model.save(path)
            }
        }
    };
}
pub(crate) use text_system;

impl RunningText {
    fn corpus_options(&self, threads: usize) -> CorpusOptions {
        self.files.corpus_options(&self.words.text, self.scratch_dir.as_ref(), threads)
    }

    /// Trains from the first check to the file.
    pub(crate) fn run<S: TextSystem>(&self, mut params: S, threads: usize) -> Result {
        self.fit.check(!self.dev.is_empty())?;
        let (dim, initial, fit) = params.parts();
        self.start.apply(dim, initial, None);
        self.fit.apply(fit);
        fit.threads = threads;
        fit.checkpoint = Some(self.files.plan());
        let epochs = epochs_of(fit);
        let read = self.input.iter().chain(&self.dev).chain(&self.vectors.init_vectors);
        let job = Job::new(&self.files, &read.map(PathBuf::as_path).collect::<Vec<_>>())?;
        job.run(
            epochs,
            Unit::Examples,
            |progress| {
                let vectors = self.vectors.open()?;
                let (dim, initial, _) = params.parts();
                self.start.apply(dim, initial, vectors.as_ref().map(Embeddings::dim));
                self.words.fit_tokenizer(params.tokenizer(), &self.input, progress);
                let options = self.corpus_options(threads);
                let trained = params.train(&self.input, &self.dev, &options, vectors.as_ref(), progress)?;
                let found = self.vectors.line(trained.initial);
                let mut outcome = Outcome::of_gradient_in(Unit::Examples, trained);
                outcome.lines.insert(0, found);
                Ok(outcome)
            },
            S::save,
        )
    }
}
