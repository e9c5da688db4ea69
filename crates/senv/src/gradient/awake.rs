//! Keeps a thread awake between the parallel parts of a step.
//!
//! A training step alternates between parallel parts of a few tenths of a millisecond each and serial parts. A rayon
//! thread that finds no work for a few microseconds goes to sleep. Waking it takes as long as such a part, especially
//! on a virtual machine, so two threads bring little. Here the second thread keeps polling for parts until all the work
//! is done.

use std::sync::atomic::{AtomicBool, Ordering};

/// Runs `work` while another thread of the current rayon pool runs `beside` and then stays awake to take parts of
/// `work`. With one thread, `beside` runs after `work`. The other thread uses CPU time even when there are no parts for
/// it.
pub(super) fn awake_beside<R: Send, S: Send>(
    work: impl FnOnce() -> R + Send,
    beside: impl FnOnce() -> S + Send,
) -> (R, S) {
    let is_done = AtomicBool::new(false);
    // A thread that waits for a stolen part of `work` can run other jobs from its queue, but not the second half of
    // this join, which would wait for itself. The oldest jobs are stolen first, so that half is gone before any part
    // is.
    rayon::join(
        || {
            let _done = SetOnDrop(&is_done);
            work()
        },
        || {
            let result = beside();
            while !is_done.load(Ordering::Acquire) {
                if rayon::yield_now() != Some(rayon::Yield::Executed) {
                    std::thread::yield_now(); // To other programs, if cores are scarce.
                }
            }
            result
        },
    )
}

/// Sets the flag when dropped, also on a panic.
struct SetOnDrop<'a>(&'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rayon::prelude::*;

    /// Deeply nested parts, many times: a job that waits for itself would hang here.
    fn nested(depth: u32) -> u64 {
        if depth == 0 {
            return 1;
        }
        let work = || {
            let sum: u64 = (0..8_u64).into_par_iter().map(|i| if i < 2 { nested(depth - 1) } else { i % 2 }).sum();
            let (left, right) = rayon::join(|| nested(depth - 1), || nested(depth - 1));
            sum + left + right
        };
        let (sum, beside) = awake_beside(work, || 1);
        sum * beside
    }

    #[test]
    fn nested_work_ends_with_the_same_result_on_any_number_of_threads() {
        for threads in [1, 2, 3, 5, 8] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            for _ in 0..20 {
                assert_eq!(pool.install(|| nested(4)), 511);
            }
        }
    }

    #[test]
    fn a_panic_ends_the_wait() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            pool.install(|| awake_beside(|| panic!("on purpose"), || ()));
        }));
        assert!(caught.is_err());
        assert_eq!(pool.install(|| awake_beside(|| 3, || 4)), (3, 4));
    }
}
