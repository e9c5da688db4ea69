//! Whether a model is checked on its training text.

use senv::train_job::CheckOn;

/// Whether a model is checked once it is trained.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct CheckArgs {
    /// Do not check the model on a sample of the training text, which shows whether its vectors are of use. Where a
    /// system is not named, that also trains on the 1 % of a longer text which is held out for the check otherwise.
    #[arg(long, help_heading = "Training")]
    no_check: bool,
}

impl CheckArgs {
    /// This, unless nothing is checked.
    pub(crate) fn on(self, what: CheckOn) -> CheckOn {
        if self.no_check { CheckOn::Nothing } else { what }
    }
}
