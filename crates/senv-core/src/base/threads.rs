//! One meaning for a number of threads, everywhere, and threads that a system may refuse.

use std::{
    sync::{Barrier, Mutex},
    thread::{Builder, Scope, ScopedJoinHandle},
};

/// The threads that a setting stands for: 0 is all cores.
///
/// ```
/// assert_eq!(senv_core::threads::thread_count(3), 3);
/// assert!(senv_core::threads::thread_count(0) >= 1);
/// ```
#[must_use]
pub fn thread_count(threads: usize) -> usize {
    match threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        n => n,
    }
}

/// Starts threads 1 to `n_threads - 1` in `scope`, each with the work that `work` makes for its number; thread 0 is the
/// caller's. Where the system refuses one (a limit on processes, on memory), the others have to do: it and those behind it
/// are left out, so the handles may be fewer.
///
/// ```
/// let squares = std::thread::scope(|scope| {
///     let others = senv_core::threads::spawn_others(scope, 4, |thread| move || thread * thread);
///     others.into_iter().map(|other| other.join().unwrap_or_default()).collect::<Vec<_>>()
/// });
/// assert_eq!(squares, [1, 4, 9][..squares.len()]);
/// ```
pub fn spawn_others<'scope, 'env, T, F>(
    scope: &'scope Scope<'scope, 'env>,
    n_threads: usize,
    mut work: impl FnMut(usize) -> F,
) -> Vec<ScopedJoinHandle<'scope, T>>
where
    T: Send + 'scope,
    F: FnOnce() -> T + Send + 'scope,
{
    // What the thread before takes when it starts counts too, where `work` has waited for it.
    let start = |thread| {
        let work = work(thread);
        if has_room() { Builder::new().spawn_scoped(scope, work).ok() } else { None }
    };
    (1..n_threads).map_while(start).collect()
}

/// Whether there is memory for a thread and for what it takes by itself once it runs: without that it would end the process.
fn has_room() -> bool {
    const STACK_AND_MORE: usize = 8 << 20;
    crate::memory::check_memory::<u8>(1, STACK_AND_MORE).is_ok()
}

/// How many threads can run beside each other now, of `wanted`: some systems allow fewer than they have cores. At least 1,
/// the caller's.
#[must_use]
pub fn startable_threads(wanted: usize) -> usize {
    // Each one waits until all are counted: one that has ended counts no more against a limit. The next one is started when
    // it runs: what a thread takes by itself it takes then, and ends the process if others have left nothing.
    let (counted, runs) = (Mutex::new(()), Barrier::new(2));
    let counting = counted.lock();
    std::thread::scope(|scope| {
        let mut n_running = 0;
        let others = spawn_others(scope, wanted, |thread| {
            if thread > 1 {
                runs.wait();
                n_running += 1;
            }
            || {
                runs.wait();
                drop(counted.lock());
            }
        });
        if n_running < others.len() {
            runs.wait();
        }
        drop(counting);
        let n = others.len() + 1;
        // The scope waits for their work alone; what they take of the system is free once they are joined.
        others.into_iter().for_each(|other| _ = other.join());
        n
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_numbered_and_counted() {
        assert_eq!([0, 1, 3].map(startable_threads), [1, 1, 3]);
        let numbers = std::thread::scope(|scope| {
            let others = spawn_others(scope, 4, |thread| move || thread);
            others.into_iter().map(|other| other.join().unwrap()).collect::<Vec<_>>()
        });
        assert_eq!(numbers, [1, 2, 3]);
    }
}
