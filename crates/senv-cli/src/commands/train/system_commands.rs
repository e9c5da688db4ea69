//! The commands of the systems, built from their descriptions.

use std::fmt;

use clap::{ArgMatches, Args, Command, FromArgMatches};
use senv::{
    CaptionRepParams, DictRepParams, OrderParams, PThoughtParams, PairSystem, SnliParams, StudentParams, System,
    TextSystem, model::SavedModel, system::About,
};

use super::{
    hyper_args::Shown,
    order::OrderArgs,
    p_thought::PThoughtArgs,
    pair_args::PairArgs,
    pairs,
    running_text::{ReadsRunningText, RunningTextArgs},
    snli::SnliArgs,
    student::StudentArgs,
    targets::{CaptionRepArgs, DictRepArgs},
    text_run,
    text_systems::SystemArgs,
};
use crate::failure::Result;

/// A command that was parsed.
pub(crate) trait Run: fmt::Debug {
    fn run(&self, threads: usize) -> Result;
}

/// The command of a system.
pub(crate) struct SystemCommand {
    pub(crate) about: About,
    augment: fn(Command) -> Command,
    parse: fn(&ArgMatches) -> std::result::Result<Box<dyn Run>, clap::Error>,
}

impl SystemCommand {
    /// The command of the system `S` with the arguments `A`.
    fn of<S: System, A: Args + FromArgMatches + Run + 'static>() -> Self {
        Self { about: S::ABOUT, augment: A::augment_args, parse: |matches| Ok(Box::new(A::from_arg_matches(matches)?)) }
    }

    /// The command, with its help.
    pub(crate) fn command(&self) -> Command {
        let About { name, summary, examples, note, .. } = self.about;
        let title = if examples.len() == 1 { "Example" } else { "Examples" };
        let (examples, line) = (examples.join("\n  "), if note.is_empty() { "" } else { "\n" });
        let help = format!(
            "{title}:\n  {examples}\n\n{note}{line}Ctrl-C saves a checkpoint and stops; run the same command with --resume to \
             continue."
        );
        (self.augment)(Command::new(name)).about(summary).after_help(help)
    }

    pub(crate) fn parse(&self, matches: &ArgMatches) -> std::result::Result<Box<dyn Run>, clap::Error> {
        (self.parse)(matches)
    }
}

macro_rules! on_text {
    ($($params:ident),+) => { [$(SystemCommand::of::<senv::$params, SystemArgs<senv::$params>>()),+] };
}
macro_rules! on_pairs {
    ($($params:ident),+) => { [$(SystemCommand::of::<senv::$params, PairArgs<senv::$params>>()),+] };
}
macro_rules! on_running_text {
    ($($params:ident),+) => { [$(SystemCommand::of::<senv::$params, RunningTextArgs<senv::$params>>()),+] };
}

/// The commands of all systems that are trained from the start, in the order of the help.
pub(crate) fn system_commands() -> Vec<SystemCommand> {
    let mut all = Vec::from(senv::text_systems!(on_text));
    all.extend(senv::pair_systems!(on_pairs));
    all.extend(senv::running_text_systems!(on_running_text));
    all.extend([
        SystemCommand::of::<SnliParams, SnliArgs>(),
        SystemCommand::of::<PThoughtParams, PThoughtArgs>(),
        SystemCommand::of::<DictRepParams, DictRepArgs>(),
        SystemCommand::of::<CaptionRepParams, CaptionRepArgs>(),
        SystemCommand::of::<StudentParams, StudentArgs>(),
        SystemCommand::of::<OrderParams, OrderArgs>(),
    ]);
    all
}

impl<S: TextSystem<Model: SavedModel> + Shown + fmt::Debug> Run for SystemArgs<S> {
    fn run(&self, threads: usize) -> Result {
        text_run::run(self, threads)
    }
}

impl<S: PairSystem + Shown + fmt::Debug> Run for PairArgs<S> {
    fn run(&self, threads: usize) -> Result {
        pairs::train(self, threads)
    }
}

impl<S: ReadsRunningText + Shown + fmt::Debug> Run for RunningTextArgs<S> {
    fn run(&self, threads: usize) -> Result {
        self.train(threads)
    }
}

impl Run for SnliArgs {
    fn run(&self, threads: usize) -> Result {
        self.train(threads)
    }
}

impl Run for PThoughtArgs {
    fn run(&self, threads: usize) -> Result {
        self.train(threads)
    }
}

impl Run for DictRepArgs {
    fn run(&self, threads: usize) -> Result {
        self.train(threads)
    }
}

impl Run for CaptionRepArgs {
    fn run(&self, threads: usize) -> Result {
        self.train(threads)
    }
}

impl Run for StudentArgs {
    fn run(&self, threads: usize) -> Result {
        self.train(threads)
    }
}

impl Run for OrderArgs {
    fn run(&self, threads: usize) -> Result {
        self.train(threads)
    }
}
