//! Progress of long work: a bar on a terminal, a line every few seconds elsewhere.

use std::{
    fmt::Display,
    path::Path,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressStyle};
use senv_core::{
    Control, Error, Observer, Progress, Remedy,
    observer::{Metric, Stage},
};

use crate::{
    interrupt::Interrupt,
    output::{self, bytes, duration, plural, short},
    remedies::shown,
};

/// Time between two lines without a terminal.
const LINE_EVERY: Duration = Duration::from_secs(5);
/// Seconds of work before the first line: the first steps say little about the rate.
const FIRST_LINE: f64 = 0.2;
/// Steps of the bar.
const STEPS: u64 = 10_000;

/// What a trainer counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Words,
    Pairs,
    Examples,
}

impl Unit {
    /// The unit with this name.
    fn of(name: Option<&str>) -> Option<Self> {
        [Self::Words, Self::Pairs, Self::Examples].into_iter().find(|unit| Some(unit.name()) == name)
    }

    /// Its name, in the singular.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Words => "word",
            Self::Pairs => "pair",
            Self::Examples => "example",
        }
    }
}

/// Shows the progress of training and passes on a request to stop.
pub(crate) struct TrainingProgress {
    interrupt: Interrupt,
    unit: Unit,
    bar: ProgressBar,
    state: Mutex<State>,
    /// Why the latest checkpoint could not be written.
    unsaved: Mutex<Option<String>>,
}

#[derive(Default)]
struct State {
    /// The share that was done when this run started, for reading and for training.
    done_before: [Option<f64>; 2],
    /// The share of training that is done.
    done: f64,
    last_line: Option<Instant>,
    /// The start of every line, if training has stages.
    stage: String,
    /// What a stage counts, if it has its own unit.
    unit: Option<Unit>,
}

impl TrainingProgress {
    /// Progress of a run that counts this unit.
    pub(crate) fn new(unit: Unit, interrupt: Interrupt) -> Self {
        let bar = if output::is_terminal() && !output::is_quiet() {
            let style = ProgressStyle::with_template("{bar:30} {percent:>3}%  {msg}");
            ProgressBar::new(STEPS).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        } else {
            ProgressBar::hidden()
        };
        Self { interrupt, unit, bar, state: Mutex::default(), unsaved: Mutex::default() }
    }

    /// Removes the bar.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    /// The share of the whole run that was done at the last report.
    pub(crate) fn done(&self) -> f64 {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).done
    }

    /// Why the latest checkpoint could not be written, if it could not.
    pub(crate) fn unsaved(&self) -> Option<String> {
        self.unsaved.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn line(&self, progress: &Progress, state: &State, done_before: f64) -> String {
        let mut text = state.stage.clone() + &pace(progress, state.unit.unwrap_or(self.unit));
        if progress.loss.is_finite() && !is_reading(progress) {
            text += &format!("  loss {:.3}", progress.loss);
        }
        let mut before = "";
        for &Metric { name, value } in progress.metrics.iter().flatten() {
            // The same metric of a second decoder.
            let value = if value < 10.0 { format!("{value:.3}") } else { format!("{value:.1}") };
            text += &if name == before { format!(" / {value}") } else { format!("  {name} {value}") };
            before = name;
        }
        if let Some(score) = progress.validation.filter(|score| score.is_finite()) {
            text += &format!("  validation {score:.4}");
        }
        if let Some(left) = progress.seconds_left(done_before).and_then(|s| Duration::try_from_secs_f64(s).ok()) {
            text += &format!("  {} left", duration(left));
        }
        text
    }
}

/// The position and the speed of training.
fn pace(progress: &Progress, unit: Unit) -> String {
    let rate = short(progress.units_per_second);
    if is_reading(progress) {
        let what = match (progress.bytes_read, progress.bytes) {
            (Some(read), Some(all)) => format!("reading  {} of {}", bytes(read), bytes(all)),
            (Some(read), None) => format!("reading  {}", bytes(read)),
            (None, _) => format!("counting  {}", plural(progress.units, "word")),
        };
        return what + &if progress.units_per_second > 0.0 { format!("  {rate} words/s") } else { String::new() };
    }
    let of = progress.epochs.map_or_else(String::new, |epochs| format!("/{epochs}"));
    let (rate, unit) = match progress.tokens_per_second {
        Some(tokens) => (short(tokens), "token"),
        None => (rate, unit.name()),
    };
    let lr = progress.lr;
    let lr = if lr >= 1e-3 { format!("{lr:.4}") } else { format!("{lr:.1e}") };
    format!("epoch {}{of}  {rate} {unit}s/s  lr {lr}", progress.epoch + 1)
}

/// Reading has no learning rate; in training it stays above 0.
fn is_reading(progress: &Progress) -> bool {
    progress.lr == 0.0
}

impl Observer for TrainingProgress {
    fn progress(&self, progress: &Progress) -> Control {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let done_before = *state.done_before[usize::from(is_reading(progress))].get_or_insert(progress.done);
        if !is_reading(progress) {
            state.done = progress.done;
        }
        if !self.bar.is_hidden() {
            self.bar.set_position((progress.done * STEPS as f64) as u64);
            self.bar.set_message(self.line(progress, &state, done_before));
        } else if !output::is_terminal()
            && state
                .last_line
                .map_or(is_reading(progress) || progress.seconds >= FIRST_LINE, |last| last.elapsed() >= LINE_EVERY)
        {
            state.last_line = Some(Instant::now());
            output::note(&format!("{:5.1}%  {}", 100.0 * progress.done, self.line(progress, &state, done_before)));
        }
        if self.interrupt.is_requested() { Control::Stop } else { Control::Continue }
    }

    fn stops(&self) -> bool {
        self.interrupt.is_requested()
    }

    fn note(&self, message: &str) {
        self.bar.suspend(|| output::note(message));
    }

    fn stage(&self, stage: &Stage<'_>) {
        let name = if stage.name.is_empty() { String::new() } else { format!("{}  ", stage.name) };
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) =
            State { stage: name, unit: Unit::of(stage.unit), ..State::default() };
    }

    fn note_with(&self, message: &dyn Display, _: &[Remedy]) {
        self.note(&shown(message));
    }

    fn checkpoint(&self, written: Result<&Path, &Error>) {
        let is_written = written.as_ref().err().is_none_or(|error| error.is_done());
        let error = written.err().map(|error| shown(error));
        if let Some(error) = error.as_ref().filter(|_| is_written) {
            self.note(&format!("the checkpoint was written, but: {error}"));
        }
        let error = error.filter(|_| !is_written);
        // A run that is stopping reports this at the end.
        if let Some(error) = error.as_ref().filter(|_| !self.interrupt.is_requested()) {
            self.note(&format!("could not write a checkpoint, training continues: {error}"));
        }
        *self.unsaved.lock().unwrap_or_else(PoisonError::into_inner) = error;
    }
}

/// Counts sentences on a terminal while they go to a file.
pub(crate) struct Counter(ProgressBar);

impl Counter {
    /// A counter, hidden if `shown` is false or without a terminal.
    pub(crate) fn new(shown: bool) -> Self {
        if !shown || output::is_quiet() || !output::is_terminal() {
            return Self(ProgressBar::hidden());
        }
        let style = ProgressStyle::with_template("{human_pos} sentences  {per_sec}");
        Self(ProgressBar::no_length().with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner())))
    }

    /// Adds this many.
    pub(crate) fn add(&self, n: u64) {
        self.0.inc(n);
    }

    /// Runs something that prints.
    pub(crate) fn apart(&self, print: impl FnOnce()) {
        self.0.suspend(print);
    }

    /// Removes the counter.
    pub(crate) fn finish(&self) {
        self.0.finish_and_clear();
    }
}

/// Shows on a terminal how much of the work on a whole text is done.
pub(crate) struct Settled(ProgressBar);

impl Settled {
    /// A bar for this kind of work, hidden without a terminal.
    pub(crate) fn new(work: &'static str) -> Self {
        if output::is_quiet() || !output::is_terminal() {
            return Self(ProgressBar::hidden());
        }
        let style = ProgressStyle::with_template("{msg}  [{bar:30}] {percent}%  {eta}");
        let bar = ProgressBar::new(STEPS).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Self(bar.with_message(work))
    }

    /// Shows that this share is done.
    pub(crate) fn set(&self, share: f64) {
        self.0.set_position((share * STEPS as f64) as u64);
    }

    /// Shows that `done` of `all` sentences have been compared with all later ones. Time grows with the number of
    /// pairs, so the bar moves with the square.
    pub(crate) fn set_of_pairs(&self, done: usize, all: usize) {
        let left = 1.0 - done as f64 / all.max(1) as f64;
        self.set(1.0 - left * left);
    }

    /// Removes the bar.
    pub(crate) fn finish(&self) {
        self.0.finish_and_clear();
    }
}
