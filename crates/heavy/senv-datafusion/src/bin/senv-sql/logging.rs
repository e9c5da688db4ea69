//! What the engine reports, on standard error: warnings, or what `SENV_LOG` asks for (`error`, `warn`, `info`, `debug`, `off`).

use std::{env, sync::OnceLock};

use log::{LevelFilter, Log, Metadata, Record};
use tokio::sync::mpsc::UnboundedSender;

/// How Ballista 55.0 begins the report that it starts a stage again after some of its tasks were done.
const ROLL_BACK: &str = "Roll back running job/stage ";

struct StandardError {
    shown: LevelFilter,
    rolled_back: OnceLock<UnboundedSender<String>>,
}

static LOGGER: OnceLock<StandardError> = OnceLock::new();

impl Log for StandardError {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &Record<'_>) {
        let is_ours = ["ballista", "datafusion", "senv"].iter().any(|name| record.target().starts_with(name));
        if is_ours && record.level() <= self.shown {
            eprintln!("{} {}: {}", record.level(), record.target(), record.args());
        }
        if record.target().starts_with("ballista_scheduler::state")
            && let Some(jobs) = self.rolled_back.get()
            && let Some((job, _)) =
                record.args().to_string().strip_prefix(ROLL_BACK).and_then(|rest| rest.split_once('/'))
        {
            // Fails only once nothing listens any more, when the process ends.
            let _ = jobs.send(job.to_owned());
        }
    }

    fn flush(&self) {}
}

/// Turns it on, for the processes of a cluster. Jobs in which a stage starts again go to `rolled_back`.
pub(crate) fn start(rolled_back: Option<UnboundedSender<String>>) {
    let shown = env::var("SENV_LOG").ok().and_then(|level| level.parse().ok()).unwrap_or(LevelFilter::Warn);
    let logger = LOGGER.get_or_init(|| StandardError { shown, rolled_back: OnceLock::new() });
    if let Some(jobs) = rolled_back {
        let _ = logger.rolled_back.set(jobs);
    }
    if log::set_logger(logger).is_ok() {
        log::set_max_level(shown.max(LevelFilter::Warn));
    }
}
