//! Waiting for other threads for well under a millisecond, and not for ever when one of them is lost.

use std::sync::atomic::{AtomicBool, Ordering};

/// Spins before the thread offers its core to others.
const SPINS: u32 = 2_000;

/// Spins of some ten or twenty microseconds: longer than a turn, far shorter than a thread is away when it loses its
/// core.
const LONG: u32 = 1_000;

/// Waits a little: spins at first, then offers the core to others.
#[derive(Debug, Default)]
pub(crate) struct Spin(u32);

impl Spin {
    /// Whether it is time to ask what holds the others up; not at every call, for asking costs them time.
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

/// Whether a thread of a group left before the end: the others must not wait for it.
#[derive(Debug, Default)]
pub(crate) struct Loss(AtomicBool);

/// Held by every thread of a group: a panic in one stops the others.
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
