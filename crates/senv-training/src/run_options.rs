//! The options of a training run, apart from its hyperparameters.

use crate::{checkpoint::CheckpointPlan, ranks::Reduce};
use senv_base::{Error, NoObserver, Observer, Result, threads::thread_count};

/// The maximum number of threads of a run.
const MOST_THREADS: usize = 1024;

/// How a training run is executed, as opposed to what it computes. A checkpoint can be resumed with other options.
///
/// ```
/// use senv_core::RunOptions;
/// let options = RunOptions { threads: 2, ..RunOptions::default() };
/// assert!(options.check().is_ok());
/// ```
#[derive(Clone)]
pub struct RunOptions<'a> {
    /// Threads, at most 1024; 0 (default) for all cores. Only Hogwild results depend on this number.
    pub threads: usize,
    /// Checkpoints; `None` (default) for none.
    pub checkpoint: Option<CheckpointPlan>,
    /// Receives the progress and can stop the run; no observer by default.
    pub observer: &'a dyn Observer,
    /// The origin of the run (its command, its files), stored in its checkpoints for people who find them; empty by
    /// default.
    pub origin: &'a str,
    /// The ranks of the run, if several train on parts of one text; `None` (default) for a single run.
    pub ranks: Option<&'a dyn Reduce>,
}

impl RunOptions<'_> {
    /// Checks the number of threads.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] if it is above 1024.
    pub fn check(&self) -> Result<()> {
        if self.threads > MOST_THREADS {
            let (requirement, got) = ("at most 1024; 0 for all cores", self.threads.to_string());
            return Err(Error::InvalidParameter { name: "threads", requirement, got });
        }
        Ok(())
    }

    /// The number of threads of the run; all cores if `threads` is 0.
    #[must_use]
    pub fn thread_count(&self) -> usize {
        thread_count(self.threads)
    }
}

impl Default for RunOptions<'_> {
    fn default() -> Self {
        Self { threads: 0, checkpoint: None, observer: &NoObserver, origin: "", ranks: None }
    }
}

impl std::fmt::Debug for RunOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { threads, checkpoint, observer: _, origin, ranks: _ } = self;
        f.debug_struct("RunOptions")
            .field("threads", threads)
            .field("checkpoint", checkpoint)
            .field("origin", origin)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thousand_threads_are_enough() {
        for (threads, ok) in [(0, true), (1, true), (1024, true), (1025, false)] {
            assert_eq!(RunOptions { threads, ..RunOptions::default() }.check().is_ok(), ok, "{threads}");
        }
    }
}
