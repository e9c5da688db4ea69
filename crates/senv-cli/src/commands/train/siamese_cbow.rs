//! `senv train siamese-cbow`: ordered text to a model.

use std::path::{Path, PathBuf};

use senv::{CheckParams, Error, ScoredPairs, SiameseCbow, SiameseCbowParams, TextSize, TrainOptions};
use senv_core::{Corpus, CorpusOptions};
use senv_store::Embeddings;

use super::{
    check_args::{CheckArgs, checker},
    data_args::{DevArgs, VectorArgs, read_scored, start_line, words_of},
    files::RunFiles,
    hyper_args::{HyperArgs, epochs_of},
    init_args::{InitArgs, Shared},
    init_model::InitModelArgs,
    input_args::InputArgs,
    job::Job,
    outcome::Outcome,
    text_systems::PaperArg,
};
use crate::{
    failure::Result,
    progress::{TrainingProgress, Unit},
    text::TextArgs,
};

/// Arguments of Siamese CBOW.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct SiameseCbowArgs {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    files: RunFiles,
    #[command(flatten)]
    vectors: VectorArgs,
    #[command(flatten)]
    init_model: InitModelArgs,
    /// Folder for the token ids of the text while training, four bytes a word [default: that of MODEL]
    #[arg(long, value_name = "DIR", help_heading = "Files")]
    scratch_dir: Option<PathBuf>,
    #[command(flatten)]
    init: InitArgs,
    #[command(flatten)]
    dev: DevArgs,
    #[command(flatten)]
    params: HyperArgs<SiameseCbowParams>,
    #[command(flatten)]
    text: TextArgs,
    /// Start from the settings of the paper (gradient descent at 1e-4, for a billion words) instead of those that fit the size
    /// of the text; arguments given change them.
    #[arg(long, value_name = "NAME", help_heading = "Training")]
    preset: Option<PaperArg>,
    #[command(flatten)]
    check: CheckArgs,
}

impl SiameseCbowArgs {
    fn params(&self) -> Result<SiameseCbowParams> {
        let mut params = match self.preset {
            None => SiameseCbowParams::for_text(TextSize::of_files(self.input.paths())),
            Some(PaperArg::Paper) => SiameseCbowParams::default(),
        };
        self.params.apply(&mut params)?;
        Ok(params)
    }

    fn corpus_options(&self, threads: usize) -> CorpusOptions {
        self.files.corpus_options(&self.text, self.scratch_dir.as_ref(), threads)
    }

    fn fit(
        &self,
        params: &mut SiameseCbowParams,
        threads: usize,
        dev: &[ScoredPairs],
        progress: &TrainingProgress,
    ) -> senv::Result<Outcome<SiameseCbow>> {
        let (mut vectors, mut keep) = (self.vectors.open()?, Vec::new());
        let model = self.init_model.open(progress)?;
        let path = model.as_ref().map(|model| model.path);
        if let Some(model) = model {
            if let Some(tokenizer) = model.tokenizer {
                params.tokenizer = tokenizer;
                self.params.set_in(&mut params.tokenizer)?;
            }
            keep = words_of(&model.vectors);
            vectors = Some(model.vectors);
        }
        if self.init_model.init_model.is_none() {
            self.params.fit_tokenizer(&mut params.tokenizer, self.input.paths(), progress);
        }
        self.params.fit_dim(&mut params.dim, vectors.as_ref().map(Embeddings::dim));
        params.check()?;
        let SiameseCbowParams { tokenizer, dim, min_count, fit, .. } = &*params;
        let options =
            CorpusOptions { tokenizer: tokenizer.clone(), min_count: *min_count, keep, ..self.corpus_options(threads) };
        let (vocabulary, corpus) = Corpus::read(self.input.paths(), &options, progress)?;
        let sample = self.check.of_corpus(&corpus, &vocabulary, &CheckParams::default())?;
        let given = vectors.is_some();
        if self.init.is_trained() {
            let shared = Shared { tokenizer, dim: *dim, seed: fit.seed };
            vectors = self.init.train(&vocabulary, &corpus, &shared, threads, progress)?;
        }
        let options =
            TrainOptions { vectors: vectors.as_ref(), dev: Some(dev), ..self.files.options(threads, progress) };
        let trained = match params.fit(vocabulary, &corpus, &options) {
            Err(Error::NoExamples { .. }) => return Err(Error::NoExamplesIn { paths: self.input.paths().to_vec() }),
            trained => trained?,
        };
        let found = match path {
            Some(path) => start_line(trained.initial, path),
            None => self.init.line(&self.vectors, trained.initial),
        };
        let mut outcome = Outcome::of_gradient_in(Unit::Examples, trained);
        outcome.lines.insert(0, found);
        outcome.check = sample.map(|text| checker(text, tokenizer, None, given));
        Ok(outcome)
    }

    pub(crate) fn run(&self, threads: usize) -> Result {
        self.params.check_training(!self.dev.dev.is_empty())?;
        let mut params = self.params()?;
        let vectors = self.vectors.init_vectors.iter().chain(&self.init_model.init_model);
        let read: Vec<&Path> =
            self.input.paths().iter().chain(&self.dev.dev).chain(vectors).map(PathBuf::as_path).collect();
        let job = Job::new(&self.files, &read)?;
        let dev = read_scored(&self.dev.dev)?;
        job.run(
            epochs_of(&params.fit),
            Unit::Examples,
            |progress| self.fit(&mut params, threads, &dev, progress),
            |model: &SiameseCbow, path| model.save(path),
        )
    }
}
