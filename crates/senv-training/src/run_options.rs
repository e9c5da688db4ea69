//! What a training run has beside its hyperparameters.

use crate::{checkpoint::CheckpointPlan, ranks::Reduce};
use senv_base::{Error, NoObserver, Observer, Result, threads::thread_count};

/// The most threads that a run takes.
const MOST_THREADS: usize = 1024;

/// How a training run goes, beside what it computes: a checkpoint may be resumed with others.
///
/// ```
/// use senv_core::RunOptions;
/// let options = RunOptions { threads: 2, ..RunOptions::default() };
/// assert!(options.check().is_ok());
/// ```
#[derive(Clone)]
pub struct RunOptions<'a> {
    /// Threads, at most 1024; 0 (default) for all cores. The result depends on them under Hogwild alone.
    pub threads: usize,
    /// Checkpoints; `None` (default) for none.
    pub checkpoint: Option<CheckpointPlan>,
    /// Hears of the progress, and may stop the run; nobody by default.
    pub observer: &'a dyn Observer,
    /// Where the run comes from (its command, its files), written into its checkpoints for whoever finds them; empty by
    /// default.
    pub origin: &'a str,
    /// The ranks of the run, where it is one of several that train on parts of one text; `None` (default) for a run by
    /// itself.
    pub ranks: Option<&'a dyn Reduce>,
}

impl RunOptions<'_> {
    /// Checks the number of threads.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for more than 1024.
    pub fn check(&self) -> Result<()> {
        if self.threads > MOST_THREADS {
            let (requirement, got) = ("at most 1024; 0 for all cores", self.threads.to_string());
            return Err(Error::InvalidParameter { name: "threads", requirement, got });
        }
        Ok(())
    }

    /// How many threads the run takes: all cores where nothing was said.
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
