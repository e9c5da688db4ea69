//! Processes many files into a folder with one output per file, with one worker or many.

mod claims;
mod params;
mod pattern;
mod record;
#[cfg(test)]
mod tests;
mod text_files;

use std::{
    collections::{HashMap, HashSet},
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use senv_core::files::{FileLock, Unfinished, sync_folder};

use self::{
    claims::{Claim, Claims},
    record::{Record, Settings},
};
use crate::error::{Error, Result};

pub use self::{
    params::{ClaimParams, FolderEvent, FolderOutcome, FolderParams},
    pattern::files_of_pattern,
    record::FileState,
    text_files::{FolderContent, SkipReason, SkippedFile, TextFiles},
};

/// The folder next to the outputs for records. Readers of data sets skip names that start with `_`.
const NOTES: &str = "_senv";
/// In that folder: the settings of the outputs, a record for each, and unfinished outputs.
const SETTINGS: &str = "settings.json";
const FILES: &str = "files";
const UNFINISHED: &str = "unfinished";
/// Separates the name of an output from the worker that writes it.
const MARK: char = '~';

/// A folder of outputs, one per input file, that is filled until it is complete, across any number of interruptions.
///
/// Next to the outputs is a folder `_senv`. `settings.json` records the model and the settings; `files/NAME.json`
/// records the input of an output, with lengths and SHA-256 of both. An output is complete, and skipped, if its input,
/// settings and bytes match the record. A finished output gets its name by an atomic rename.
///
/// With claims ([`ClaimParams`]), any number of processes on any number of machines that share both folders can work at
/// the same job; each ends when all outputs are complete. A worker whose heart has not beaten for the timeout is
/// replaced. A slow worker that lost its claim discards its work. Even if it did not notice, it would write the same
/// bytes.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let at = |name: &str| folder.path().join(name);
/// use senv::jobs::{FolderJob, FolderParams};
/// std::fs::write(at("a.txt"), "one line\n")?;
/// let params = FolderParams { ending: "count".into(), model: "none".into(), ..FolderParams::default() };
/// let mut count = |input: &std::path::Path, output: &std::path::Path| {
///     let n = std::fs::read_to_string(input).map_or(0, |text| text.lines().count());
///     std::fs::write(output, n.to_string()).map_err(|e| senv_core::Error::io("write", output, e))?;
///     Ok::<u64, senv::Error>(1)
/// };
/// let outcome = FolderJob::open(at("out"), &[at("a.txt")], params.clone())?.run(&mut count, |_| ())?;
/// assert_eq!((outcome.finished, std::fs::read_to_string(at("out/a.txt.count"))?.as_str()), (1, "1"));
/// // It is complete now.
/// assert_eq!(FolderJob::open(at("out"), &[at("a.txt")], params)?.run(&mut count, |_| ())?.complete, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FolderJob {
    output: PathBuf,
    files: Vec<FileTask>,
    params: FolderParams,
    settings: String,
    worker: String,
    _lock: FileLock,
}

/// An input and the name of its output.
#[derive(Debug)]
struct FileTask {
    input: PathBuf,
    name: String,
}

/// The state of an output.
#[derive(Debug, PartialEq, Eq)]
enum OutputState {
    Complete,
    Missing,
    /// It exists, but is out of date.
    Stale(&'static str),
}

impl FolderJob {
    /// Checks inputs and settings, and creates the folder if it does not exist.
    ///
    /// # Errors
    /// * [`Error::OtherSettings`] if the folder was made with another model or other settings.
    /// * [`Error::ForeignOutput`] if a file in place of an output is not from this job.
    /// * [`Error::FolderInUse`] if another process works in the folder, unless both use claims.
    /// * [`senv_core::Error::BadFile`] if two inputs have the same name, an input is not a file, or an output would
    ///   replace an input.
    /// * [`senv_core::Error::Io`] if a file or folder cannot be read or written.
    pub fn open(output: impl AsRef<Path>, inputs: &[impl AsRef<Path>], params: FolderParams) -> Result<Self> {
        let output = output.as_ref().to_owned();
        let files =
            inputs.iter().map(|input| FileTask::new(input.as_ref(), &params.ending)).collect::<Result<Vec<_>>>()?;
        let mut names: HashMap<&str, &Path> = HashMap::new();
        for FileTask { input, name } in &files {
            if let Some(other) = names.insert(name, input) {
                let reason = format!(
                    "its output {name} would also be the output of {}; rename one of them, or give each folder a \
                    separate output folder",
                    other.display()
                );
                return bad(input, reason);
            }
        }
        // Compares real paths: a stale output is rebuilt without confirmation, and `force` replaces what exists.
        let read: HashSet<PathBuf> = files.iter().flat_map(|task| fs::canonicalize(&task.input)).collect();
        for FileTask { input, name } in &files {
            if fs::canonicalize(output.join(name)).is_ok_and(|target| read.contains(&target)) {
                return bad(
                    input,
                    format!("its output {name} would overwrite an input file; choose another output folder"),
                );
            }
        }
        let notes = output.join(NOTES);
        for folder in [notes.join(FILES), notes.join(UNFINISHED)] {
            fs::create_dir_all(&folder).map_err(|e| senv_core::Error::io("create", &folder, e))?;
        }
        let locked = notes.join("folder");
        let lock = if params.claims.is_some() { FileLock::acquire_shared(locked) } else { FileLock::acquire(locked) };
        let lock = lock.map_err(|error| in_use(error, &output))?;
        let settings = Settings { model: params.model.clone(), settings: params.settings.clone() };
        let worker = claims::worker();
        let job = Self { output, files, settings: settings.digest(), params, worker, _lock: lock };
        job.check_foreign()?;
        settings.agree(&notes.join(SETTINGS), &job.output, job.params.force)?;
        if job.params.claims.is_none() {
            // No other process is here: these are leftovers of a process that was killed.
            job.remove_unfinished(|_| true);
        }
        Ok(job)
    }

    /// The names of outputs left over from earlier settings, whose inputs are not in this job.
    ///
    /// # Errors
    /// [`senv_core::Error::Io`].
    pub fn left_of_other_settings(&self) -> Result<Vec<String>> {
        let folder = self.output.join(NOTES).join(FILES);
        let own: HashSet<&str> = self.files.iter().map(|task| task.name.as_str()).collect();
        let mut left = Vec::new();
        for entry in fs::read_dir(&folder).map_err(|e| senv_core::Error::io("read", &folder, e))? {
            let path = entry.map_err(|e| senv_core::Error::io("read", &folder, e))?.path();
            let Some(name) = path.file_name().and_then(OsStr::to_str).and_then(|name| name.strip_suffix(".json"))
            else {
                continue;
            };
            let is_other =
                || record::read::<Record>(&path).map(|record| record.is_some_and(|r| r.settings != self.settings));
            if !own.contains(name) && self.output.join(name).exists() && is_other()? {
                left.push(name.to_owned());
            }
        }
        left.sort();
        Ok(left)
    }

    /// Flushes the names of the outputs to disk, which [`FolderJob::run`] leaves to the system.
    ///
    /// # Errors
    /// [`senv_core::Error::NotDurable`]: the outputs exist, but may be lost in a power cut.
    pub fn sync(&self) -> Result<()> {
        sync_folder(self.output.join(NOTES)).map_err(|error| match error {
            senv_core::Error::NotDurable { error, .. } => {
                senv_core::Error::NotDurable { path: self.output.clone(), error }.into()
            }
            error => error.into(),
        })
    }

    /// Makes the missing outputs. `work` gets an input and the path for its output, and returns the number of rows;
    /// `on_event` is called for each event. A file that fails does not stop the others.
    ///
    /// # Errors
    /// [`senv_core::Error::Io`] if the folder or the folder of claims cannot be read or written.
    pub fn run<E: From<Error>>(
        &self,
        mut work: impl FnMut(&Path, &Path) -> Result<u64, E>,
        mut on_event: impl FnMut(FolderEvent<'_>),
    ) -> Result<FolderOutcome<E>> {
        let mut claims = match &self.params.claims {
            Some(params) => Some(Claims::open(&params.folder, &self.worker, params.timeout)?),
            None => None,
        };
        let mut outcome = FolderOutcome { finished: 0, rows: 0, complete: 0, failed: Vec::new() };
        let mut open: Vec<&FileTask> = self.files.iter().collect();
        // Workers start at different files, so they rarely collide.
        let n = open.len().max(1);
        open.rotate_left(if claims.is_some() {
            self.worker.bytes().map(usize::from).sum::<usize>() * 7919 % n
        } else {
            0
        });
        let mut announced = None;
        while !open.is_empty() {
            let before = open.len();
            let mut busy = Vec::new();
            for task in open {
                if self.state(task)? == OutputState::Complete {
                    outcome.complete += 1;
                    on_event(FolderEvent::Complete(&task.input));
                    continue;
                }
                let claim = match &mut claims {
                    Some(claims) => match claims.claim(&task.name)? {
                        Some(claim) => Some(claim),
                        None => {
                            busy.push(task);
                            continue;
                        }
                    },
                    None => None,
                };
                // Another worker may have finished it between the two checks.
                let state = self.state(task)?;
                if state == OutputState::Complete {
                    outcome.complete += 1;
                    on_event(FolderEvent::Complete(&task.input));
                    continue;
                }
                if let Some(from) = claim.as_ref().and_then(|claim| claim.taken_from.as_deref()) {
                    on_event(FolderEvent::TakenOver(&task.input, from));
                }
                if let OutputState::Stale(why) = state {
                    on_event(FolderEvent::Again(&task.input, why));
                }
                match self.make(task, claim.as_ref(), &mut work) {
                    Ok(Some(rows)) => {
                        outcome.finished += 1;
                        outcome.rows += rows;
                        on_event(FolderEvent::Finished(&task.input, rows));
                    }
                    Ok(None) => {
                        on_event(FolderEvent::Lost(&task.input));
                        busy.push(task);
                    }
                    Err(error) => outcome.failed.push((task.input.clone(), error)),
                }
            }
            if busy.len() == before {
                if announced != Some(before) {
                    on_event(FolderEvent::Waiting(before));
                    announced = Some(before);
                }
                thread::sleep(claims.as_ref().map_or(Duration::ZERO, Claims::pause));
            }
            open = busy;
        }
        if let Some(claims) = &claims {
            let failed: HashSet<&PathBuf> = outcome.failed.iter().map(|(input, _)| input).collect();
            let complete = self.files.iter().filter(|task| !failed.contains(&task.input));
            let complete: HashSet<&str> = complete.map(|task| task.name.as_str()).collect();
            claims.clear(|name| complete.contains(name));
            // A worker that was killed after the rename has left its folder too.
            self.remove_unfinished(|folder| folder.split_once(MARK).is_some_and(|(name, _)| complete.contains(name)));
        }
        Ok(outcome)
    }

    /// Makes an output. Returns `None` if the claim was lost meanwhile, also after an error, which the cleanup of the
    /// other worker may have caused.
    fn make<E: From<Error>>(
        &self,
        task: &FileTask,
        claim: Option<&Claim>,
        work: &mut impl FnMut(&Path, &Path) -> Result<u64, E>,
    ) -> Result<Option<u64>, E> {
        let folder = self.output.join(NOTES).join(UNFINISHED).join(format!("{}{MARK}{}", task.name, self.worker));
        let made = self.make_in(&folder, task, claim, work);
        let _ = fs::remove_dir_all(&folder);
        match (made, claim) {
            (Err(error), Some(claim)) => {
                if claim.is_held()? {
                    Err(error)
                } else {
                    Ok(None)
                }
            }
            (made, _) => made,
        }
    }

    fn make_in<E: From<Error>>(
        &self,
        folder: &Path,
        task: &FileTask,
        claim: Option<&Claim>,
        work: &mut impl FnMut(&Path, &Path) -> Result<u64, E>,
    ) -> Result<Option<u64>, E> {
        let io = |action, path: &Path| {
            let path = path.to_owned();
            move |e| Error::from(senv_core::Error::io(action, path, e))
        };
        let input = FileState::of(&task.input).map_err(io("read", &task.input))?;
        fs::create_dir_all(folder).map_err(io("create", folder))?;
        // A signal that ends the program leaves nothing behind; after a kill, the next worker cleans up.
        let _unfinished = Unfinished::new(folder);
        let made = folder.join(&task.name);
        let rows = work(&task.input, &made)?;
        if !input.is_untouched(&task.input).map_err(io("read", &task.input))? {
            return Ok(bad(
                &task.input,
                "it changed while it was read; run the command again when the file is complete".into(),
            )?);
        }
        let output = FileState::of(&made).map_err(io("read", &made))?;
        let output = FileState { path: task.name.clone(), ..output };
        if let Some(claim) = claim
            && !claim.is_held()?
        {
            return Ok(None);
        }
        // The record comes first: an output without a matching record is rebuilt.
        let record = Record { version: Record::VERSION, input, output, rows, settings: self.settings.clone() };
        record::write(&self.record(task), &record)?;
        let target = self.output.join(&task.name);
        fs::rename(&made, &target).map_err(io("rename the finished file to", &target))?;
        let prefix = format!("{}{MARK}", task.name);
        self.remove_unfinished(|name| name.starts_with(&prefix));
        Ok(Some(rows))
    }

    /// The state of an output.
    fn state(&self, task: &FileTask) -> Result<OutputState> {
        let target = self.output.join(&task.name);
        let Some(record) = record::read::<Record>(&self.record(task))? else { return Ok(OutputState::Missing) };
        if !target.exists() {
            return Ok(OutputState::Missing);
        }
        if record.version != Record::VERSION || record.settings != self.settings {
            return Ok(OutputState::Stale("it was made with different settings"));
        }
        let exactly = self.params.check_hashes;
        match record.input.still_holds(&task.input, exactly) {
            Ok(true) => {}
            Ok(false) => return Ok(OutputState::Stale("its input has changed")),
            // The worker that rebuilds it finds out why.
            Err(_) => return Ok(OutputState::Stale("its input cannot be read")),
        }
        match record.output.still_holds(&target, exactly) {
            Ok(true) => Ok(OutputState::Complete),
            Ok(false) => Ok(OutputState::Stale("it is incomplete or was changed")),
            // Another worker is about to rename it.
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(OutputState::Missing),
            Err(e) => Err(senv_core::Error::io("read", &target, e).into()),
        }
    }

    /// Returns an error instead of replacing files that are not from this job.
    fn check_foreign(&self) -> Result<()> {
        for task in &self.files {
            let target = self.output.join(&task.name);
            if !self.params.force && target.exists() && !self.record(task).exists() {
                return Err(Error::ForeignOutput { path: target });
            }
        }
        Ok(())
    }

    fn record(&self, task: &FileTask) -> PathBuf {
        self.output.join(NOTES).join(FILES).join(format!("{}.json", task.name))
    }

    /// Removes unfinished outputs with matching names.
    fn remove_unfinished(&self, is_wanted: impl Fn(&str) -> bool) {
        let Ok(entries) = fs::read_dir(self.output.join(NOTES).join(UNFINISHED)) else { return };
        for entry in entries.flatten() {
            if entry.file_name().to_str().is_some_and(|name| name.contains(MARK) && is_wanted(name)) {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }
}

impl FileTask {
    fn new(input: &Path, ending: &str) -> Result<Self> {
        let metadata = fs::metadata(input).map_err(|e| senv_core::Error::io("open", input, e))?;
        if !metadata.is_file() {
            return bad(input, "it is not a file; name files, or a pattern such as 'data/*.parquet'".into());
        }
        let Some(name) = input.file_name().and_then(OsStr::to_str) else {
            return bad(input, "its name is not UTF-8; rename it".into());
        };
        let ends_so = input.extension().is_some_and(|own| own.eq_ignore_ascii_case(ending));
        let name = if ends_so { name.to_owned() } else { format!("{name}.{ending}") };
        if name.starts_with('_') || name.starts_with('.') || name.contains(MARK) {
            let reason = format!(
                "the name {name} starts with _ or a dot, or contains {MARK}, which are reserved for {NOTES}; rename it"
            );
            return bad(input, reason);
        }
        Ok(Self { input: input.to_owned(), name })
    }
}

fn bad<T>(path: &Path, reason: String) -> Result<T> {
    Err(senv_core::Error::BadFile { path: path.to_owned(), reason }.into())
}

fn in_use(error: senv_core::Error, output: &Path) -> Error {
    match error {
        senv_core::Error::InUse { holder, .. } => Error::FolderInUse { path: output.to_owned(), holder },
        error => error.into(),
    }
}
