//! The checkpoint of a run: position, weights, optimizer moments, best weights so far.

use std::path::Path;

use senv_core::{
    Table,
    arrays::Parameters,
    checkpoint::{self, About, CheckpointPlan},
    optim::{ParametersOptimizer, TableOptimizer},
};
use serde::{Deserialize, Serialize};

use super::{
    FitParams, Weights,
    example_order::{Cursors, ExampleOrder},
    learner::Learner,
    watch::Watch,
};
use crate::error::{Error, Result};

/// The kind recorded in the checkpoint file.
const KIND: &str = "senv-fit";

/// The position of the loop, without the weights.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct FitPosition {
    /// Completed steps.
    pub(super) step: u64,
    pub(super) cursors: Cursors,
    /// Step and score of each validation.
    pub(super) history: Vec<(u64, f64)>,
    /// Validations since the best score.
    pub(super) stale: u32,
    /// Sum of the losses of all steps, and the number of steps.
    pub(super) loss: (f64, u64),
    /// The losses relative to chance.
    pub(super) watch: Watch,
}

impl FitPosition {
    /// Whether this is a possible position in a run of `total` steps. An impossible one would overflow sums and index
    /// missing examples.
    pub(super) fn is_possible(&self, order: &ExampleOrder, total: u64) -> bool {
        self.step <= total && self.loss.1 <= self.step && self.stale < u32::MAX && order.accepts(&self.cursors)
    }
}

/// The best weights so far.
pub(super) struct Best {
    pub(super) step: u64,
    pub(super) score: f64,
    pub(super) weights: Weights,
}

#[derive(Serialize, Deserialize)]
struct FitCheckpoint {
    settings: String,
    place: FitPosition,
    parameters: Vec<Parameters<f32>>,
    optimizers: Vec<ParametersOptimizer<f32>>,
    word_steps: Option<u64>,
    best: Option<(u64, f64, Vec<Parameters<f32>>)>,
}

/// Writes the checkpoint.
pub(super) fn save(
    path: &Path,
    about: &About,
    position: &FitPosition,
    learner: &Learner,
    best: Option<&Best>,
) -> senv_core::Result<()> {
    let state = FitCheckpoint {
        settings: about.settings.clone(),
        place: position.clone(),
        parameters: learner.weights.parameters.clone(),
        optimizers: learner.parameters.clone(),
        word_steps: learner.words.as_ref().map(TableOptimizer::n_steps),
        best: best.map(|best| (best.step, best.score, best.weights.parameters.clone())),
    };
    let mut tables = vec![("words", &learner.weights.words)];
    tables.extend(learner.words.iter().flat_map(TableOptimizer::moments).map(|moment| ("moment", moment)));
    tables.extend(learner.initial_words.iter().map(|words| ("initial", words)));
    tables.extend(best.map(|best| ("best", &best.weights.words)));
    checkpoint::save_with(path, KIND, about, &state, &tables)
}

/// Reads the checkpoint, if it exists and the plan says to resume. Its shapes must match those of the initial weights.
pub(super) fn resume(
    plan: &CheckpointPlan,
    settings: &str,
    params: &FitParams,
    initial_weights: &Weights,
) -> Result<Option<(FitPosition, Learner, Option<Best>)>> {
    if !plan.resume || !plan.path.exists() {
        return Ok(None);
    }
    let (state, tables) = checkpoint::load::<FitCheckpoint>(&plan.path, KIND)?;
    let mismatch = |what: &str| Error::CheckpointMismatch { path: plan.path.clone(), what: what.to_owned() };
    if state.settings != settings {
        return Err(mismatch("different settings or data"));
    }
    let (mut words, mut moments, mut initial, mut best) = (None, Vec::new(), None, None);
    for (name, table) in tables {
        match name.as_str() {
            "words" => words = Some(table),
            "moment" => moments.push(table),
            "initial" => initial = Some(table),
            "best" => best = Some(table),
            _ => return Err(mismatch("tables of another system")),
        }
    }
    let weights: Option<Table> = words;
    let weights = Weights { words: weights.ok_or_else(|| mismatch("no words"))?, parameters: state.parameters };
    let words = match state.word_steps {
        Some(n_steps) => Some(TableOptimizer::from_parts(params.rule, moments, n_steps)?),
        None => None,
    };
    let best = match (state.best, best) {
        (Some((step, score, parameters)), Some(words)) => {
            Some(Best { step, score, weights: Weights { words, parameters } })
        }
        (None, None) => None,
        _ => return Err(mismatch("incomplete best weights")),
    };
    let is_other = |weights: &Weights| !weights.has_shapes_of(initial_weights);
    let (n_groups, optimizers) = (weights.parameters.len(), &state.optimizers);
    let fits = |(optimizer, group): (&ParametersOptimizer<f32>, _)| optimizer.fits(params.rule, group);
    if is_other(&weights)
        || best.as_ref().is_some_and(|best| is_other(&best.weights))
        || optimizers.len() != n_groups
        || !optimizers.iter().zip(&weights.parameters).all(fits)
    {
        return Err(mismatch("weights of different shapes"));
    }
    Ok(Some((state.place, Learner { weights, words, parameters: state.optimizers, initial_words: initial }, best)))
}
