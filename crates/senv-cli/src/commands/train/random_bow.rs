//! `senv train random-bow`: an encoder that needs no training.

use std::path::PathBuf;

use senv_models::{RandomBow, RandomBowParams};

use super::names::set;
use crate::{
    destination::{Content, Destination, ForceArg},
    failure::Result,
    output,
};

/// Arguments of random BOW.
#[derive(Debug, clap::Args)]
pub(crate) struct RandomBowArgs {
    /// The model to write.
    #[arg(long, short, value_name = "MODEL", help_heading = "Files")]
    output: PathBuf,
    #[command(flatten)]
    force: ForceArg,
    /// Embedding dimension, 1 to 65536.
    #[arg(long, value_name = "N", help_heading = "Training")]
    dim: Option<usize>,
    /// Random seed.
    #[arg(long, value_name = "N", help_heading = "Training")]
    seed: Option<u64>,
}

impl RandomBowArgs {
    pub(crate) fn run(&self) -> Result {
        Destination::output(&self.output, Content::Model, self.force).check::<PathBuf>(&[])?;
        let mut params = RandomBowParams::default();
        set(&mut params.dim, self.dim);
        set(&mut params.seed, self.seed);
        RandomBow::new(params)?.save(&self.output)?;
        output::note(&format!("{} written", self.output.display()));
        Ok(())
    }
}
