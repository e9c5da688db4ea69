//! How a run of the loop ended, and its result.

use std::time::Duration;

use super::{Phases, Weights};
use crate::{check::LossAgainstChance, error::Error};

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Stopped {
    /// All steps were done.
    Finished,
    /// Early stopping: the validation score had not improved for the set patience.
    Early,
    /// The observer stopped the run. The checkpoint, if one was planned, is written, or the observer was told why not.
    Interrupted,
    /// The loss was NaN or infinite; the weights are the best before that.
    Diverged {
        /// The step.
        step: u64,
        /// The learning rate at that step.
        lr: f64,
    },
    /// The loss stayed far above chance, was above it at the end, or did not fall although the weights had grown
    /// enormously. The weights are the best before that.
    NotLearning {
        /// The step.
        step: u64,
        /// The learning rate at that step.
        lr: f64,
        /// The loss of the last steps.
        loss: f64,
        /// The bound that the loss should be below.
        bound: f64,
        /// What has the loss that is the bound: `a guess` or `the initial weights`.
        of: &'static str,
    },
    /// The weights had grown so much that rounding lost their initial values; the weights are the best before that.
    Outgrown {
        /// The step.
        step: u64,
        /// The learning rate at that step.
        lr: f64,
        /// The growth factor of the norm of the weights.
        growth: f64,
    },
    /// The gradient was infinite, NaN, or far too long; the weights are the best before that.
    Exploded {
        /// The step.
        step: u64,
        /// The norm of the gradient, before clipping.
        norm: f64,
    },
}

impl Stopped {
    /// Whether the run ended as planned.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        matches!(self, Self::Finished | Self::Early)
    }

    /// The error, if training failed.
    #[must_use]
    pub fn error(&self) -> Option<Error> {
        match *self {
            Self::Finished | Self::Early | Self::Interrupted => None,
            Self::Diverged { step, lr } => Some(Error::Diverged { step, lr }),
            Self::NotLearning { step, lr, loss, bound, of } => Some(Error::NotLearning { step, lr, loss, bound, of }),
            Self::Outgrown { step, lr, growth } => Some(Error::Outgrown { step, lr, growth }),
            Self::Exploded { step, norm } => Some(Error::ExplodingGradient { step, norm }),
        }
    }

    /// Its name in JSON.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Early => "early",
            Self::Interrupted => "interrupted",
            Self::Diverged { .. } => "diverged",
            Self::NotLearning { .. } => "not-learning",
            Self::Outgrown { .. } => "outgrown",
            Self::Exploded { .. } => "exploded",
        }
    }
}

/// The result of a run.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct FitOutcome {
    /// The best weights by validation, or the last ones if there was no validation or the run was interrupted.
    pub weights: Weights,
    /// Mean loss of a step over the run.
    pub loss: f64,
    /// The loss of the last steps compared with chance; `None` if the objective has no chance level
    /// ([`super::StepReport::chance`]).
    pub against_chance: Option<LossAgainstChance>,
    /// Step and score of every validation.
    pub history: Vec<(u64, f64)>,
    /// Step and score of the weights, if they were chosen by validation.
    pub best: Option<(u64, f64)>,
    /// Completed steps.
    pub steps: u64,
    /// Examples processed in this session, not counting those before a resume.
    pub examples: u64,
    /// Wall time of this session, without checkpoints and validation.
    pub training: Duration,
    /// The time of each phase. With a second thread, drawing runs in parallel to the other phases.
    pub phases: Phases,
    /// How it ended.
    pub stopped: Stopped,
}
