//! The results of training.

use std::time::Duration;

use senv_negative_sampling::{NegativeSamplingParams, Outcome};

use crate::{
    check::LossAgainstChance,
    error::{Error, Result},
    gradient::{FitOutcome, Phases, Stopped, Weights},
    model::{handle::Model, saved::SavedModel},
    start::initial::InitialVectorReport,
};

/// A model, and a report of its training.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Trained<M> {
    /// The model.
    pub model: M,
    /// Mean loss: per target, in nats, from a sample, for systems trained by negative sampling; per step for the
    /// others.
    pub loss: f64,
    /// The loss compared with the loss of guessing; `None` if the latter is not known.
    pub against_chance: Option<LossAgainstChance>,
    /// What this run trained on, counted once per epoch: known tokens for systems trained by negative sampling,
    /// examples for the others.
    pub units: u64,
    /// Steps made; 0 for systems trained by negative sampling, which do not count steps.
    pub steps: u64,
    /// Wall time of training only.
    pub training: Duration,
    /// Time per phase; zero for systems trained by negative sampling.
    pub phases: Phases,
    /// How the run ended. A run stopped on request returns an error instead
    /// ([`Error::is_interrupted`](crate::Error::is_interrupted)).
    pub stopped: Stopped,
    /// Step and score of every validation.
    pub history: Vec<(u64, f64)>,
    /// Step and score of the model, if it was chosen by validation.
    pub best: Option<(u64, f64)>,
    /// How many words started from a given vector.
    pub initial: InitialVectorReport,
    /// How the first of two stages went, if this run trained it.
    pub first_stage: Option<Box<Trained<()>>>,
}

impl<M: SavedModel> Trained<M> {
    /// Returns the terms of use, if training started from a model that has some: CC BY-SA 4.0 for the English model.
    #[must_use]
    pub fn terms(&self) -> Option<&str> {
        self.model.vocabulary().terms()
    }
}

impl<M> Trained<M> {
    /// Returns tokens or examples per second of wall time.
    #[must_use]
    pub fn units_per_second(&self) -> f64 {
        self.units as f64 / self.training.as_secs_f64().max(1e-9)
    }

    /// Splits the model from the rest.
    pub(crate) fn take_model(self) -> (M, Trained<()>) {
        let Self {
            model,
            loss,
            against_chance,
            units,
            steps,
            training,
            phases,
            stopped,
            history,
            best,
            initial,
            first_stage,
        } = self;
        let model_less = Trained {
            model: (),
            loss,
            against_chance,
            units,
            steps,
            training,
            phases,
            stopped,
            history,
            best,
            initial,
            first_stage,
        };
        (model, model_less)
    }

    /// Converts the model with `form`.
    #[must_use]
    pub fn map<N>(self, form: impl FnOnce(M) -> N) -> Trained<N> {
        let (model, rest) = self.take_model();
        let Trained {
            loss,
            against_chance,
            units,
            steps,
            training,
            phases,
            stopped,
            history,
            best,
            initial,
            first_stage,
            ..
        } = rest;
        Trained {
            model: form(model),
            loss,
            against_chance,
            units,
            steps,
            training,
            phases,
            stopped,
            history,
            best,
            initial,
            first_stage,
        }
    }

    /// Builds the report of a system trained by negative sampling.
    pub(crate) fn new(
        params: &NegativeSamplingParams,
        outcome: &Outcome,
        initial: InitialVectorReport,
        model: M,
    ) -> Result<Self>
    where
        M: Into<Model>,
    {
        let Outcome { loss, tokens, training, interrupted, .. } = *outcome;
        if interrupted {
            return Err(Error::stopped(model));
        }
        Ok(Self {
            model,
            loss,
            against_chance: Some(LossAgainstChance::of_run(loss, params)),
            units: tokens,
            steps: 0,
            training,
            phases: Phases::default(),
            stopped: Stopped::Finished,
            history: Vec::new(),
            best: None,
            initial,
            first_stage: None,
        })
    }

    /// Builds the report of a system trained by gradient.
    pub(crate) fn of_gradient(
        fitted: FitOutcome,
        initial: InitialVectorReport,
        model: impl FnOnce(Weights) -> Result<M>,
    ) -> Result<Self>
    where
        M: Into<Model>,
    {
        let FitOutcome { weights, loss, against_chance, history, best, steps, examples, training, phases, stopped } =
            fitted;
        let model = model(weights)?;
        if stopped == Stopped::Interrupted {
            return Err(Error::stopped(model));
        }
        Ok(Self {
            model,
            loss,
            against_chance,
            units: examples,
            steps,
            training,
            phases,
            stopped,
            history,
            best,
            initial,
            first_stage: None,
        })
    }
}
