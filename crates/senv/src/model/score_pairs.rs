//! Scores of pairs by a trained head: what a model that was fine-tuned on scored pairs can do.

use crate::error::Result;

/// A model with a head that scores pairs.
pub trait ScorePairs {
    /// How related two sentences are, on the scale of the scores that the head was trained on.
    ///
    /// # Errors
    /// If memory is lacking.
    fn score_pair(&self, first: &str, second: &str) -> Result<f64>;
}
