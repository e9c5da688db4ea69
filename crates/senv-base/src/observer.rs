//! Progress reports of long work, and ways to stop it.

use std::{
    fmt,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use crate::{Error, Remedy};

/// The progress of a training run.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Progress {
    /// The completed share of the whole run, in `[0, 1]`; 1 in the last report of a run that was not stopped.
    pub done: f64,
    /// The current epoch, counted from 0.
    pub epoch: u32,
    /// The epochs of the run or of its stage; `None` if only steps are counted.
    pub epochs: Option<u32>,
    /// Units of work done since the program started this run; the trainer says which (tokens, pairs).
    pub units: u64,
    /// Units of work per second since the program started this run.
    pub units_per_second: f64,
    /// The current learning rate.
    pub lr: f64,
    /// The mean loss of the examples since the last report.
    pub loss: f64,
    /// Seconds since the program started this run.
    pub seconds: f64,
    /// Bytes read so far from the input files, as stored on disk; `None` for work that reads no files.
    pub bytes_read: Option<u64>,
    /// Total bytes of the input files; `None` if unknown.
    pub bytes: Option<u64>,
    /// The latest score on the development set; `None` if there is none yet.
    pub validation: Option<f64>,
    /// Tokens encoded and decoded per second since the program started this run; `None` if the trainer does not count
    /// them.
    pub tokens_per_second: Option<f64>,
    /// Further metrics of this trainer, over the steps since the last report.
    pub metrics: [Option<Metric>; MAX_METRICS],
}

/// The maximum number of metrics in a report.
pub const MAX_METRICS: usize = 2;

/// A named number that a trainer reports, such as the perplexity of a decoder or the share of active hinges.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Metric {
    /// The name, in plain words.
    pub name: &'static str,
    /// The value.
    pub value: f64,
}

impl Progress {
    /// The estimated seconds left at the current rate, once there is a rate.
    #[must_use]
    pub fn seconds_left(&self, done_before: f64) -> Option<f64> {
        let gained = self.done - done_before;
        (gained > 0.0).then(|| self.seconds * (1.0 - self.done).max(0.0) / gained)
    }
}

/// What the trainer should do next.
///
/// Exhaustive on purpose: a trainer has to handle each variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    /// Continue.
    Continue,
    /// Write a checkpoint (if there is a checkpoint plan) and stop.
    Stop,
}

/// A stage of long work; the default is the work as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stage<'a> {
    /// The name; empty for the work as a whole.
    pub name: &'a str,
    /// What the stage counts (`word`, `pair`), if it differs from the work as a whole.
    pub unit: Option<&'static str>,
}

impl<'a> Stage<'a> {
    /// A stage that counts the same units as the work as a whole.
    #[must_use]
    pub const fn named(name: &'a str) -> Self {
        Self { name, unit: None }
    }
}

/// Receives the progress of long work. Calls come from one thread at a time.
///
/// A closure is an observer that receives progress only. Implement the trait to receive notes too: how many lines were
/// skipped, the terms of use of a model that training starts from, a checkpoint that could not be written.
///
/// ```
/// use senv_core::{Control, Observer, Progress};
///
/// let observer = |progress: &Progress| {
///     eprintln!("{:.0} %", 100.0 * progress.done);
///     Control::Continue
/// };
/// # fn works(_: &dyn Observer) {}
/// works(&observer);
/// ```
pub trait Observer: Send + Sync {
    /// Receives a report; returns whether to continue.
    ///
    /// Training reports after steps 1, 2, 4, 8 and so on, so even the shortest run can be stopped at a point that does
    /// not depend on wall time. It also reports several times per second. Negative sampling counts blocks of text
    /// instead of steps.
    fn progress(&self, progress: &Progress) -> Control;

    /// Whether the work should stop. Queried where minutes may pass without progress to report, for example while
    /// tables are built. [`CancelToken`] implements it.
    fn stops(&self) -> bool {
        false
    }

    /// Returns an error naming `action`, the work in progress, if the work should stop.
    ///
    /// # Errors
    /// [`Error::Interrupted`] if [`Observer::stops`] returns true.
    fn go_on(&self, action: &'static str) -> Result<(), Error> {
        if self.stops() { Err(Error::Interrupted { action }) } else { Ok(()) }
    }

    /// Receives a message, for example what was skipped and how often.
    fn note(&self, message: &str) {
        let _ = message;
    }

    /// Receives a message and the remedies in it, so a program can add its options after them ([`Remedy::show`]). By
    /// default, passes the text to [`Observer::note`].
    fn note_with(&self, message: &dyn fmt::Display, remedies: &[Remedy]) {
        let _ = remedies;
        self.note(&message.to_string());
    }

    /// Receives the start of a stage; later reports are about it.
    fn stage(&self, stage: &Stage<'_>) {
        let _ = stage;
    }

    /// Receives the result of writing a checkpoint: its path or the error. Unless it was asked to stop, a run continues
    /// even after an error, because hours of training are worth more than one checkpoint. By default, reports an error
    /// as a note.
    fn checkpoint(&self, written: Result<&Path, &Error>) {
        if let Err(error) = written {
            self.note_with(&format_args!("the checkpoint could not be written: {error}"), error.remedies());
        }
    }
}

/// An observer that ignores everything and never stops the work.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoObserver;

impl Observer for NoObserver {
    fn progress(&self, _progress: &Progress) -> Control {
        Control::Continue
    }
}

impl<F: Fn(&Progress) -> Control + Send + Sync> Observer for F {
    fn progress(&self, progress: &Progress) -> Control {
        self(progress)
    }
}

/// A token that stops long work from another thread. Clones share one state.
///
/// After [`CancelToken::cancel`], the running work stops at its next step and returns an error for which
/// `is_interrupted()` is true. If checkpoints are enabled, it writes one first.
///
/// ```
/// use senv_core::{CancelToken, Control, Observer, Progress};
///
/// let cancel = CancelToken::new();
/// let button = cancel.clone(); // for the thread that decides
/// let observer = cancel.with(|progress: &Progress| {
///     eprintln!("{:.0} %", 100.0 * progress.done);
///     Control::Continue
/// });
/// button.cancel();
/// assert!(observer.stops() && observer.progress(&Progress::default()) == Control::Stop);
/// ```
#[derive(Debug, Clone, Default)]
pub struct CancelToken(Arc<AtomicBool>);

impl CancelToken {
    /// Creates a token that is not canceled.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks the work to stop. This cannot be undone.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Whether [`CancelToken::cancel`] was called.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    /// Wraps an observer so that this token can stop the work; everything else goes to `observer`.
    #[must_use]
    pub fn with<O: Observer>(&self, observer: O) -> Cancellable<O> {
        Cancellable { token: self.clone(), observer }
    }
}

impl Observer for CancelToken {
    fn progress(&self, _progress: &Progress) -> Control {
        if self.is_cancelled() { Control::Stop } else { Control::Continue }
    }

    fn stops(&self) -> bool {
        self.is_cancelled()
    }
}

/// An observer that a [`CancelToken`] stops ([`CancelToken::with`]).
#[derive(Debug, Clone)]
pub struct Cancellable<O> {
    token: CancelToken,
    observer: O,
}

impl<O: Observer> Observer for Cancellable<O> {
    fn progress(&self, progress: &Progress) -> Control {
        match self.observer.progress(progress) {
            Control::Continue => self.token.progress(progress),
            stop => stop,
        }
    }

    fn stops(&self) -> bool {
        self.token.stops() || self.observer.stops()
    }

    fn note(&self, message: &str) {
        self.observer.note(message);
    }

    fn note_with(&self, message: &dyn fmt::Display, remedies: &[Remedy]) {
        self.observer.note_with(message, remedies);
    }

    fn stage(&self, stage: &Stage<'_>) {
        self.observer.stage(stage);
    }

    fn checkpoint(&self, written: Result<&Path, &Error>) {
        self.observer.checkpoint(written);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    struct Stopping;

    impl Observer for Stopping {
        fn progress(&self, _: &Progress) -> Control {
            Control::Stop
        }

        fn stops(&self) -> bool {
            true
        }
    }

    #[test]
    fn a_token_stops_what_its_clones_watch_and_the_observer_beside_it_may_stop_too() {
        let seen = Mutex::new(Vec::new());
        let (token, progress) = (CancelToken::new(), Progress { done: 0.5, ..Progress::default() });
        let observer = token.with(|progress: &Progress| {
            seen.lock().unwrap().push(progress.done);
            Control::Continue
        });
        assert_eq!((observer.progress(&progress), observer.stops()), (Control::Continue, false));
        assert!(observer.go_on("reading").is_ok());
        token.clone().cancel();
        assert_eq!((observer.progress(&progress), observer.stops()), (Control::Stop, true));
        assert!(observer.go_on("reading").is_err_and(|error| error.is_interrupted()));
        assert_eq!(*seen.lock().unwrap(), [0.5, 0.5], "it also receives the last step");
        let stopping = CancelToken::new().with(Stopping);
        assert_eq!((stopping.progress(&progress), stopping.stops()), (Control::Stop, true));
    }
}
