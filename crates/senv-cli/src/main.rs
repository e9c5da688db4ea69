//! `senv`: train, encode, search and evaluate sentence embeddings from the command line.
//!
//! The program parses arguments, calls the libraries and prints; it computes nothing itself. Results go to standard
//! output, everything else to standard error. Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted.

#![forbid(unsafe_code)]

mod args;
mod commands;
mod destination;
mod failure;
mod interrupt;
mod number;
mod options_of;
mod output;
mod progress;
mod stream;
mod text;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let cli = match args::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are no failures; a closed pipe is nobody's business.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { failure::USAGE } else { 0 });
        }
    };
    output::set_quiet(cli.quiet);
    interrupt::handle_signals();
    match commands::run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
