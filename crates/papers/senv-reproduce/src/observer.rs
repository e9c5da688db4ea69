//! What a run reports while it lasts, and how it is stopped.

use std::time::Duration;

/// What is left of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Remaining {
    /// Commands that are still to run.
    pub commands: usize,
    /// The same with those that this run has already run.
    pub of: usize,
    /// The time that they are expected to take, by how long the others took.
    pub time: Duration,
}

/// Hears how a run goes on, and can stop it. Called from one thread, between commands; [`RunObserver::stops`] also
/// while one runs. By default nothing is heard, and nothing stopped.
pub trait RunObserver {
    /// What is left, before each figure that has to be made.
    fn remaining(&self, remaining: &Remaining) {
        let _ = remaining;
    }

    /// A command starts; as a user types it.
    fn started(&self, command: &str) {
        let _ = command;
    }

    /// A command has ended: how long it took, or why it failed.
    fn ended(&self, command: &str, outcome: Result<Duration, &str>) {
        let _ = (command, outcome);
    }

    /// Whether the run is to stop; the command that runs is asked to end, so that training can write its checkpoint.
    fn stops(&self) -> bool {
        false
    }
}
