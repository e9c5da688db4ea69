//! Signals: Ctrl-C and similar signals end a command and leave nothing half written. In training the first one stops at
//! a checkpoint, and the second ends the program.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicI32, Ordering},
    },
    time::{Duration, Instant},
};

use senv_core::files;

use crate::{failure::DONE_IN_DOUBT, output};

/// Signals within this time count as one: `timeout` and some shells send theirs to a process and then to its group.
const ONE_REQUEST: Duration = Duration::from_millis(500);

/// The number of times that Ctrl-C was pressed.
const SIGINT: i32 = 2;

/// The signal that requested the end.
static SIGNAL: AtomicI32 = AtomicI32::new(SIGINT);
/// The flag to set on a signal; none in a command that has nothing to save.
static ASKED: Mutex<Option<Interrupt>> = Mutex::new(None);
/// Whether the work may wait for standard input.
static READS_STDIN: AtomicBool = AtomicBool::new(false);
/// What a command prints when a signal ends it.
static LAST_WORDS: Mutex<Option<Box<dyn FnOnce() + Send>>> = Mutex::new(None);

/// A message that is printed if a signal ends the program while this is alive. Use it for a long command that saves
/// nothing before the end, and for one that has made a change and is still working.
#[derive(Debug)]
pub(crate) struct LastWords(());

impl LastWords {
    pub(crate) fn set(say: impl FnOnce() + Send + 'static) -> Self {
        *locked(&LAST_WORDS) = Some(Box::new(say));
        Self(())
    }
}

impl Drop for LastWords {
    fn drop(&mut self) {
        *locked(&LAST_WORDS) = None;
    }
}

/// Whether the user has requested a stop, and when.
#[derive(Debug, Clone, Default)]
pub(crate) struct Interrupt(Arc<OnceLock<Instant>>);

impl Interrupt {
    /// Makes Ctrl-C (and other signals that end a process) set a flag instead. A second one, at least half a second
    /// later, ends the program immediately.
    pub(crate) fn install() -> Self {
        locked(&ASKED).get_or_insert_default().clone()
    }

    /// Like [`Self::install`], for work that may wait for the user to type and does not see the flag while it waits.
    pub(crate) fn install_reading_stdin() -> Self {
        READS_STDIN.store(true, Ordering::Relaxed);
        Self::install()
    }

    /// Whether the user has asked to stop.
    pub(crate) fn is_requested(&self) -> bool {
        self.0.get().is_some()
    }
}

/// Handles the signals that end a process: temporary files are removed first. A file that would grow beyond the limit
/// of the system (`ulimit -f`) makes the write fail and does not end the process. If no handler can be installed, the
/// signals have their usual effect.
pub(crate) fn handle_signals() {
    let _ = ctrlc::set_handler(|| stop(SIGINT));
    #[cfg(unix)]
    {
        use signal_hook::consts::{SIGABRT, SIGHUP, SIGTERM, SIGXFSZ};
        let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
        // The standard library prints a message and aborts if a small allocation fails: exit like any other error.
        let _ = signal_hook::flag::register_conditional_shutdown(SIGABRT, 1, Arc::new(AtomicBool::new(true)));
        // A program started by `nohup` survives its terminal.
        let ending: &[i32] = if is_ignored(SIGHUP) { &[SIGTERM] } else { &[SIGTERM, SIGHUP] };
        if let Ok(mut signals) = signal_hook::iterator::Signals::new(ending) {
            let _ = std::thread::Builder::new().spawn(move || signals.forever().for_each(stop));
        }
    }
}

/// The exit code after a signal, as in shells: 128 plus the number of the signal.
pub(crate) fn exit_code() -> u8 {
    u8::try_from(128 + SIGNAL.load(Ordering::Relaxed)).unwrap_or(u8::MAX)
}

/// Requests a stop, or ends the program.
fn stop(signal: i32) {
    let asked = locked(&ASKED).clone();
    let is_first = asked.as_ref().is_none_or(|interrupt| !interrupt.is_requested());
    if is_first {
        SIGNAL.store(signal, Ordering::Relaxed);
    }
    let request = asked.map(|interrupt| *interrupt.0.get_or_init(Instant::now));
    if request.is_some() && is_first {
        output::note(if READS_STDIN.load(Ordering::Relaxed) {
            "stopping once standard input has ended (Ctrl-D) or has more text; press Ctrl-C again to quit now"
        } else {
            "stopping after this step and saving a checkpoint; press Ctrl-C again to quit now"
        });
    }
    if request.is_none_or(|request| request.elapsed() >= ONE_REQUEST) {
        // Locked to the end: the message stays true, because dropping it waits here.
        let mut last_words = locked(&LAST_WORDS);
        let is_done = !files::remove_unfinished_unless_done();
        let say = last_words.take();
        // Finished work is not interrupted: the program is about to end by itself.
        if is_done && say.is_none() && request.is_none() {
            let _ = Interrupt::install().0.set(Instant::now());
            output::note("the work is done and the program is about to end; press Ctrl-C again to quit now");
            return;
        }
        let code = if is_done { DONE_IN_DOUBT } else { exit_code() };
        if is_done {
            files::remove_unfinished_files();
        }
        if let Some(say) = say {
            say();
        }
        std::process::exit(i32::from(code));
    }
}

/// Whether the process was started with this signal ignored, as by `nohup`; true if the system does not report it.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_none_or(|mask| mask >> (signal - 1) & 1 == 1)
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
