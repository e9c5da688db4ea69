//! A training run of any system, from the first check to the written model.

use std::{
    error::Error,
    fs,
    path::{Path, PathBuf},
    time::SystemTime,
};

use senv::check::{CheckParams, CheckText};
use senv_core::{SentenceEncoder, files::FileLock};
use senv_store::ModelFile;
use serde_json::{Value, json};

use super::{
    files::{RunFiles, modified},
    origin::Origin,
    outcome::{Beside, Outcome},
    unchanged::Unchanged,
};
use crate::{
    commands::{READINGS, check_report, file_name},
    destination::{self, Content, Destination},
    failure::{Failure, Result},
    interrupt::Interrupt,
    output,
    progress::{TrainingProgress, Unit},
    remedies::shown,
    report::{is_done, of_step},
    text::is_dash,
};

/// A run, from the first check to the written model.
pub(crate) struct Job<'a> {
    files: &'a RunFiles,
    inputs: Vec<PathBuf>,
    unchanged: Unchanged,
    reads_stdin: bool,
    /// Set by signals since the job was made: reading standard input may wait before training starts.
    interrupt: Interrupt,
    /// The checkpoint and other files to continue from, with the times of those that existed before.
    kept: Vec<(PathBuf, Option<SystemTime>)>,
    /// Locks on the model and the kept files: two runs at the same time would lose the work of one.
    locks: Vec<FileLock>,
}

impl<'a> Job<'a> {
    /// Checks everything that can be checked before hours of work. `inputs` are all files that are read.
    pub(crate) fn new(files: &'a RunFiles, inputs: &[&Path]) -> Result<Self> {
        let checkpoint = files.checkpoint();
        let reads_stdin = inputs.iter().any(|path| is_dash(path));
        if files.resume && reads_stdin {
            let message = "--resume reads the text again, which standard input does not allow; give it as a file";
            return Err(Failure::Usage(message.into()));
        }
        if destination::is_same(&files.output, &checkpoint) {
            return Err(Failure::Usage("the model and its checkpoint must be different files".into()));
        }
        Destination::output(&files.output, Content::Model, files.force).check(inputs)?;
        let locks = vec![FileLock::acquire(&files.output)?];
        let inputs: Vec<PathBuf> = inputs.iter().map(|path| path.to_path_buf()).collect();
        let origin = Origin::new(&inputs);
        refuse_pipe(&checkpoint)?;
        if files.resume {
            check_resumed(&checkpoint, &origin)?;
        }
        origin.set();
        let unchanged = Unchanged::note(&inputs);
        let interrupt = if reads_stdin { Interrupt::install_reading_stdin() } else { Interrupt::install() };
        Self { files, inputs, unchanged, reads_stdin, interrupt, kept: Vec::new(), locks }
            .keeping([(checkpoint, Content::Checkpoint)])
    }

    /// Adds files that are kept to continue from and removed at the end. Files of an earlier run are continued from, or
    /// replaced with `--restart`; other files are never replaced, even with `--force`, which is for the model.
    pub(crate) fn keeping(mut self, files: impl IntoIterator<Item = (PathBuf, Content<'static>)>) -> Result<Self> {
        for (path, content) in files {
            Destination { path: &path, option: "--checkpoint", content, force: None }.check(&self.inputs)?;
            refuse_pipe(&path)?;
            self.locks.push(FileLock::acquire(&path)?);
            let before = modified(&path);
            let is_work = fs::metadata(&path).is_ok_and(|file| file.len() > 0);
            if is_work && !self.files.resume && !self.files.restart {
                return Err(self.left_by_another(&path));
            }
            self.kept.push((path, before));
        }
        Ok(self)
    }

    /// The flag for a request to stop, for work before training.
    pub(crate) fn interrupt(&self) -> Interrupt {
        self.interrupt.clone()
    }

    /// Trains and writes the model.
    pub(crate) fn run<M: SentenceEncoder>(
        &self,
        unit: Unit,
        fit: impl FnOnce(&TrainingProgress) -> senv::Result<Outcome<M>>,
        save: impl Fn(&M, &Path) -> senv::Result<()>,
    ) -> Result {
        self.tell_of_checkpoints();
        let progress = TrainingProgress::new(unit, self.interrupt.clone());
        let outcome = fit(&progress);
        progress.finish();
        let mut outcome = match outcome {
            Err(stopped @ senv::Error::Stopped { .. }) => {
                self.unchanged.warn_of_others();
                let Some(error) = progress.unsaved() else { return Err(self.interrupted(progress.done())) };
                output::warn(&format!(
                    "stopped at {:.1} %, but the checkpoint could not be written",
                    100.0 * progress.done()
                ));
                let what = ("the partly trained model", self.files.output.as_path());
                let Some(unfinished) = stopped.unfinished() else {
                    return Err(self.interrupted(progress.done()));
                };
                return Err(self.rescue(what, error.into(), |path| unfinished.save(path)));
            }
            // Files kept on the way are not a model yet.
            Err(error) => return Err(of_step(self.not_trained(error))),
            Ok(outcome) => outcome,
        };
        self.unchanged.warn_of_others();
        let mut in_doubt = None;
        match save(&outcome.model, &self.files.output) {
            Ok(()) => {}
            Err(error) if is_done(&error) => in_doubt = Some(error),
            Err(error) => {
                return Err(self.not_written("the model", &self.files.output, error, |path| save(&outcome.model, path)));
            }
        }
        // Before the checkpoint goes: --resume can lead back here.
        if let Some(Beside { what, path, write }) = outcome.beside.take() {
            match write(&outcome.model, &path) {
                Ok(line) => outcome.lines.push(line),
                Err(error) if is_done(&error) => in_doubt = in_doubt.or(Some(error)),
                // The text has changed: another place does not help.
                Err(error @ senv::Error::Core(senv_core::Error::BadFile { .. })) => return Err(error.into()),
                Err(error) => {
                    return Err(self.not_written(what, &path, error, |path| write(&outcome.model, path).map(drop)));
                }
            }
        }
        let kept = self.kept.iter().map(|(path, _)| path).filter(|path| path.is_file());
        if let Some(error) = in_doubt {
            for path in kept {
                output::note(&format!("{} is kept; --resume continues from it if the model is lost", path.display()));
            }
            self.tell(outcome)?;
            return Err(error.into());
        }
        // Also those of an earlier run: its model has been replaced.
        let mut left = Ok(());
        for path in kept {
            left = left.and(fs::remove_file(path).map_err(|e| senv_core::Error::io("remove", path, e)));
        }
        self.tell(outcome)?;
        Ok(left?)
    }

    /// The failure for a file of an earlier run: it may be hours of work, so the user decides.
    fn left_by_another(&self, path: &Path) -> Failure {
        let this = Origin::new(&self.inputs);
        let (done, earlier) = match Origin::of_checkpoint(path) {
            Some((about, origin)) => {
                let what = if is_reading(path) { "of its text read" } else { "done" };
                (format!(" ({:.1} % {what})", 100.0 * about.done), origin)
            }
            None => (String::new(), Origin::default()),
        };
        let earlier = if earlier.is_known() { earlier.command() } else { this.command() };
        Failure::Choice {
            message: format!(
                "{} was left by an earlier run{done} and is not overwritten; continue from it, or start again and replace it:",
                path.display()
            ),
            commands: [format!("{earlier} --resume"), format!("{} --restart", this.command())],
        }
    }

    fn tell_of_checkpoints(&self) {
        let before = self.kept.iter().find(|(_, before)| before.is_some()).map(|(path, _)| path.display());
        match (self.files.resume, before) {
            (true, None) => {
                let checkpoint = self.kept[0].0.display();
                output::warn(&format!("there is no checkpoint {checkpoint}; training starts from the beginning"));
            }
            (false, Some(path)) => output::note(&format!("replacing {path} of an earlier run")),
            _ => {}
        }
    }

    /// Whether a kept file belongs to this run: the run was resumed from it, or has written it.
    fn is_ours(&self, path: &Path, before: Option<SystemTime>) -> bool {
        let now = modified(path);
        now.is_some() && (self.files.resume || now != before)
    }

    fn tell<M: SentenceEncoder>(&self, outcome: Outcome<M>) -> Result {
        let output = &self.files.output;
        let bytes = fs::metadata(output).map_or(0, |file| file.len());
        outcome.lines.iter().for_each(|line| output::note(line));
        output::note(&format!("{} written ({})", output.display(), output::bytes(bytes)));
        let terms = ModelFile::open(output).ok().and_then(|file| file.terms().map(str::to_owned));
        if let Some(terms) = &terms {
            output::note(&format!("terms of the model: {terms}"));
        }
        let of_first = outcome.unlearned.first_stage.map(|warning| format!("stage 1: {}", shown(&warning)));
        of_first.iter().for_each(|warning| output::warn(warning));
        let check = self.check(outcome.sample.as_ref(), &outcome.model);
        let is_warned_of = check.as_ref().is_some_and(|check| !check["loss"].is_null());
        if let Some(warning) = outcome.unlearned.model.filter(|_| !is_warned_of) {
            output::warn(&shown(&warning));
        }
        if self.files.json {
            let mut facts = outcome.facts;
            facts.extend(check.map(|check| ("check".to_owned(), check)));
            facts.insert("model".into(), json!(output.display().to_string()));
            facts.insert("model_bytes".into(), json!(bytes));
            facts.extend(terms.map(|terms| ("terms".to_owned(), json!(terms))));
            output::print_json(&facts)?;
        }
        let Some(error) = outcome.stopped.error() else { return Ok(()) };
        output::warn(&format!("{} is the best model before that", output.display()));
        Err(error.into())
    }

    /// Checks the written model and prints the report; returns it as JSON.
    fn check<M: SentenceEncoder>(&self, sample: Option<&(CheckText, CheckParams)>, model: &M) -> Option<Value> {
        let (text, params) = sample?;
        match senv::check(model, text, params) {
            Ok(check) => {
                check_report::lines(&check).iter().for_each(|line| output::note(line));
                check_report::warn_of(&check);
                Some(check_report::json(&check))
            }
            Err(error) => {
                // The model is written even if its check fails.
                output::warn(&format!("the model could not be checked: {error}"));
                None
            }
        }
    }

    /// The failure of a run before its training started. What was read of a large text is kept, and so is the work of
    /// an earlier run.
    fn not_trained(&self, error: senv::Error) -> Failure {
        let senv::Error::Core(senv_core::Error::Interrupted { action }) = error else { return error.into() };
        let kept = self.kept.iter().find(|(path, before)| self.is_ours(path, *before));
        let Some((path, _)) = kept.filter(|_| !self.reads_stdin) else { return before_training(error) };
        let done = match Origin::of_checkpoint(path) {
            Some((about, _)) if is_reading(path) => format!("at {:.1} % of the text", 100.0 * about.done),
            _ => format!("while {action}"),
        };
        let path = path.display();
        output::warn(&format!("stopped {done}; {path} is kept, run the same command with --resume to continue"));
        Failure::Interrupted
    }

    fn interrupted(&self, done: f64) -> Failure {
        let how = if self.reads_stdin {
            "to continue, write the text to a file and run the same command with that --input and --resume"
        } else {
            "run the same command with --resume to continue"
        };
        let ours = self.kept.iter().rev().find(|(path, before)| self.is_ours(path, *before));
        let checkpoint = ours.unwrap_or(&self.kept[0]).0.display();
        output::warn(&format!("stopped at {:.1} %, {checkpoint} written; {how}", 100.0 * done));
        Failure::Interrupted
    }

    /// A file could not be written where it should be.
    fn not_written(
        &self,
        what: &str,
        output: &Path,
        error: senv::Error,
        save: impl Fn(&Path) -> senv::Result<()>,
    ) -> Failure {
        output::warn(&format!("could not write {}; trying another folder", output.display()));
        self.rescue((what, output), Box::new(error), save)
    }

    /// Saves hours of work to the first folder that can be written: a new private one, in which nobody else can have
    /// put a file or a link.
    fn rescue(
        &self,
        (what, output): (&str, &Path),
        error: Box<dyn Error + Send + Sync>,
        save: impl Fn(&Path) -> senv::Result<()>,
    ) -> Failure {
        let beside = self.kept[0].0.parent().map(Path::to_owned);
        let folders = [std::env::current_dir().ok(), Some(std::env::temp_dir()), beside];
        let rescued = folders.into_iter().flatten().find_map(|folder| {
            let mut private = tempfile::Builder::new();
            private.prefix("senv-rescued-");
            #[cfg(unix)]
            private.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
            // If saving fails, dropping it removes what was written.
            let private = private.tempdir_in(folder).ok()?;
            let path = private.path().join(file_name(output));
            save(&path).or_else(|error| if is_done(&error) { Ok(()) } else { Err(error) }).ok()?;
            let _ = private.keep();
            Some(path)
        });
        let kept = self.kept.iter().rev().find(|(path, before)| self.is_ours(path, *before));
        match (rescued, kept) {
            (Some(path), _) => output::warn(&format!("{what} is saved as {} instead; move it", path.display())),
            (None, Some((checkpoint, _))) => output::warn(&format!(
                "{what} is lost, but the checkpoint {} is kept; free disk space and use --resume",
                checkpoint.display()
            )),
            (None, None) => output::warn(&format!("{what} is lost, because no folder could be written")),
        }
        Failure::Failed(error)
    }
}

/// Refuses a pipe as checkpoint: opening it would wait, and nothing can be resumed from it.
fn refuse_pipe(path: &Path) -> Result {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if fs::metadata(path).is_ok_and(|file| file.file_type().is_fifo()) {
            let reason = "a checkpoint cannot be a pipe; remove it, or give another --checkpoint".to_owned();
            return Err(senv_core::Error::BadFile { path: path.to_owned(), reason }.into());
        }
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

/// Whether a checkpoint was written while a text, or pairs, were being read.
fn is_reading(checkpoint: &Path) -> bool {
    senv_core::checkpoint::kind(checkpoint).is_ok_and(|kind| READINGS.contains(&kind.as_str()))
}

/// The failure of a run before its training started, such as a signal.
pub(crate) fn before_training(error: senv::Error) -> Failure {
    let senv::Error::Core(senv_core::Error::Interrupted { action }) = error else { return error.into() };
    output::warn(&format!("stopped while {action}; nothing was trained or written"));
    Failure::Interrupted
}

/// Refuses to continue with other settings before the data are read; the trainer compares the rest.
fn check_resumed(checkpoint: &Path, this: &Origin) -> Result {
    if checkpoint.exists() {
        // Other files cannot be continued from and would not be replaced. A damaged checkpoint is found before a large
        // text is read.
        senv_core::checkpoint::verify(checkpoint)?;
    }
    let Some((_, earlier)) = Origin::of_checkpoint(checkpoint) else { return Ok(()) };
    let different = earlier.differences(this).unwrap_or_default();
    if different.is_empty() {
        return Ok(());
    }
    Err(Failure::Choice {
        message: format!(
            "{} was written with other settings ({}); continue with those, or start again and replace it:",
            checkpoint.display(),
            different.join(", "),
        ),
        commands: [format!("{} --resume", earlier.command()), format!("{} --restart", this.command())],
    })
}
