//! The scale of gold scores, and the score of a cosine on this scale.
//!
//! Equation: `cosine-to-score`
//!
//! ```text
//! score = low + (high − low) max(0, cos)       STS: 5 max(0, cos)     SICK: 1 + 4 max(0, cos)
//! ```
//!
//! No paper states how it converted cosines to scores; this is the simplest interpretation. Correlations use the
//! cosines themselves; only squared errors and tables of single pairs use this conversion.

use serde::Serialize;

/// The lowest and highest gold score of a data set.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Scale {
    /// The lowest score: nothing in common.
    pub low: f64,
    /// The highest score: the same meaning.
    pub high: f64,
}

impl Scale {
    /// STS and the STS benchmark: 0 (different topics) to 5 (the same meaning).
    pub const STS: Self = Self { low: 0.0, high: 5.0 };
    /// SICK: 1 (unrelated) to 5.
    pub const SICK: Self = Self { low: 1.0, high: 5.0 };

    /// Whether a score is on the scale, including its ends.
    #[must_use]
    pub fn contains(self, score: f64) -> bool {
        (self.low..=self.high).contains(&score)
    }

    /// The score of a cosine; a negative cosine counts as 0.
    ///
    /// ```
    /// use senv_data::Scale;
    /// assert_eq!([Scale::STS.of_cosine(0.5), Scale::SICK.of_cosine(0.5), Scale::SICK.of_cosine(-1.0)], [2.5, 3.0, 1.0]);
    /// ```
    #[must_use]
    pub fn of_cosine(self, cosine: f64) -> f64 {
        self.low + (self.high - self.low) * cosine.max(0.0)
    }
}

impl std::fmt::Display for Scale {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} to {}", self.low, self.high)
    }
}
