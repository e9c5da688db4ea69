//! `senv train pp` and `senv train cse`: pairs to a model, in one stage or two.

use std::path::{Path, PathBuf};

use senv::{
    Error as ModelError, InitialVectorReport, Model, PairData, PairSystem, PairSystemParams, SavedModel, ScoredPairs,
    TrainOptions, Trained,
};
use senv_core::{Corpus, Observer, Sentences};
use senv_store::Embeddings;
use serde_json::json;

use super::{
    check_args::checker,
    data_args::{Loaded, go_on_line, read_scored},
    files::with_suffix,
    hyper_args::{HyperArgs, Shown, epochs_of},
    init_args::Shared,
    job::Job,
    outcome::{Outcome, source_json, source_line},
    pair_args::{PairArgs, PairRunArgs},
};
use crate::{
    commands::open_model,
    destination::Content,
    failure::Result,
    progress::{TrainingProgress, Unit},
};

/// `senv train pp` and `senv train cse`.
pub(crate) fn train<S: PairSystem<Model: Clone> + Shown>(args: &PairArgs<S>, threads: usize) -> Result {
    let (run, mut params, start) = args.run.with_model(args.run.recipe.params(&args.params)?)?;
    // What a model brings is less than what was given.
    args.params.apply(&mut params)?;
    let dev = read_scored(&args.run.dev.dev)?;
    PairRun { args: &run, given: &args.params, params, start, dev, threads }.run()
}

impl PairRunArgs {
    /// The run with the model that it goes on from as its initial vectors, and that model.
    fn with_model<S: PairSystem<Model: Clone> + Shown>(&self, mut params: S) -> Result<(Self, S, Option<Model>)> {
        let (mut run, mut start) = (self.clone(), None);
        if let Some(path) = run.init_model.init_model.take() {
            let model = open_model(&path)?;
            params.fine_tune_from(&model);
            start = Some(model);
            run.data.keep_vector_words = Some(true);
            run.data.vectors.init_vectors = Some(path);
        }
        Ok((run, params, start))
    }
}

struct PairRun<'a, S> {
    args: &'a PairRunArgs,
    given: &'a HyperArgs<S>,
    params: S,
    /// The model that training goes on from.
    start: Option<Model>,
    dev: Vec<ScoredPairs>,
    threads: usize,
}

impl<S: PairSystem<Model: Clone> + Shown> PairRun<'_, S> {
    fn run(mut self) -> Result {
        let args = self.args;
        let stage2 = &args.stage2.stage2;
        self.given.check_training(!args.dev.dev.is_empty())?;
        let parts = self.params.shared();
        let epochs = epochs_of(parts.fit);
        let mut read = args.data.paths(stage2);
        read.extend(args.dev.dev.iter().map(PathBuf::as_path));
        let job = Job::new(&args.files, &read)?;
        if stage2.is_empty() {
            return job.run(epochs, Unit::Pairs, |progress| self.one_stage(progress), |model, path| model.write(path));
        }
        let contents = [Content::Model, Content::Checkpoint];
        let job = job.keeping(self.stage_files().into_iter().zip(contents))?;
        job.run(epochs, Unit::Pairs, |progress| self.two_stages(progress), |model, path| model.write(path))
    }

    /// The model of the first stage and the checkpoint of the second.
    fn stage_files(&self) -> [PathBuf; 2] {
        ["stage1", "stage2"].map(|stage| with_suffix(&self.args.files.checkpoint(), &format!(".{stage}")))
    }

    fn load(&mut self, progress: &TrainingProgress) -> senv::Result<Loaded> {
        let parts = self.params.shared();
        let group = parts.pairs.groups_pairs();
        let stage2 = &self.args.stage2.stage2;
        self.given.fit_tokenizer(parts.tokenizer, &self.args.data.sources(stage2), progress);
        let mut loaded = self.args.data.load(stage2, parts.tokenizer, group, self.threads, progress)?;
        self.given.fit_dim(parts.dim, loaded.vectors.as_ref().map(Embeddings::dim));
        if let Some(vectors) = loaded.vectors.as_ref().filter(|_| !self.given.is_given("lr")) {
            self.params.adapt_lr(vectors, self.start.as_ref(), progress);
        }
        if let Some(model) = &self.start {
            loaded.vectors = Some(loaded.first.vectors_from(model)?);
        }
        let second = loaded.second.iter().flat_map(|data| &data.reports);
        loaded.first.reports.iter().chain(second).for_each(|report| progress.note(&source_line(report)));
        Ok(loaded)
    }

    fn finish(&mut self, mut trained: Trained<S::Model>, data: &PairData, line: bool) -> Outcome<S::Model> {
        if let Some(model) = &self.start {
            trained.initial = InitialVectorReport::of_model(&data.vocabulary, model);
        }
        let found = match (&self.args.data.vectors.init_vectors, &self.start) {
            (Some(path), Some(_)) => line.then(|| go_on_line(trained.initial, path)),
            _ => line.then(|| self.args.init.line(&self.args.data.vectors, trained.initial)),
        };
        let mut outcome = Outcome::of_gradient(trained);
        outcome.lines.splice(..0, found);
        let sources: Vec<_> = data.reports.iter().map(source_json).collect();
        outcome.facts.insert("sources".into(), json!(sources));
        let tokenizer = &*self.params.shared().tokenizer;
        let given = self.args.data.vectors.init_vectors.is_some();
        outcome.check = self.args.check.of_pairs(data).map(|text| checker(text, tokenizer, None, given));
        outcome
    }

    /// Vectors that are trained first, on the sentences of all pairs, where they were asked for.
    fn train_vectors(&mut self, loaded: &mut Loaded, progress: &TrainingProgress) -> senv::Result<()> {
        if !self.args.init.is_trained() {
            return Ok(());
        }
        let stages = std::iter::once(&loaded.first).chain(&loaded.second);
        let mut sentences = Sentences::new();
        for source in stages.flat_map(|data| &data.sources) {
            source.sentences().iter().for_each(|sentence| sentences.push(sentence.iter().copied()));
        }
        let PairSystemParams { tokenizer, dim, fit, .. } = self.params.shared();
        let shared = Shared { tokenizer, dim: *dim, seed: fit.seed };
        let corpus = Corpus::from_sentences(sentences);
        loaded.vectors = self.args.init.train(&loaded.first.vocabulary, &corpus, &shared, self.threads, progress)?;
        Ok(())
    }

    fn options<'o>(
        &'o self,
        loaded: &'o Loaded,
        progress: &'o TrainingProgress,
    ) -> TrainOptions<'o, &'o [ScoredPairs]> {
        let options = self.args.files.options(self.threads, progress);
        TrainOptions { vectors: loaded.vectors.as_ref(), dev: Some(&self.dev), ..options }
    }

    fn one_stage(mut self, progress: &TrainingProgress) -> senv::Result<Outcome<S::Model>> {
        let mut loaded = self.load(progress)?;
        self.train_vectors(&mut loaded, progress)?;
        let trained = self.params.fit_from(&loaded.first, None, &self.options(&loaded, progress))?;
        Ok(self.finish(trained, &loaded.first, true))
    }

    fn two_stages(mut self, progress: &TrainingProgress) -> senv::Result<Outcome<S::Model>> {
        let mut loaded = self.load(progress)?;
        let [kept, checkpoint] = self.stage_files();
        let (mut lines, mut facts) = (Vec::new(), None);
        let first = if self.args.files.resume && kept.exists() {
            self.first_stage_of(&kept)?
        } else {
            self.train_vectors(&mut loaded, progress)?;
            progress.stage("stage 1/2");
            let trained = self.params.fit_from(&loaded.first, None, &self.options(&loaded, progress))?;
            let outcome = self.finish(trained, &loaded.first, true);
            if !outcome.stopped.is_complete() {
                return Ok(outcome);
            }
            outcome.model.write(&kept)?;
            lines.extend(outcome.lines.into_iter().map(|line| format!("stage 1: {line}")));
            facts = Some(outcome.facts);
            outcome.model
        };
        progress.stage("stage 2/2");
        let mut params = self.params.clone();
        self.args.stage2.apply(params.shared().fit);
        let data = loaded.second.as_ref().unwrap_or(&loaded.first);
        let options = self.args.files.options_at(checkpoint, self.threads, progress);
        let options = TrainOptions { dev: Some(&self.dev[..]), ..options };
        let trained = params.fit_from(data, Some(&first), &options)?;
        let mut outcome = self.finish(trained, data, false);
        outcome.lines =
            lines.into_iter().chain(outcome.lines.into_iter().map(|line| format!("stage 2: {line}"))).collect();
        outcome.facts.extend(facts.map(|facts| ("stage1".to_owned(), json!(facts))));
        Ok(outcome)
    }

    /// The model of the first stage of an earlier run, if it was made with these settings.
    fn first_stage_of(&self, path: &Path) -> senv::Result<S::Model> {
        let other = || ModelError::CheckpointMismatch { path: path.to_owned(), what: "a model of another kind".into() };
        let model = Model::open(path)?.downcast_ref::<S::Model>().cloned().ok_or_else(other)?;
        let text = |params: &S| serde_json::to_value(params).ok();
        if text(S::params_of(&model)) == text(&self.params) {
            return Ok(model);
        }
        Err(ModelError::CheckpointMismatch { path: path.to_owned(), what: "other settings of the first stage".into() })
    }
}
