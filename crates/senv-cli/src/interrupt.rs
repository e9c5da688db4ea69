//! Signals: Ctrl-C and its like end a command and leave nothing half written; in training the first one asks, the
//! second ends.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicI32, Ordering},
    },
    time::{Duration, Instant},
};

use senv_core::files;

use crate::{failure::DONE_IN_DOUBT, output};

/// Signals within this time count as one: `timeout` and some shells send theirs to a process and once more to its
/// group.
const ONE_REQUEST: Duration = Duration::from_millis(500);

/// The number of Ctrl-C.
const SIGINT: i32 = 2;

/// The signal that has asked for the end.
static SIGNAL: AtomicI32 = AtomicI32::new(SIGINT);
/// Who is asked to stop; nobody in a command that has nothing to save.
static ASKED: Mutex<Option<Interrupt>> = Mutex::new(None);
/// Whether the work may wait for standard input.
static READS_STDIN: AtomicBool = AtomicBool::new(false);
/// What a command says when a signal ends it.
static LAST_WORDS: Mutex<Option<Box<dyn FnOnce() + Send>>> = Mutex::new(None);

/// What is said if a signal ends the program while this is held: for a command that has nothing to save and a user who
/// has waited long enough to wonder whether it had, and for one that has made a change and is at something else.
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

/// Whether the user has asked to stop, and when.
#[derive(Debug, Clone, Default)]
pub(crate) struct Interrupt(Arc<OnceLock<Instant>>);

impl Interrupt {
    /// From here on Ctrl-C (and the signals that ask a process to end) no longer end the program but set a flag; the
    /// second one, half a second later or more, ends it at once.
    pub(crate) fn install() -> Self {
        locked(&ASKED).get_or_insert_default().clone()
    }

    /// The same of work that may wait for somebody to type, and does not see the flag meanwhile.
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
/// of the system (`ulimit -f`) is an error of the write, and not the end of the process. Where no handler can be
/// installed, the signals do what they do to any program.
pub(crate) fn handle_signals() {
    let _ = ctrlc::set_handler(|| stop(SIGINT));
    #[cfg(unix)]
    {
        use signal_hook::consts::{SIGABRT, SIGHUP, SIGTERM, SIGXFSZ};
        let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
        // The standard library aborts where a small piece of memory is refused, after it has said so: an error as
        // others, and no crash.
        let _ = signal_hook::flag::register_conditional_shutdown(SIGABRT, 1, Arc::new(AtomicBool::new(true)));
        // A program that `nohup` started goes on when the terminal goes.
        let ending: &[i32] = if is_ignored(SIGHUP) { &[SIGTERM] } else { &[SIGTERM, SIGHUP] };
        if let Ok(mut signals) = signal_hook::iterator::Signals::new(ending) {
            let _ = std::thread::Builder::new().spawn(move || signals.forever().for_each(stop));
        }
    }
}

/// The exit code after a signal, as shells have it: 128 and the number of the signal.
pub(crate) fn exit_code() -> u8 {
    u8::try_from(128 + SIGNAL.load(Ordering::Relaxed)).unwrap_or(u8::MAX)
}

/// Asks for an end, or ends the program.
fn stop(signal: i32) {
    let asked = locked(&ASKED).clone();
    let is_first = asked.as_ref().is_none_or(|interrupt| !interrupt.is_requested());
    if is_first {
        SIGNAL.store(signal, Ordering::Relaxed);
    }
    let request = asked.map(|interrupt| *interrupt.0.get_or_init(Instant::now));
    if request.is_some() && is_first {
        output::note(if READS_STDIN.load(Ordering::Relaxed) {
            "asked to stop: so it will once standard input has ended or given more (Ctrl-D ends it); Ctrl-C once more ends the \
             program at once"
        } else {
            "asked to stop: so it will at the next step; Ctrl-C once more ends the program at once"
        });
    }
    if request.is_none_or(|request| request.elapsed() >= ONE_REQUEST) {
        // Held to the end: what is said stays true, because whoever is done with it waits here.
        let mut last_words = locked(&LAST_WORDS);
        let is_done = !files::remove_unfinished_unless_done();
        let say = last_words.take();
        // What is done is not said to be interrupted: the program is about to end, and does so by itself.
        if is_done && say.is_none() && request.is_none() {
            let _ = Interrupt::install().0.set(Instant::now());
            output::note(
                "what was asked for is done already; the program is about to end, and Ctrl-C once more ends it at once",
            );
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

/// Whether the process was started with a signal ignored, as `nohup` does; where the system does not tell, it counts as
/// ignored.
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
