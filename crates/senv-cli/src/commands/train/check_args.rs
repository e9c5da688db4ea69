//! The argument that turns off the check of a trained model.

use senv::train_job::CheckOn;

/// Whether a model is checked after training.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct CheckArgs {
    /// Do not check on a sample of the training text whether the vectors are useful. Without a system, this also trains
    /// on the 1 % of a longer text that is otherwise held out for the check.
    #[arg(long, help_heading = "Training")]
    no_check: bool,
}

impl CheckArgs {
    /// Returns `what`, or nothing if the check is off.
    pub(crate) fn on(self, what: CheckOn) -> CheckOn {
        if self.no_check { CheckOn::Nothing } else { what }
    }
}
