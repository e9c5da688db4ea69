//! Where the time of training goes.

use std::time::{Duration, Instant};

/// Wall time of the parts of all steps; what a system does not tell apart is zero.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Phases {
    /// Drawing the examples and numbering the words of their sentences.
    pub draw: Duration,
    /// Gathering the rows of these words, and the encoder.
    pub encode: Duration,
    /// The loss and its gradient towards the sentence vectors.
    pub loss: Duration,
    /// The gradient from there to words and filters.
    pub backward: Duration,
    /// Clipping, penalties, the optimiser.
    pub update: Duration,
}

impl std::ops::AddAssign for Phases {
    fn add_assign(&mut self, more: Self) {
        self.draw += more.draw;
        self.encode += more.encode;
        self.loss += more.loss;
        self.backward += more.backward;
        self.update += more.update;
    }
}

/// Time between one phase and the next, for what an objective adds to [`Gradients::phases`](super::Gradients::phases).
#[derive(Debug)]
pub struct Lap(Instant);

impl Lap {
    /// The time of a step begins.
    #[must_use]
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// Adds the time since the last phase to this one.
    pub fn add_to(&mut self, phase: &mut Duration) {
        let now = Instant::now();
        *phase += now.duration_since(self.0);
        self.0 = now;
    }
}
