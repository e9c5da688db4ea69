//! `senv combine`: concatenates two Skip-thought models.

use std::path::PathBuf;

use senv::{Model, SkipThought};

use crate::{
    commands::{ModelArg, named},
    destination::{Content, Destination, ForceArg},
    failure::{Failure, Result},
    output,
};

/// Combine two Skip-thought models into one, as in combine-skip.
///
/// A sentence vector is the concatenation of the vectors of both models, each normalized to length 1. Both models must
/// be trained on the same text with the same vocabulary. Text is tokenized as by the first model. Expand the vocabulary
/// afterward.
#[derive(Debug, clap::Args)]
#[command(
    mut_arg("model", named),
    after_help = "\
Example:
  senv combine --model uni.senv --with bi.senv --output combined.senv"
)]
pub(crate) struct Combine {
    /// Second model.
    #[arg(long, value_name = "FILE")]
    with: PathBuf,
    /// Model to write; replaced atomically.
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    force: ForceArg,
    #[command(flatten)]
    model: ModelArg,
}

impl Combine {
    pub(crate) fn run(self) -> Result {
        Destination::output(&self.output, Content::Model, self.force).check(&[&self.model.model, &self.with])?;
        let encoder = |model: Model, path: &PathBuf| {
            model.downcast_ref::<SkipThought>().cloned().ok_or_else(|| {
                let (path, kind) = (path.display(), model.kind());
                Failure::Usage(format!("{path} is of kind {kind}; only skip-thought models can be combined"))
            })
        };
        let combined = SkipThought::combine(
            encoder(self.model.open_verified()?, &self.model.model)?,
            encoder(Model::open_verified(&self.with)?, &self.with)?,
        )?;
        let _last = senv_core::files::LastStep::begin();
        combined.save(&self.output)?;
        output::note(&format!("{} dimensions, written to {}", combined.dim(), self.output.display()));
        Ok(())
    }
}
