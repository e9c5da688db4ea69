//! `senv train skip-thought`: running text to a model that predicts the sentences before and after.

use clap::ValueEnum;
use senv::{SkipThought, SkipThoughtParams};

use super::text_args::{RunningText, text_system};
use crate::failure::Result;

/// Where the defaults come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SkipThoughtPreset {
    /// The paper.
    Paper,
    /// The code that its authors released.
    Release,
}

/// Arguments of Skip-thoughts.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct SkipThoughtArgs {
    #[command(flatten)]
    text: RunningText<SkipThoughtParams>,
    /// Where the other defaults come from: the paper, or the code that its authors released.
    #[arg(long, value_name = "NAME", default_value = "paper", help_heading = "Training")]
    preset: SkipThoughtPreset,
}

text_system!(SkipThoughtParams => SkipThought);

impl SkipThoughtArgs {
    pub(crate) fn run(&self, threads: usize) -> Result {
        let mut params = SkipThoughtParams::default();
        if self.preset == SkipThoughtPreset::Release {
            params = params.release();
        }
        self.text.run(params, threads)
    }
}
