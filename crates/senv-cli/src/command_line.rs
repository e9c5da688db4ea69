//! The whole command line, for what speaks of it below the commands: completions, the manual, the origin of a
//! checkpoint.

use std::sync::OnceLock;

use clap::Command;

static BUILD: OnceLock<fn() -> Command> = OnceLock::new();

/// Says how the command line is built: once, before a command runs.
pub(crate) fn define(build: fn() -> Command) {
    // A second call says the same.
    let _ = BUILD.set(build);
}

/// The command line; a bare name where it was not defined.
pub(crate) fn command() -> Command {
    BUILD.get().map_or_else(|| Command::new("senv"), |build| build())
}
