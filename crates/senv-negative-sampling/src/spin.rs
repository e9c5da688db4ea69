//! Waits for other threads, usually well under a millisecond, but not forever if one of them is lost.

use std::sync::atomic::{AtomicBool, Ordering};

/// The number of spins before the thread yields its core.
const SPINS: u32 = 2_000;

/// Spins of about ten to twenty microseconds: longer than a turn, and far shorter than the absence of a thread that
/// lost its core.
const LONG: u32 = 1_000;

/// Waits briefly: spins at first, then yields the core.
#[derive(Debug, Default)]
pub(crate) struct Spin(u32);

impl Spin {
    /// Whether it is time to check what delays the others. It is not true on every call, since checking slows them
    /// down.
    pub(crate) fn is_long(&self) -> bool {
        self.0 >= LONG && self.0.is_multiple_of(LONG)
    }

    pub(crate) fn wait(&mut self) {
        self.0 = self.0.saturating_add(1);
        if self.0 < SPINS {
            std::hint::spin_loop();
        } else {
            std::thread::yield_now();
        }
    }
}

/// Records that a thread of a group left before the end, so the others stop waiting for it.
#[derive(Debug, Default)]
pub(crate) struct Loss(AtomicBool);

/// Held by every thread of a group; a panic in one stops the others.
pub(crate) struct Attendance<'a>(&'a Loss);

impl Loss {
    pub(crate) fn attend(&self) -> Attendance<'_> {
        Attendance(self)
    }

    pub(crate) fn declare(&self) {
        self.0.store(true, Ordering::Release);
    }

    pub(crate) fn is_declared(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

impl Drop for Attendance<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.declare();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_frees_those_who_wait() {
        let loss = Loss::default();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                let mut spin = Spin::default();
                while !loss.is_declared() {
                    spin.wait();
                }
            });
            let lost = scope.spawn(|| {
                let _attendance = loss.attend();
                panic!("lost on purpose");
            });
            assert!(lost.join().is_err());
            waiting.join().unwrap();
        });
        drop(loss.attend());
    }
}
