//! `senv manual`: the reference of all commands, made from their own declarations.

use std::{io::Write, path::PathBuf};

use senv_core::{Error as CoreError, files::AtomicFile};

use crate::{
    command_line,
    failure::{Failure, Result},
    output,
    report::go_on,
};

/// Print the reference of all commands as Markdown, or write man pages.
///
/// senv manual > reference.md
/// senv manual --man ~/.local/share/man/man1
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Manual {
    /// Write a man page a command into this folder, which is made if it is not there.
    #[arg(long, value_name = "DIR")]
    man: Option<PathBuf>,
}

impl Manual {
    pub(crate) fn run(&self) -> Result {
        let mut command = command_line::command().term_width(100);
        command.build();
        let Some(folder) = &self.man else { return output::print(&markdown(&command)) };
        std::fs::create_dir_all(folder).map_err(|error| CoreError::io("create", folder, error))?;
        let n = pages(&command, "senv", folder)?;
        output::note(&format!("{n} man pages written to {}", folder.display()));
        Ok(())
    }
}

/// Writes the page of a command and those of the commands below it; returns their number.
fn pages(command: &clap::Command, name: &str, folder: &std::path::Path) -> Result<usize> {
    let mut page = Vec::new();
    let named = command.clone().name(name.to_owned()).bin_name(name.replace('-', " "));
    clap_mangen::Man::new(named).title(name.to_uppercase()).render(&mut page).map_err(Failure::stdout)?;
    let path = folder.join(format!("{name}.1"));
    let written = AtomicFile::write_with(&path, |file| file.write_all(&page));
    go_on(&path, written.map_err(Failure::from))?;
    let below = command.get_subcommands().filter(|below| below.get_name() != "help");
    below
        .map(|below| pages(below, &format!("{name}-{}", below.get_name()), folder))
        .sum::<Result<usize>>()
        .map(|n| n + 1)
}

/// The reference, a heading a command with the help that the command prints.
fn markdown(command: &clap::Command) -> String {
    let mut text = String::from(
        "# Reference of the program\n\nThe help of every command, as `senv COMMAND --help` prints it; made by `senv manual`.\n",
    );
    section(command, "senv", &mut text);
    text
}

fn section(command: &clap::Command, name: &str, text: &mut String) {
    let help = command.clone().bin_name(name).render_long_help().to_string();
    let help: Vec<&str> = help.lines().map(str::trim_end).collect();
    *text += &format!("\n## {name}\n\n```text\n{}\n```\n", help.join("\n").trim_end());
    for below in command.get_subcommands().filter(|below| below.get_name() != "help") {
        section(below, &format!("{name} {}", below.get_name()), text);
    }
}
