//! `senv train snli`: labelled pairs to an encoder and its classifier, from the start or from Skip-thoughts.

use std::path::{Path, PathBuf};

use senv::{
    Error as ModelError, Model, NliPairs, SkipThought, Snli, SnliEncoder, SnliParams, System, TrainOptions, Trained,
};
use senv_store::Embeddings;

use super::{
    data_args::{VectorArgs, start_of},
    files::{RunFiles, with_suffix},
    hyper_args::{HyperArgs, epochs_of},
    job::Job,
    notes::Notes,
    outcome::Outcome,
    preset::PresetArgs,
};
use crate::{
    destination::Content,
    failure::{Failure, Result},
    progress::{TrainingProgress, Unit},
    text::LineArgs,
};

/// Arguments of the SNLI models.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct SnliArgs {
    /// Labelled pairs of the training set: LABEL (entailment, neutral, contradiction), PREMISE, HYPOTHESIS, separated by tabs; a
    /// published snli_1.0_*.txt or .jsonl; or a part of SICK. Pairs without a label (-) are passed over.
    #[arg(long, value_name = "FILE", num_args = 1.., required = true, help_heading = "Files")]
    train: Vec<PathBuf>,
    /// Labelled pairs that choose the best weights, by the share of right labels; without them the last weights are kept.
    #[arg(long, value_name = "FILE", num_args = 1.., help_heading = "Validation")]
    dev: Vec<PathBuf>,
    /// What turns a sentence into a vector: bow (the sum of its words), rnn (a GRU), lstm (InferSent's, in both directions), or a
    /// Skip-thought model that is tuned. Of a combined one both parts are, each with a classifier of its own; the result is a
    /// Skip-thought model again. [default: bow, unless --preset names another]
    #[arg(long, value_name = "bow|rnn|lstm|MODEL", help_heading = "Training")]
    encoder: Option<String>,
    #[command(flatten)]
    files: RunFiles,
    #[command(flatten)]
    vectors: VectorArgs,
    #[command(flatten)]
    preset: PresetArgs<SnliParams>,
    #[command(flatten)]
    params: HyperArgs<SnliParams>,
    #[command(flatten)]
    text: LineArgs,
}

/// Hyperparameters of recurrent encoders.
const OF_RECURRENT: [&str; 5] = ["sentence_dim", "layers", "topology", "style", "pooling"];

/// Hyperparameters that a model to be fine-tuned brings itself.
const OF_NEW_WORDS: [&str; 7] =
    ["dim", "min_count", "max_vocabulary", "max_tokens", "tokenizer", "lowercase", "strip_hashtags"];

impl SnliArgs {
    /// The Skip-thought model that is tuned, if it is one.
    fn base(&self) -> Option<&Path> {
        self.encoder.as_deref().filter(|name| !["bow", "rnn", "lstm"].contains(name)).map(Path::new)
    }

    /// The settings; refuses what a model that is tuned has no use for.
    fn params(&self) -> Result<SnliParams> {
        let mut params = self.preset.settings();
        match self.encoder.as_deref() {
            None => {}
            Some("bow") => params.encoder = SnliEncoder::Bow,
            Some("rnn") => params.encoder = SnliEncoder::rnn(),
            Some("lstm") => params.encoder = SnliEncoder::lstm(),
            Some(_) => {
                let preset = self.preset.is_given().then(|| "--preset".to_owned());
                let of_recurrent = self.params.first_given(&OF_RECURRENT);
                if let Some(option) = preset.or(of_recurrent) {
                    let why = "goes with --encoder rnn or lstm; a model that is tuned keeps its form";
                    return Err(Failure::Usage(format!("{option} {why}")));
                }
                let vectors = self.vectors.init_vectors.as_ref().map(|_| "--init-vectors".to_owned());
                if let Some(option) = self.params.first_given(&OF_NEW_WORDS).or(vectors) {
                    let why = "goes with --encoder bow, rnn or lstm; a model that is tuned brings its words";
                    return Err(Failure::Usage(format!("{option} {why}")));
                }
                params.fit.lr = Some(TUNING_LR);
            }
        }
        self.params.apply(&mut params)?;
        Ok(params)
    }

    pub(crate) fn train(&self, threads: usize) -> Result {
        self.params.check_training(!self.dev.is_empty())?;
        let (base, params) = (self.base(), self.params()?);
        let files = self.train.iter().chain(&self.dev).chain(&self.vectors.init_vectors).map(PathBuf::as_path);
        let job = Job::new(&self.files, &files.chain(base).collect::<Vec<_>>())?;
        let epochs = epochs_of(&params.fit);
        let notes = Notes::default();
        let train = NliPairs::read(&self.train, &notes)?;
        let dev = if self.dev.is_empty() { None } else { Some(NliPairs::read(&self.dev, &notes)?) };
        let pairs = (&train, dev.as_ref());
        let Some(base) = base else {
            return job.run(
                epochs,
                Unit::Pairs,
                |progress| self.anew(params, pairs, threads, progress),
                |model, path| model.save(path),
            );
        };
        let base = skip_thought(base)?;
        if base.config().parts.len() == 1 {
            let tune = |progress: &TrainingProgress| {
                let options = TrainOptions { dev: pairs.1, ..self.files.options(threads, progress) };
                Ok(Outcome::of_gradient(params.fit_skip_thought(&base, 0, pairs.0, &options)?))
            };
            return job.run(epochs, Unit::Pairs, tune, |model, path| model.save(path));
        }
        let contents = [Content::Model, Content::Checkpoint];
        let job = job.keeping(self.part_files().into_iter().zip(contents))?;
        job.run(
            epochs,
            Unit::Pairs,
            |progress| self.both_parts(&base, &params, pairs, threads, progress),
            |model, path| model.save(path),
        )
    }

    fn anew(
        &self,
        mut params: SnliParams,
        (train, dev): Labelled<'_>,
        threads: usize,
        progress: &TrainingProgress,
    ) -> senv::Result<Outcome<Snli>> {
        let vectors = self.vectors.open()?;
        self.params.fit_dim(&mut params.dim, vectors.as_ref().map(Embeddings::dim));
        let options = TrainOptions { dev, ..self.files.options(threads, progress) };
        let trained = params.fit_input(train, start_of(None, vectors.as_ref()), &options)?;
        let found = self.vectors.line(trained.initial);
        let mut outcome = Outcome::of_gradient(trained);
        outcome.lines.insert(0, found);
        Ok(outcome)
    }

    /// The first part when it is tuned, and the checkpoint of the second.
    fn part_files(&self) -> [PathBuf; 2] {
        ["part1", "part2"].map(|part| with_suffix(&self.files.checkpoint(), &format!(".{part}")))
    }

    /// Tunes both parts of a combined model in turn.
    fn both_parts(
        &self,
        base: &SkipThought,
        params: &SnliParams,
        (train, dev): Labelled<'_>,
        threads: usize,
        progress: &TrainingProgress,
    ) -> senv::Result<Outcome<SkipThought>> {
        let [kept, checkpoint] = self.part_files();
        let tune = |part: usize, checkpoint: PathBuf| -> senv::Result<Trained<Snli>> {
            progress.stage(format!("part {}/2", part + 1));
            let options = TrainOptions { dev, ..self.files.options_at(checkpoint, threads, progress) };
            params.fit_skip_thought(base, part, train, &options)
        };
        let mut lines = Vec::new();
        let first = if self.files.resume && kept.exists() {
            let first = Snli::open(&kept)?;
            let text = |params: &SnliParams| serde_json::to_value(params).ok();
            if text(&first.config().params) != text(params) {
                let what = "other settings of the first part".into();
                return Err(ModelError::CheckpointMismatch { path: kept, what });
            }
            first
        } else {
            let outcome = Outcome::of_gradient(tune(0, self.files.checkpoint())?);
            if !outcome.stopped.is_complete() {
                let Outcome { stopped, lines, facts, .. } = outcome;
                let model = base.with_tuned(0, &outcome.model)?;
                return Ok(Outcome { model, stopped, lines, check: None, beside: None, facts });
            }
            outcome.model.save(&kept)?;
            lines.extend(outcome.lines.into_iter().map(|line| format!("part 1: {line}")));
            outcome.model
        };
        let outcome = Outcome::of_gradient(tune(1, checkpoint)?);
        lines.extend(outcome.lines.into_iter().map(|line| format!("part 2: {line}")));
        let model = base.with_tuned(0, &first)?.with_tuned(1, &outcome.model)?;
        Ok(Outcome { model, stopped: outcome.stopped, lines, check: None, beside: None, facts: outcome.facts })
    }
}

/// Training pairs, and held-out ones.
type Labelled<'a> = (&'a NliPairs, Option<&'a NliPairs>);

/// The rate for a model that is tuned: what it has learned should bend, not break.
const TUNING_LR: f64 = 1e-4;

/// Opens the model to be tuned.
fn skip_thought(path: &Path) -> Result<SkipThought> {
    Model::open_verified(path)?.downcast_ref().cloned().ok_or_else(|| {
        Failure::Usage(format!("--encoder {}: neither bow, rnn nor lstm, nor a Skip-thought model", path.display()))
    })
}
