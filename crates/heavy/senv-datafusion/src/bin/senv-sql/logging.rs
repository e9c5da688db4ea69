//! What the engine reports, on standard error: warnings, or what `SENV_LOG` asks for (`error`, `warn`, `info`, `debug`, `off`).

use std::env;

use log::{LevelFilter, Log, Metadata, Record};

struct StandardError;

impl Log for StandardError {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &Record<'_>) {
        // Libraries below the engine have nothing to say to its users.
        if ["ballista", "datafusion", "senv"].iter().any(|name| record.target().starts_with(name)) {
            eprintln!("{} {}: {}", record.level(), record.target(), record.args());
        }
    }

    fn flush(&self) {}
}

/// Turns it on, for the processes of a cluster.
pub(crate) fn start() {
    let level = env::var("SENV_LOG").ok().and_then(|level| level.parse().ok()).unwrap_or(LevelFilter::Warn);
    if log::set_logger(&StandardError).is_ok() {
        log::set_max_level(level);
    }
}
