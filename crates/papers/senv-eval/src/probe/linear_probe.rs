//! The relatedness regressions of the published evaluation scripts: `linear-relatedness` trained with Adam and early
//! stopping on a development set.
//!
//! | | Skip-thoughts | SentEval |
//! | --- | --- | --- |
//! | loss (`relatedness-loss`) | cross-entropy | squared error of the distribution |
//! | mini-batch | 128, in an order shuffled once | 64, reshuffled each epoch |
//! | r on the development set | every 100 epochs | every 50 epochs |
//! | stops | at the first check without a better r | at the fourth such check in total, or after 1,000 epochs |
//!
//! Both keep the best model and use a learning rate of .001. Minimizing the KL divergence to a target of Tai et al. has
//! the gradient of the cross-entropy. The settings come from the programs of R. Kiros et al., NIPS 2015, and A. Conneau
//! and D. Kiela, LREC 2018.

use ndarray::{Array2, Axis};
use rand::seq::SliceRandom;
use senv_core::optim::{ParametersOptimizer, UpdateRule};
use senv_losses::{LinearRelatedness, RelatednessLoss, ScoreGrid};

use crate::error::{Error, Result};

/// The learning rate of Adam.
const LR: f64 = 1e-3;
/// Maximum number of epochs of the Skip-thoughts script, which has no limit itself.
const MAX_EPOCHS: usize = 2_000;

/// The settings of a script.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ScriptSettings {
    pub(crate) loss: RelatednessLoss,
    pub(crate) batch: usize,
    pub(crate) shuffles_each_epoch: bool,
    /// Number of epochs between two checks.
    pub(crate) check_every: usize,
    /// Total number of checks without a better result after which training ends.
    pub(crate) patience: usize,
    pub(crate) max_epochs: usize,
}

impl ScriptSettings {
    pub(crate) const SKIP_THOUGHTS: Self = Self {
        loss: RelatednessLoss::CrossEntropy,
        batch: 128,
        shuffles_each_epoch: false,
        check_every: 100,
        patience: 1,
        max_epochs: MAX_EPOCHS,
    };
    pub(crate) const SENT_EVAL: Self = Self {
        loss: RelatednessLoss::SquaredError,
        batch: 64,
        shuffles_each_epoch: true,
        check_every: 50,
        patience: 4,
        max_epochs: 1_000,
    };
}

/// Features of pairs and the target distributions of their scores, one row per pair.
pub(crate) struct Pairs {
    pub(crate) features: Array2<f32>,
    pub(crate) targets: Array2<f32>,
}

/// The best weights, shape `(classes, features + 1)` flattened with the intercept last in each row, and r at each
/// check.
pub(crate) struct Trained {
    pub(crate) parameters: Vec<f64>,
    pub(crate) epochs: usize,
    pub(crate) checks: Vec<(f64, Option<f64>)>,
}

/// Trains as a script does. `judge` computes r from the predicted scores of the development pairs.
pub(crate) fn train(
    script: ScriptSettings,
    grid: ScoreGrid,
    pairs: &Pairs,
    dev: &Array2<f32>,
    seed: u64,
    judge: impl Fn(&[f64]) -> Result<Option<f64>>,
) -> Result<Trained> {
    let n = pairs.features.nrows();
    if n == 0 || dev.nrows() == 0 {
        return Err(Error::NothingToDo { what: "scored pairs" });
    }
    let loss_error = |error: senv_losses::Error| match error {
        senv_losses::Error::Core(error) => Error::Core(error),
        // The targets were built on the grid and there are examples, so no other error is expected.
        other => Error::OffScale { reason: other.to_string() },
    };
    let head = LinearRelatedness { dim: pairs.features.ncols() / 2, grid };
    let mut rng = senv_core::rng::stream(seed, "relatedness probe", &[]);
    let mut parameters = head.init::<f32>(&mut rng).map_err(loss_error)?;
    let mut optimizer = ParametersOptimizer::new(UpdateRule::default(), &parameters)?;
    let mut gradient = parameters.zeros_like();
    let mut order: Vec<usize> = (0..n).collect();
    order.shuffle(&mut rng);
    let (mut best, mut best_r, mut best_epochs, mut checks, mut worse) = (parameters.clone(), None, 0, Vec::new(), 0);
    for epoch in 1..=script.max_epochs {
        if script.shuffles_each_epoch {
            order.shuffle(&mut rng);
        }
        for batch in order.chunks(script.batch) {
            let features = pairs.features.select(Axis(0), batch);
            let targets = pairs.targets.select(Axis(0), batch);
            let predictions = head.forward_features(&parameters, features.view()).map_err(loss_error)?;
            let d_logits = script.loss.backward(&predictions, targets.view(), 1.0);
            gradient.fill(0.0);
            head.backward_features(features.view(), d_logits.view(), &mut gradient).map_err(loss_error)?;
            optimizer.update(LR, &mut parameters, &gradient)?;
        }
        if !epoch.is_multiple_of(script.check_every) {
            continue;
        }
        let predictions = head.forward_features(&parameters, dev.view()).map_err(loss_error)?;
        let r = judge(&predictions.scores(grid))?;
        checks.push((epoch as f64, r));
        if best_r.is_none_or(|best| r > best) {
            (best, best_r, best_epochs) = (parameters.clone(), Some(r), epoch);
        } else {
            worse += 1;
            if worse == script.patience {
                break;
            }
        }
    }
    let (mut weights, mut biases) = (None, None);
    for tensor in best.iter() {
        let place = if tensor.name() == "head.w" { &mut weights } else { &mut biases };
        *place = Some(tensor.values());
    }
    let (weights, biases) = (weights.unwrap_or_default(), biases.unwrap_or_default());
    let rows = weights.chunks_exact(pairs.features.ncols()).zip(biases);
    let parameters = rows.flat_map(|(row, bias)| row.iter().chain([bias]).map(|&x| f64::from(x))).collect();
    Ok(Trained { parameters, epochs: best_epochs, checks })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pairs whose score is proportional to the first feature.
    fn pairs(n: usize, grid: ScoreGrid) -> (Pairs, Vec<f64>) {
        let gold: Vec<f64> = (0..n).map(|i| 1.0 + 4.0 * ((i * 37 % n) as f64 / (n - 1) as f64)).collect();
        let noise = |i: usize| ((i * 53 % n) as f32 / n as f32 - 0.5) * 0.1;
        let features =
            Array2::from_shape_fn((n, 4), |(i, j)| if j == 0 { gold[i] as f32 / 5.0 } else { noise(i * (j + 1)) });
        let targets = grid.targets::<f64>(&gold).unwrap().mapv(|x| x as f32);
        (Pairs { features, targets }, gold)
    }

    #[test]
    fn each_script_learns_the_scores_and_stops_as_it_does() {
        let grid = ScoreGrid::OneTo(5);
        let ((train_pairs, _), (dev, gold)) = (pairs(200, grid), pairs(80, grid));
        for script in [ScriptSettings::SKIP_THOUGHTS, ScriptSettings::SENT_EVAL] {
            let judge = |scores: &[f64]| Ok(senv_metrics::pearson_r(&gold, scores)?);
            let run = || train(script, grid, &train_pairs, &dev.features, 3, judge).unwrap();
            let found = run();
            assert_eq!(found.parameters, run().parameters, "the same seed, the same bits");
            assert_eq!(found.parameters.len(), 5 * 5);
            let r = found.checks.iter().find(|(epochs, _)| *epochs == found.epochs as f64).unwrap().1.unwrap();
            assert!(r > 0.9 && found.checks.iter().all(|(_, other)| other.unwrap() <= r), "{:?}", found.checks);
            assert_eq!(found.checks[0].0, script.check_every as f64);
            let worse = found.checks.len() - 1;
            assert!(found.checks.last().unwrap().0 <= script.max_epochs as f64 && worse > 0);
        }
        // A result that never improves: one check, then as many as the patience.
        for script in [ScriptSettings::SKIP_THOUGHTS, ScriptSettings::SENT_EVAL] {
            let found = train(script, grid, &train_pairs, &dev.features, 3, |_| Ok(Some(0.5))).unwrap();
            assert_eq!((found.checks.len(), found.epochs), (1 + script.patience, script.check_every));
        }
    }
}
