//! The whole command line, for what speaks of it below the commands: completions, the manual, the origin of a
//! checkpoint.

use std::sync::OnceLock;

use clap::{ArgMatches, Command};

static BUILD: OnceLock<fn() -> Command> = OnceLock::new();

/// The names of the command that runs, `train` and `sent2vec`.
static PATH: OnceLock<Vec<String>> = OnceLock::new();

/// Says how the command line is built: once, before a command runs.
pub(crate) fn define(build: fn() -> Command) {
    // A second call says the same.
    let _ = BUILD.set(build);
}

/// The command line; a bare name where it was not defined.
pub(crate) fn command() -> Command {
    BUILD.get().map_or_else(|| Command::new("senv"), |build| build())
}

/// Says which command runs: once, before it does.
pub(crate) fn choose(matches: &ArgMatches) {
    let mut names = Vec::new();
    let mut within = matches;
    while let Some((name, matches)) = within.subcommand() {
        names.push(name.to_owned());
        within = matches;
    }
    // A second call says the same.
    let _ = PATH.set(names);
}

/// The names of the command that runs; none before it is chosen.
pub(crate) fn path() -> &'static [String] {
    PATH.get().map_or(&[], Vec::as_slice)
}

/// Whether the command that runs has this option, by its long name; true where no command was chosen.
pub(crate) fn has_option(name: &str) -> bool {
    if path().is_empty() {
        return true;
    }
    let mut whole = command();
    whole.build();
    let mut its = &whole;
    for name in path() {
        let Some(within) = its.find_subcommand(name) else { return true };
        its = within;
    }
    its.get_arguments().any(|argument| argument.get_long() == Some(name))
}
