//! `senv train random-bow`: an encoder that needs no training.

use std::path::PathBuf;

use senv::{RandomBow, RandomBowParams};

use super::hyper_args::HyperArgs;
use crate::{
    destination::{Content, Destination, ForceArg},
    failure::Result,
    output,
};

/// Arguments of random BOW.
#[derive(Debug, clap::Args)]
pub(crate) struct RandomBowArgs {
    /// Model to write.
    #[arg(long, short, value_name = "MODEL", help_heading = "Files")]
    output: PathBuf,
    #[command(flatten)]
    force: ForceArg,
    #[command(flatten)]
    params: HyperArgs<RandomBowParams>,
}

impl RandomBowArgs {
    pub(crate) fn run(&self) -> Result {
        Destination::output(&self.output, Content::Model, self.force).check::<PathBuf>(&[])?;
        let mut params = RandomBowParams::default();
        self.params.apply(&mut params)?;
        let _last = senv_core::files::LastStep::begin();
        RandomBow::new(params)?.save(&self.output)?;
        output::note(&format!("{} written", self.output.display()));
        Ok(())
    }
}
