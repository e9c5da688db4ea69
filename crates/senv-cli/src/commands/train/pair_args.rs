//! The arguments of PP, CSE and GRAN.

use senv::{PairSystem, System};

use super::{
    check_args::CheckArgs,
    data_args::{DevArgs, PairFiles, Stage2Args},
    files::RunFiles,
    hyper_args::{HyperArgs, Shown},
    init_args::InitArgs,
    init_model::InitModelArgs,
    preset::PresetArgs,
};
use crate::failure::{Failure, Result};

/// Arguments of a system trained on pairs.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct PairArgs<S: System + Shown> {
    #[command(flatten)]
    pub(crate) run: PairRunArgs,
    #[command(flatten)]
    pub(crate) preset: PresetArgs<S>,
    #[command(flatten)]
    pub(crate) params: HyperArgs<S>,
}

/// The inputs and outputs of a run on pairs.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct PairRunArgs {
    #[command(flatten)]
    pub(crate) data: PairFiles,
    #[command(flatten)]
    pub(crate) init: InitArgs,
    #[command(flatten)]
    pub(crate) init_model: InitModelArgs,
    #[command(flatten)]
    pub(crate) stage2: Stage2Args,
    #[command(flatten)]
    pub(crate) files: RunFiles,
    #[command(flatten)]
    pub(crate) recipe: RecipeChoice,
    #[command(flatten)]
    pub(crate) dev: DevArgs,
    #[command(flatten)]
    pub(crate) check: CheckArgs,
}

/// Settings to start from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum RecipeArg {
    /// Softmax over large batches, word vectors initialized in proportion to their SIF weights, and a learning rate
    /// that warms up and decays. CSE and GRAN keep their own optimizer, learning rate and penalties.
    Softmax,
}

/// The choice of settings to start from.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct RecipeChoice {
    /// Start from a recipe; explicit options override it. pp with --loss softmax-cosine starts from softmax.
    #[arg(long, value_name = "NAME", help_heading = "Training")]
    recipe: Option<RecipeArg>,
}

impl RecipeChoice {
    /// The parameters with the given hyperparameters.
    pub(crate) fn params<S: PairSystem>(self, preset: &PresetArgs<S>, given: &HyperArgs<S>) -> Result<S> {
        if self.recipe.is_some() && preset.is_given() {
            return Err(Failure::Usage(
                "--recipe and --preset both choose the starting settings; give one of them".into(),
            ));
        }
        let softmax = given.value("loss") == Some("softmax-cosine");
        let brings_recipe = self.recipe.is_some() || softmax && S::AVERAGES;
        let mut params = if brings_recipe { S::softmax_recipe() } else { preset.settings() };
        given.apply(&mut params)?;
        Ok(params)
    }
}
