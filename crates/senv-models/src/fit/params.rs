//! Hyperparameters of the training loop.

use senv_core::{
    Error as CoreError,
    checkpoint::CheckpointPlan,
    optim::{Adam, UpdateRule},
};
use senv_losses::L2;
use serde::{Deserialize, Serialize};

use crate::Result;

/// How the learning rate moves over the run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decay {
    /// Not at all.
    Constant,
    /// Up from 0 over the share `warmup` of the run, then down in a straight line to `floor` times the rate.
    Linear {
        /// In `[0, 1)`.
        warmup: f64,
        /// In `[0, 1]`.
        floor: f64,
    },
    /// By half after each of so many equal parts of the run, at least 1. With as many parts as epochs it is
    /// `lr · ½^epoch`, the rule of P-thought's release.
    Halve {
        /// How many.
        parts: u32,
    },
}

impl Decay {
    /// The factor on the learning rate when the share `done` of the run is behind.
    #[must_use]
    pub fn factor(self, done: f64) -> f64 {
        match self {
            Self::Constant => 1.0,
            Self::Linear { warmup, .. } if done < warmup => done / warmup,
            Self::Linear { warmup, floor } => (1.0 - (done - warmup) / (1.0 - warmup)).max(floor),
            // The first step of a part belongs to it, however its share was rounded.
            Self::Halve { parts } => 0.5_f64.powf((done * f64::from(parts) + 1e-9).floor()),
        }
    }
}

/// Which rows of the word table a step moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WordUpdates {
    /// Those of the batch. Rows without a gradient rest, and the penalty pulls only where a word occurs.
    Sparse,
    /// All of them, which is the papers' exact rule, and slower by the size of the vocabulary.
    Dense,
    /// None: word vectors stay as they are.
    Frozen,
}

/// The factor k of the penalty k λ |w − w₀|².
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Norm {
    /// ½, as in the releases.
    Half,
    /// 1, as printed in the papers.
    Full,
}

/// Hyperparameters of the loop: public fields with defaults; [`FitParams::check`] says what is out of range.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FitParams {
    /// Passes over the examples, at least 1.
    pub epochs: u32,
    /// Steps of the whole run, instead of epochs.
    pub steps: Option<u64>,
    /// Examples a step, at least 1.
    pub batch: usize,
    /// How parameters follow their gradients.
    pub rule: UpdateRule,
    /// Learning rate, above 0.
    pub lr: f64,
    /// How the rate moves.
    pub decay: Decay,
    /// Which word vectors move.
    pub words: WordUpdates,
    /// λ of the pull of the word vectors towards where they started, at least 0.
    pub l2_words: f64,
    /// The factor of the penalties.
    pub l2_norm: Norm,
    /// The longest gradient, over all parameters together; `None` for no limit.
    pub clip: Option<f64>,
    /// Steps between two validations; `None` validates once an epoch.
    pub validate_every: Option<u64>,
    /// Validations without a better score after which the run stops; `None` runs to the end.
    pub patience: Option<u32>,
    /// Every random choice derives from it.
    pub seed: u64,
    /// Threads, at most 1024; 0 (default) for all cores. The result does not depend on them.
    #[serde(skip)]
    pub threads: usize,
    /// Checkpoints; `None` for none.
    #[serde(skip)]
    pub checkpoint: Option<CheckpointPlan>,
}

impl Default for FitParams {
    /// Ten epochs of Adam at its paper's rate in batches of 100, words of the batch only, no penalty.
    fn default() -> Self {
        Self {
            epochs: 10,
            steps: None,
            batch: 100,
            rule: UpdateRule::default(),
            lr: Adam::DEFAULT_LR,
            decay: Decay::Constant,
            words: WordUpdates::Sparse,
            l2_words: 0.0,
            l2_norm: Norm::Half,
            clip: None,
            validate_every: None,
            patience: None,
            seed: 1,
            threads: 0,
            checkpoint: None,
        }
    }
}

impl FitParams {
    /// Checks every range.
    ///
    /// # Errors
    /// [`CoreError::InvalidParameter`] naming the first parameter that is out of range.
    pub fn check(&self) -> Result<()> {
        let at_least_one = [
            ("epochs", u64::from(self.epochs)),
            ("steps", self.steps.unwrap_or(1)),
            ("batch", self.batch as u64),
            ("validate_every", self.validate_every.unwrap_or(1)),
            ("patience", u64::from(self.patience.unwrap_or(1))),
        ];
        for (name, value) in at_least_one {
            require(value >= 1, name, "at least 1", value as f64)?;
        }
        require(self.threads <= 1024, "threads", "at most 1024; 0 for all cores", self.threads as f64)?;
        require(self.lr.is_finite() && self.lr > 0.0, "lr", "finite and above 0", self.lr)?;
        require_penalty("l2_words", self.l2_words)?;
        let clip = self.clip.unwrap_or(1.0);
        require(clip > 0.0, "clip", "above 0", clip)?;
        if let Decay::Linear { warmup, floor } = self.decay {
            require((0.0..1.0).contains(&warmup), "warmup", "at least 0 and below 1", warmup)?;
            require((0.0..=1.0).contains(&floor), "floor", "from 0 to 1", floor)?;
        }
        if let Decay::Halve { parts } = self.decay {
            require(parts >= 1, "parts", "at least 1", parts.into())?;
        }
        Ok(())
    }

    /// The penalty of this λ.
    pub(crate) fn penalty(&self, lambda: f64) -> L2 {
        L2 { lambda, half: self.l2_norm == Norm::Half }
    }

    /// 2 k λ: how strongly the penalty pulls.
    pub(crate) fn strength(&self, lambda: f64) -> f64 {
        match self.l2_norm {
            Norm::Half => lambda,
            Norm::Full => 2.0 * lambda,
        }
    }
}

/// An error unless a penalty is finite and not negative.
pub(crate) fn require_penalty(name: &'static str, lambda: f64) -> Result<()> {
    require(lambda.is_finite() && lambda >= 0.0, name, "finite and at least 0", lambda)
}

/// An error naming the parameter unless `ok`.
pub(crate) fn require(ok: bool, name: &'static str, requirement: &'static str, got: f64) -> Result<()> {
    if ok { Ok(()) } else { Err(CoreError::InvalidParameter { name, requirement, got: got.to_string() }.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_climbs_falls_and_stops_at_its_floor() {
        let decay = Decay::Linear { warmup: 0.2, floor: 0.1 };
        let at: Vec<f64> = [0.0, 0.1, 0.2, 0.6, 1.0].map(|done| decay.factor(done)).into();
        assert_eq!(at, [0.0, 0.5, 1.0, 0.5, 0.1]);
        assert_eq!(Decay::Constant.factor(0.7), 1.0);
        // Steps 0 to 97 of two a part: the rate of each is half that of the part before.
        let decay = Decay::Halve { parts: 49 };
        for step in 0..98 {
            assert_eq!(decay.factor(f64::from(step) / 98.0), 0.5_f64.powi(step / 2), "{step}");
        }
        assert!(FitParams { decay: Decay::Halve { parts: 0 }, ..FitParams::default() }.check().is_err());
        assert_eq!(Decay::Linear { warmup: 0.0, floor: 0.0 }.factor(0.0), 1.0);
    }

    #[test]
    fn every_range_is_checked() {
        let good = FitParams::default();
        good.check().unwrap();
        let bad = [
            FitParams { epochs: 0, ..good.clone() },
            FitParams { steps: Some(0), ..good.clone() },
            FitParams { batch: 0, ..good.clone() },
            FitParams { lr: f64::NAN, ..good.clone() },
            FitParams { lr: 0.0, ..good.clone() },
            FitParams { l2_words: -1.0, ..good.clone() },
            FitParams { l2_words: f64::INFINITY, ..good.clone() },
            FitParams { clip: Some(0.0), ..good.clone() },
            FitParams { patience: Some(0), ..good.clone() },
            FitParams { threads: 1025, ..good.clone() },
            FitParams { decay: Decay::Linear { warmup: 1.0, floor: 0.0 }, ..good.clone() },
        ];
        assert!(bad.iter().all(|params| params.check().is_err()));
    }
}
