//! Notes of the library that wait to be printed.

use std::sync::{Mutex, PoisonError};

use senv_core::{Control, Observer, Progress};

use crate::output;

/// Keeps what the library notes until the progress bar is there.
#[derive(Default)]
pub(crate) struct Notes(Mutex<Vec<String>>);

impl Notes {
    /// Prints them.
    pub(crate) fn print(self) {
        let notes = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        notes.iter().for_each(|note| output::note(note));
    }
}

impl Observer for Notes {
    fn progress(&self, _: &Progress) -> Control {
        Control::Continue
    }

    fn note(&self, message: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(message.to_owned());
    }
}
