//! Progress reports of a run, and requests to stop it.

use std::time::Duration;

/// The remaining work of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Remaining {
    /// Number of commands that have not run yet.
    pub commands: usize,
    /// Number of commands of this run, finished and remaining.
    pub of: usize,
    /// Estimated time for the remaining commands, from the time that the others took.
    pub time: Duration,
}

/// Receives the progress of a run and can stop it. It is called from one thread between commands;
/// [`RunObserver::stops`] is also called while a command runs. The default methods ignore everything and never stop the
/// run.
pub trait RunObserver {
    /// Receives the remaining work, before each figure that has to be computed.
    fn remaining(&self, remaining: &Remaining) {
        let _ = remaining;
    }

    /// A command starts. `command` is written as a user types it.
    fn started(&self, command: &str) {
        let _ = command;
    }

    /// A command has ended. `outcome` is how long it took, or why it failed.
    fn ended(&self, command: &str, outcome: Result<Duration, &str>) {
        let _ = (command, outcome);
    }

    /// Returns whether to stop the run. The running command is asked to end, so that training can write a checkpoint.
    fn stops(&self) -> bool {
        false
    }
}
