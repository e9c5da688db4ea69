//! A run of the bench: finds data in a folder and runs every protocol on every system.

use std::collections::HashSet;

use rayon::prelude::*;
use senv_core::Observer;
use senv_metrics::{Bootstrap, Sample, percentile_interval};

use super::{
    data_note::DataNote,
    folder::DataFolder,
    gaps::gaps,
    own::OwnData,
    protocol_group::ProtocolGroup,
    protocols::{Protocol, protocols},
    record::{BenchRecord, Missing, NO_DATA, RECORD_FORMAT, SystemRecord, TaskRecord, TaskResult, draws_of},
    run::{self, BenchOptions},
    task::Task,
};
use crate::{
    error::{Error, Result},
    ranking::scoring::Scoring,
};

/// The note of a system without vectors where a task needs them.
pub(super) const NEEDS_VECTORS: &str = "needs sentence vectors";
/// The note of a system without a classifier where a task needs one.
pub(super) const NEEDS_CLASSIFIER: &str = "needs a classifier of the model";

/// The tasks of a folder, and what the folder lacks.
#[derive(Debug)]
pub struct BenchData {
    /// The tasks, in the order of their protocols.
    pub tasks: Vec<Task>,
    /// The tasks in the form of the record, in the same order.
    pub records: Vec<TaskRecord>,
    /// Protocols without data, missing parts of data sets, and data that cannot be read.
    pub missing: Vec<Missing>,
    /// Files that are not recognized, if own data are evaluated, and data that only have the names of a published set.
    pub notes: Vec<DataNote>,
}

/// Tasks whose words are counted together by baselines without training.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum BenchPart {
    /// Published data sets.
    Published,
    /// Own scored pairs and labeled text.
    Own,
    /// Documents and queries, which are compared without word order.
    Retrieval,
}

impl BenchPart {
    /// All parts, in the order of their tasks.
    pub const ALL: [Self; 3] = [Self::Published, Self::Own, Self::Retrieval];

    /// Returns the part that a task belongs to.
    #[must_use]
    pub fn of(task: &Task) -> Self {
        match task.protocol.section {
            ProtocolGroup::OwnPairs | ProtocolGroup::OwnLabels => Self::Own,
            ProtocolGroup::Retrieval => Self::Retrieval,
            _ => Self::Published,
        }
    }
}

impl BenchData {
    /// Finds and reads the data of these protocols. Missing or broken data is added to `missing`.
    ///
    /// # Errors
    /// [`Error::NoDataSets`] if no task reads data of the folder and some protocol needs data.
    pub fn read(folder: &DataFolder, chosen: &[&'static Protocol]) -> Result<Self> {
        let (tasks, records, missing, notes) = Default::default();
        let mut data = Self { tasks, records, missing, notes };
        let mut own = OwnData::default();
        for protocol in chosen {
            let missing = |reason: String| Missing { protocol: protocol.name.to_owned(), reason };
            let loaded = Task::find(protocol, folder, &mut own);
            let absent = match loaded.is_empty() {
                true => vec![format!("{NO_DATA}; it needs {}", protocol.needs)],
                false => gaps(folder, protocol),
            };
            data.missing.extend(absent.into_iter().map(missing));
            for task in loaded {
                match task.and_then(|task| Ok((record(folder, &task)?, task))) {
                    Ok((record, task)) => {
                        data.notes.extend(own_note(&record));
                        data.records.push(record);
                        data.tasks.push(task);
                    }
                    Err(error) => data.missing.push(missing(error.to_string())),
                }
            }
        }
        let is_built_in = |protocol: &&&Protocol| data.tasks.iter().any(|task| task.protocol == **protocol);
        let is_without_files = data.tasks.iter().all(|task| task.files.is_empty());
        data.notes.extend(own.notes);
        if is_without_files && chosen.iter().filter(is_built_in).count() < chosen.len() {
            let notes = data.notes.iter().map(|note| format!("{}\n", note.to_text())).collect();
            return Err(Error::NoDataSets { folder: folder.root().to_owned(), notes });
        }
        Ok(data)
    }

    /// Returns the distinct sentences of all tasks, in the order of their first occurrence.
    #[must_use]
    pub fn sentences(&self) -> Vec<&str> {
        distinct(self.tasks.iter())
    }

    /// Returns the distinct sentences of a part.
    #[must_use]
    pub fn sentences_of(&self, part: BenchPart) -> Vec<&str> {
        distinct(self.tasks.iter().filter(|task| BenchPart::of(task) == part))
    }

    /// Returns the sentences of a part on which untrained baselines should count words. Word-order tasks repeat the
    /// same few words, so they are left out unless there are no other tasks.
    #[must_use]
    pub fn counted_sentences(&self, part: BenchPart) -> Vec<&str> {
        let counts = |task: &&Task| BenchPart::of(task) == part && task.protocol.section != ProtocolGroup::Order;
        let counted = distinct(self.tasks.iter().filter(counts));
        if counted.is_empty() { self.sentences_of(part) } else { counted }
    }

    /// Runs a system on every task. A task that fails has a result with a note, and so has a task that needs vectors if
    /// the system has none. `each` is called before each task and ends the run by returning false.
    ///
    /// # Errors
    /// [`Error::Core`] with [`senv_core::Error::Interrupted`] if `each` or `observer` asked to stop.
    pub fn run(
        &self,
        scoring: &Scoring<'_>,
        options: &BenchOptions,
        bootstrap: Bootstrap,
        observer: &dyn Observer,
        each: impl FnMut(&Task) -> bool,
    ) -> Result<Vec<TaskResult>> {
        self.run_tasks(self.tasks.iter(), scoring, options, bootstrap, observer, each)
    }

    /// Runs a system on the tasks of a part, as [`BenchData::run`] does on all.
    ///
    /// # Errors
    /// The errors of [`BenchData::run`].
    pub fn run_part(
        &self,
        part: BenchPart,
        scoring: &Scoring<'_>,
        options: &BenchOptions,
        bootstrap: Bootstrap,
        observer: &dyn Observer,
        each: impl FnMut(&Task) -> bool,
    ) -> Result<Vec<TaskResult>> {
        let tasks = self.tasks.iter().filter(|task| BenchPart::of(task) == part);
        self.run_tasks(tasks, scoring, options, bootstrap, observer, each)
    }

    fn run_tasks<'a>(
        &self,
        tasks: impl Iterator<Item = &'a Task>,
        scoring: &Scoring<'_>,
        options: &BenchOptions,
        bootstrap: Bootstrap,
        observer: &dyn Observer,
        mut each: impl FnMut(&Task) -> bool,
    ) -> Result<Vec<TaskResult>> {
        let mut results = Vec::new();
        for task in tasks {
            if !each(task) {
                return Err(senv_core::Error::Interrupted { action: "the bench" }.into());
            }
            results.push(match self.run_task(task, scoring, options, bootstrap, observer) {
                Ok(result) => result,
                Err(error) if is_stop(&error) => return Err(error),
                Err(error) => without_number(task, error.to_string()),
            });
        }
        Ok(results)
    }

    fn run_task(
        &self,
        task: &Task,
        scoring: &Scoring<'_>,
        options: &BenchOptions,
        bootstrap: Bootstrap,
        observer: &dyn Observer,
    ) -> Result<TaskResult> {
        let protocol = task.protocol;
        if protocol.needs_classifier && scoring.classifier().is_none() {
            return Ok(without_number(task, NEEDS_CLASSIFIER.into()));
        }
        if !protocol.takes_scores && matches!(scoring, Scoring::Pairs(_)) {
            return Ok(without_number(task, NEEDS_VECTORS.into()));
        }
        let outcome = run::run(&task.data, scoring, options, observer)?;
        let scores: Vec<f64> = outcome.scores.iter().map(|&score| f64::from(score)).collect();
        let sample = Sample::new(protocol.statistic, &task.gold(), &scores)?;
        let on_scale = |x: f64| protocol.factor * x;
        let value = sample.value().map(on_scale);
        let draws = || draws_of(&task.key(), &sample, scores.len(), bootstrap);
        let interval = value.and_then(|_| percentile_interval(&draws()));
        Ok(TaskResult {
            task: task.key(),
            value,
            interval: interval.map(|interval| (on_scale(interval.low), on_scale(interval.high))),
            note: value.is_none().then(|| "undefined: all scores are equal, or there is nothing to compare".into()),
            details: outcome.details,
            scores: outcome.scores,
            figures: outcome.figures,
        })
    }

    /// Returns the record of these systems, without protocols that need a classifier if no system has one.
    ///
    /// # Errors
    /// [`Error::SameName`] if two systems have the same name; [`Error::NothingToDo`] if no task remains.
    pub fn record(
        &self,
        command: String,
        options: &BenchOptions,
        bootstrap: Bootstrap,
        mut systems: Vec<SystemRecord>,
    ) -> Result<BenchRecord> {
        for (i, system) in systems.iter().enumerate() {
            if systems[..i].iter().any(|other| other.name == system.name) {
                return Err(Error::SameName { name: system.name.clone() });
            }
        }
        // A classifier that failed still counts, so the failure is reported.
        let takes_part = |task: &TaskRecord| {
            let mut results = systems.iter().filter_map(|system| system.result(&task.key));
            results.any(|result| result.note.as_deref() != Some(NEEDS_CLASSIFIER))
        };
        let is_for_nobody =
            |task: &TaskRecord| task.protocol().is_some_and(|p| p.needs_classifier) && !takes_part(task);
        let (dropped, tasks): (Vec<TaskRecord>, Vec<TaskRecord>) =
            self.records.iter().cloned().partition(is_for_nobody);
        if tasks.is_empty() && !dropped.is_empty() {
            return Err(Error::NothingToDo { what: "systems with a classifier, which these protocols need" });
        }
        // Gaps of a protocol that is left out are not reported.
        let is_left_out = |missing: &&Missing| dropped.iter().any(|task| task.protocol == missing.protocol);
        let missing = self.missing.iter().filter(|missing| !is_left_out(missing)).cloned().collect();
        for system in &mut systems {
            system.results.retain(|result| !dropped.iter().any(|task| task.key == result.task));
        }
        Ok(BenchRecord {
            senv_bench: RECORD_FORMAT,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            command,
            seed: options.seed,
            resamples: bootstrap.resamples,
            tasks,
            missing,
            notes: self.notes.clone(),
            systems,
        })
    }
}

/// Returns the distinct sentences of tasks.
fn distinct<'a>(tasks: impl Iterator<Item = &'a Task>) -> Vec<&'a str> {
    let mut seen = HashSet::new();
    tasks.flat_map(Task::sentences).filter(|sentence| seen.insert(*sentence)).collect()
}

fn record(folder: &DataFolder, task: &Task) -> Result<TaskRecord> {
    Ok(TaskRecord {
        key: task.key(),
        protocol: task.protocol.name.to_owned(),
        name: task.name.clone(),
        year: task.year,
        files: task.files.par_iter().map(|file| folder.checksum(file)).collect::<Result<_>>()?,
        gold: task.gold(),
        chance: task.chance(),
        own: task.is_own(),
    })
}

/// Says that data have the names of a published set, but are others.
fn own_note(record: &TaskRecord) -> Option<DataNote> {
    record.own.then(|| DataNote {
        files: record.files.iter().map(|file| file.path.clone()).collect(),
        note: format!(
            "not the published set of {}, by its size; no published figures are shown for it",
            record.protocol
        ),
    })
}

fn without_number(task: &Task, note: String) -> TaskResult {
    let (task, note) = (task.key(), Some(note));
    TaskResult { task, value: None, interval: None, note, details: vec![], scores: vec![], figures: vec![] }
}

fn is_stop(error: &Error) -> bool {
    matches!(error, Error::Core(senv_core::Error::Interrupted { .. }))
}

/// Returns the protocols named in `only`, or all if it is empty, except those named in `without`.
///
/// # Errors
/// [`Error::UnknownProtocol`] for a name that no protocol has.
pub fn choose_protocols(only: &[String], without: &[String]) -> Result<Vec<&'static Protocol>> {
    for name in only.iter().chain(without) {
        if !protocols().iter().any(|protocol| protocol.name == name) {
            let known = protocols().iter().map(|protocol| protocol.name).collect::<Vec<_>>().join(", ");
            return Err(Error::UnknownProtocol { name: name.clone(), known });
        }
    }
    let named = |names: &[String], protocol: &Protocol| names.iter().any(|name| name == protocol.name);
    Ok(protocols().iter().filter(|p| (only.is_empty() || named(only, p)) && !named(without, p)).collect())
}
