//! Timing of the phases of training.

use std::time::{Duration, Instant};

/// Wall time of each phase over all steps; zero for phases that a system does not measure separately.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Phases {
    /// Drawing the examples and converting their sentences to token ids.
    pub draw: Duration,
    /// Gathering the rows of the words, and the forward pass of the encoder.
    pub encode: Duration,
    /// The loss and its gradient with respect to the sentence vectors.
    pub loss: Duration,
    /// The backward pass from there to words and filters.
    pub backward: Duration,
    /// Clipping, penalties and the optimizer.
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

/// A stopwatch between phases, for the time that an objective adds to [`Gradients::phases`](super::Gradients::phases).
#[derive(Debug)]
pub struct Lap(Instant);

impl Lap {
    /// Starts the stopwatch.
    #[must_use]
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// Adds the time since the last call to `phase`.
    pub fn add_to(&mut self, phase: &mut Duration) {
        let now = Instant::now();
        *phase += now.duration_since(self.0);
        self.0 = now;
    }
}
