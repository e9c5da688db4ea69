//! Notes of the library that wait to be printed.

use std::sync::{Mutex, PoisonError};

use senv_core::{Control, Observer, Progress};

use crate::{interrupt::Interrupt, output};

/// Keeps what the library notes until the progress bar is there.
#[derive(Default)]
pub(crate) struct Notes {
    notes: Mutex<Vec<String>>,
    interrupt: Interrupt,
}

impl Notes {
    /// Of work that ends when the user asks.
    pub(crate) fn stopped_by(interrupt: Interrupt) -> Self {
        Self { interrupt, ..Self::default() }
    }

    /// Prints what there is.
    pub(crate) fn print(&self) {
        let notes = std::mem::take(&mut *self.notes.lock().unwrap_or_else(PoisonError::into_inner));
        notes.iter().for_each(|note| output::note(note));
    }
}

impl Observer for Notes {
    fn progress(&self, _: &Progress) -> Control {
        if self.stops() { Control::Stop } else { Control::Continue }
    }

    fn stops(&self) -> bool {
        self.interrupt.is_requested()
    }

    fn note(&self, message: &str) {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).push(message.to_owned());
    }
}
