//! Hyperparameters of the trainer: ranges and defaults.

use senv_core::Error;
pub use senv_core::checkpoint::CheckpointPlan;
use serde::{Deserialize, Serialize};

pub use crate::plan::NegativeSharing;

/// Negatives a target when nothing is said (Sent2Vec, section 3.2).
pub const DEFAULT_NEGATIVES: usize = 10;
/// Passes over the corpus when nothing is said (the release's default).
pub const DEFAULT_EPOCHS: u32 = 5;
/// Learning rate when nothing is said (every published Sent2Vec model).
pub const DEFAULT_LR: f32 = 0.2;

/// How threads share the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Schedule {
    /// Threads write the same rows without locks (Niu et al. 2011): fastest, and with more than one thread every run
    /// gives slightly other numbers.
    Hogwild,
    /// Steps follow each other, and threads share the columns of each: the same bits at any number of threads.
    Deterministic,
}

/// Parameters of the trainer. Public fields with defaults; [`Params::check`] says what is out of range.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Params {
    /// Passes over the corpus, at least 1.
    pub epochs: u32,
    /// Learning rate at the start, positive; falls linearly to 0.
    pub lr: f32,
    /// Negatives a target, at least 1.
    pub negatives: usize,
    /// Who shares negatives.
    pub negatives_shared: NegativeSharing,
    /// L1 penalty τ of Sent2Vec's appendix B, at least 0 (0: none).
    pub l1: f32,
    /// How threads share the work.
    pub schedule: Schedule,
    /// Every random choice derives from it.
    pub seed: u64,
    /// Threads, at most 1024; 0 (default) for all cores. Not part of what a resumed run must agree on.
    #[serde(skip)]
    pub threads: usize,
    /// Checkpoints; `None` for none.
    #[serde(skip)]
    pub checkpoint: Option<CheckpointPlan>,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            epochs: DEFAULT_EPOCHS,
            lr: DEFAULT_LR,
            negatives: DEFAULT_NEGATIVES,
            negatives_shared: NegativeSharing::Block,
            l1: 0.0,
            schedule: Schedule::Deterministic,
            seed: 1,
            threads: 0,
            checkpoint: None,
        }
    }
}

impl Params {
    /// Checks every range.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] naming the first parameter that is out of range or NaN.
    pub fn check(&self) -> Result<(), Error> {
        let in_range = |ok: bool, name, requirement, got: String| {
            if ok { Ok(()) } else { Err(Error::InvalidParameter { name, requirement, got }) }
        };
        in_range(self.epochs >= 1, "epochs", "at least 1", self.epochs.to_string())?;
        in_range(self.lr.is_finite() && self.lr > 0.0, "lr", "finite and above 0", self.lr.to_string())?;
        let k = self.negatives;
        in_range((1..=1000).contains(&k), "negatives", "from 1 to 1000", k.to_string())?;
        in_range(self.l1.is_finite() && self.l1 >= 0.0, "l1", "finite and at least 0", self.l1.to_string())?;
        in_range(self.threads <= 1024, "threads", "at most 1024; 0 for all cores", self.threads.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_checked_inside_on_and_outside() {
        let with = |change: &dyn Fn(&mut Params)| {
            let mut params = Params::default();
            change(&mut params);
            params.check().is_ok()
        };
        assert!(with(&|_| {}));
        for (lr, ok) in [(1e-9, true), (0.0, false), (-0.1, false), (f32::NAN, false), (f32::INFINITY, false)] {
            assert_eq!(with(&|p| p.lr = lr), ok, "lr {lr}");
        }
        for (l1, ok) in [(0.0, true), (5e-4, true), (-1e-9, false), (f32::NAN, false), (f32::INFINITY, false)] {
            assert_eq!(with(&|p| p.l1 = l1), ok, "l1 {l1}");
        }
        for (n, ok) in [(0, false), (1, true), (1000, true), (1001, false)] {
            assert_eq!(with(&|p| p.negatives = n), ok, "negatives {n}");
        }
        for (n, ok) in [(0, true), (1, true), (1024, true), (1025, false)] {
            assert_eq!(with(&|p| p.threads = n), ok, "threads {n}");
        }
        assert!(!with(&|p| p.epochs = 0));
    }
}
