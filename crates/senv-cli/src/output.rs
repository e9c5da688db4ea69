//! Printing: results on standard output, everything else on standard error.

use std::{
    io::{self, BufWriter, IsTerminal, StdoutLock, Write},
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressStyle};
pub(crate) use senv_core::counts::{grouped, plural};
pub(crate) use senv_eval::duration;
use serde::Serialize;

use crate::{
    failure::{Failure, Result},
    stdout_at_start,
    visible::{Visible, line},
};

pub(crate) use crate::visible::{cell, for_terminal};

/// Bytes of results that are buffered before a write.
const BUFFER: usize = 1 << 18;

static QUIET: AtomicBool = AtomicBool::new(false);
static VERBOSE: AtomicBool = AtomicBool::new(false);

/// Sets whether notes and progress are left out, and whether details are printed.
pub(crate) fn set_amount(quiet: bool, verbose: bool) {
    QUIET.store(quiet, Ordering::Relaxed);
    VERBOSE.store(verbose && !quiet, Ordering::Relaxed);
}

/// Whether notes and progress are left out.
pub(crate) fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Whether standard error is a terminal, where lines can be overwritten.
pub(crate) fn is_terminal() -> bool {
    io::stderr().is_terminal()
}

/// A terminal line that shows what is being done, in the form of this template; hidden without a terminal.
pub(crate) fn spinner(template: &str) -> ProgressBar {
    if !is_terminal() || is_quiet() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner());
    let bar = ProgressBar::new_spinner().with_style(style);
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// Standard output, locked once; writing fails if it was closed when the program started.
pub(crate) struct Stdout(Visible<StdoutLock<'static>>);

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        check_open()?;
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

fn check_open() -> io::Result<()> {
    if stdout_at_start::was_closed() { Err(io::Error::other("it is closed")) } else { Ok(()) }
}

/// Buffered standard output.
pub(crate) fn stdout() -> BufWriter<Stdout> {
    let is_terminal = io::stdout().is_terminal();
    BufWriter::with_capacity(BUFFER, Stdout(Visible::new(io::stdout().lock(), is_terminal)))
}

/// Prints help or the version, in color on a terminal.
pub(crate) fn print_help(help: &clap::Error) -> Result {
    check_open().and_then(|()| help.print()).and_then(|()| io::stdout().flush()).map_err(Failure::stdout)
}

/// Prints what is wrong with the arguments, in color on a terminal. If arguments contain control characters or line
/// ends, they are `parsed` again without them, because these characters cannot be told from the colors later.
pub(crate) fn print_usage(
    error: &clap::Error,
    parsed: impl FnOnce(Vec<String>) -> Option<clap::Error>,
) -> io::Result<()> {
    let given: Vec<String> = std::env::args_os().map(|arg| arg.to_string_lossy().into_owned()).collect();
    let clean: Vec<String> = given.iter().map(|arg| for_terminal(&line(arg)).into_owned()).collect();
    if clean == given {
        return error.print();
    }
    match parsed(clean) {
        Some(error) => error.print(),
        None => io::stderr().lock().write_all(for_terminal(&error.render().to_string()).as_bytes()),
    }
}

/// Writes a whole result to standard output, with a line end.
pub(crate) fn print(text: &str) -> Result {
    let mut out = stdout();
    let end = if text.ends_with('\n') { "" } else { "\n" };
    write!(out, "{text}{end}").and_then(|()| out.flush()).map_err(Failure::stdout)
}

/// Writes a result as indented JSON to standard output.
pub(crate) fn print_json(value: &impl Serialize) -> Result {
    print(&senv_eval::to_json(value))
}

/// Writes a value as JSON on a line.
pub(crate) fn write_json_line(out: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    writeln!(out)
}

/// Prints a note; a failure to write it is ignored.
pub(crate) fn note(message: &str) {
    if !is_quiet() {
        say("", message);
    }
}

/// Prints a note under `--verbose`.
pub(crate) fn detail(message: &str) {
    if VERBOSE.load(Ordering::Relaxed) {
        say("", message);
    }
}

/// Prints a warning, even under `--quiet`.
pub(crate) fn warn(message: &str) {
    say("\x1b[1;33mwarning:\x1b[0m ", message);
}

/// Prints the line that a failed command ends with.
pub(crate) fn error(message: &str) {
    say("\x1b[1;31merror:\x1b[0m ", message);
}

/// Prints the line that wrong arguments end with, with the commands to choose from.
pub(crate) fn usage_error(message: &str, commands: &[String]) {
    error(message);
    commands.iter().for_each(|command| say("", &format!("  {command}")));
    let _ = writeln!(anstream::stderr().lock(), "\nFor more information, try '--help'.");
}

/// Prints one line: line ends in names of files are escaped.
fn say(styled: &str, message: &str) {
    let message = line(message);
    let message = if is_terminal() { for_terminal(&message) } else { message };
    let _ = writeln!(anstream::stderr().lock(), "{styled}{message}");
}

/// A large number with three or four digits: `1.23 M`.
pub(crate) fn short(x: f64) -> String {
    match x {
        x if x >= 1e9 => format!("{:.2} G", x / 1e9),
        x if x >= 1e6 => format!("{:.2} M", x / 1e6),
        x if x >= 1e4 => format!("{:.0} k", x / 1e3),
        x => format!("{x:.0}"),
    }
}

/// A number of bytes in the largest fitting unit of 1,024.
pub(crate) fn bytes(n: u64) -> String {
    let units = ["KiB", "MiB", "GiB", "TiB"];
    let mut x = n as f64;
    let mut unit = "bytes";
    for next in units {
        if x < 1024.0 {
            break;
        }
        (x, unit) = (x / 1024.0, next);
    }
    if unit == "bytes" { format!("{n} bytes") } else { format!("{x:.1} {unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_for_people() {
        assert_eq!([short(999.4), short(12_345.0), short(1_234_567.0)], ["999", "12 k", "1.23 M"]);
        assert_eq!([bytes(1023), bytes(1536), bytes(6 << 30)], ["1023 bytes", "1.5 KiB", "6.0 GiB"]);
    }
}
