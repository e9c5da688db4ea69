//! A barrier for phases of well under a millisecond: it spins a little before it yields, and it lets go when a
//! thread is lost.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Spins before the thread offers its core to others.
const SPINS: u32 = 2_000;

/// Spins of a microsecond or two.
const LONG: u32 = 64;

/// Waits a little: spins at first, then offers the core to others.
#[derive(Debug, Default)]
pub(crate) struct Spin(u32);

impl Spin {
    /// Whether it has lasted for more than a microsecond or two; not at every call, for asking costs the others time.
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

/// Makes `n` threads wait for each other, again and again.
#[derive(Debug)]
pub(crate) struct Barrier {
    n: usize,
    arrived: AtomicUsize,
    phase: AtomicUsize,
    abandoned: AtomicBool,
}

/// Held by every thread of a barrier: a panic in one lets the others go instead of leaving them waiting.
pub(crate) struct Attendance<'a>(&'a Barrier);

impl Drop for Attendance<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.abandoned.store(true, Ordering::Release);
        }
    }
}

impl Barrier {
    pub(crate) fn new(n: usize) -> Self {
        Self { n, arrived: AtomicUsize::new(0), phase: AtomicUsize::new(0), abandoned: AtomicBool::new(false) }
    }

    /// Whether a thread was lost.
    pub(crate) fn is_abandoned(&self) -> bool {
        self.abandoned.load(Ordering::Acquire)
    }

    pub(crate) fn attend(&self) -> Attendance<'_> {
        Attendance(self)
    }

    /// Waits until all `n` threads are here; what they wrote before is then visible to all. `false` if a thread was
    /// lost: leave.
    #[must_use]
    pub(crate) fn wait(&self) -> bool {
        if self.n == 1 {
            return true;
        }
        let phase = self.phase.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.n {
            self.arrived.store(0, Ordering::Relaxed);
            self.phase.store(phase.wrapping_add(1), Ordering::Release);
            return true;
        }
        let mut spin = Spin::default();
        while self.phase.load(Ordering::Acquire) == phase {
            if self.is_abandoned() {
                return false;
            }
            spin.wait();
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_thread_runs_ahead() {
        let (n, rounds) = (5, 200);
        let barrier = Barrier::new(n);
        let count = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..n {
                scope.spawn(|| {
                    for round in 0..rounds {
                        count.fetch_add(1, Ordering::Relaxed);
                        assert!(barrier.wait());
                        assert_eq!(count.load(Ordering::Relaxed), n * (round + 1));
                        assert!(barrier.wait());
                    }
                });
            }
        });
    }

    #[test]
    fn a_lost_thread_frees_the_others() {
        let barrier = Barrier::new(2);
        let freed = std::thread::scope(|scope| {
            let waiting = scope.spawn(|| barrier.wait());
            let lost = scope.spawn(|| {
                let _attendance = barrier.attend();
                panic!("lost on purpose");
            });
            assert!(lost.join().is_err());
            waiting.join().unwrap()
        });
        assert!(!freed);
    }
}
