//! Progress reports of long work, and how to stop it.

use std::{fmt, path::Path};

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
pub trait Observer: Send + Sync {
    /// Receives a report; returns whether to continue.
    ///
    /// Training reports after steps (negative sampling: blocks of text) 1, 2, 4, 8 and so on, so that even the shortest
    /// run can be stopped at a place that does not depend on the clock, and besides several times a second.
    fn progress(&self, progress: &Progress) -> Control;

    /// Whether the work is to stop: asked where minutes may pass before there is progress to report, as while tables
    /// are made.
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
            self.note_with(&format_args!("no checkpoint was written: {error}"), error.remedies());
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
