//! Hyperparameters of the training loop.

use senv_core::{
    Error as CoreError, Result as CoreResult,
    hyperparameters::{Hyperparameter, Hyperparameters, Section, hyperparameters, named_values, set_value},
    optim::{Adam, UpdateRule, linear_decay},
};
use senv_losses::L2;
use serde::{Deserialize, Serialize};

use crate::error::Result;

/// Learning-rate schedules.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Decay {
    /// A constant rate.
    Constant,
    /// Rises from 0 over the share `warmup` of the run, then falls by `linear-decay` to `floor` times the rate.
    Linear {
        /// In `[0, 1)`.
        warmup: f64,
        /// In `[0, 1]`.
        floor: f64,
    },
    /// Halved after each of `parts` equal parts of the run. With as many parts as epochs it is `lr · ½^epoch`, as in
    /// P-thought's release.
    Halve {
        /// The number of parts; 0 for one per epoch, or four if the run is measured in steps.
        parts: u32,
    },
    /// Reduced by 1 % after each validation, and to a fifth after one without a better score. The run ends when the
    /// rate is below 1e-5, as in InferSent's release. Without validation the rate is constant.
    Plateau,
}

/// Factors of [`Decay::Plateau`] after each validation, and after one without a better score; the rate at which the run
/// ends.
const A_VALIDATION: f64 = 0.99;
const WITHOUT_GAIN: f64 = 0.2;
const LEAST_LR: f64 = 1e-5;

impl Decay {
    /// The factor on the learning rate after the share `done` of the run.
    #[must_use]
    pub fn factor(self, done: f64) -> f64 {
        match self {
            Self::Constant | Self::Plateau => 1.0,
            Self::Linear { warmup, .. } if done < warmup => done / warmup,
            Self::Linear { warmup, floor } => linear_decay((done - warmup) / (1.0 - warmup), floor),
            // The first step of a part belongs to it, even if its share was rounded down.
            Self::Halve { parts } => 0.5_f64.powf((done * f64::from(parts.max(1)) + 1e-9).floor()),
        }
    }
}

/// The rows of the word table that a step updates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum WordUpdates {
    /// Only those of the batch. Rows without a gradient do not change, and the penalty acts only on words of the batch.
    Sparse,
    /// All rows: the exact method of the papers, slower in proportion to the size of the vocabulary.
    Dense,
    /// None: word vectors are frozen.
    Frozen,
}

/// The factor k of the L2 penalty k λ |w − w₀|².
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum L2Scaling {
    /// ½, as in the releases.
    Half,
    /// 1, as in the papers.
    Full,
}

named_values!(WordUpdates {
    Sparse = "sparse": "The words of the batch",
    Dense = "dense": "All words, as in the papers: slower with the size of the vocabulary",
    Frozen = "frozen": "None",
});
named_values!(L2Scaling { Half = "half": "1/2, as in the released code", Full = "full": "1, as printed in the papers" });

/// The schedules by name.
enum ScheduleName {
    Constant,
    Linear,
    Halve,
    Plateau,
}
named_values!(ScheduleName {
    Constant = "constant": "Constant rate",
    Linear = "linear": "Linear increase from 0 during the warm-up, then linear decay",
    Halve = "halve": "Halved after each epoch, or after each quarter of the steps",
    Plateau = "plateau": "Divided by 5 after a validation without a better score, and 1 % lower after each \
        validation; training ends below 1e-5",
});

impl Decay {
    fn name(self) -> ScheduleName {
        match self {
            Self::Constant => ScheduleName::Constant,
            Self::Linear { .. } => ScheduleName::Linear,
            Self::Halve { .. } => ScheduleName::Halve,
            Self::Plateau => ScheduleName::Plateau,
        }
    }
}

impl Hyperparameters for Decay {
    fn hyperparameters(&self) -> Vec<Hyperparameter> {
        let (warmup, floor) = if let Self::Linear { warmup, floor } = *self { (warmup, floor) } else { (0.0, 0.0) };
        let of_linear = |name, doc, value| {
            let parameter = Hyperparameter::of(name, doc, Section::Training, None, &value);
            Hyperparameter { applies: matches!(self, Self::Linear { .. }), ..parameter }
        };
        vec![
            Hyperparameter::of("decay", &["Learning-rate schedule."], Section::Training, None, &self.name()),
            of_linear(
                "warmup",
                &["Share of the run in which a linear schedule increases the rate, at least 0 and below 1."],
                warmup,
            ),
            of_linear(
                "lr_floor",
                &["Lowest rate of a linear schedule, as a share of the full rate, from 0 to 1."],
                floor,
            ),
        ]
    }

    /// A warm-up or a floor makes the schedule linear.
    fn set(&mut self, name: &str, text: &str) -> CoreResult<bool> {
        let (mut warmup, mut floor) =
            if let Self::Linear { warmup, floor } = *self { (warmup, floor) } else { (0.0, 0.0) };
        match name {
            "decay" => {
                let mut schedule = self.name();
                set_value(&mut schedule, name, text)?;
                *self = match schedule {
                    ScheduleName::Constant => Self::Constant,
                    ScheduleName::Linear => Self::Linear { warmup, floor },
                    ScheduleName::Halve => Self::Halve { parts: 0 },
                    ScheduleName::Plateau => Self::Plateau,
                };
                return Ok(true);
            }
            "warmup" => set_value(&mut warmup, name, text)?,
            "lr_floor" => set_value(&mut floor, name, text)?,
            _ => return Ok(false),
        }
        *self = Self::Linear { warmup, floor };
        Ok(true)
    }

    fn check_ranges(&self) -> CoreResult<()> {
        let out_of_range =
            |name, requirement, x: f64| CoreError::InvalidParameter { name, requirement, got: x.to_string() };
        match *self {
            Self::Linear { warmup, .. } if !(0.0..1.0).contains(&warmup) => {
                Err(out_of_range("warmup", "at least 0 and below 1", warmup))
            }
            Self::Linear { floor, .. } if !(0.0..=1.0).contains(&floor) => {
                Err(out_of_range("lr_floor", "from 0 to 1", floor))
            }
            _ => Ok(()),
        }
    }
}

/// The default number of epochs.
const DEFAULT_EPOCHS: u32 = 10;

hyperparameters! {
    /// Hyperparameters of the training loop; [`FitParams::check`] reports values out of range.
    ///
    /// By default ten epochs of Adam at its paper's rate in batches of 100, updates of the words of the batch only, no
    /// penalty. If a system chooses epochs or rate by its data, they are `None` until training starts.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct FitParams {
        /// Epochs: passes over the examples.
        pub epochs: Option<u32> = Some(DEFAULT_EPOCHS) => Training[at_least 1];
        /// Steps of the whole run, instead of epochs.
        pub steps: Option<u64> = None => Training[at_least 1];
        /// Batch size: examples per step.
        pub batch: usize = 100 => Training[at_least 1];
        /// Optimizer.
        pub rule as optimizer: UpdateRule = UpdateRule::default() => Training;
        /// Learning rate.
        pub lr: Option<f64> = Some(Adam::DEFAULT_LR) => Training[above 0];
        /// How the learning rate changes over the run.
        pub decay: Decay = Decay::Constant => group;
        /// Which word vectors a step updates.
        pub words as updates: WordUpdates = WordUpdates::Sparse => Training;
        /// L2 penalty λ of the word vectors towards their initial values.
        pub l2_words: f64 = 0.0 => Training[at_least 0];
        /// Factor of all L2 penalties.
        pub l2_norm as l2_scaling: L2Scaling = L2Scaling::Half => Training;
        /// Gradient norm, over all parameters together, above which gradients are scaled down.
        pub clip: Option<f64> = None => Training[above 0 or_infinite];
        /// Steps between validations, instead of one validation per epoch.
        pub validate_every: Option<u64> = None => Validation[at_least 1];
        /// Validations without a better score after which training stops early.
        pub patience: Option<u32> = None => Validation[at_least 1];
        /// Random seed.
        pub seed: u64 = 1 => Training;
    }
}

impl FitParams {
    /// Checks all ranges.
    ///
    /// # Errors
    /// [`CoreError::InvalidParameter`] with the first parameter that is out of range.
    pub fn check(&self) -> Result<()> {
        Ok(self.check_ranges()?)
    }

    /// The number of epochs: the one set, or 10.
    #[must_use]
    pub fn n_epochs(&self) -> u32 {
        self.epochs.unwrap_or(DEFAULT_EPOCHS)
    }

    /// The learning rate: the one set, or [`Adam::DEFAULT_LR`].
    #[must_use]
    pub fn full_lr(&self) -> f64 {
        self.lr.unwrap_or(Adam::DEFAULT_LR)
    }

    /// The learning rate after the share `done` of the run and these validation scores.
    pub(crate) fn lr_at(&self, done: f64, history: &[(u64, f64)]) -> f64 {
        self.full_lr() * if self.decay == Decay::Plateau { plateau_factor(history) } else { self.decay_factor(done) }
    }

    /// Whether the rate has fallen so low that the run ends.
    pub(crate) fn is_over(&self, history: &[(u64, f64)]) -> bool {
        self.decay == Decay::Plateau && self.lr_at(0.0, history) < LEAST_LR
    }

    /// The factor on the learning rate after the share `done` of the run.
    fn decay_factor(&self, done: f64) -> f64 {
        match self.decay {
            Decay::Halve { parts: 0 } => Decay::Halve { parts: if self.steps.is_some() { 4 } else { self.n_epochs() } },
            decay => decay,
        }
        .factor(done)
    }

    /// The penalty for this λ.
    pub(crate) fn penalty(&self, lambda: f64) -> L2 {
        L2 { lambda, half: self.l2_norm == L2Scaling::Half }
    }

    /// 2 k λ, the factor of w − w₀ in the gradient of the penalty.
    pub(crate) fn strength(&self, lambda: f64) -> f64 {
        match self.l2_norm {
            L2Scaling::Half => lambda,
            L2Scaling::Full => 2.0 * lambda,
        }
    }
}

/// The factor of [`Decay::Plateau`] after these validations.
fn plateau_factor(history: &[(u64, f64)]) -> f64 {
    let mut best = f64::NEG_INFINITY;
    history.iter().fold(1.0, |factor, &(_, score)| {
        let gained = score > best;
        best = best.max(score);
        factor * A_VALIDATION * if gained { 1.0 } else { WITHOUT_GAIN }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_falls_where_scores_do_not_rise() {
        let params = FitParams { lr: Some(0.1), decay: Decay::Plateau, ..FitParams::default() };
        let history = [(10, 0.5), (20, 0.6), (30, 0.6), (40, 0.7), (50, f64::NAN)];
        let expected = [0.1, 0.099, 0.09801, 0.019406, 0.019212, 0.003804];
        for (n, expected) in expected.iter().enumerate() {
            assert!((params.lr_at(0.9, &history[..n]) - expected).abs() < 1e-6, "{n}");
        }
        let never = [(1, 0.5), (2, 0.4), (3, 0.4), (4, 0.4), (5, 0.4), (6, 0.4), (7, 0.4)];
        assert!(!params.is_over(&never[..6]) && params.is_over(&never));
        let constant = FitParams { decay: Decay::Constant, ..params };
        assert_eq!((constant.lr_at(0.9, &never), constant.is_over(&never)), (0.1, false));
    }

    #[test]
    fn the_rate_climbs_falls_and_stops_at_its_floor() {
        let decay = Decay::Linear { warmup: 0.2, floor: 0.1 };
        let at: Vec<f64> = [0.0, 0.1, 0.2, 0.6, 1.0].map(|done| decay.factor(done)).into();
        assert_eq!(at, [0.0, 0.5, 1.0, 0.5, 0.1]);
        assert_eq!(Decay::Constant.factor(0.7), 1.0);
        // Steps 0 to 97, two per part: the rate of each part is half that of the part before.
        let decay = Decay::Halve { parts: 49 };
        for step in 0..98 {
            assert_eq!(decay.factor(f64::from(step) / 98.0), 0.5_f64.powi(step / 2), "{step}");
        }
        let by_epochs = FitParams { epochs: Some(49), decay: Decay::Halve { parts: 0 }, ..FitParams::default() };
        let by_steps = FitParams { steps: Some(98), ..by_epochs.clone() };
        for step in 0..98 {
            let done = f64::from(step) / 98.0;
            assert_eq!(by_epochs.decay_factor(done), decay.factor(done), "{step}");
            assert_eq!(by_steps.decay_factor(done), Decay::Halve { parts: 4 }.factor(done), "{step}");
        }
        assert_eq!(Decay::Linear { warmup: 0.0, floor: 0.0 }.factor(0.0), 1.0);
    }

    #[test]
    fn every_range_is_checked() {
        let good = FitParams::default();
        good.check().unwrap();
        let bad = [
            FitParams { epochs: Some(0), ..good.clone() },
            FitParams { steps: Some(0), ..good.clone() },
            FitParams { batch: 0, ..good.clone() },
            FitParams { lr: Some(f64::NAN), ..good.clone() },
            FitParams { lr: Some(0.0), ..good.clone() },
            FitParams { l2_words: -1.0, ..good.clone() },
            FitParams { l2_words: f64::INFINITY, ..good.clone() },
            FitParams { clip: Some(0.0), ..good.clone() },
            FitParams { patience: Some(0), ..good.clone() },
            FitParams { decay: Decay::Linear { warmup: 1.0, floor: 0.0 }, ..good.clone() },
        ];
        assert!(bad.iter().all(|params| params.check().is_err()));
    }
}
