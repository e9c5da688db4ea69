//! The whole command line, for the modules below the commands: completions, the manual, the origin of a checkpoint.

use std::{
    ffi::{OsStr, OsString},
    path::Path,
    sync::OnceLock,
};

use clap::{Arg, ArgMatches, Command};

static BUILD: OnceLock<fn() -> Command> = OnceLock::new();

/// The names of the command that runs, `train` and `sent2vec`.
static PATH: OnceLock<Vec<String>> = OnceLock::new();

/// Sets how the command line is built: once, before a command runs.
pub(crate) fn define(build: fn() -> Command) {
    // A second call sets the same.
    let _ = BUILD.set(build);
}

/// The command line; a bare name if it was not defined.
pub(crate) fn command() -> Command {
    BUILD.get().map_or_else(|| Command::new("senv"), |build| build())
}

/// Sets which command runs: once, before it does.
pub(crate) fn choose(matches: &ArgMatches) {
    let mut names = Vec::new();
    let mut within = matches;
    while let Some((name, matches)) = within.subcommand() {
        names.push(name.to_owned());
        within = matches;
    }
    // A second call sets the same.
    let _ = PATH.set(names);
}

/// Whether the command that runs has a flag of this name, and it is given.
pub(crate) fn has_flag(matches: &ArgMatches, name: &str) -> bool {
    let mut within = matches;
    while let Some((_, matches)) = within.subcommand() {
        within = matches;
    }
    within.try_get_one::<bool>(name).ok().flatten() == Some(&true)
}

/// The names of the command that runs; none before it is chosen.
pub(crate) fn path() -> &'static [String] {
    PATH.get().map_or(&[], Vec::as_slice)
}

/// Moves global options in front of `train`, after which the name of a system must come first: `senv train -q sent2vec`
/// becomes `senv -q train sent2vec`.
pub(crate) fn with_system_first(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = arguments.into_iter().collect();
    let Some(mut train) = (1..arguments.len()).find(|&at| arguments[at] == "train") else { return arguments };
    if length_of_global(&arguments[1..train]).is_none() {
        return arguments;
    }
    while let Some(n @ 1..) = length_of_first(&arguments[train + 1..]) {
        arguments[train..=train + n].rotate_left(1);
        train += n;
    }
    arguments
}

/// Writes negative numbers in the form that the parser of arguments knows: `-.5` and `-5e-1` as `-0.5`.
pub(crate) fn with_plain_numbers(mut arguments: Vec<OsString>) -> Vec<OsString> {
    for argument in arguments.iter_mut().skip(1).take_while(|argument| *argument != "--") {
        let plain = argument.to_str().and_then(|text| {
            let is_number = text.strip_prefix('-')?.starts_with(|c: char| c == '.' || c.is_ascii_digit());
            let is_known = text[1..].bytes().all(|byte| byte.is_ascii_digit()) || !is_number;
            text.parse::<f64>().ok().filter(|number| !is_known && number.is_finite()).map(|number| number.to_string())
        });
        if let Some(plain) = plain {
            *argument = plain.into();
        }
    }
    arguments
}

/// Joins an option whose value is optional with the value behind it, unless a file has that name: `--report groups`
/// becomes `--report=groups`. The value would otherwise be taken for a file.
pub(crate) fn with_joined_values(mut arguments: Vec<OsString>, command: &Command) -> Vec<OsString> {
    let (mut its, mut at) = (command, 1);
    while at < arguments.len() && arguments[at] != "--" {
        if let Some(within) = arguments[at].to_str().and_then(|name| its.find_subcommand(name)) {
            its = within;
        } else if let Some(value) = arguments.get(at + 1).filter(|value| !Path::new(value).exists())
            && its.get_arguments().any(|option| takes(option, &arguments[at], value))
        {
            let value = value.clone();
            arguments[at].push("=");
            arguments[at].push(value);
            arguments.remove(at + 1);
        }
        at += 1;
    }
    arguments
}

/// Whether an option with an optional value is written like this, and this is one of its values.
fn takes(option: &Arg, written: &OsStr, value: &OsStr) -> bool {
    let name = written.to_str().and_then(|text| text.strip_prefix("--"));
    let is_optional = option.get_num_args().is_some_and(|n| (n.min_values(), n.max_values()) == (0, 1));
    if !is_optional || name.is_none() || option.get_long() != name {
        return false;
    }
    let Some(value) = value.to_str() else { return false };
    match &option.get_possible_values()[..] {
        [] => value.parse::<f64>().is_ok(),
        names => names.iter().any(|name| name.matches(value, false)),
    }
}

/// The number of these arguments, if all of them are global options.
fn length_of_global(arguments: &[OsString]) -> Option<usize> {
    let mut at = 0;
    while at < arguments.len() {
        at += length_of_first(&arguments[at..])?;
    }
    Some(at)
}

/// The number of arguments of the global option that comes first, if one does.
fn length_of_first(arguments: &[OsString]) -> Option<usize> {
    match arguments.first()?.to_str()? {
        "-q" | "--quiet" | "-v" | "--verbose" => Some(1),
        "--threads" if arguments.len() > 1 => Some(2),
        option if option.starts_with("--threads=") => Some(1),
        _ => None,
    }
}

/// Whether the command that runs has this option, by its long name; true if no command was chosen.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negative_numbers_are_written_as_the_parser_knows_them() {
        let of = |text: &str| {
            let arguments = with_plain_numbers(text.split(' ').map(OsString::from).collect());
            arguments.into_iter().map(|argument| argument.into_string().unwrap()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(of("senv dedupe -t -.5 -5e-1 -2E0 -0.250"), "senv dedupe -t -0.5 -0.5 -2 -0.25");
        assert_eq!(of("senv a -1e-9"), "senv a -0.000000001");
        for same in ["senv a -k 3 -5 -12345678901234567890 -x.5 -e5 -. -..5 --1.5 -", "senv a -- -.5", "-.5 a"] {
            assert_eq!(of(same), same);
        }
    }

    #[test]
    fn a_value_behind_an_option_with_an_optional_one_belongs_to_it() {
        let of = |text: &str| {
            let arguments = with_joined_values(text.split(' ').map(OsString::from).collect(), &command_of_tests());
            arguments.into_iter().map(|argument| argument.into_string().unwrap()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(of("senv dedupe --report groups a.txt"), "senv dedupe --report=groups a.txt");
        assert_eq!(of("senv -q dedupe --margin 8 a.txt"), "senv -q dedupe --margin=8 a.txt");
        // Names of files, other options, other commands, and what follows `--`.
        for same in [
            "senv dedupe --report a.txt",
            "senv dedupe --report",
            "senv dedupe --report=groups groups",
            "senv dedupe --margin a.txt",
            "senv dedupe --keep groups",
            "senv split --report groups",
            "senv dedupe -- --report groups",
        ] {
            assert_eq!(of(same), same);
        }
    }

    fn command_of_tests() -> Command {
        let optional = |name: &'static str| Arg::new(name).long(name).num_args(0..=1).require_equals(true);
        let dedupe = Command::new("dedupe")
            .arg(optional("report").value_parser(["pairs", "groups"]))
            .arg(optional("margin").value_parser(clap::value_parser!(usize)))
            .arg(Arg::new("keep").long("keep"));
        Command::new("senv").subcommand(dedupe).subcommand(Command::new("split"))
    }

    #[test]
    fn options_of_all_commands_give_way_to_the_system() {
        let of = |text: &str| {
            let arguments = with_system_first(text.split(' ').map(OsString::from));
            arguments.into_iter().map(|argument| argument.into_string().unwrap()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(of("senv train -q sent2vec -o m"), "senv -q train sent2vec -o m");
        assert_eq!(of("senv -q train --threads 2 --quiet pp"), "senv -q --threads 2 --quiet train pp");
        assert_eq!(of("senv train --threads=2 pp"), "senv --threads=2 train pp");
        assert_eq!(of("senv train --verbose -v pp"), "senv --verbose -v train pp");
        for same in [
            "senv train sent2vec -q",
            "senv nearest -q train -q x",
            "senv train --seed 2 pp",
            "senv train --threads",
            "senv",
        ] {
            assert_eq!(of(same), same);
        }
    }
}
