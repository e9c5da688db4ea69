//! The origin of a run: its command and its files, stored in its checkpoints.

use std::{
    any::TypeId,
    ffi::OsString,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use clap::{ArgMatches, Command};
use senv_core::checkpoint::{self, About};
use serde::{Deserialize, Serialize};

use crate::{
    argument::GLOBAL,
    command_line::{self, with_system_first},
};

/// Arguments that choose what happens to the work of an earlier run.
const CHOICES: [&str; 2] = ["--resume", "--restart"];
/// Headings of arguments that are not settings of a run; its checkpoint knows the data by their content.
const FILES: [&str; 2] = ["Files", GLOBAL];

/// The command of a run and its input files.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Origin {
    /// The arguments, starting with the name of the program, without `--resume` and `--restart`.
    command: Vec<String>,
    /// The files that it reads.
    pub(crate) files: Vec<InputFile>,
}

/// A file as it was when the run started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct InputFile {
    pub(crate) path: String,
    /// None for pipes and devices.
    pub(crate) bytes: Option<u64>,
}

static THIS_RUN: OnceLock<String> = OnceLock::new();

impl Origin {
    /// The origin of this run of the program.
    pub(super) fn new(files: &[PathBuf]) -> Self {
        let command = with_system_first(std::env::args_os())
            .into_iter()
            .skip(1)
            .map(|argument| argument.to_string_lossy().into_owned());
        let command = command.filter(|argument| !CHOICES.contains(&argument.as_str()));
        let bytes = |path: &Path| path.metadata().ok().filter(std::fs::Metadata::is_file).map(|file| file.len());
        let file = |path: &PathBuf| InputFile { path: path.display().to_string(), bytes: bytes(path) };
        Self {
            command: ["senv".to_owned()].into_iter().chain(command).collect(),
            files: files.iter().map(file).collect(),
        }
    }

    /// Makes this the origin stored in checkpoints.
    pub(super) fn set(&self) {
        let _ = THIS_RUN.set(serde_json::to_string(self).unwrap_or_default());
    }

    /// The origin of this run as checkpoints store it.
    pub(super) fn text() -> &'static str {
        THIS_RUN.get().map_or("", String::as_str)
    }

    /// The origin in a checkpoint, with its other facts.
    pub(crate) fn of_checkpoint(path: &Path) -> Option<(About, Self)> {
        let about = checkpoint::about(path).ok()?;
        let origin = serde_json::from_str(&about.origin).unwrap_or_default();
        Some((about, origin))
    }

    /// Whether the command is known.
    pub(crate) fn is_known(&self) -> bool {
        !self.command.is_empty()
    }

    /// The command, to be typed again.
    pub(crate) fn command(&self) -> String {
        self.command.iter().map(|argument| quoted(argument)).collect::<Vec<_>>().join(" ")
    }

    /// The settings in which another command differs; files are ignored, because they may have been renamed. None if
    /// one of the commands can no longer be parsed.
    pub(super) fn differences(&self, other: &Self) -> Option<Vec<String>> {
        let mut program = command_line::command();
        program.build();
        let [ours, theirs] = [self, other].map(|origin| program.clone().try_get_matches_from(&origin.command).ok());
        let (mut command, mut ours, mut theirs) = (&program, &ours?, &theirs?);
        let mut different = Vec::new();
        loop {
            different.extend(differing(command, ours, theirs));
            match (ours.subcommand(), theirs.subcommand()) {
                (Some((name, next)), Some((other, matches))) if name == other => {
                    command = command.find_subcommand(name)?;
                    (ours, theirs) = (next, matches);
                }
                (None, None) => return Some(different),
                (ours, theirs) => {
                    let name = |side: Option<(&str, _)>| side.map_or("no system", |(name, _)| name).to_owned();
                    return Some(vec![format!("{} instead of {}", name(theirs), name(ours))]);
                }
            }
        }
    }
}

/// The arguments of one command level with different values.
fn differing(command: &Command, ours: &ArgMatches, theirs: &ArgMatches) -> Vec<String> {
    let setting = |argument: &&clap::Arg| {
        let is_file = argument.get_value_parser().type_id() == TypeId::of::<PathBuf>();
        !is_file && argument.get_help_heading().is_none_or(|heading| !FILES.contains(&heading))
    };
    let values = |matches: &ArgMatches, id: &str| -> Vec<OsString> {
        let raw = matches.try_get_raw(id).ok().flatten();
        raw.map(|values| values.map(OsString::from).collect()).unwrap_or_default()
    };
    let differs = |argument: &&clap::Arg| {
        let id = argument.get_id().as_str();
        values(ours, id) != values(theirs, id)
    };
    let name = |argument: &clap::Arg| {
        argument.get_long().map_or_else(|| argument.get_id().to_string(), |long| format!("--{long}"))
    };
    command.get_arguments().filter(setting).filter(differs).map(name).collect()
}

/// An argument, quoted for a shell.
fn quoted(argument: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:=,+@%".contains(c);
    if !argument.is_empty() && argument.chars().all(is_plain) {
        return argument.to_owned();
    }
    format!("'{}'", argument.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(command: &str) -> Origin {
        Origin { command: command.split(' ').map(str::to_owned).collect(), files: Vec::new() }
    }

    #[test]
    fn commands_differ_by_their_settings_and_not_by_their_files() {
        command_line::define(crate::help::long_command);
        let old = origin("senv train sent2vec --input a.txt --output m.senv --dim 12 --threads 2");
        let of = |command: &str| old.differences(&origin(command));
        let none = Some(vec![]);
        assert_eq!(of("senv train sent2vec --dim=12 --output ./m.senv --input ./a.txt --checkpoint c"), none);
        assert_eq!(of("senv --threads 5 train sent2vec --input a.txt --output m.senv --dim 12 --json"), none);
        let other = of("senv train sent2vec --input a.txt --output m.senv --dim 13 --lr 0.1");
        assert_eq!(other, Some(vec!["--dim".to_owned(), "--lr".into()]));
        let other = of("senv train word2vec --input a.txt --output m.senv --dim 12");
        assert_eq!(other, Some(vec!["word2vec instead of sent2vec".to_owned()]));
        assert_eq!(
            of("senv train --input a.txt --output m.senv"),
            Some(vec!["no system instead of sent2vec".to_owned()])
        );
        assert_eq!(of("senv train sent2vec --no-such-argument"), None);
    }

    #[test]
    fn commands_can_be_typed_once_more() {
        let origin =
            Origin { command: ["senv", "train", "my text.txt", "it's", ""].map(str::to_owned).into(), files: vec![] };
        assert_eq!(origin.command(), "senv train 'my text.txt' 'it'\\''s' ''");
    }
}
