//! The values that a number may have.

/// A range of numbers, with the words that say it. NaN is in no range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    /// The bound below.
    pub min: f64,
    /// Whether it is outside.
    pub above_min: bool,
    /// The bound above; infinite for none, and then an infinite value is outside.
    pub max: f64,
    /// Whether it is outside.
    pub below_max: bool,
    /// What a value must be.
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
