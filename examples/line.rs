//! A progress line on the terminal.

use std::io::{IsTerminal, Write};

use senv_core::{Control, Observer, Progress};

/// Shows the progress of the work with this name.
pub(crate) struct Line(pub(crate) &'static str);

impl Line {
    fn show(&self, text: &str) {
        if std::io::stderr().is_terminal() {
            eprint!("\r{text:<100}\r");
            let _ = std::io::stderr().flush();
        }
    }
}

impl Observer for Line {
    fn progress(&self, p: &Progress) -> Control {
        let metrics = p.metrics.iter().flatten().map(|metric| format!(", {} {:.3}", metric.name, metric.value));
        let metrics: String = metrics.collect();
        let validation = p.validation.map_or_else(String::new, |score| format!(", validation {score:.4}"));
        let (done, rate) = (100.0 * p.done, p.units_per_second);
        self.show(&format!("{}: {done:.0} %, loss {:.3}{metrics}{validation}, {rate:.0}/s", self.0, p.loss));
        Control::Continue
    }

    fn note(&self, message: &str) {
        self.show(&format!("{}: {message}", self.0));
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.show("");
    }
}
