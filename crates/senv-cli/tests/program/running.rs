//! Runs of the program that are watched, held and stopped.
//!
//! No test guesses how long something takes: it waits for what the run does or says. Where a run can be over before a
//! test gets to it, it is given more work.

#![allow(dead_code)] // some of it is for one system alone

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

/// The longest that a test waits: however busy a machine is, what takes so long hangs.
const HANGS: Duration = Duration::from_secs(600);

/// Waits until this is so.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < HANGS, "for ten minutes not so: {what}");
        thread::sleep(Duration::from_millis(2));
    }
}

/// Waits until this is so, while the run goes on, which must not end before.
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

/// What a run that has ended said and nobody has read.
fn last_words(child: &mut Child) -> String {
    let mut said = String::new();
    if let Some(mut stderr) = child.stderr.take() {
        let _ = stderr.read_to_string(&mut said);
    }
    said
}

/// Reads what the run says until a line of it holds this; all of it so far.
#[track_caller]
pub(crate) fn hear(said: &mut impl BufRead, part: &str) -> String {
    let (all, is_said) = listen(said, part);
    assert!(is_said, "{part:?} is missing in: {all}");
    all
}

/// The same of what may not be said: all to the end then, and whether it was said.
pub(crate) fn listen(said: &mut impl BufRead, part: &str) -> (String, bool) {
    let mut all = String::new();
    while !all.contains(part) {
        if said.read_line(&mut all).unwrap() == 0 {
            return (all, false);
        }
    }
    (all, true)
}

/// Sends a run a signal once it has written a file, and returns how it ended, and of which amount of work it was.
///
/// A machine may be so fast, or so busy with other things, that the run is over before the signal is there. Then it has
/// the next of these amounts.
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
        // One that is killed at its very end has removed the file that it would go on from.
        (ended.code != Some(0) && folder.has(file)).then_some(ended)
    })
}

/// What is made of a run that has to be stopped in time, and the amount of its work: `attempt` gets one of these
/// amounts after the other, as long as it returns `None`, because the run was over before. What the run has made is
/// removed then.
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

/// Waits until the run has written this file, or ends; whether it goes on.
pub(crate) fn is_written(folder: &Folder, file: &str, child: &mut Child) -> bool {
    let mut goes_on = true;
    wait_until(file, || {
        goes_on = child.try_wait().unwrap().is_none();
        !goes_on || folder.has(file)
    });
    goes_on
}

/// Bytes of standard input that a run has taken when it is at reading them for good: more than a pipe and all buffers
/// hold.
pub(crate) const AT_INPUT: usize = 8 << 20;

/// Gives a run text on its standard input, without end, and counts the bytes; ends with the run.
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

/// Runs the program with a limit of the shell: `-v` KiB of memory, `-f` blocks of a file.
#[cfg(unix)]
pub(crate) fn limited(folder: &Folder, limit: &str, args: &[&str]) -> Ended {
    let mut command = Command::new("bash");
    let script = format!("ulimit -c 0; ulimit {limit} && exec \"$@\"");
    command.args(["-c", &script, "bash", env!("CARGO_BIN_EXE_senv")]).args(args);
    command.current_dir(folder.path("")).env("TMPDIR", folder.path("")).env_remove("RUST_BACKTRACE");
    // Otherwise each thread takes 64 MiB of addresses for memory that it may never need.
    command.env("MALLOC_ARENA_MAX", "1").stdin(Stdio::null()).output().unwrap().into()
}

/// Whether a run has written a part of a file for this folder that has no name yet. On other systems than Linux it has
/// a name that ends in `.tmp`.
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

/// Sends a signal, by its number or its name.
#[cfg(unix)]
pub(crate) fn signal(child: &Child, signal: impl std::fmt::Display) {
    // Tests may call the system; the program itself does not.
    let status = Command::new("kill").arg(format!("-{signal}")).arg(child.id().to_string()).status();
    assert!(status.unwrap().success());
}

/// Holds a run where it is, all threads of it, until it gets the signal `CONT` or is killed.
#[cfg(unix)]
pub(crate) fn hold(child: &Child) {
    signal(child, "STOP");
    wait_until("the run is held", || is_held(child.id()));
}

#[cfg(target_os = "linux")]
fn is_held(process: u32) -> bool {
    let threads = fs::read_dir(format!("/proc/{process}/task")).unwrap();
    // A thread may end while one looks; a process that has ended is held, too.
    let mut stats = threads.filter_map(|thread| fs::read_to_string(thread.ok()?.path().join("stat")).ok());
    stats.all(|stat| stat.rsplit(')').next().is_some_and(|fields| fields.trim_start().starts_with(['T', 'Z', 'X'])))
}

#[cfg(all(unix, not(target_os = "linux")))]
fn is_held(process: u32) -> bool {
    let output = Command::new("ps").args(["-o", "state=", "-p", &process.to_string()]).output().unwrap();
    output.stdout.trim_ascii_start().starts_with(b"T") || output.stdout.trim_ascii_start().starts_with(b"Z")
}

/// Whether a process (`self`, or its number) has a signal in one of the masks of its status: `SigIgn`, those that it
/// ignores; `SigCgt`, those that it handles.
#[cfg(target_os = "linux")]
pub(crate) fn has_signal(process: impl std::fmt::Display, mask: &str, signal: i32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix(mask)?.strip_prefix(':'));
    mask.is_some_and(|mask| u64::from_str_radix(mask.trim(), 16).unwrap() >> (signal - 1) & 1 == 1)
}

/// Waits until a run has worked for so long from now on: seconds of a processor, however many others want it. Where the
/// system does not say, it does not wait.
#[track_caller]
pub(crate) fn work_for(child: &mut Child, seconds: f64) {
    if cfg!(target_os = "linux") {
        let process = child.id();
        let end = cpu_seconds(process) + seconds;
        wait_in(child, "it works", || cpu_seconds(process) >= end);
    }
}

/// Bytes that a run has read so far, of all files; `None` where the system does not say, and of one that has ended.
pub(crate) fn bytes_read(child: &Child) -> Option<u64> {
    let counts = fs::read_to_string(format!("/proc/{}/io", child.id())).ok()?;
    counts.lines().find_map(|line| line.strip_prefix("rchar: "))?.parse().ok()
}

/// Seconds for which a process has had a processor.
fn cpu_seconds(process: u32) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    // In hundredths, for the program and for the system.
    (fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap()) / 100.0
}
