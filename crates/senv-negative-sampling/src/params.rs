//! Hyperparameters of the trainer: ranges and defaults.

use senv_core::{
    Error,
    hyperparameters::{Hyperparameters, hyperparameters, named_values},
};
use serde::{Deserialize, Serialize};

pub use crate::{block_order::TextOrder, plan::NegativeSharing};

/// The default number of negatives per target (every model in appendix A of Sent2Vec).
pub const DEFAULT_NEGATIVES: usize = 10;
/// The default number of passes over the corpus (the default of Sent2Vec's release).
pub const DEFAULT_EPOCHS: u32 = 5;
/// The default learning rate (every published Sent2Vec model).
pub const DEFAULT_LR: f32 = 0.2;

/// How threads share the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Schedule {
    /// Threads write the same rows without locks (Niu et al. 2011). This is fastest, but with more than one thread the
    /// results vary slightly between runs.
    Hogwild,
    /// Steps follow each other, and threads share the columns of each: the same bits at any number of threads.
    Deterministic,
}

named_values!(Schedule {
    Hogwild = "hogwild": "Threads write the same rows without locks: faster with many threads, but not reproducible",
    Deterministic = "deterministic": "The same model for any number of threads",
});

hyperparameters! {
    /// Hyperparameters of the trainer: public fields with defaults. [`NegativeSamplingParams::check`] finds values out
    /// of range.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct NegativeSamplingParams {
        /// Passes over the text.
        ///
        /// `None` (default) lets the system choose by the text, or else means [`DEFAULT_EPOCHS`].
        pub epochs: Option<u32> = None => Training[at_least 1];
        /// Learning rate at the start; it falls linearly.
        ///
        /// `None` (default) lets the system choose by the text, or else means [`DEFAULT_LR`].
        pub lr: Option<f32> = None => Training[above 0];
        /// Share of the initial rate below which it does not fall.
        @[serde(default, skip_serializing_if = "is_zero")]
        pub lr_floor: f64 = 0.0 => Training[from 0 to 1];
        /// Negatives for each target.
        pub negatives: usize = DEFAULT_NEGATIVES => Training[from 1 to 1000];
        /// Which targets share their negatives.
        pub negatives_shared: NegativeSharing = NegativeSharing::Block => Training;
        /// Order of the text in each epoch; a shuffled one spreads joined collections over the whole run.
        @[serde(default, skip_serializing_if = "TextOrder::is_given")]
        pub text_order: TextOrder = TextOrder::Given => Training;
        /// L1 penalty τ (Sent2Vec, appendix B): rows of rare words become zero.
        pub l1: f32 = 0.0 => Training[at_least 0];
        /// How threads share the work.
        pub schedule: Schedule = Schedule::Deterministic => Training;
        /// Random seed.
        pub seed: u64 = 1 => Training;
    }
}

/// Whether the rate decays to 0, as it did in all runs before there was a floor.
fn is_zero(floor: &f64) -> bool {
    *floor == 0.0
}

impl NegativeSamplingParams {
    /// Checks every range.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] naming the first parameter that is out of range or NaN.
    pub fn check(&self) -> Result<(), Error> {
        self.check_ranges()
    }

    /// The number of passes over the text: as set, or [`DEFAULT_EPOCHS`].
    #[must_use]
    pub fn n_epochs(&self) -> u32 {
        self.epochs.unwrap_or(DEFAULT_EPOCHS)
    }

    /// The initial learning rate: as set, or [`DEFAULT_LR`].
    #[must_use]
    pub fn first_lr(&self) -> f32 {
        self.lr.unwrap_or(DEFAULT_LR)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_checked_inside_on_and_outside() {
        let with = |change: &dyn Fn(&mut NegativeSamplingParams)| {
            let mut params = NegativeSamplingParams::default();
            change(&mut params);
            params.check().is_ok()
        };
        assert!(with(&|_| {}));
        for (lr, ok) in [(1e-9, true), (0.0, false), (-0.1, false), (f32::NAN, false), (f32::INFINITY, false)] {
            assert_eq!(with(&|p| p.lr = Some(lr)), ok, "lr {lr}");
        }
        for (floor, ok) in [(0.0, true), (1e-4, true), (1.0, true), (1.001, false), (-1e-9, false), (f64::NAN, false)] {
            assert_eq!(with(&|p| p.lr_floor = floor), ok, "floor {floor}");
        }
        for (l1, ok) in [(0.0, true), (5e-4, true), (-1e-9, false), (f32::NAN, false), (f32::INFINITY, false)] {
            assert_eq!(with(&|p| p.l1 = l1), ok, "l1 {l1}");
        }
        for (n, ok) in [(0, false), (1, true), (1000, true), (1001, false)] {
            assert_eq!(with(&|p| p.negatives = n), ok, "negatives {n}");
        }
        assert!(!with(&|p| p.epochs = Some(0)));
    }

    #[test]
    fn an_order_is_written_where_it_is_another_than_that_of_the_text() {
        for (order, written) in [(TextOrder::Given, None), (TextOrder::Shuffled, Some("shuffled"))] {
            let params = NegativeSamplingParams { text_order: order, ..NegativeSamplingParams::default() };
            let json = serde_json::to_value(&params).unwrap();
            assert_eq!(json.get("text_order").and_then(|order| order.as_str()), written);
            assert_eq!(serde_json::from_value::<NegativeSamplingParams>(json).unwrap(), params);
        }
    }
}
