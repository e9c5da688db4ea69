//! Progress messages of a run. Only rank 0 prints them.

use std::{
    path::Path,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use senv_core::{Control, Error, Observer, Progress};

use crate::Result;

/// Time between two progress lines.
const EVERY: Duration = Duration::from_secs(2);

/// Writes to standard error, and stops the run when the user asks for it.
pub(crate) struct Shown {
    speaks: bool,
    stops: Arc<AtomicBool>,
    last: Mutex<Option<Instant>>,
}

impl Shown {
    /// `speaks` says whether this rank prints.
    pub(crate) fn new(speaks: bool) -> Result<Self> {
        let stops = Arc::new(AtomicBool::new(false));
        let asked = stops.clone();
        ctrlc::set_handler(move || {
            // On the second signal, quit without waiting for the ranks to synchronize.
            if asked.swap(true, Ordering::Relaxed) {
                std::process::exit(130);
            }
        })?;
        Ok(Self { speaks, stops, last: Mutex::new(None) })
    }

    /// Prints a message.
    pub(crate) fn say(&self, message: &str) {
        if self.speaks {
            eprintln!("{message}");
        }
    }
}

impl Observer for Shown {
    fn progress(&self, progress: &Progress) -> Control {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if self.speaks && last.is_none_or(|last| last.elapsed() >= EVERY) {
            *last = Some(Instant::now());
            let Progress { done, epoch, units_per_second, lr, loss, seconds, .. } = *progress;
            let left =
                if done > 0.0 { format!("  {:.0} s left", seconds * (1.0 - done) / done) } else { String::new() };
            // Only training has a learning rate; reading does not.
            let what = match loss.is_finite() {
                _ if lr == 0.0 => "  reading".to_owned(),
                true => format!("  epoch {}  lr {lr:.4}  loss {loss:.3}", epoch + 1),
                false => String::new(),
            };
            eprintln!("{:5.1}%{what}  {:.0} k words/s on this rank{left}", 100.0 * done, units_per_second / 1e3);
        }
        if self.stops() { Control::Stop } else { Control::Continue }
    }

    fn stops(&self) -> bool {
        self.stops.load(Ordering::Relaxed)
    }

    fn note(&self, message: &str) {
        self.say(message);
    }

    fn checkpoint(&self, written: std::result::Result<&Path, &Error>) {
        match written {
            Ok(path) => self.say(&format!("wrote {} and the checkpoints of the other ranks", path.display())),
            // Every rank reports this, because each may have its own disk.
            Err(error) => eprintln!("warning: the checkpoint could not be written: {error}"),
        }
    }
}
