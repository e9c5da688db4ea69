//! `senv train p-thought`: trains a model that predicts a sentence and a paraphrase of it.

use std::path::PathBuf;

use clap::ArgGroup;
use senv::{
    PThoughtParams,
    data::{HeldOut, PairFiles, PairInput, PairKind, PairOptions},
    train_job::CheckOn,
};

use super::{
    check_args::CheckArgs,
    data_args::VectorArgs,
    files::RunFiles,
    hyper_args::HyperArgs,
    preset::PresetArgs,
    run::{StartFrom, TrainingRun},
};
use crate::{failure::Result, progress::Unit, text::LineArgs};

/// Arguments of P-thought.
#[derive(Debug, Clone, clap::Args)]
#[command(group = ArgGroup::new("paraphrases").args(["captions", "pairs"]).required(true).multiple(true))]
pub(crate) struct PThoughtArgs {
    /// Image captions; every ordered pair of captions of one image is a training example.
    ///
    /// IMAGE, CAPTION, separated by a tab, with the captions of an image on consecutive lines; or a COCO file such as
    /// captions_train2014.json.
    #[arg(long, value_name = "FILE", num_args = 1.., help_heading = "Files")]
    captions: Vec<PathBuf>,
    /// Pairs with the same meaning: FIRST, SECOND, separated by a tab.
    ///
    /// Both orders are trained.
    #[arg(long, value_name = "FILE", num_args = 1.., help_heading = "Files")]
    pairs: Vec<PathBuf>,
    /// Leave out pairs with a sentence of these files, or all captions of the image: development and test sets as
    /// tab-separated files, .jsonl, or captions_*.json of COCO.
    #[arg(long, value_name = "FILE", num_args = 1.., help_heading = "Files")]
    decontaminate: Vec<PathBuf>,
    /// Held-out captions for validation. The weights with the lowest loss per token on their pairs are kept.
    #[arg(long, value_name = "FILE", num_args = 1.., help_heading = "Validation")]
    dev_captions: Vec<PathBuf>,
    /// Held-out pairs for validation, used like --dev-captions.
    #[arg(long, value_name = "FILE", num_args = 1.., help_heading = "Validation")]
    dev_pairs: Vec<PathBuf>,
    #[command(flatten)]
    files: RunFiles,
    #[command(flatten)]
    vectors: VectorArgs,
    #[command(flatten)]
    preset: PresetArgs<PThoughtParams>,
    #[command(flatten)]
    params: HyperArgs<PThoughtParams>,
    #[command(flatten)]
    text: LineArgs,
    #[command(flatten)]
    check: CheckArgs,
}

impl PThoughtArgs {
    fn params(&self) -> Result<PThoughtParams> {
        let mut params = self.preset.settings();
        self.params.apply(&mut params)?;
        Ok(params)
    }

    /// Captions and pairs as the files to read.
    fn pair_files(&self, captions: &[PathBuf], pairs: &[PathBuf], held_out: HeldOut) -> PairFiles {
        let input = |kind| move |path: &PathBuf| PairInput { path: path.clone(), kind, weight: None };
        let inputs = captions.iter().map(input(PairKind::Captions)).chain(pairs.iter().map(input(PairKind::Pairs)));
        let (text, scratch_dir) = (self.text.options(), self.files.scratch_dir());
        let options = PairOptions { held_out, text, scratch_dir, ..PairOptions::default() };
        PairFiles { inputs: inputs.collect(), options, second: None }
    }

    pub(crate) fn train(&self, threads: usize) -> Result {
        let has_dev = !self.dev_captions.is_empty() || !self.dev_pairs.is_empty();
        self.params.check_training(has_dev)?;
        let held_out = self.pair_files(&self.dev_captions, &self.dev_pairs, HeldOut::default());
        let files = [&self.captions, &self.pairs, &self.decontaminate, &self.dev_captions, &self.dev_pairs];
        let run = TrainingRun {
            reads: files.into_iter().flatten().map(PathBuf::as_path).collect(),
            start: StartFrom::new(None, &self.vectors),
            dev: has_dev.then_some(&held_out),
            check: self.check.on(CheckOn::Sample),
            ..TrainingRun::new(&self.files, &self.params, self.params()?, Unit::Pairs, threads)
        };
        run.run(|_, _| Ok(self.pair_files(&self.captions, &self.pairs, HeldOut::read(&self.decontaminate)?)))
    }
}
