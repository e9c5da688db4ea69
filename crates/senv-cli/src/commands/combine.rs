//! `senv combine`: two Skip-thought models side by side.

use std::path::PathBuf;

use senv::{Model, SkipThought};

use crate::{
    commands::{ModelArg, named},
    destination::{Content, Destination, ForceArg},
    failure::{Failure, Result},
    output,
};

/// Put two Skip-thought models side by side, as in combine-skip.
///
/// The vector of a sentence is that of the one model, brought to length 1, followed by that of the other. Both must
/// have been trained on the same text with the same vocabulary; text is read as the first reads it. Expand the
/// vocabulary afterwards.
#[derive(Debug, clap::Args)]
#[command(
    mut_arg("model", named),
    after_help = "\
Example:
  senv combine --model uni.senv --with bi.senv --output combined.senv"
)]
pub(crate) struct Combine {
    /// The other model.
    #[arg(long, value_name = "FILE")]
    with: PathBuf,
    /// The model to write, by atomic replacement.
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
