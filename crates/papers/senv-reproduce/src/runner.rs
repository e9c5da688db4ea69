//! Runs the steps of a plan by starting the program, and stores the result of each, so that nothing runs twice.

use std::{
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use senv_core::{Error as CoreError, files::AtomicFile};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    error::Result,
    observer::{Remaining, RunObserver},
    options::Options,
    plan::{Plan, PlannedCommand},
};

/// The stored result of a finished step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// The command as a user types it.
    pub(crate) command: String,
    /// Wall time in seconds.
    pub(crate) seconds: f64,
    /// The requested number of threads; 0 for all cores.
    pub(crate) threads: usize,
    /// The version of senv.
    pub(crate) version: String,
    /// Its JSON output, printed or written to a file.
    pub(crate) output: Value,
}

/// The state of a planned command.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum CommandState {
    /// It has not run.
    Open,
    /// It has run.
    Done(Record),
    /// It cannot run, or it failed, for this reason.
    Not(String),
}

/// Runs the steps of a plan in a folder.
#[derive(Debug)]
pub(crate) struct Runner<'a> {
    plan: &'a Plan,
    options: &'a Options,
    pub(crate) states: Vec<CommandState>,
    /// Seconds that the finished steps of this run took, and the seconds expected of them.
    taken: [f64; 2],
    n_run: usize,
    /// Whether a command failed.
    pub(crate) failed: bool,
}

impl<'a> Runner<'a> {
    /// Reads the results that the folder already contains.
    ///
    /// # Errors
    /// Returns an error if the folders of a run cannot be created.
    pub(crate) fn new(plan: &'a Plan, options: &'a Options) -> Result<Self> {
        let folder = &options.output;
        for name in ["runs", "logs", "figures"] {
            let path = folder.join(name);
            fs::create_dir_all(&path).map_err(|error| CoreError::io("create", &path, error))?;
        }
        let state = |step: &PlannedCommand| match &step.missing {
            Some(reason) => CommandState::Not(reason.clone()),
            None => record(folder, &step.key).map_or(CommandState::Open, CommandState::Done),
        };
        Ok(Self {
            plan,
            options,
            states: plan.steps.iter().map(state).collect(),
            taken: [0.0; 2],
            n_run: 0,
            failed: false,
        })
    }

    /// Runs a step after the steps that it needs. Returns `false` if there was nothing to do. A failed command is
    /// recorded and is not an error.
    ///
    /// # Errors
    /// Returns an error if the observer stops the run, or if the result of a step cannot be stored.
    pub(crate) fn run(&mut self, step: usize, observer: &dyn RunObserver) -> Result<bool> {
        if self.states[step] != CommandState::Open {
            return Ok(false);
        }
        let plan = self.plan;
        for &needed in &plan.steps[step].needs {
            if matches!(self.states[needed], CommandState::Done(_)) && !self.has_model(needed) {
                self.states[needed] = CommandState::Open;
            }
            self.run(needed, observer)?;
            if let CommandState::Not(reason) = &self.states[needed] {
                self.states[step] = CommandState::Not(reason.clone());
                return Ok(true);
            }
        }
        self.states[step] = self.start(&plan.steps[step], observer)?;
        if self.options.remove_models {
            self.remove_models();
        }
        Ok(true)
    }

    /// Removes finished models that no remaining step reads, with their vector files.
    fn remove_models(&self) {
        let is_left = |step: &usize| self.states[*step] == CommandState::Open;
        let needed: Vec<usize> =
            (0..self.states.len()).filter(is_left).flat_map(|step| &self.plan.steps[step].needs).copied().collect();
        for (step, planned) in self.plan.steps.iter().enumerate() {
            let Some(model) = &planned.model else { continue };
            if matches!(self.states[step], CommandState::Done(_)) && !needed.contains(&step) {
                // A file that cannot be removed does no harm.
                let _ = fs::remove_file(model);
                let _ = fs::remove_file(model.with_extension("npy"));
            }
        }
    }

    fn has_model(&self, step: usize) -> bool {
        self.plan.steps[step].model.as_ref().is_none_or(|path| path.is_file())
    }

    /// Returns the steps that remain to run for these, including the models that they need.
    fn left(&self, wanted: &[usize]) -> Vec<usize> {
        let mut left = Vec::new();
        for &step in wanted {
            self.add_left(step, &mut left);
        }
        left
    }

    fn add_left(&self, step: usize, left: &mut Vec<usize>) {
        if left.contains(&step) || self.states[step] != CommandState::Open {
            return;
        }
        for &needed in &self.plan.steps[step].needs {
            let is_gone = matches!(self.states[needed], CommandState::Done(_)) && !self.has_model(needed);
            if is_gone && !left.contains(&needed) {
                left.push(needed);
            }
            self.add_left(needed, left);
        }
        left.push(step);
    }

    /// Returns the expected seconds of a step and of the remaining steps that it needs.
    pub(crate) fn cost(&self, step: usize) -> f64 {
        self.left(&[step]).iter().map(|&step| self.plan.steps[step].seconds).sum()
    }

    /// Estimates the seconds that these steps will take, scaled by how long the others took compared with expectation.
    fn estimate(&self, left: &[usize]) -> f64 {
        let expected: f64 = left.iter().map(|&step| self.plan.steps[step].seconds).sum();
        let [taken, of_those] = self.taken;
        // Adding one second on both sides limits the influence of the first short steps.
        expected * (taken + 1.0) / (of_those + 1.0)
    }

    /// Reports the remaining work before a step.
    pub(crate) fn announce(&self, step: usize, wanted: &[usize], observer: &dyn RunObserver) {
        let left = self.left(wanted);
        if left.is_empty() || self.states[step] != CommandState::Open {
            return;
        }
        let time = Duration::try_from_secs_f64(self.estimate(&left)).unwrap_or_default();
        observer.remaining(&Remaining { commands: left.len(), of: self.n_run + left.len(), time });
    }

    fn start(&mut self, step: &PlannedCommand, observer: &dyn RunObserver) -> Result<CommandState> {
        go_on(observer)?;
        observer.started(&step.shown);
        let Options { output: folder, program, threads, .. } = self.options;
        let out = folder.join("runs").join(format!("{}.out", step.key));
        let log = folder.join("logs").join(format!("{}.log", step.key));
        let create = |path: &Path| File::create(path).map_err(|error| CoreError::io("create", path, error));
        let mut command = Command::new(program);
        command.args(&step.arguments);
        let has_threads = step.arguments.iter().any(|argument| argument == "--threads");
        if *threads > 0 && !has_threads {
            command.args(["--threads", &threads.to_string()]);
        }
        if let Some(model) = &step.model {
            // Resume from the checkpoint of a stopped run.
            if has_checkpoint(model) {
                command.arg("--resume");
            }
        }
        command.stdin(Stdio::null()).stdout(create(&out)?).stderr(create(&log)?);
        let started = Instant::now();
        let child = command.spawn().map_err(|error| CoreError::io("start", program, error))?;
        let status = self.wait(child, observer)?;
        let time = started.elapsed();
        let seconds = time.as_secs_f64();
        self.n_run += 1;
        self.taken[0] += seconds;
        self.taken[1] += step.seconds;
        let printed = fs::read_to_string(&out).unwrap_or_default();
        let _ = fs::remove_file(&out);
        go_on(observer)?;
        let state = self.outcome(step, status, &printed, seconds, &log)?;
        observer.ended(&step.shown, if let CommandState::Not(reason) = &state { Err(reason) } else { Ok(time) });
        Ok(state)
    }

    fn outcome(
        &mut self,
        step: &PlannedCommand,
        status: ExitStatus,
        printed: &str,
        seconds: f64,
        log: &Path,
    ) -> Result<CommandState> {
        let said = || {
            let text = fs::read_to_string(log).unwrap_or_default();
            let line = text.lines().rev().find(|line| line.contains("error")).or_else(|| text.lines().last());
            let line = line.unwrap_or("no output").trim_start_matches("error: ");
            format!("{line} (log: {})", log.display())
        };
        if !status.success() {
            self.failed = true;
            return Ok(CommandState::Not(said()));
        }
        let text = match &step.result {
            Some(path) => fs::read_to_string(path).unwrap_or_default(),
            None => printed.to_owned(),
        };
        let output = json_of(&text);
        if let Some(path) = &step.result {
            let _ = fs::remove_file(path);
        }
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let record = Record { command: step.shown.clone(), seconds, threads: self.options.threads, version, output };
        let path = record_path(&self.options.output, &step.key);
        let text = serde_json::to_string(&record).map_err(|error| CoreError::io("write", &path, error.into()))?;
        AtomicFile::write_with(&path, |file| file.write_all(text.as_bytes()))?;
        Ok(CommandState::Done(record))
    }

    /// Waits for a command. If the run is stopped, asks the command to end, so that training can write a checkpoint.
    fn wait(&self, mut child: Child, observer: &dyn RunObserver) -> Result<ExitStatus> {
        let mut is_asked = false;
        loop {
            let ended = child.try_wait().map_err(|error| CoreError::io("wait for", &self.options.program, error))?;
            if let Some(status) = ended {
                return Ok(status);
            }
            if !is_asked && observer.stops() {
                is_asked = true;
                ask_to_end(&mut child);
            }
            thread::sleep(Duration::from_millis(50));
        }
    }
}

/// Parses printed JSON. No output is `null`, and several objects become the `lines` of one object.
fn json_of(text: &str) -> Value {
    let values: Option<Vec<Value>> =
        serde_json::Deserializer::from_str(text).into_iter().map(|value| value.ok()).collect();
    match values {
        Some(mut values) if values.len() == 1 => values.remove(0),
        Some(values) if values.len() > 1 => serde_json::json!({ "lines": values }),
        _ => Value::Null,
    }
}

/// Returns an error if the run should stop.
fn go_on(observer: &dyn RunObserver) -> Result<()> {
    let action = "running the commands";
    if observer.stops() { Err(CoreError::Interrupted { action }.into()) } else { Ok(()) }
}

/// Asks a process to end. On a terminal Ctrl-C reaches the process too; it counts two requests within half a second as
/// one.
fn ask_to_end(child: &mut Child) {
    let asked = cfg!(unix)
        && Command::new("kill").args(["-TERM", &child.id().to_string()]).status().is_ok_and(|status| status.success());
    if !asked {
        let _ = child.kill();
    }
}

/// Returns whether a stopped run has left a checkpoint, of the whole training or of one of its stages or parts.
fn has_checkpoint(model: &Path) -> bool {
    let has = |stage: &str| {
        let mut name = model.as_os_str().to_owned();
        name.push(".checkpoint");
        name.push(stage);
        PathBuf::from(name).is_file()
    };
    ["", ".stage1", ".stage2", ".part1", ".part2"].into_iter().any(has)
}

fn record_path(folder: &Path, key: &str) -> PathBuf {
    folder.join("runs").join(format!("{key}.json"))
}

/// Reads the stored result of a step.
fn record(folder: &Path, key: &str) -> Option<Record> {
    serde_json::from_str(&fs::read_to_string(record_path(folder, key)).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lines_of_json_are_one_value() {
        assert_eq!(json_of("{\"a\": 1}\n"), json!({"a": 1}));
        assert_eq!(json_of("{\"a\": 1}\n{\"a\": 2}\n"), json!({"lines": [{"a": 1}, {"a": 2}]}));
        assert_eq!(
            [json_of(""), json_of("a table"), json_of("{\"a\": 1}\nand more")],
            [Value::Null, Value::Null, Value::Null]
        );
    }
}
