//! What training by gradient came to, whatever the system.

use std::time::Duration;

use crate::{
    Result,
    fit::{Fitted, Phases, Stopped, Weights},
    initial::Found,
};

/// A model that was learnt by gradient, and how that went.
#[derive(Debug, Clone)]
pub struct Learnt<M> {
    /// The model.
    pub model: M,
    /// How many words started from a given vector.
    pub found: Found,
    /// Mean loss of a step.
    pub loss: f64,
    /// Step and score of every validation.
    pub history: Vec<(u64, f64)>,
    /// Step and score of the model, where it was chosen by validation.
    pub best: Option<(u64, f64)>,
    /// Steps made.
    pub steps: u64,
    /// Examples of this run of the program.
    pub examples: u64,
    /// Wall time of training alone.
    pub training: Duration,
    /// Where the time went, part by part.
    pub phases: Phases,
    /// How the run ended.
    pub stopped: Stopped,
}

impl<M> Learnt<M> {
    pub(crate) fn new(fitted: Fitted, found: Found, model: impl FnOnce(Weights) -> Result<M>) -> Result<Self> {
        let Fitted { weights, loss, history, best, steps, examples, training, phases, stopped } = fitted;
        Ok(Self { model: model(weights)?, found, loss, history, best, steps, examples, training, phases, stopped })
    }

    /// Examples a wall second of training.
    #[must_use]
    pub fn examples_per_second(&self) -> f64 {
        self.examples as f64 / self.training.as_secs_f64().max(1e-9)
    }
}
