//! Ctrl-C: the first asks, the second ends.

use std::{
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

use crate::failure::{INTERRUPTED, Result};

/// Signals within this time count as one: `timeout` and some shells send theirs to a process and once more to its group.
const ONE_REQUEST: Duration = Duration::from_millis(500);

/// Whether the user has asked to stop, and when.
#[derive(Debug, Clone, Default)]
pub(crate) struct Interrupt(Arc<OnceLock<Instant>>);

impl Interrupt {
    /// From here on Ctrl-C (and the signals that ask a process to end) no longer end the program but set a flag; the
    /// second one, half a second later or more, ends it at once.
    pub(crate) fn install() -> Result<Self> {
        let interrupt = Self::default();
        let asked = Arc::clone(&interrupt.0);
        ctrlc::set_handler(move || {
            if asked.get_or_init(Instant::now).elapsed() >= ONE_REQUEST {
                std::process::exit(i32::from(INTERRUPTED));
            }
        })?;
        Ok(interrupt)
    }

    /// Whether the user has asked to stop.
    pub(crate) fn is_requested(&self) -> bool {
        self.0.get().is_some()
    }
}
