//! The arguments of the loop that every system learning by gradient shares.

use senv_models::{Decay, FitParams, Initial};

use super::names::{DecayArg, NormArg, OptimizerArg, UpdatesArg, set};
use crate::failure::{Failure, Result};

/// How it learns.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct FitArgs {
    /// Passes over the examples, at least 1.
    #[arg(long, value_name = "N", conflicts_with = "steps", help_heading = "Training")]
    pub(crate) epochs: Option<u32>,
    /// Steps of the whole run, instead of epochs.
    #[arg(long, value_name = "N", help_heading = "Training")]
    pub(crate) steps: Option<u64>,
    /// Examples a step, at least 1.
    #[arg(long, value_name = "N", help_heading = "Training")]
    batch: Option<usize>,
    /// Learning rate, above 0.
    #[arg(long, value_name = "X", help_heading = "Training", allow_negative_numbers = true)]
    pub(super) lr: Option<f64>,
    /// How the rate moves.
    #[arg(long, value_name = "HOW", help_heading = "Training")]
    decay: Option<DecayArg>,
    /// Share of the run in which the rate climbs from 0, at least 0 and below 1; goes with --decay linear.
    #[arg(long, value_name = "X", help_heading = "Training", allow_negative_numbers = true)]
    warmup: Option<f64>,
    /// How weights follow their gradients; adam-folded is Adam as in the programs of the papers.
    #[arg(long, value_name = "NAME", help_heading = "Training")]
    optimizer: Option<OptimizerArg>,
    /// Which word vectors a step moves: those of its batch, all (the papers' exact rule, slower), or none.
    #[arg(long, value_name = "WHICH", help_heading = "Training")]
    updates: Option<UpdatesArg>,
    /// L2 penalty of the word vectors towards where they started, at least 0.
    #[arg(long, value_name = "X", help_heading = "Training", allow_negative_numbers = true)]
    l2_words: Option<f64>,
    /// The factor of all penalties: half (the releases) or full (as printed in the papers).
    #[arg(long, value_name = "FACTOR", help_heading = "Training")]
    l2_norm: Option<NormArg>,
    /// Longest gradient, over all weights together; inf: no limit.
    #[arg(long, value_name = "X", help_heading = "Training", allow_negative_numbers = true)]
    clip: Option<f64>,
    /// Steps between two validations [default: those of an epoch]
    #[arg(long, value_name = "N", help_heading = "Validation")]
    validate_every: Option<u64>,
    /// Validations without a better score after which the run stops [default: it runs to the end]
    #[arg(long, value_name = "N", help_heading = "Validation")]
    patience: Option<u32>,
    /// Where all random numbers come from.
    #[arg(long, value_name = "N", help_heading = "Training")]
    pub(crate) seed: Option<u64>,
}

impl FitArgs {
    /// Refuses what would be without effect: an early stop and a pace of validations where nothing is validated, and
    /// epochs where steps are counted.
    pub(crate) fn check(&self, validates: bool) -> Result {
        let of_validation =
            [("--validate-every", self.validate_every.is_some()), ("--patience", self.patience.is_some())];
        if let Some((name, _)) = of_validation.iter().find(|(_, given)| *given && !validates) {
            let message = format!("{name} does nothing where nothing is validated; give --dev, or leave it out");
            return Err(Failure::Usage(message));
        }
        if self.epochs.is_some() && self.steps.is_some() {
            return Err(Failure::Usage("--epochs and --steps both say how long to train; give one of them".into()));
        }
        Ok(())
    }

    /// Sets what was given.
    pub(crate) fn apply(&self, fit: &mut FitParams) {
        set(&mut fit.epochs, self.epochs);
        set(&mut fit.steps, self.steps);
        set(&mut fit.batch, self.batch);
        set(&mut fit.lr, self.lr);
        set(&mut fit.rule, self.optimizer);
        set(&mut fit.words, self.updates);
        set(&mut fit.l2_words, self.l2_words);
        set(&mut fit.l2_norm, self.l2_norm);
        set(&mut fit.clip, self.clip);
        set(&mut fit.validate_every, self.validate_every);
        set(&mut fit.patience, self.patience);
        set(&mut fit.seed, self.seed);
        match (self.decay, fit.decay) {
            (Some(DecayArg::Constant), _) => fit.decay = Decay::Constant,
            (Some(DecayArg::Halve), _) => {
                fit.decay = Decay::Halve { parts: if fit.steps.is_some() { 4 } else { fit.epochs } };
            }
            (Some(DecayArg::Linear), Decay::Constant | Decay::Halve { .. }) => {
                fit.decay = Decay::Linear { warmup: 0.0, floor: 0.0 }
            }
            _ => {}
        }
        if let Some(warmup) = self.warmup {
            let floor = if let Decay::Linear { floor, .. } = fit.decay { floor } else { 0.0 };
            fit.decay = Decay::Linear { warmup, floor };
        }
    }
}

/// The epochs to show: none where steps are counted.
pub(crate) fn epochs_of(fit: &FitParams) -> Option<u32> {
    fit.steps.is_none().then_some(fit.epochs)
}

/// How word vectors start.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct StartArgs {
    /// Dimension of the word vectors, 1 to 65536; with --init-vectors those of that file.
    #[arg(long, value_name = "N", help_heading = "Training")]
    pub(crate) dim: Option<usize>,
    /// Word vectors start times A / (A + relative frequency of the word), as in SIF; A is above 0, 1e-5 is usual.
    #[arg(long, value_name = "A", help_heading = "Training", allow_negative_numbers = true)]
    init_frequency_weight: Option<f64>,
}

impl StartArgs {
    /// Sets what was given; `of_vectors` is the dimension of the initial vectors, if there are any.
    pub(crate) fn apply(&self, dim: &mut usize, initial: &mut Initial, of_vectors: Option<usize>) {
        set(dim, self.dim.or(of_vectors));
        set(&mut initial.frequency_weight, self.init_frequency_weight);
    }
}
