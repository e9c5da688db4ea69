//! `senv train snli`: trains an encoder and its classifier on labeled pairs, from the start or from Skip-thoughts.

use std::path::{Path, PathBuf};

use senv::{
    Model, NliPairs, SkipThought, SnliEncoder, SnliParams, TrainOptions, system::stage_files, train_job::CheckOn,
};

use super::{
    check_args::CheckArgs,
    data_args::VectorArgs,
    files::RunFiles,
    hyper_args::HyperArgs,
    job::Job,
    notes::Notes,
    outcome::Outcome,
    preset::PresetArgs,
    run::{StartFrom, TrainingRun},
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
    /// Labeled training pairs: LABEL, PREMISE, HYPOTHESIS, separated by tabs.
    ///
    /// LABEL is entailment, neutral or contradiction. Also a published snli_1.0_*.txt or .jsonl, or a part of SICK.
    /// Pairs without a label (-) are skipped.
    #[arg(long, value_name = "FILE", num_args = 1.., required = true, help_heading = "Files")]
    train: Vec<PathBuf>,
    /// Labeled pairs for validation; without them the last weights are kept.
    ///
    /// The weights with the best accuracy are kept.
    #[arg(long, value_name = "FILE", num_args = 1.., help_heading = "Validation")]
    dev: Vec<PathBuf>,
    /// Encoder [default: bow, unless --preset names another]
    ///
    /// bow sums the words, rnn is a GRU, lstm is the bidirectional LSTM of InferSent; or give a Skip-thought model to
    /// fine-tune. The two parts of a combined model are both fine-tuned, each with its own classifier, and the result
    /// is a Skip-thought model again.
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
    #[command(flatten)]
    check: CheckArgs,
}

/// Hyperparameters of recurrent encoders.
const OF_RECURRENT: [&str; 5] = ["sentence_dim", "layers", "topology", "style", "pooling"];

/// Hyperparameters that a model to be fine-tuned already has.
const OF_NEW_WORDS: [&str; 8] =
    ["dim", "min_count", "max_vocabulary", "max_tokens", "tokenizer", "lowercase", "strip_hashtags", "normalize"];

impl SnliArgs {
    /// The Skip-thought model to fine-tune, if any.
    fn base(&self) -> Option<&Path> {
        self.encoder.as_deref().filter(|name| !["bow", "rnn", "lstm"].contains(name)).map(Path::new)
    }

    /// The settings; refuses options that a fine-tuned model has no use for.
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
                    let why = "needs --encoder rnn or lstm; a fine-tuned model keeps its form";
                    return Err(Failure::Usage(format!("{option} {why}")));
                }
                let vectors = self.vectors.init_vectors.as_ref().map(|_| "--init-vectors".to_owned());
                if let Some(option) = self.params.first_given(&OF_NEW_WORDS).or(vectors) {
                    let why = "needs --encoder bow, rnn or lstm; a fine-tuned model has its own words";
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
        let params = self.params()?;
        let notes = Notes::default();
        let dev = (!self.dev.is_empty()).then(|| NliPairs::read(&self.dev, &notes)).transpose()?;
        let reads = self.train.iter().chain(&self.dev).map(PathBuf::as_path);
        let Some(base) = self.base() else {
            let run = TrainingRun {
                reads: reads.collect(),
                start: StartFrom::new(None, &self.vectors),
                dev: dev.as_ref(),
                check: self.check.on(CheckOn::Sample),
                ..TrainingRun::new(&self.files, &self.params, params, Unit::Pairs, threads)
            };
            return run.run(|progress, _| NliPairs::read(&self.train, progress));
        };
        let job = Job::new(&self.files, &reads.chain([base]).collect::<Vec<_>>())?;
        let train = NliPairs::read(&self.train, &notes)?;
        let base = skip_thought(base)?;
        let is_combined = base.config().parts.len() > 1;
        if !is_combined {
            let tune = |progress: &TrainingProgress| {
                let options = TrainOptions { dev: dev.as_ref(), ..self.files.options(threads, progress) };
                Ok(Outcome::new(Unit::Pairs, params.fit_skip_thought(&base, 0, &train, &options)?))
            };
            return job.run(Unit::Pairs, tune, |model, path| model.save(path));
        }
        let contents = [Content::Model, Content::Checkpoint];
        let job = job.keeping(stage_files(&self.files.checkpoint()).into_iter().zip(contents))?;
        let tune = |progress: &TrainingProgress| {
            let options = TrainOptions { dev: dev.as_ref(), ..self.files.options(threads, progress) };
            Ok(Outcome::new(Unit::Pairs, params.tune_both_parts(&base, &train, &options)?))
        };
        job.run(Unit::Pairs, tune, |model, path| model.save(path))
    }
}

/// The learning rate for fine-tuning: small, to keep what the model has learned.
const TUNING_LR: f64 = 1e-4;

/// Opens the model to fine-tune.
fn skip_thought(path: &Path) -> Result<SkipThought> {
    Model::open_verified(path)?.downcast_ref().cloned().ok_or_else(|| {
        Failure::Usage(format!("--encoder {} is not bow, rnn, lstm or a Skip-thought model", path.display()))
    })
}
