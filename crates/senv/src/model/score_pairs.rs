//! Scores of pairs from a trained head, for models fine-tuned on scored pairs.

use crate::error::Result;

/// A model with a head that scores pairs.
pub trait ScorePairs {
    /// Returns how related two sentences are, on the scale of the scores that the head was trained on.
    ///
    /// # Errors
    /// If memory runs out.
    fn score_pair(&self, first: &str, second: &str) -> Result<f64>;
}
