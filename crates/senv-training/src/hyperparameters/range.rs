//! Ranges of numeric hyperparameters.

/// A range of numbers, with its description. NaN is in no range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    /// The lower bound.
    pub min: f64,
    /// Whether the lower bound itself is excluded.
    pub above_min: bool,
    /// The upper bound. Infinite means no bound; infinite values are then still excluded.
    pub max: f64,
    /// Whether the upper bound itself is excluded.
    pub below_max: bool,
    /// The description of valid values.
    pub text: &'static str,
}

impl Range {
    /// Whether a number is in the range.
    #[must_use]
    pub fn contains(&self, x: f64) -> bool {
        let above = if self.above_min { x > self.min } else { x >= self.min };
        let below = if self.below_max { x < self.max } else { x <= self.max };
        above && below
    }
}
