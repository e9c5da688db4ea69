//! Ctrl-C: the first asks, the second ends.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use crate::failure::{INTERRUPTED, Result};

/// Whether the user has asked to stop.
#[derive(Debug, Clone, Default)]
pub(crate) struct Interrupt(Arc<AtomicUsize>);

impl Interrupt {
    /// From here on Ctrl-C (and the signals that ask a process to end) no longer end the program but set a flag; the
    /// second one ends it at once.
    pub(crate) fn install() -> Result<Self> {
        let interrupt = Self::default();
        let count = Arc::clone(&interrupt.0);
        ctrlc::set_handler(move || {
            if count.fetch_add(1, Ordering::SeqCst) > 0 {
                std::process::exit(i32::from(INTERRUPTED));
            }
        })?;
        Ok(interrupt)
    }

    /// Whether the user has asked to stop.
    pub(crate) fn is_requested(&self) -> bool {
        self.0.load(Ordering::SeqCst) > 0
    }
}
