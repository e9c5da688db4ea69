//! `senv completions`: what a shell needs to complete commands and options.

use clap_complete::Shell;

use crate::{command_line, failure::Result, output};

/// Print a completion script for a shell.
///
/// Bash:  senv completions bash > ~/.local/share/bash-completion/completions/senv
/// Zsh:   senv completions zsh > ~/.zfunc/_senv
/// Fish:  senv completions fish > ~/.config/fish/completions/senv.fish
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Completions {
    /// The shell.
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(self) -> Result {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command_line::command(), "senv", &mut script);
        output::print(&String::from_utf8_lossy(&script))
    }
}
