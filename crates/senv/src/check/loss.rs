//! A training loss compared with that of guessing, to tell whether anything was learned.

use std::f64::consts::LN_2;

use senv_negative_sampling::NegativeSamplingParams;
use serde::Serialize;

/// How close to the loss of guessing a training loss counts as equal to it, as a share of it. A run of Sent2Vec whose
/// rows L1 regularization kept at zero was within 1e-4. The same run with a tenth of the regularization reached half
/// the loss of guessing.
pub const NEAR_CHANCE: f64 = 1e-3;

/// The source of a training loss, which determines how far above chance it can end, and what helps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum LossOf {
    /// Negative sampling.
    NegativeSampling,
    /// Negative sampling with L1 regularization, which shrinks every row that a step has changed.
    NegativeSamplingWithL1,
    /// The gradient loop. Its loss can end above chance even if it fell, because the hardest negatives cost more than
    /// equal cosines do.
    Gradient,
}

/// A training loss, and that of a model that has learned nothing.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LossAgainstChance {
    /// The mean loss of training: of the whole run for negative sampling, of the last steps for the gradient loop.
    pub mean: f64,
    /// The loss of guessing, in the same unit.
    pub chance: f64,
    /// The source of the loss.
    pub of: LossOf,
}

impl LossAgainstChance {
    /// For negative sampling with K negatives: with all 1 + K scores at 0, the loss is (1 + K) ln 2 nats per target.
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
    pub(crate) fn of_run(mean: f64, params: &NegativeSamplingParams) -> Self {
        let of = if params.l1 > 0.0 { LossOf::NegativeSamplingWithL1 } else { LossOf::NegativeSampling };
        Self { of, ..Self::negative_sampling(mean, params.negatives) }
    }

    /// Whether the loss is within [`NEAR_CHANCE`] of that of guessing.
    #[must_use]
    pub(crate) fn is_near_chance(&self) -> bool {
        (self.mean - self.chance).abs() <= NEAR_CHANCE * self.chance
    }

    /// Whether training has learned something.
    #[must_use]
    pub fn has_learned(&self) -> bool {
        match self.of {
            LossOf::Gradient => !self.is_near_chance(),
            // NaN also means failure.
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
