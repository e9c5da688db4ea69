//! Logs of the engine on standard error: warnings, or the level that `SENV_LOG` sets (`error`, `warn`, `info`, `debug`,
//! `off`).

use std::{env, sync::OnceLock};

use log::{LevelFilter, Log, Metadata, Record};
use tokio::sync::mpsc::UnboundedSender;

/// The first words of two log messages of Ballista 55.0. Each reports that a stage restarts after some of its tasks
/// were done. In the first case an executor is silent, and in the second it does not hand out what another task needs.
const SILENT: &str = "Roll back running job/stage ";
const NOT_FETCHED: &str = "Need to resubmit the current running Stage ";

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
            && let Some(job) = rolled_back(&record.args().to_string())
        {
            // Fails only when the receiver is gone, which means that the process is ending.
            let _ = jobs.send(job.to_owned());
        }
    }

    fn flush(&self) {}
}

/// Turns logging on for the processes of a cluster. Jobs whose stages restart are sent to `rolled_back`.
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

/// Extracts the job from a log message that a stage restarts.
fn rolled_back(message: &str) -> Option<&str> {
    let of_task = || message.starts_with(NOT_FETCHED).then(|| message.rsplit_once(" TID ")).flatten();
    let job = message.strip_prefix(SILENT).or_else(|| of_task().map(|(_, rest)| rest))?;
    job.split(['/', ' ']).find(|part| !part.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_of_stages_that_start_again_are_found() {
        let silent =
            "Roll back running job/stage 038GV6QJ3J000/1 and change ShuffleReaderExec back to UnresolvedShuffleExec";
        let fetch = "Need to resubmit the current running Stage 2 and its map Stage 1 due to FetchPartitionError from task TID 038GV6QJ3J000/2.0/1.0";
        assert_eq!([silent, fetch].map(rolled_back), [Some("038GV6QJ3J000"); 2]);
        let resolved =
            "Roll back resolved job/stage 038GV6QJ3J000/1 and change ShuffleReaderExec back to UnresolvedShuffleExec";
        assert_eq!([resolved, "", "TID a/1"].map(rolled_back), [None; 3]);
    }
}
