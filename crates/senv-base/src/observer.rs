//! Progress reports of long work, and how to stop it.

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
    /// Share of the whole run that is done, in `[0, 1]`.
    pub done: f64,
    /// The current epoch, counted from 0.
    pub epoch: u32,
    /// The epochs of the run, or of its stage; `None` where steps alone are counted.
    pub epochs: Option<u32>,
    /// Units of work done in this run of the program (tokens, pairs; the trainer says which).
    pub units: u64,
    /// Units of work per second since this run of the program began.
    pub units_per_second: f64,
    /// Current learning rate.
    pub lr: f64,
    /// Mean loss of the examples since the last report.
    pub loss: f64,
    /// Seconds since this run of the program began.
    pub seconds: f64,
    /// Bytes of the files that have been read so far, as they lie on the disk; `None` for work that reads no files.
    pub bytes_read: Option<u64>,
    /// Bytes of all files that are read; `None` where that is not known.
    pub bytes: Option<u64>,
    /// The latest score on the development set; `None` where there is none yet.
    pub validation: Option<f64>,
    /// Tokens encoded and decoded per second since this run of the program began; `None` where the trainer does not
    /// count them.
    pub tokens_per_second: Option<f64>,
    /// What this trainer has to say beside the loss, over the steps since the last report.
    pub metrics: [Option<Metric>; MAX_METRICS],
}

/// Metrics that a report has room for.
pub const MAX_METRICS: usize = 2;

/// A number that a trainer reports, with its name: the perplexity of a decoder, the share of active hinges.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Metric {
    /// Its name, in plain words.
    pub name: &'static str,
    /// Its value.
    pub value: f64,
}

impl Progress {
    /// Seconds left at the current rate, once there is a rate.
    #[must_use]
    pub fn seconds_left(&self, done_before: f64) -> Option<f64> {
        let gained = self.done - done_before;
        (gained > 0.0).then(|| self.seconds * (1.0 - self.done).max(0.0) / gained)
    }
}

/// What the observer wants the trainer to do next.
///
/// Exhaustive on purpose: a trainer has to heed each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    /// Continue.
    Continue,
    /// Write a checkpoint (if there is a checkpoint plan) and stop.
    Stop,
}

/// A stage of long work; the default is the work itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stage<'a> {
    /// Its name, empty for the work itself.
    pub name: &'a str,
    /// What it counts, where that is something else: `word`, `pair`.
    pub unit: Option<&'static str>,
}

impl<'a> Stage<'a> {
    /// A stage that counts as the work itself does.
    #[must_use]
    pub const fn named(name: &'a str) -> Self {
        Self { name, unit: None }
    }
}

/// Receives the progress of long work. Called from one thread at a time.
///
/// A closure will do:
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
    /// Training reports after steps (negative sampling: blocks of text) 1, 2, 4, 8 and so on, so that even the shortest
    /// run can be stopped at a place that does not depend on the clock, and besides several times a second.
    fn progress(&self, progress: &Progress) -> Control;

    /// Whether the work is to stop: asked where minutes may pass before there is progress to report, as while tables
    /// are made. [`CancelToken`] answers it.
    fn stops(&self) -> bool {
        false
    }

    /// An error if the work is to stop, which was doing this.
    ///
    /// # Errors
    /// [`Error::Interrupted`].
    fn go_on(&self, action: &'static str) -> Result<(), Error> {
        if self.stops() { Err(Error::Interrupted { action }) } else { Ok(()) }
    }

    /// Receives a message, such as what was skipped and how often.
    fn note(&self, message: &str) {
        let _ = message;
    }

    /// Receives a message and the remedies that it shows, for a program that puts its options behind them
    /// ([`Remedy::show`]); by default the text alone goes to [`Observer::note`].
    fn note_with(&self, message: &dyn fmt::Display, remedies: &[Remedy]) {
        let _ = remedies;
        self.note(&message.to_string());
    }

    /// A stage of the work begins: what is reported from here on is of it.
    fn stage(&self, stage: &Stage<'_>) {
        let _ = stage;
    }

    /// Hears what became of a checkpoint: written, or the error. A run that was not asked to stop goes on in both
    /// cases, since hours of training are worth more than one checkpoint; by default a note says so.
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

/// Stops long work from another thread. Clones are of the same token.
///
/// Whatever is running ends with an error of which `is_interrupted()` is true, at its next step and after it has
/// written its checkpoint, if it was to have one.
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
    /// A token that was not cancelled.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks the work to stop; it cannot be taken back.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Whether it was asked to.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    /// An observer that stops the work by this token, and tells another of all else.
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
        assert_eq!(*seen.lock().unwrap(), [0.5, 0.5], "it hears of the last step, too");
        let stopping = CancelToken::new().with(Stopping);
        assert_eq!((stopping.progress(&progress), stopping.stops()), (Control::Stop, true));
    }
}
