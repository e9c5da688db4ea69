//! Runs of the program that are observed, paused and stopped.
//!
//! No test guesses how long an operation takes; each waits for an action or a message of the run. If a run may end
//! before the test can act, it gets more work.

#![allow(dead_code)] // some items are only for one system

use std::{
    fs,
    io::{BufRead, Read, Write},
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use crate::common::{Ended, Folder, text};

/// The longest time that a test waits. Anything that takes longer hangs, however busy the machine is.
const HANGS: Duration = Duration::from_secs(600);

/// Waits until a condition holds.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < HANGS, "for ten minutes not so: {what}");
        thread::sleep(Duration::from_millis(2));
    }
}

/// Waits until a condition holds. The run must not end before that.
#[track_caller]
pub(crate) fn wait_in(child: &mut Child, what: &str, mut is_so: impl FnMut() -> bool) {
    wait_until(what, || {
        let has_ended = child.try_wait().unwrap().is_some();
        is_so() || {
            assert!(!has_ended, "the run has ended before this was so: {what}\n{}", last_words(child));
            false
        }
    });
}

/// Waits until the run has written this file.
#[track_caller]
pub(crate) fn wait_for(folder: &Folder, name: &str, child: &mut Child) {
    wait_in(child, name, || folder.has(name));
}

/// What a finished run printed and nobody has read.
fn last_words(child: &mut Child) -> String {
    let mut said = String::new();
    if let Some(mut stderr) = child.stderr.take() {
        let _ = stderr.read_to_string(&mut said);
    }
    said
}

/// Reads the output of a run up to a line that contains `part`, and returns all of it so far.
#[track_caller]
pub(crate) fn hear(said: &mut impl BufRead, part: &str) -> String {
    let (all, is_said) = listen(said, part);
    assert!(is_said, "{part:?} is missing in: {all}");
    all
}

/// The same for a text that may not appear. Then all output is read; the result says whether the text appeared.
pub(crate) fn listen(said: &mut impl BufRead, part: &str) -> (String, bool) {
    let mut all = String::new();
    while !all.contains(part) {
        if said.read_line(&mut all).unwrap() == 0 {
            return (all, false);
        }
    }
    (all, true)
}

/// Sends a signal to a run after it has written a file. Returns how the run ended, and the amount of its work.
///
/// A machine may be so fast or so busy that the run is over before the signal arrives. The next of these amounts of
/// work is then tried.
#[cfg(unix)]
#[track_caller]
pub(crate) fn stopped<'a>(
    folder: &Folder,
    (file, number): (&str, i32),
    amounts: &[&'static str],
    args: impl Fn(&'static str) -> Vec<&'a str>,
) -> (Ended, &'static str) {
    in_time(folder, amounts, |amount| {
        let mut child = folder.spawn(&args(amount));
        if is_written(folder, file, &mut child) {
            signal(&child, number);
        }
        let ended = Ended::from(child.wait_with_output().unwrap());
        // A run that is killed at its very end has already removed the file that it would resume from.
        (ended.code != Some(0) && folder.has(file)).then_some(ended)
    })
}

/// Calls `attempt` with one amount of work after another while it returns `None`, because the run was over too early.
/// The outputs of such runs are removed. Returns the first result with its amount of work.
#[track_caller]
pub(crate) fn in_time<T>(
    folder: &Folder,
    amounts: &[&'static str],
    mut attempt: impl FnMut(&'static str) -> Option<T>,
) -> (T, &'static str) {
    let before = folder.names();
    for amount in amounts {
        if let Some(found) = attempt(amount) {
            return (found, amount);
        }
        for name in folder.names().into_iter().filter(|name| !before.contains(name)) {
            let path = folder.path(&name);
            if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.unwrap();
        }
    }
    panic!("each of these runs was over before it could be stopped: {amounts:?}");
}

/// Waits until the run has written this file or ends. Returns whether it is still running.
pub(crate) fn is_written(folder: &Folder, file: &str, child: &mut Child) -> bool {
    let mut goes_on = true;
    wait_until(file, || {
        goes_on = child.try_wait().unwrap().is_none();
        !goes_on || folder.has(file)
    });
    goes_on
}

/// Number of bytes after which a run must be reading its standard input: more than a pipe and all buffers can hold.
pub(crate) const AT_INPUT: usize = 8 << 20;

/// Feeds endless text to the standard input of a run and counts the bytes. It ends with the run.
pub(crate) fn feed(child: &mut Child) -> (JoinHandle<()>, Arc<AtomicUsize>) {
    let mut stdin = child.stdin.take().unwrap();
    let fed = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&fed);
    let feeder = thread::spawn(move || {
        let lines = text(1000);
        while stdin.write_all(lines.as_bytes()).is_ok() {
            count.fetch_add(lines.len(), Ordering::Relaxed);
        }
    });
    (feeder, fed)
}

/// Runs the program under a limit of the shell: `-v` KiB of memory, or `-f` blocks per file.
#[cfg(unix)]
pub(crate) fn limited(folder: &Folder, limit: &str, args: &[&str]) -> Ended {
    let mut command = Command::new("bash");
    let script = format!("ulimit -c 0; ulimit {limit} && exec \"$@\"");
    command.args(["-c", &script, "bash", env!("CARGO_BIN_EXE_senv")]).args(args);
    command.current_dir(folder.path("")).env("TMPDIR", folder.path("")).env_remove("RUST_BACKTRACE");
    // Otherwise each thread reserves 64 MiB of address space that it may never need.
    command.env("MALLOC_ARENA_MAX", "1").stdin(Stdio::null()).output().unwrap().into()
}

/// Whether a run has written a part of an unnamed file for this folder. On systems other than Linux, the file has a
/// name that ends in `.tmp`.
pub(crate) fn has_begun(child: &Child, folder: &std::path::Path) -> bool {
    let entries = |path: &std::path::Path| fs::read_dir(path).into_iter().flatten().flatten();
    let Ok(real) = fs::canonicalize(folder) else { return false };
    let has_bytes = |path: &std::path::Path| fs::metadata(path).is_ok_and(|file| file.is_file() && file.len() > 0);
    let is_there = |path: std::path::PathBuf| {
        let open = fs::read_link(&path).unwrap_or_default();
        open.parent() == Some(&real) && open.to_string_lossy().ends_with(" (deleted)") && has_bytes(&path)
    };
    let open = std::path::PathBuf::from(format!("/proc/{}/fd", child.id()));
    entries(&open).any(|file| is_there(file.path()))
        || entries(&real).any(|file| file.file_name().to_string_lossy().ends_with(".tmp") && has_bytes(&file.path()))
}

/// Sends a signal, given by its number or name.
#[cfg(unix)]
pub(crate) fn signal(child: &Child, signal: impl std::fmt::Display) {
    // Tests may call system programs; senv itself does not.
    let status = Command::new("kill").arg(format!("-{signal}")).arg(child.id().to_string()).status();
    assert!(status.unwrap().success());
}

/// Pauses all threads of a run until it gets the signal `CONT` or is killed.
#[cfg(unix)]
pub(crate) fn hold(child: &Child) {
    signal(child, "STOP");
    wait_until("the run is held", || is_held(child.id()));
}

#[cfg(target_os = "linux")]
fn is_held(process: u32) -> bool {
    let threads = fs::read_dir(format!("/proc/{process}/task")).unwrap();
    // A thread may end during the check. A process that has ended also counts as paused.
    let mut stats = threads.filter_map(|thread| fs::read_to_string(thread.ok()?.path().join("stat")).ok());
    stats.all(|stat| stat.rsplit(')').next().is_some_and(|fields| fields.trim_start().starts_with(['T', 'Z', 'X'])))
}

#[cfg(all(unix, not(target_os = "linux")))]
fn is_held(process: u32) -> bool {
    let output = Command::new("ps").args(["-o", "state=", "-p", &process.to_string()]).output().unwrap();
    output.stdout.trim_ascii_start().starts_with(b"T") || output.stdout.trim_ascii_start().starts_with(b"Z")
}

/// Whether a signal is in a mask of the status of a process (`self` or a process id). `SigIgn` lists ignored signals,
/// and `SigCgt` handled ones.
#[cfg(target_os = "linux")]
pub(crate) fn has_signal(process: impl std::fmt::Display, mask: &str, signal: i32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix(mask)?.strip_prefix(':'));
    mask.is_some_and(|mask| u64::from_str_radix(mask.trim(), 16).unwrap() >> (signal - 1) & 1 == 1)
}

/// Waits until a run has used this many CPU seconds from now on, which do not depend on other load. Does not wait if
/// the system does not report them.
#[track_caller]
pub(crate) fn work_for(child: &mut Child, seconds: f64) {
    if cfg!(target_os = "linux") {
        let process = child.id();
        let end = cpu_seconds(process) + seconds;
        wait_in(child, "it works", || cpu_seconds(process) >= end);
    }
}

/// Bytes that a run has read from all files so far, or `None` if it has ended or the system does not report this.
pub(crate) fn bytes_read(child: &Child) -> Option<u64> {
    let counts = fs::read_to_string(format!("/proc/{}/io", child.id())).ok()?;
    counts.lines().find_map(|line| line.strip_prefix("rchar: "))?.parse().ok()
}

/// CPU seconds of a process.
fn cpu_seconds(process: u32) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    // In hundredths of a second, for user and system time.
    (fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap()) / 100.0
}
