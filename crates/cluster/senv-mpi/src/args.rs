//! Arguments of a run, and hyperparameters of a system as its library declares them.

use std::{path::PathBuf, time::Duration};

use clap::{
    Arg, ArgAction, ArgMatches, Command,
    builder::{PossibleValuesParser, Str},
    value_parser,
};
use senv::TextSystem;
use senv_core::{
    TextOptions,
    text::{InvalidUtf8, TableText},
};

use crate::Result;

const POLICIES: [(&str, InvalidUtf8); 4] = [
    ("error", InvalidUtf8::Error),
    ("replace", InvalidUtf8::Replace),
    ("windows-1252", InvalidUtf8::Windows1252),
    ("latin1", InvalidUtf8::Windows1252),
];

/// The command line without the systems.
pub(crate) fn program() -> Command {
    Command::new("senv-mpi")
        .about("Train one model on several machines, with one or more processes (ranks) on each")
        .after_help(
            "Example: mpirun -n 4 senv-mpi sent2vec --input text.txt --output model.senv\n\nAll ranks read the text, \
            so put it where all of them can read it; each learns from its part. The same number of ranks gives the \
            same bits. Rank 0 writes the model, which `senv` can open.",
        )
        .version(env!("CARGO_PKG_VERSION"))
        .subcommand_required(true)
        .arg_required_else_help(true)
}

/// The command of a system.
pub(crate) fn system<S: TextSystem>() -> Command {
    let path = |name: &'static str| Arg::new(name).long(name).value_name("FILE").value_parser(value_parser!(PathBuf));
    let mut command = Command::new(S::ABOUT.name)
        .about(S::ABOUT.summary)
        .next_help_heading("Files")
        .arg(path("input").short('i').num_args(1..).required(true).help(
            "Text, one sentence per line; plain, .gz or \
            .zst",
        ))
        .arg(path("output").short('o').required(true).help("The model to write"))
        .arg(path("checkpoint").help(
            "Where to write checkpoints; each rank appends its number. A checkpoint is twice the size of the tables, \
            and each rank also keeps the previous one [default: MODEL.checkpoint]",
        ))
        .arg(
            Arg::new("checkpoint_every")
                .long("checkpoint-every")
                .value_name("SECONDS")
                .value_parser(|text: &str| text.parse().map(Duration::from_secs))
                .default_value("1800")
                .help("Time between checkpoints"),
        )
        .arg(flag(
            "resume",
            "Continue from the checkpoints, if there are any; the number of ranks, text and settings \
            must be the same",
        ))
        .arg(flag("restart", "Start over, even if an earlier run left checkpoints").conflicts_with("resume"))
        .arg(flag("force", "Overwrite the model"))
        .arg(path("scratch").value_name("DIR").help("Folder for temporary files [default: the system's]"))
        .next_help_heading("Text")
        .arg(
            Arg::new("column")
                .long("column")
                .value_name("NAME")
                .help("Read this column of CSV or TSV, by title or by number (from 1), or this field of JSON lines"),
        )
        .arg(
            Arg::new("delimiter")
                .long("delimiter")
                .value_name("CHAR")
                .requires("column")
                .value_parser(|text: &str| delimiter(text))
                .help("Character between the fields of CSV and TSV, or tab [default: recognized]"),
        )
        .arg(
            Arg::new("invalid_utf8")
                .long("invalid-utf8")
                .value_name("POLICY")
                .value_parser(PossibleValuesParser::new(POLICIES.map(|(name, _)| name)))
                .default_value(POLICIES[0].0)
                .help(
                    "What to do with a line that is not UTF-8: stop, replace invalid bytes with U+FFFD, or read it \
                    as windows-1252 (latin1 is another name for it)",
                ),
        )
        .arg(
            Arg::new("max_line_bytes")
                .long("max-line-bytes")
                .value_name("N")
                .value_parser(value_parser!(usize))
                .help("Longest accepted line, in bytes [default: 1048576]"),
        )
        .next_help_heading("Training")
        .arg(flag("no_check", "Do not check the model on a sample of the text"))
        .arg(
            Arg::new("threads")
                .long("threads")
                .value_name("N")
                .value_parser(value_parser!(usize))
                .default_value("1")
                .help("Threads per rank"),
        );
    if !S::NAMED_SETTINGS.is_empty() {
        let names = S::NAMED_SETTINGS.iter().map(|named| named.name);
        let preset = Arg::new("preset").long("preset").value_name("NAME");
        command = command.arg(preset.value_parser(PossibleValuesParser::new(names)).help(S::ABOUT.preset));
    }
    for parameter in S::default().hyperparameters() {
        let default = parameter
            .value
            .as_ref()
            .map_or_else(|| "; by default, fitted to the text".to_owned(), |value| format!(" [default: {value}]"));
        let check = parameter.check;
        let arg = Arg::new(parameter.name)
            .long(Str::from(parameter.name.replace('_', "-")))
            .value_name(parameter.placeholder)
            .allow_hyphen_values(true)
            .value_parser(move |text: &str| check(text).map(|()| text.to_owned()))
            .help(parameter.help() + &default);
        command = command.arg(arg);
    }
    command
}

/// Parses a character between fields.
fn delimiter(text: &str) -> std::result::Result<u8, String> {
    match (text, text.as_bytes()) {
        ("tab" | "\\t", _) => Ok(b'\t'),
        (_, &[byte]) if byte.is_ascii() && !b"\"\r\n".contains(&byte) => Ok(byte),
        _ => Err("expected one ASCII character such as ; or tab".to_owned()),
    }
}

/// How the lines of the text are read.
pub(crate) fn text(args: &ArgMatches) -> TextOptions {
    let defaults = TextOptions::default();
    let policy = args.get_one::<String>("invalid_utf8");
    let policy = policy.and_then(|name| POLICIES.into_iter().find(|(other, _)| other == name));
    TextOptions {
        invalid_utf8: policy.map_or(defaults.invalid_utf8, |(_, policy)| policy),
        max_line_bytes: args.get_one("max_line_bytes").copied().unwrap_or(defaults.max_line_bytes),
        table: args
            .get_one::<String>("column")
            .map(|name| TableText { delimiter: args.get_one("delimiter").copied(), ..TableText::column(name) }),
        ..defaults
    }
}

fn flag(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(Str::from(name.replace('_', "-"))).action(ArgAction::SetTrue).help(help)
}

/// The hyperparameters that the arguments set.
pub(crate) fn params<S: TextSystem>(args: &ArgMatches) -> Result<S> {
    let preset = if S::NAMED_SETTINGS.is_empty() { None } else { args.get_one::<String>("preset") };
    let named = preset.and_then(|name| S::NAMED_SETTINGS.iter().find(|named| named.name == name));
    let mut params = named.map_or_else(S::default, |named| (named.settings)());
    for parameter in S::default().hyperparameters() {
        if let Some(value) = args.get_one::<String>(parameter.name) {
            params.set(parameter.name, value)?;
        }
    }
    Ok(params)
}
