//! `senv train pp`, `senv train cse` and `senv train gran`: pairs to a model, in one stage or two.

use std::path::{Path, PathBuf};

use senv::{
    Error as ModelError, Model, PairData, PairOptions, PairSystem, PairSystemParams, SavedModel, ScoredPairs,
    TrainOptions, Trained,
};
use senv_core::{Corpus, Observer, Sentences};
use serde_json::json;

use super::{
    check_args::checker,
    data_args::{Loaded, go_on_line, read_scored, start_of, words_of},
    files::with_suffix,
    hyper_args::{HyperArgs, Shown, epochs_of},
    init_args::Shared,
    job::Job,
    outcome::{Outcome, source_json, source_line},
    pair_args::{PairArgs, PairRunArgs},
};
use crate::{
    destination::Content,
    failure::Result,
    progress::{TrainingProgress, Unit},
};

/// The command of a system on pairs.
pub(crate) fn train<S: PairSystem<Model: Clone> + Shown>(args: &PairArgs<S>, threads: usize) -> Result {
    let params = args.run.recipe.params(&args.preset, &args.params)?;
    let model = args.run.init_model.open()?;
    let dev = read_scored(&args.run.dev.dev)?;
    PairRun { args: &args.run, given: &args.params, params, model, dev, threads }.run()
}

struct PairRun<'a, S> {
    args: &'a PairRunArgs,
    given: &'a HyperArgs<S>,
    params: S,
    /// The model to fine-tune.
    model: Option<Model>,
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
        let stage2 = &self.args.stage2.stage2;
        if let Some(model) = &self.model {
            // What a model brings is less than what was given.
            let tokenizer = self.params.shared().tokenizer;
            tokenizer.clone_from(model.tokenizer());
            self.given.set_in(tokenizer)?;
        }
        let vectors = self.args.data.vectors.open()?;
        let start = start_of(self.model.as_ref(), vectors.as_ref());
        self.params.prepare(start, &self.args.data.sources(stage2), progress);
        if self.given.is_given("init_frequency_weight") {
            self.given.set_in(self.params.shared().initial)?;
        }
        let parts = self.params.shared();
        let (group, start_vectors) = (parts.pairs.groups_pairs(), start.vectors()?);
        let keeps = self.model.is_some().then_some(true);
        let keep = start_vectors.as_deref().map(words_of).filter(|_| self.args.data.keeps_vector_words(keeps));
        let options = PairOptions {
            tokenizer: parts.tokenizer.clone(),
            group,
            keep: keep.unwrap_or_default(),
            threads: self.threads,
            scratch_dir: self.args.files.scratch_dir(),
            kept: self.args.files.options::<()>(self.threads, progress).kept_reading(),
            ..PairOptions::default()
        };
        let (first, second) = self.args.data.load(stage2, options, progress)?;
        self.given.fit_dim(parts.dim, start_vectors.as_ref().map(|vectors| vectors.dim()));
        // A run that is resumed compares settings with those of the first stage.
        self.params.resolve_lr(start_vectors.as_deref(), self.model.as_ref(), progress);
        let reports = second.iter().flat_map(|data| &data.reports);
        first.reports.iter().chain(reports).for_each(|report| progress.note(&source_line(report)));
        Ok(Loaded { vectors, first, second })
    }

    fn finish(&mut self, trained: Trained<S::Model>, data: &PairData, line: bool) -> Outcome<S::Model> {
        let found = line.then(|| match &self.args.init_model.init_model {
            Some(path) => go_on_line(trained.initial, path),
            None => self.args.init.line(&self.args.data.vectors, trained.initial),
        });
        let mut outcome = Outcome::of_gradient(trained);
        outcome.lines.splice(..0, found);
        let sources: Vec<_> = data.reports.iter().map(source_json).collect();
        outcome.facts.insert("sources".into(), json!(sources));
        let tokenizer = &*self.params.shared().tokenizer;
        let given = self.args.data.vectors.init_vectors.is_some() || self.model.is_some();
        outcome.check = self.args.check.of_pairs(data).map(|text| checker(text, tokenizer, None, given));
        outcome
    }

    /// The first stage, or the only one.
    fn fit_first(&mut self, loaded: &mut Loaded, progress: &TrainingProgress) -> senv::Result<Trained<S::Model>> {
        self.train_vectors(loaded, progress)?;
        let start = start_of(self.model.as_ref(), loaded.vectors.as_ref());
        let options = TrainOptions { dev: Some(&self.dev[..]), ..self.args.files.options(self.threads, progress) };
        self.params.fit_data(&loaded.first, start, &options)
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

    fn one_stage(mut self, progress: &TrainingProgress) -> senv::Result<Outcome<S::Model>> {
        let mut loaded = self.load(progress)?;
        let trained = self.fit_first(&mut loaded, progress)?;
        Ok(self.finish(trained, &loaded.first, true))
    }

    fn two_stages(mut self, progress: &TrainingProgress) -> senv::Result<Outcome<S::Model>> {
        let mut loaded = self.load(progress)?;
        let [kept, checkpoint] = self.stage_files();
        let (mut lines, mut facts) = (Vec::new(), None);
        let first = if self.args.files.resume && kept.exists() {
            self.first_stage_of(&kept)?
        } else {
            progress.stage("stage 1/2");
            let trained = self.fit_first(&mut loaded, progress)?;
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
