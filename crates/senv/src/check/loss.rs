//! A training loss beside that of guessing, and when the two say that nothing was learned.

use std::f64::consts::LN_2;

use senv_negative_sampling::NegativeSamplingParams;
use serde::Serialize;

/// How near the loss of guessing a training loss is taken for it, as a share of it. A run of Sent2Vec whose rows L1
/// regularization kept at zero was nearer than 1e-4; the same run with a tenth of it came to half the loss of guessing.
pub const NEAR_CHANCE: f64 = 1e-3;

/// What made a training loss: it says how far above chance the loss may end, and what helps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum LossOf {
    /// Negative sampling.
    NegativeSampling,
    /// Negative sampling with L1 regularization, which takes from every row that a step has changed.
    NegativeSamplingWithL1,
    /// The gradient loop. Its losses may end above chance and have fallen: the hardest negatives are chosen so that
    /// they cost more than equal cosines do.
    Gradient,
}

/// A training loss beside that of a model that has learned nothing.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LossAgainstChance {
    /// Mean loss of training: of the whole run for negative sampling, of the last steps for the gradient loop.
    pub mean: f64,
    /// The loss of guessing, in the same unit.
    pub chance: f64,
    /// What made it.
    pub of: LossOf,
}

impl LossAgainstChance {
    /// For negative sampling with K negatives: all 1 + K scores at 0 cost (1 + K) ln 2 nats a target.
    ///
    /// ```
    /// use senv::check::LossAgainstChance;
    /// assert!((LossAgainstChance::negative_sampling(3.0, 10).chance - 7.6246).abs() < 1e-4);
    /// ```
    #[must_use]
    pub fn negative_sampling(mean: f64, negatives: usize) -> Self {
        Self { mean, chance: (1.0 + negatives as f64) * LN_2, of: LossOf::NegativeSampling }
    }

    /// For a run of negative sampling with these settings.
    #[must_use]
    pub fn of_run(mean: f64, params: &NegativeSamplingParams) -> Self {
        let of = if params.l1 > 0.0 { LossOf::NegativeSamplingWithL1 } else { LossOf::NegativeSampling };
        Self { of, ..Self::negative_sampling(mean, params.negatives) }
    }

    /// Whether the loss lies within [`NEAR_CHANCE`] of that of guessing.
    #[must_use]
    pub fn is_near_chance(&self) -> bool {
        (self.mean - self.chance).abs() <= NEAR_CHANCE * self.chance
    }

    /// Whether training has learned something.
    #[must_use]
    pub fn has_learned(&self) -> bool {
        match self.of {
            LossOf::Gradient => !self.is_near_chance(),
            // Not a number is no success either.
            LossOf::NegativeSampling | LossOf::NegativeSamplingWithL1 => {
                self.mean < self.chance && !self.is_near_chance()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_near_that_of_guessing_has_learned_nothing() {
        let learned = |multiple: f64, of| LossAgainstChance { mean: 2.0 * multiple, chance: 2.0, of }.has_learned();
        for of in [LossOf::NegativeSampling, LossOf::NegativeSamplingWithL1, LossOf::Gradient] {
            assert!(learned(0.9989, of) && !learned(0.9991, of) && !learned(1.0, of) && !learned(1.0009, of), "{of:?}");
        }
        assert!(!learned(1.1, LossOf::NegativeSampling) && !learned(f64::NAN, LossOf::NegativeSampling));
        assert!(learned(1.1, LossOf::Gradient), "it may have been higher");
    }
}
