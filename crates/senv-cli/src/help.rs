//! Help in two lengths: `-h` fits one screen, `--help` has everything.
//!
//! The commands declare their options and examples once. This module decides what `-h` shows: the options of [`usual`],
//! the first paragraph of their help, and two examples.

use std::ffi::OsString;

use clap::{
    Arg, ArgAction, Command, CommandFactory,
    builder::{Resettable, Styles},
};

use crate::{args::Cli, argument::GLOBAL};

/// The maximum width of help, in columns.
const WIDTH: usize = 100;
/// The indentation of the second line of a usage: the width of `Usage: `.
const INDENT: &str = "       ";
/// The number of examples that `-h` shows.
const EXAMPLES: usize = 2;

/// The commands, grouped by purpose, as `senv help` lists them.
const GROUPS: [(&str, &[&str]); 4] = [
    ("Compare and search", &["similarity", "nearest", "index", "search"]),
    ("Explore and clean text", &["split", "dedupe", "compare", "cluster", "mine", "outliers", "sample"]),
    ("Train and evaluate", &["train", "tune", "eval", "reproduce"]),
    (
        "Work with models and vectors",
        &["encode", "join", "info", "convert", "compress", "expand-vocabulary", "combine", "decode", "define"],
    ),
];
/// The commands that are about the program itself.
const PROGRAM: (&str, &[&str]) = ("The program", &["completions", "manual"]);

/// Options that `-h` shows, for the commands that have options of their own kind.
const USUAL: [(&str, &[&str]); 23] = [
    ("similarity", &["input", "model", "json"]),
    ("nearest", &["query", "queries", "k", "min-score", "hybrid", "words", "json", "column", "model"]),
    ("encode", &["output", "digits", "shard", "force", "column", "model"]),
    ("index", &["output", "add", "replace", "delete-ids", "compact", "force", "column", "documents", "model"]),
    ("search", &["query", "queries", "k", "where", "min-score", "hybrid", "context", "json"]),
    ("join", &["output", "force"]),
    ("split", &["by", "json", "column"]),
    ("dedupe", &["threshold", "to", "against", "keep", "report", "json", "column", "model"]),
    ("compare", &["threshold", "only", "json", "model"]),
    ("cluster", &["groups", "threshold", "members", "save", "assign", "report", "json", "model"]),
    ("mine", &["with", "n", "min-score", "margin", "once", "no-score", "json", "model"]),
    ("outliers", &["n", "k", "max-score", "drop", "json", "model"]),
    ("sample", &["diverse", "random", "typical", "json", "model"]),
    ("decode", &["input", "decoder", "n", "between", "json", "model"]),
    ("define", &["k", "json", "model"]),
    ("info", &["verify", "check", "text", "json"]),
    ("convert", &["to", "from", "first", "force"]),
    ("compress", &["output", "encoding", "dim", "max-vocabulary", "with", "report", "force", "model"]),
    ("expand-vocabulary", &["vectors", "output", "map", "force", "model"]),
    ("combine", &["with", "output", "force", "model"]),
    ("manual", &["man"]),
    ("reproduce", &["data", "output", "list", "report", "quick", "text"]),
    ("train", &["pairs", "from", "dim", "output", "resume", "restart", "force"]),
];

/// The same for `senv train SYSTEM`.
const USUAL_OF_SYSTEM: &[&str] = &[
    "pairs",
    "captions",
    "nli",
    "neighbours",
    "train",
    "definitions",
    "target-vectors",
    "image-vectors",
    "stand-in",
    "model",
    "init-vectors",
    "init-model",
    "output",
    "resume",
    "dev",
    "preset",
    "dim",
    "sentence-dim",
    "epochs",
    "lr",
    "loss",
    "scheme",
    "paraphrases",
];

/// The same for `senv tune SYSTEM`.
const USUAL_OF_SEARCH: &[&str] =
    &["pairs", "captions", "nli", "neighbours", "init-vectors", "grid", "select", "seeds", "output", "json"];

/// The same for the evaluations.
const USUAL_OF_EVALUATION: &[&str] = &[
    "protocol",
    "against",
    "data",
    "models",
    "report",
    "only",
    "train",
    "dev",
    "test",
    "hold-out",
    "pairs",
    "nli",
    "by",
    "text",
    "sts",
    "sick",
    "groups",
    "vectors",
    "sentences",
    "systems",
    "sample",
    "published",
    "output",
    "svg",
    "json",
    "model",
];

/// How much help to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Length {
    /// That of `-h`.
    Short,
    /// That of `--help`.
    Long,
}

impl Length {
    /// The length that these arguments ask for.
    pub(crate) fn of(arguments: &[OsString]) -> Self {
        let is_long = arguments.iter().skip(1).any(|argument| argument == "--help" || argument == "help");
        if is_long { Self::Long } else { Self::Short }
    }
}

/// The whole command line with help of this length.
pub(crate) fn command(length: Length) -> Command {
    let root = Cli::command()
        .max_term_width(WIDTH)
        .disable_help_flag(true)
        .disable_version_flag(true)
        .arg(flag("help", 'h', ArgAction::Help).help("Print help (--help prints all options)"))
        .arg(flag("version", 'V', ArgAction::Version).help("Print version").hide_short_help(true));
    let root = arranged(root, &[], length);
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}{{options}}{{after-help}}",
        list_of_commands(&root, length)
    );
    root.help_template(template)
}

/// The whole command line, as the manual and the completions use it.
pub(crate) fn long_command() -> Command {
    command(Length::Long)
}

fn flag(name: &'static str, short: char, action: ArgAction) -> Arg {
    Arg::new(name).short(short).long(name).action(action).global(true).help_heading(GLOBAL)
}

/// A command and those below it; `path` has the names from `senv` on.
fn arranged(command: Command, path: &[&str], length: Length) -> Command {
    let usual = usual(path);
    let mut command = command.mut_args(|argument| {
        let is_shown = match argument.get_long() {
            Some("help") | None => true,
            Some(long) => argument.is_required_set() || usual.contains(&long),
        };
        let takes_numbers = !argument.is_positional() && argument.get_action().takes_values();
        // An error about -1 then names the option that it was given to.
        let argument = argument.allow_negative_numbers(takes_numbers).hide_short_help(!is_shown);
        // A group of one is not worth a heading; in training it has more files.
        if argument.get_long() == Some("force") && path.first() != Some(&"train") {
            return argument.help_heading(Resettable::Reset);
        }
        argument
    });
    let names: Vec<String> = command.get_subcommands().map(|below| below.get_name().to_owned()).collect();
    // Until it is built, a command does not know those above it.
    let name = path.iter().fold("senv".to_owned(), |all, name| all + " " + name);
    let usage = command.clone().bin_name(name).render_usage().to_string();
    if let Some(usage) = broken_usage(&usage) {
        command = command.override_usage(usage);
    }
    let is_train = path == ["train"];
    let mut first = String::new();
    if is_train {
        first = format!("Systems (senv train SYSTEM -h):\n{}\n\n", wrapped(&names.join(", "), "  ", "  "));
    }
    let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let (short, long) = lengths_of(&after);
    if !after.is_empty() {
        command = command.after_help(first + &short).after_long_help(long);
    }
    for name in names {
        let path: Vec<&str> = path.iter().copied().chain([&*name]).collect();
        command = command.mut_subcommand(&name, |below| {
            let below = arranged(below, &path, length);
            // Their names are enough for a screen.
            if is_train { below.hide(length == Length::Short) } else { below }
        });
    }
    command
}

/// The options of a command that `-h` shows.
fn usual(path: &[&str]) -> &'static [&'static str] {
    match path {
        ["train", _] => USUAL_OF_SYSTEM,
        ["tune", _] => USUAL_OF_SEARCH,
        ["eval", _] => USUAL_OF_EVALUATION,
        [name] => USUAL.iter().find(|(of, _)| of == name).map_or(&[], |(_, options)| options),
        _ => &[],
    }
}

/// The text after the options, for `-h` and `--help`: two of the examples for the first, and all of them with the notes
/// for the second.
fn lengths_of(after: &str) -> (String, String) {
    let (examples, notes) = after.split_once("\n\n").unwrap_or((after, ""));
    let mut lines = examples.lines();
    let title = lines.next().unwrap_or_default();
    let mut commands: Vec<String> = Vec::new();
    for line in lines {
        match commands.last_mut() {
            // The next line of the same command.
            Some(last) if line.starts_with("   ") => {
                *last = format!("{} {}", last.trim_end_matches(" \\"), line.trim_start());
            }
            _ => commands.push(line.to_owned()),
        }
    }
    let commands: Vec<String> = commands.iter().map(|command| example(command)).collect();
    let text = |commands: &[String]| format!("{title}\n{}", commands.join("\n"));
    let n = commands.len().min(if title.starts_with("Example") { EXAMPLES } else { usize::MAX });
    let notes: Vec<String> = notes.split('\n').map(|line| wrapped(line, "", "")).collect();
    let notes = notes.join("\n");
    let long = text(&commands) + if notes.is_empty() { "" } else { "\n\n" } + &notes;
    (text(&commands[..n]), long)
}

/// A command on as many lines as it needs, broken before options.
fn example(line: &str) -> String {
    if line.chars().count() <= WIDTH {
        return line.to_owned();
    }
    let mut lines = vec![String::new()];
    for (i, part) in line.split(" --").enumerate() {
        let part = if i == 0 { part.to_owned() } else { format!(" --{part}") };
        let last = lines.len() - 1;
        if !lines[last].is_empty() && lines[last].chars().count() + part.chars().count() + 2 > WIDTH {
            lines[last] += " \\";
            lines.push(format!("     {part}"));
        } else {
            lines[last] += &part;
        }
    }
    lines.join("\n")
}

/// A usage of several lines, if it is too long for one.
fn broken_usage(usage: &str) -> Option<String> {
    let usage = usage.strip_prefix("Usage: ")?;
    if usage.contains('\n') || usage.chars().count() + INDENT.len() <= WIDTH {
        return None;
    }
    // Lines break after an alternative and before an option.
    let is_break = |at: &usize| {
        usage[..*at].ends_with('|') || [" <-", " --", " ["].iter().any(|start| usage[*at..].starts_with(start))
    };
    let mut breaks: Vec<usize> = usage.char_indices().map(|(at, _)| at).skip(1).filter(is_break).collect();
    breaks.push(usage.len());
    let (mut lines, mut start) = (vec![String::new()], 0);
    for end in breaks {
        let (part, last) = (&usage[start..end], lines.len() - 1);
        if lines[last].is_empty() || lines[last].chars().count() + part.chars().count() + INDENT.len() <= WIDTH {
            lines[last] += part;
        } else {
            lines.push(format!("{INDENT}  {}", part.trim_start()));
        }
        start = end;
    }
    Some(lines.join("\n"))
}

/// A line, broken between words; indented lines are unchanged.
fn wrapped(text: &str, first: &str, next: &str) -> String {
    if text.starts_with(' ') {
        return text.to_owned();
    }
    let (mut lines, mut line) = (Vec::new(), first.to_owned());
    for word in text.split_whitespace() {
        let is_start = line.trim().is_empty();
        if !is_start && line.chars().count() + 1 + word.chars().count() > WIDTH {
            lines.push(std::mem::replace(&mut line, next.to_owned()));
        } else if !is_start {
            line.push(' ');
        }
        line += word;
    }
    lines.push(line);
    lines.join("\n")
}

/// The commands, grouped by purpose. For the commands about the program itself, `-h` shows only the names.
fn list_of_commands(root: &Command, length: Length) -> String {
    let styles = Styles::styled();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let width = root.get_subcommands().map(|command| command.get_name().len()).max().unwrap_or_default();
    let line = |name: &str| {
        let about = root.find_subcommand(name).and_then(Command::get_about).map(ToString::to_string);
        format!("  {literal}{name}{literal:#}{:1$}  {2}\n", "", width - name.len(), about.unwrap_or_default())
    };
    let mut text = String::new();
    let is_long = length == Length::Long;
    let end = if is_long { "\n" } else { "" };
    for (title, names) in GROUPS.iter().chain(is_long.then_some(&PROGRAM)) {
        let lines: String = names.iter().map(|name| line(name)).collect();
        text += &format!("{header}{title}:{header:#}\n{lines}{end}");
    }
    if !is_long {
        text += &format!("{header}{}:{header:#} {}\n", PROGRAM.0, PROGRAM.1.join(", "));
    }
    text + &format!("{header}{GLOBAL}:{header:#}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls `check` with every command and its names.
    fn for_each(command: &mut Command, path: &str, check: &mut impl FnMut(&mut Command, &str)) {
        command.build();
        check(command, path);
        let names: Vec<String> = command.get_subcommands().map(|below| below.get_name().to_owned()).collect();
        for name in names.iter().filter(|name| *name != "help") {
            for_each(command.find_subcommand_mut(name).unwrap(), &format!("{path} {name}"), check);
        }
    }

    fn every_command(length: Length, mut check: impl FnMut(&mut Command, &str)) {
        for_each(&mut command(length), "senv", &mut check);
    }

    /// The long options of a help text.
    fn options_of(help: &str) -> Vec<&str> {
        let starts = help.lines().filter(|line| line.trim_start().starts_with('-'));
        starts.filter_map(|line| line.split([' ', '=', '[', ',']).find_map(|word| word.strip_prefix("--"))).collect()
    }

    #[test]
    fn short_help_has_every_required_option_and_long_help_lists_all_options() {
        every_command(Length::Short, |command, path| {
            let help = command.render_help().to_string();
            for argument in command.get_arguments().filter(|argument| argument.is_required_set()) {
                let name = argument.get_long().map_or_else(|| "<".to_owned(), |long| format!("--{long}"));
                assert!(help.contains(&name), "{path} -h lacks {name}:\n{help}");
            }
        });
        every_command(Length::Long, |command, path| {
            let help = command.render_long_help().to_string();
            let listed = options_of(&help);
            for argument in command.get_arguments().filter(|argument| !argument.is_hide_set()) {
                let Some(long) = argument.get_long() else { continue };
                assert!(listed.contains(&long), "{path} --help lacks --{long}:\n{help}");
            }
        });
    }

    #[test]
    fn every_command_is_in_one_group_and_every_usual_option_is_one() {
        let whole = command(Length::Long);
        let groups = || GROUPS.iter().chain([&PROGRAM]).flat_map(|(_, names)| names.iter().copied());
        for command in whole.get_subcommands() {
            assert_eq!(groups().filter(|name| *name == command.get_name()).count(), 1, "{}", command.get_name());
        }
        for (name, options) in USUAL {
            let command = whole.find_subcommand(name).unwrap();
            let has = |option: &str| command.get_arguments().any(|argument| argument.get_long() == Some(option));
            options.iter().for_each(|option| assert!(has(option), "senv {name} has no --{option}"));
        }
    }

    #[test]
    fn long_examples_are_broken_before_options() {
        let long = format!("  senv train x --input {} --output {}", "a".repeat(60), "b".repeat(30));
        assert_eq!(example(&long), long.replace(" --output", " \\\n      --output"));
        assert_eq!(example("  senv x --y"), "  senv x --y");
        let usage = format!("Usage: senv x --output <MODEL> <--{}|--{}>", "a".repeat(50), "b".repeat(30));
        let broken = format!("senv x --output <MODEL> <--{}|\n         --{}>", "a".repeat(50), "b".repeat(30));
        assert_eq!([broken_usage(&usage), broken_usage("Usage: senv x")], [Some(broken), None]);
        let (short, long) = lengths_of("Examples:\n  a --b \\\n      --c\n  d\n  e\n\nA note.");
        assert_eq!(short, "Examples:\n  a --b --c\n  d");
        assert_eq!(long, "Examples:\n  a --b --c\n  d\n  e\n\nA note.");
        assert_eq!(wrapped(&["word"; 30].join(" "), "", "").lines().count(), 2);
    }
}
