//! Where a run writes its files, and how often.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use senv::{CheckpointPlan, TrainOptions};
use senv_core::Observer;

use super::origin::Origin;
use crate::destination::ForceArg;

/// The default time between two checkpoints: 30 minutes.
const CHECKPOINT_EVERY: &str = "30m";

/// What a run writes, and whether it continues an earlier run.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct RunFiles {
    /// Model to write; replaced atomically.
    #[arg(long, short, value_name = "MODEL", help_heading = "Files")]
    pub(crate) output: PathBuf,
    /// Checkpoint to continue from after an interruption; removed when the model is written [default: MODEL.checkpoint]
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    checkpoint: Option<PathBuf>,
    /// Time between two checkpoints, as in 90s, 10m, 2h; `never` saves one only when interrupted.
    #[arg(long, value_name = "TIME", default_value = CHECKPOINT_EVERY, value_parser = parse_every, help_heading = "Files")]
    checkpoint_every: Every,
    /// Continue from the checkpoint, if there is one.
    ///
    /// The data and all settings except --threads must be the same.
    #[arg(long, help_heading = "Files")]
    pub(crate) resume: bool,
    /// Start again and replace the checkpoint of an earlier run.
    #[arg(long, conflicts_with = "resume", help_heading = "Files")]
    pub(crate) restart: bool,
    /// Print the result as JSON.
    #[arg(long, help_heading = "Files")]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) force: ForceArg,
}

impl RunFiles {
    /// The file of the checkpoint.
    pub(crate) fn checkpoint(&self) -> PathBuf {
        self.checkpoint.clone().unwrap_or_else(|| with_suffix(&self.output, ".checkpoint"))
    }

    /// The folder for temporary files: that of the model.
    pub(crate) fn scratch_dir(&self) -> Option<PathBuf> {
        self.output.parent().filter(|folder| folder.is_dir()).map(Path::to_owned)
    }

    /// The options of training besides hyperparameters and data.
    pub(crate) fn options<'a, D>(&self, threads: usize, observer: &'a dyn Observer) -> TrainOptions<'a, D> {
        self.options_at(self.checkpoint(), threads, observer)
    }

    /// The same with another checkpoint.
    pub(crate) fn options_at<'a, D>(
        &self,
        checkpoint: PathBuf,
        threads: usize,
        observer: &'a dyn Observer,
    ) -> TrainOptions<'a, D> {
        let (checkpoint, origin) = (Some(self.plan_at(checkpoint)), Origin::text());
        let scratch_dir = self.scratch_dir();
        TrainOptions { threads, checkpoint, observer, origin, scratch_dir, ..TrainOptions::default() }
    }

    /// The checkpoint plan for the library.
    fn plan_at(&self, path: PathBuf) -> CheckpointPlan {
        let Every(every) = self.checkpoint_every;
        CheckpointPlan { path, every, resume: self.resume }
    }
}

/// The path with a suffix appended.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.to_owned().into_os_string();
    name.push(suffix);
    name.into()
}

/// Time between two checkpoints, if any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Every(Option<Duration>);

fn parse_every(text: &str) -> Result<Every, String> {
    if text == "never" {
        return Ok(Every(None));
    }
    let expected =
        || format!("expected a time such as 90s, 10m or 2h, or never, got {text}", text = senv_core::quoted(text));
    let unit = match text.bytes().last() {
        Some(b's') => 1.0,
        Some(b'm') => 60.0,
        Some(b'h') => 3600.0,
        _ => return Err(expected()),
    };
    let number: f64 = text[..text.len() - 1].parse().map_err(|_| expected())?;
    let every = Duration::try_from_secs_f64(number * unit).map_err(|_| expected())?;
    if every.is_zero() { Err(expected()) } else { Ok(Every(Some(every))) }
}

pub(crate) fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|file| file.modified()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_and_nonsense_is_refused() {
        let seconds = |text| parse_every(text).unwrap().0.unwrap().as_secs_f64();
        assert_eq!([seconds("90s"), seconds("1.5m"), seconds("2h")], [90.0, 90.0, 7200.0]);
        assert_eq!(parse_every("never"), Ok(Every(None)));
        for text in ["", "s", "10", "-1s", "0s", "NaNs", "infh", "10 minutes", "1é"] {
            assert!(parse_every(text).is_err(), "{text}");
        }
    }
}
