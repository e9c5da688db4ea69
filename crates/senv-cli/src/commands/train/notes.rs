//! Notes of the library, printed before a progress bar is shown.

use senv_core::{Control, Observer, Progress};

use crate::{interrupt::Interrupt, output};

/// Prints the notes of the library, and stops its work when the user interrupts it.
#[derive(Default)]
pub(crate) struct Notes {
    interrupt: Interrupt,
}

impl Notes {
    /// Prints notes of work that stops when this interrupt is requested.
    pub(crate) fn stopped_by(interrupt: Interrupt) -> Self {
        Self { interrupt }
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
        output::note(message);
    }
}
