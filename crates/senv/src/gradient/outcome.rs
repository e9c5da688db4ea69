//! How a run of the loop ended, and what came of it.

use std::time::Duration;

use super::{Phases, Weights};
use crate::{check::LossAgainstChance, error::Error};

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Stopped {
    /// All steps were made.
    Finished,
    /// The validation score had not risen for as long as was asked.
    Early,
    /// The observer asked; the checkpoint, if one was planned, is written, or the observer has heard why not.
    Interrupted,
    /// The loss was no longer a number; the weights are the best before.
    Diverged {
        /// The step.
        step: u64,
        /// The learning rate at that step.
        lr: f64,
    },
    /// The loss was far above that of a guess and stayed there, was above it at the end, or was no lower than at the
    /// start though the weights had grown beyond comparison; the weights are the best before.
    NotLearning {
        /// The step.
        step: u64,
        /// The learning rate at that step.
        lr: f64,
        /// The loss of the last steps.
        loss: f64,
        /// What it should be below.
        bound: f64,
        /// Whose loss that is.
        of: &'static str,
    },
    /// The weights had grown so much that those it began with were lost in rounding; the weights are the best before.
    Outgrown {
        /// The step.
        step: u64,
        /// The learning rate at that step.
        lr: f64,
        /// How many times longer the weights had become.
        growth: f64,
    },
    /// The gradient was infinite, not a number, or too long to be meant; the weights are the best before.
    Exploded {
        /// The step.
        step: u64,
        /// The norm of the gradient, before clipping.
        norm: f64,
    },
}

impl Stopped {
    /// Whether the run came to the end that was meant.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        matches!(self, Self::Finished | Self::Early)
    }

    /// What went wrong, if training failed.
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

/// What a run came to.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct FitOutcome {
    /// The best weights by validation, or the last ones where nothing was validated or the run was interrupted.
    pub weights: Weights,
    /// Mean loss of a step over the run.
    pub loss: f64,
    /// The loss of the last steps beside that of guessing; `None` where the objective knows none
    /// ([`super::StepReport::chance`]).
    pub against_chance: Option<LossAgainstChance>,
    /// Step and score of every validation.
    pub history: Vec<(u64, f64)>,
    /// Step and score of the weights, where they were chosen by validation.
    pub best: Option<(u64, f64)>,
    /// Steps behind.
    pub steps: u64,
    /// Examples of this run of the program.
    pub examples: u64,
    /// Wall time of this run of the program: no checkpoints, no validation.
    pub training: Duration,
    /// Where the time went, part by part; drawing goes on beside the other parts where there is a second thread.
    pub phases: Phases,
    /// How it ended.
    pub stopped: Stopped,
}
