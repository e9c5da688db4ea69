//! The commands of the systems that train word vectors on running text: one each, out of the registry.

use std::fmt;

use clap::{ArgMatches, Command};
use senv::{About, SavedModel, TextSystem};

use super::{hyper_args::Shown, text_run, text_systems::SystemArgs};
use crate::failure::Result;

/// A command that was parsed.
pub(crate) trait Run: fmt::Debug {
    fn run(&self, threads: usize) -> Result;
}

/// The command of a system.
pub(crate) struct TextCommand {
    pub(crate) about: About,
    augment: fn(Command) -> Command,
    parse: fn(&ArgMatches) -> std::result::Result<Box<dyn Run>, clap::Error>,
}

impl TextCommand {
    fn of<S: TextSystem<Model: SavedModel> + Shown + fmt::Debug>() -> Self {
        Self {
            about: S::ABOUT,
            augment: SystemArgs::<S>::augment_args,
            parse: |matches| Ok(Box::new(SystemArgs::<S>::from_arg_matches(matches)?)),
        }
    }

    /// The command, with its help.
    pub(crate) fn command(&self) -> Command {
        let About { name, summary, examples, .. } = self.about;
        let title = if examples.len() == 1 { "Example" } else { "Examples" };
        let examples = examples.join("\n  ");
        let help = format!(
            "{title}:\n  {examples}\n\nCtrl-C writes a checkpoint and stops; the same command with --resume goes on from there."
        );
        (self.augment)(Command::new(name)).about(summary).after_help(help)
    }

    pub(crate) fn parse(&self, matches: &ArgMatches) -> std::result::Result<Box<dyn Run>, clap::Error> {
        (self.parse)(matches)
    }
}

macro_rules! commands {
    ($($params:ident),+) => { vec![$(TextCommand::of::<senv::$params>()),+] };
}

/// The commands of all of them, in the order of help.
pub(crate) fn text_commands() -> Vec<TextCommand> {
    senv::text_systems!(commands)
}

impl<S: TextSystem<Model: SavedModel> + Shown + fmt::Debug> Run for SystemArgs<S> {
    fn run(&self, threads: usize) -> Result {
        text_run::run(self, threads)
    }
}
