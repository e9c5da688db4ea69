//! The record of a run of the bench: plain data, stored as a JSON file, from which reports and comparisons are made.

use std::path::Path;

use senv_metrics::{Bootstrap, Sample};
use serde::{Deserialize, Serialize};

use super::{
    data_note::DataNote,
    figure::Figure,
    folder::DataFile,
    outcome::Detail,
    protocols::{Protocol, protocols},
};
use crate::error::{Error, Result};

/// The version of the record format. Other versions are rejected.
pub(crate) const RECORD_FORMAT: u32 = 1;

/// The minimum number of items of a task for an interval and for a mark: 20.
///
/// The 95 % interval of a bootstrap over fewer items is too narrow. Simulated with normal scores (r = .7) and with
/// accuracies of 80 %, it contained the true value in this share of samples:
///
/// | items | 3 | 5 | 10 | 20 | 30 |
/// | --- | --- | --- | --- | --- | --- |
/// | correlation | .56 | .86 | .92 | .90 | .94 |
/// | accuracy | .50 | .69 | .89 | .94 | .95 |
pub const MIN_ITEMS: usize = 20;

/// The reason for a protocol without data starts with this.
pub(super) const NO_DATA: &str = "no data in the folder";

/// A run of the bench: systems by tasks, with the score of every item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BenchRecord {
    /// The version of the record format, 1. Other versions are rejected.
    pub senv_bench: u32,
    /// The version of senv.
    pub version: String,
    /// The command that produced the record.
    pub command: String,
    /// The random seed.
    pub seed: u64,
    /// Number of draws of the bootstrap.
    pub resamples: usize,
    /// The tasks that were found.
    pub tasks: Vec<TaskRecord>,
    /// Protocols without data, missing parts of data sets, and data that cannot be read.
    pub missing: Vec<Missing>,
    /// Files that are not recognized, with the reason, and what else is to be said of data.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<DataNote>,
    /// The systems, in the order given, with untrained baselines last.
    pub systems: Vec<SystemRecord>,
}

/// A task and its data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TaskRecord {
    /// Protocol, year and name, such as `sts/2014/images`.
    pub key: String,
    /// The name of the protocol.
    pub protocol: String,
    /// The name of the task.
    pub name: String,
    /// The year, for STS.
    pub year: Option<u16>,
    /// Its files with their checksums.
    pub files: Vec<DataFile>,
    /// The gold value of each item; empty if the headline is a mean.
    pub gold: Vec<f64>,
    /// The value that guessing reaches, on the scale of the values.
    pub chance: f64,
    /// Whether the data have the names of a published set without being it, so that published figures do not apply.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own: bool,
}

/// Data that a run lacks: the data of a protocol, a part of a data set, or a file that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Missing {
    /// The name of the protocol.
    pub protocol: String,
    /// What is missing or wrong, which files are needed, and what is used instead, if anything.
    pub reason: String,
}

/// Kind of system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum SystemKind {
    /// A trained model.
    Model,
    /// Vectors from another program.
    Vectors,
    /// A model's word vectors with weights that need no training.
    Reweighted,
    /// An untrained baseline, which a model should beat.
    Baseline,
}

/// A system and its results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SystemRecord {
    /// Name, unique in the record.
    pub name: String,
    /// Kind of system.
    pub kind: SystemKind,
    /// The file it comes from, or how it was made.
    pub source: String,
    /// SHA-256 of that file, or of the model whose word vectors are reweighted.
    pub sha256: Option<String>,
    /// Size of the model's file in bytes; `None` without such a file, and in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// The embedding dimension; `None` without vectors.
    pub dim: Option<usize>,
    /// Share of known words in the first sentences, in `[0, 1]`; `None` if nothing was encoded, and in records of
    /// earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known_word_share: Option<f64>,
    /// Number of distinct sentences encoded per second, on all threads; `None` if nothing was encoded.
    pub sentences_per_second: Option<f64>,
    /// Results, one per task.
    pub results: Vec<TaskResult>,
    /// Figures of the system itself.
    pub figures: Vec<Figure>,
}

/// The result of a system on a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TaskResult {
    /// The key of the task.
    pub task: String,
    /// The headline value; `None` if it is undefined or could not be computed.
    pub value: Option<f64>,
    /// Its 95 % confidence interval; `None` for fewer than [`MIN_ITEMS`] items.
    pub interval: Option<(f64, f64)>,
    /// Why there is no value.
    pub note: Option<String>,
    /// Further measurements.
    pub details: Vec<Detail>,
    /// The score of each item.
    pub scores: Vec<f32>,
    /// Figures of the task.
    pub figures: Vec<Figure>,
}

impl TaskRecord {
    /// Returns the protocol; `None` if this version does not know it.
    pub(crate) fn protocol(&self) -> Option<&'static Protocol> {
        protocols().iter().find(|protocol| protocol.name == self.protocol)
    }

    /// Returns year and name, for display.
    pub(crate) fn label(&self) -> String {
        self.year.map_or_else(|| self.name.clone(), |year| format!("{year} {}", self.name))
    }

    /// Returns the items of a result as a sample.
    ///
    /// # Errors
    /// [`Error::Metrics`] if the scores do not fit this task.
    pub(crate) fn sample(&self, result: &TaskResult) -> Result<Option<Sample>> {
        let Some(protocol) = self.protocol().filter(|_| !result.scores.is_empty()) else { return Ok(None) };
        let scores: Vec<f64> = result.scores.iter().map(|&score| f64::from(score)).collect();
        Ok(Some(Sample::new(protocol.statistic, &self.gold, &scores)?))
    }

    /// Returns the headline of a result in each draw of a bootstrap; nothing for fewer than [`MIN_ITEMS`] items.
    ///
    /// # Errors
    /// The errors of [`TaskRecord::sample`].
    pub(crate) fn draws(&self, result: &TaskResult, bootstrap: Bootstrap) -> Result<Vec<Option<f64>>> {
        let sample = self.sample(result)?;
        Ok(sample.map_or_else(Vec::new, |sample| draws_of(&self.key, &sample, result.scores.len(), bootstrap)))
    }
}

impl TaskResult {
    /// Whether it has too few items for an interval and a mark, fewer than [`MIN_ITEMS`].
    #[must_use]
    pub fn is_of_too_few(&self) -> bool {
        self.value.is_some() && self.scores.len() < MIN_ITEMS
    }
}

/// Returns the headline of a sample in each draw; nothing for fewer than [`MIN_ITEMS`] items.
pub(super) fn draws_of(key: &str, sample: &Sample, n_items: usize, bootstrap: Bootstrap) -> Vec<Option<f64>> {
    if n_items < MIN_ITEMS { Vec::new() } else { bootstrap.replicates(key, sample) }
}

impl SystemRecord {
    /// Returns its result on a task.
    #[must_use]
    pub fn result(&self, task: &str) -> Option<&TaskResult> {
        self.results.iter().find(|result| result.task == task)
    }
}

impl BenchRecord {
    /// Returns the tasks in the order of reports: own data first.
    pub(crate) fn own_first(&self) -> Vec<&TaskRecord> {
        let mut tasks: Vec<&TaskRecord> = self.tasks.iter().collect();
        tasks.sort_by_key(|task| !task.protocol().is_some_and(|protocol| protocol.section.is_own()));
        tasks
    }

    /// Returns the number of items of a task, which is the maximum over the systems.
    pub(crate) fn n_items(&self, task: &TaskRecord) -> usize {
        let results = self.systems.iter().filter_map(|system| system.result(&task.key));
        results.map(|result| result.scores.len()).max().unwrap_or(0)
    }

    /// Returns each data file once, with the keys of the tasks that are read from it.
    pub(crate) fn data_files(&self) -> Vec<(&DataFile, Vec<&str>)> {
        let mut files: Vec<(&DataFile, Vec<&str>)> = Vec::new();
        for (task, file) in self.tasks.iter().flat_map(|task| task.files.iter().map(move |file| (task, file))) {
            let place = files.iter().position(|(other, _)| *other == file).unwrap_or_else(|| {
                files.push((file, Vec::new()));
                files.len() - 1
            });
            files[place].1.push(&task.key);
        }
        files
    }

    /// Reads a record file, as written by `senv eval all --json`.
    ///
    /// # Errors
    /// [`senv_core::Error::Io`] if the file cannot be read; [`senv_core::Error::BadFile`] if it is not a record, has a
    /// different version, or is inconsistent.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(|error| senv_core::Error::io("read", path, error))?;
        Self::from_json(&text).map_err(|error| {
            let reason = format!("{error}; give a file written by `senv eval all --json`");
            senv_core::Error::BadFile { path: path.to_owned(), reason }.into()
        })
    }

    /// Reads a record from JSON.
    ///
    /// # Errors
    /// [`Error::BadRecord`] if it is not a record, has a different version, or is inconsistent.
    pub fn from_json(json: &str) -> Result<Self> {
        let bad = |reason: String| Error::BadRecord { reason };
        let record: Self = serde_json::from_str(json).map_err(|error| bad(error.to_string()))?;
        if record.senv_bench != RECORD_FORMAT {
            return Err(bad(format!(
                "it has format {}, and this version of senv reads {RECORD_FORMAT}",
                record.senv_bench
            )));
        }
        for (i, system) in record.systems.iter().enumerate() {
            if record.systems[..i].iter().any(|other| other.name == system.name) {
                return Err(bad(format!("two systems are named {}", senv_core::quoted(&system.name))));
            }
            for result in &system.results {
                let task = record.tasks.iter().find(|task| task.key == result.task);
                let task = task.ok_or_else(|| bad(format!("no task is named {}", senv_core::quoted(&result.task))))?;
                task.sample(result).map_err(|error| bad(format!("{} on {}: {error}", system.name, task.key)))?;
            }
        }
        Ok(record)
    }

    /// Writes the record as compact JSON on one line, because it contains a score for each pair.
    #[must_use]
    pub fn to_json(&self) -> String {
        // Serializing strings, numbers and lists does not fail.
        serde_json::to_string(self).unwrap_or_default()
    }
}
