//! A run of any system: turns its arguments into a [`TrainJob`].

use std::{
    borrow::Borrow,
    path::{Path, PathBuf},
};

use senv::{Model, System, TrainJob, TrainOptions, model::SavedModel, system::InitialVectorReport, train_job::CheckOn};
use senv_core::{TextOptions, files::Destination};
use senv_store::Embeddings;
use serde_json::{Map, Value};

use super::{
    data_args::{VectorArgs, start_of},
    files::RunFiles,
    hyper_args::{HyperArgs, Shown},
    init_args::InitArgs,
    init_model::InitModelArgs,
    job::Job,
    outcome::{Beside, Outcome},
};
use crate::{
    destination::Content,
    failure::Result,
    output::grouped,
    progress::{TrainingProgress, Unit},
};

/// The facts of a run, as JSON.
pub(super) type Facts = Map<String, Value>;

/// The settings of a run.
pub(super) struct TrainingRun<'a, S: System> {
    pub(super) files: &'a RunFiles,
    pub(super) given: &'a HyperArgs<S>,
    pub(super) params: S,
    /// Every file that is read.
    pub(super) reads: Vec<&'a Path>,
    pub(super) start: StartFrom<'a>,
    pub(super) init: Option<InitArgs>,
    pub(super) dev: Option<S::Dev<'a>>,
    pub(super) text: TextOptions,
    /// The folder for temporary files, if it is not that of the model.
    pub(super) scratch_dir: Option<&'a Path>,
    pub(super) check: CheckOn,
    pub(super) unit: Unit,
    /// Files of a first stage, kept to continue from.
    pub(super) stages: Option<[PathBuf; 2]>,
    pub(super) document_vectors: bool,
    pub(super) beside: Option<Beside<S::Model>>,
    pub(super) threads: usize,
}

/// The files that word vectors start from.
#[derive(Clone, Copy, Default)]
pub(super) struct StartFrom<'a> {
    pub(super) model: Option<&'a Path>,
    pub(super) vectors: Option<&'a Path>,
}

impl<'a> StartFrom<'a> {
    /// The files in the arguments.
    pub(super) fn new(model: Option<&'a InitModelArgs>, vectors: &'a VectorArgs) -> Self {
        Self { model: model.and_then(|args| args.init_model.as_deref()), vectors: vectors.init_vectors.as_deref() }
    }

    /// A line that says what word vectors start from; `None` if all start at random, as is usual for systems of word
    /// vectors.
    pub(super) fn line(self, init: Option<InitArgs>, found: InitialVectorReport, unit: Unit) -> Option<String> {
        let (words, n) = (grouped(found.words as u64), grouped(found.found as u64));
        let others = match unit {
            Unit::Pairs if self.model.is_some() => "others from the words around them",
            _ => "others at random",
        };
        let start = self.model.or(self.vectors).map(|path| path.display().to_string());
        if let Some(path) = start {
            return Some(format!("{n} of {words} words start from {path}, {others}"));
        }
        if let Some(pretraining) = init.and_then(InitArgs::pretraining) {
            let name = pretraining.name();
            return Some(format!("{n} of {words} words start from vectors of {name} trained on the same text"));
        }
        (unit != Unit::Words)
            .then(|| format!("all {words} words start at random (--init-vectors starts them from word vectors)"))
    }

    fn open(self) -> senv::Result<(Option<Model>, Option<Embeddings>)> {
        let vectors = VectorArgs { init_vectors: self.vectors.map(Path::to_owned) };
        let model = InitModelArgs { init_model: self.model.map(Path::to_owned) };
        Ok((model.open()?, vectors.open()?))
    }
}

impl<'a, S: System + Shown> TrainingRun<'a, S> {
    /// A run with these settings that starts at random and is not checked.
    pub(super) fn new(files: &'a RunFiles, given: &'a HyperArgs<S>, params: S, unit: Unit, threads: usize) -> Self {
        Self {
            files,
            given,
            params,
            reads: Vec::new(),
            start: StartFrom::default(),
            init: None,
            dev: None,
            text: TextOptions::default(),
            scratch_dir: None,
            check: CheckOn::Nothing,
            unit,
            stages: None,
            document_vectors: false,
            beside: None,
            threads,
        }
    }

    /// Runs from the first check to the written model; `input` reads the training data and adds facts about them.
    pub(super) fn run<I: Borrow<S::Input>>(
        self,
        input: impl FnOnce(&TrainingProgress, &mut Facts) -> senv::Result<I>,
    ) -> Result {
        let Self { files, given, params, reads, start, init, dev, text, scratch_dir, check, unit, threads, .. } = self;
        let starts = start.model.iter().chain(&start.vectors).copied();
        let job = Job::new(files, &reads.into_iter().chain(starts).collect::<Vec<_>>())?;
        let contents = [Content::Model, Content::Checkpoint];
        let job = job.keeping(self.stages.into_iter().flatten().zip(contents))?;
        let (beside, document_vectors) = (self.beside, self.document_vectors);
        job.run(
            unit,
            |progress| {
                let (model, vectors) = start.open()?;
                let mut facts = Facts::default();
                let input = input(progress, &mut facts)?;
                let options = files.options(threads, progress);
                let scratch_dir = scratch_dir.map(Path::to_owned).or_else(|| options.scratch_dir.clone());
                let by_hand = |system: &mut S| given.set_in(system);
                let job = TrainJob {
                    start: start_of(model.as_ref(), vectors.as_ref()),
                    pretraining: init.and_then(InitArgs::pretraining),
                    by_hand: Some(&by_hand),
                    takes_dim: !given.is_given("dim"),
                    check,
                    options: TrainOptions { dev, text, document_vectors, scratch_dir, ..options },
                    ..TrainJob::new(params, input.borrow())
                };
                let outcome = job.run()?;
                let line = start.line(init, outcome.trained.initial, unit);
                let mut outcome = Outcome { beside, ..Outcome::of_job(unit, outcome) };
                outcome.lines.splice(..0, line);
                outcome.facts.extend(facts);
                Ok(outcome)
            },
            |model, path| model.write(Destination::File(path)),
        )
    }
}
