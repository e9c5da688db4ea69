//! `senv train relatedness`: fine-tunes a model on scored pairs.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser};
use senv::{Model, Relatedness, RelatednessParams, TrainOptions, gradient::ScoredPairs};
use senv_losses::ScoreGrid;

use super::{
    data_args::VectorArgs, files::RunFiles, hyper_args::HyperArgs, job::Job, outcome::Outcome, run::StartFrom,
};
use crate::{failure::Result, output, progress::Unit};

/// Arguments of fine-tuning.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct RelatednessArgs {
    /// Model to fine-tune.
    ///
    /// An average of words without n-grams (pp, siamese-cbow, fast-sent, word2vec, sent2vec, word vectors), cse, gran,
    /// snli, p-thought, rnn-ae, bow-ae, or a skip-thought model of one part.
    #[arg(long, short, value_name = "FILE", help_heading = "Files")]
    model: PathBuf,
    /// Scored pairs: SCORE, FIRST, SECOND, separated by tabs; or a part of SICK.
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    train: PathBuf,
    /// Scored pairs for validation; without them the last weights are kept.
    ///
    /// The weights with the best Pearson's r are kept.
    #[arg(long, value_name = "FILE", help_heading = "Validation")]
    dev: Option<PathBuf>,
    /// Word vectors to start from and regularize toward, instead of those of the model.
    ///
    /// With --filters-start random and the vectors that the model was trained from, this is what the CSE paper calls
    /// random.
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    init_vectors: Option<PathBuf>,
    /// Start from a named preset; explicit options override it.
    #[arg(long, value_name = "NAME", value_parser = preset_names(), help_heading = "Training")]
    preset: Option<String>,
    #[command(flatten)]
    files: RunFiles,
    #[command(flatten)]
    params: HyperArgs<RelatednessParams>,
}

fn preset_names() -> PossibleValuesParser {
    RelatednessParams::NAMED_SETTINGS.iter().map(|named| PossibleValue::new(named.name).help(named.help)).into()
}

impl RelatednessArgs {
    fn params(&self) -> Result<RelatednessParams> {
        let named = RelatednessParams::NAMED_SETTINGS.iter().find(|named| Some(named.name) == self.preset.as_deref());
        let mut params = named.map_or_else(RelatednessParams::default, |named| (named.settings)());
        self.params.apply(&mut params)?;
        Ok(params)
    }

    pub(crate) fn run(&self, threads: usize) -> Result {
        self.params.check_training(self.dev.is_some())?;
        let mut params = self.params()?;
        let mut read = vec![self.model.as_path(), &self.train];
        read.extend([&self.dev, &self.init_vectors].into_iter().flatten().map(PathBuf::as_path));
        let job = Job::new(&self.files, &read)?;
        let train = ScoredPairs::read(&self.train)?;
        let dev = self.dev.as_deref().map(ScoredPairs::read).transpose()?;
        let scores =
            || [Some(&train), dev.as_ref()].into_iter().flatten().flat_map(|set| &set.pairs).map(|pair| pair.0);
        let is_from_0 = scores().all(|score| (0.0..=5.0).contains(&score)) && scores().any(|score| score < 1.0);
        if is_from_0 && !self.params.is_given("grid") {
            output::note("some scores are below 1, so the scale is 0 to 5 (--grid 0-5)");
            params.grid = ScoreGrid::ZeroTo(5);
        }
        job.run(
            Unit::Pairs,
            |progress| {
                let base = Model::open_verified(&self.model)?;
                let start = VectorArgs { init_vectors: self.init_vectors.clone() };
                let vectors = start.open()?;
                let options = self.files.options(threads, progress);
                let options = TrainOptions { dev: dev.as_ref(), vectors: vectors.as_ref(), ..options };
                let trained = params.fit(&base, &train, &options)?;
                let start = StartFrom { model: None, vectors: self.init_vectors.as_deref() };
                let found = self.init_vectors.as_ref().and_then(|_| start.line(None, trained.initial, Unit::Pairs));
                let mut outcome = Outcome::new(Unit::Pairs, trained);
                outcome.lines.splice(0..0, found);
                Ok(outcome)
            },
            |model: &Relatedness, path| model.save(path),
        )
    }
}
