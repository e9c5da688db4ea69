//! `senv completions`: completion scripts for shells.

use clap_complete::Shell;

use crate::{command_line, failure::Result, output};

/// Print a completion script for a shell.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  senv completions bash > ~/.local/share/bash-completion/completions/senv
  senv completions zsh > ~/.zfunc/_senv
  senv completions fish > ~/.config/fish/completions/senv.fish")]
pub(crate) struct Completions {
    /// Shell to complete in.
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(self) -> Result {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command_line::command(), "senv", &mut script);
        output::print(&String::from_utf8_lossy(&script))
    }
}
