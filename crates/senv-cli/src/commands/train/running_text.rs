//! The arguments and the run of any system that trains an encoder on running text.

use std::path::PathBuf;

use senv::{System, train_job::CheckOn};

use super::{
    check_args::CheckArgs,
    data_args::VectorArgs,
    files::RunFiles,
    hyper_args::{HyperArgs, Shown},
    input_args::InputArgs,
    preset::PresetArgs,
    run::{StartFrom, TrainingRun},
};
use crate::{failure::Result, progress::Unit, text::TextArgs};

/// Running text and the hyperparameters of a system.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct RunningTextArgs<S: System + Shown> {
    #[command(flatten)]
    input: InputArgs,
    /// Held-out text for validation, in the same format.
    ///
    /// The weights with the lowest loss per token on it are kept.
    #[arg(long, value_name = "FILE", num_args = 1.., help_heading = "Validation")]
    dev: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) files: RunFiles,
    #[command(flatten)]
    pub(crate) vectors: VectorArgs,
    /// Folder for the token ids of the text during training, four bytes per word [default: the folder of MODEL]
    #[arg(long, value_name = "DIR", help_heading = "Files")]
    scratch_dir: Option<PathBuf>,
    #[command(flatten)]
    preset: PresetArgs<S>,
    #[command(flatten)]
    params: HyperArgs<S>,
    #[command(flatten)]
    text: TextArgs,
    #[command(flatten)]
    check: CheckArgs,
}

/// A system that trains on some files of running text and validates on others.
pub(crate) trait ReadsRunningText: for<'d> System<Input = [PathBuf], Dev<'d> = &'d [PathBuf]> {}

impl<S: for<'d> System<Input = [PathBuf], Dev<'d> = &'d [PathBuf]>> ReadsRunningText for S {}

impl<S: ReadsRunningText + Shown> RunningTextArgs<S> {
    /// Runs from the first check to the written model.
    pub(crate) fn train(&self, threads: usize) -> Result {
        self.input.open_folders(self.text.content())?;
        self.params.check_training(!self.dev.is_empty())?;
        let mut params = self.preset.settings();
        self.params.apply(&mut params)?;
        self.text.check_tables(self.input.paths())?;
        self.text.check_tables(&self.dev)?;
        let run = TrainingRun {
            reads: self.input.paths().iter().chain(&self.dev).map(PathBuf::as_path).collect(),
            start: StartFrom::new(None, &self.vectors),
            dev: (!self.dev.is_empty()).then_some(&self.dev[..]),
            text: self.text.options(),
            scratch_dir: self.scratch_dir.as_deref(),
            check: self.check.on(CheckOn::Sample),
            ..TrainingRun::new(&self.files, &self.params, params, Unit::Examples, threads)
        };
        run.run(|_, _| Ok(self.input.paths()))
    }
}
