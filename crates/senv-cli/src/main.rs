//! `senv`: train, encode, search and evaluate sentence embeddings from the command line.
//!
//! The program parses arguments, calls the libraries and prints; it computes nothing itself. Results go to standard
//! output, everything else to standard error. Exit codes:
//!
//! * 0: done;
//! * 1: failed;
//! * 2: wrong usage;
//! * 3: done, but the result may not survive a power cut, cannot be opened, or was not exported;
//! * 130: interrupted (143 by SIGTERM, 129 by SIGHUP).

mod args;
mod argument;
mod command_line;
mod commands;
mod destination;
mod failure;
mod folders;
mod help;
mod interrupt;
mod line_ends;
mod output;
mod progress;
mod quotes;
mod remedies;
mod repeated;
mod report;
mod stdout_at_start;
mod text;
mod visible;

use std::{ffi::OsString, process::ExitCode};

use clap::{ArgMatches, FromArgMatches};

fn main() -> ExitCode {
    command_line::define(help::long_command);
    let (cli, matches) = match parse(std::env::args_os()) {
        Ok(parsed) => parsed,
        Err(error) if error.use_stderr() => {
            // If it cannot be printed, the exit code still tells.
            let _ = output::print_usage(&error, |args| parse(args.into_iter().map(Into::into)).err());
            return ExitCode::from(report::USAGE);
        }
        // Help and version are results.
        Err(help) => return output::print_help(&help).map_or_else(report::report, |()| ExitCode::SUCCESS),
    };
    output::set_amount(cli.quiet, cli.verbose);
    interrupt::handle_signals();
    quotes::note_pairs(&matches);
    repeated::note_arguments(&matches);
    let is_json = command_line::has_flag(&matches, "json");
    let told = |()| {
        text::blank_records::note();
        text::bad_records::report(is_json)
    };
    report::end(commands::run(cli).and_then(told))
}

fn parse(args: impl Iterator<Item = OsString>) -> Result<(args::Cli, ArgMatches), clap::Error> {
    let args = command_line::with_plain_numbers(command_line::with_system_first(args));
    let length = help::Length::of(&args);
    let command = help::command(length);
    let args = command_line::with_joined_values(args, &command);
    let matches = command
        .try_get_matches_from(args)
        .map_err(|error| argument::with_expected_number(error, &help::command(length)))?;
    command_line::choose(&matches);
    let cli = args::Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut help::command(length)))?;
    Ok((cli, matches))
}
