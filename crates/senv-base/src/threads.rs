//! Thread counts, and starting threads when the system may refuse them.

use std::{
    io,
    sync::{Arc, Barrier, Mutex},
    thread::{Builder, Scope, ScopedJoinHandle},
};

/// The number of threads for a setting; 0 means all cores.
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

/// Starts threads 1 to `n_threads - 1` in `scope`; thread 0 is the caller's. `work` receives the number of a thread and
/// returns its work. If the system refuses a thread (a limit on processes or memory), that thread and all later ones
/// are left out, so there can be fewer handles. No thread starts its work before the last one has started, because a
/// thread that has no memory to start ends the process.
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
    work: impl FnMut(usize) -> F,
) -> Vec<ScopedJoinHandle<'scope, T>>
where
    T: Send + 'scope,
    F: FnOnce() -> T + Send + 'scope,
{
    spawn_with_room(THREAD, scope, n_threads, work)
}

/// Like [`spawn_others`], but requires `room` available bytes per thread.
fn spawn_with_room<'scope, 'env, T, F>(
    room: usize,
    scope: &'scope Scope<'scope, 'env>,
    n_threads: usize,
    mut work: impl FnMut(usize) -> F,
) -> Vec<ScopedJoinHandle<'scope, T>>
where
    T: Send + 'scope,
    F: FnOnce() -> T + Send + 'scope,
{
    let all_started = Arc::new(Mutex::new(()));
    let starting = all_started.lock();
    let start = |thread| {
        let (work, all_started) = (work(thread), Arc::clone(&all_started));
        let work = move || {
            drop(all_started.lock());
            work()
        };
        check_room(room).ok()?;
        let (runs, work) = announced(work);
        let other = Builder::new().spawn_scoped(scope, work).ok()?;
        runs.wait();
        Some(other)
    };
    let others = (1..n_threads).map_while(start).collect();
    drop(starting);
    others
}

/// Starts a thread for `work` and returns once it runs.
///
/// For thread pools: starting threads one after another keeps a running thread from taking the memory that the next
/// needs to start. A thread without that memory would end the process.
///
/// ```
/// let (sender, receiver) = std::sync::mpsc::channel();
/// senv_core::threads::spawn_in_turn(move || _ = sender.send(3))?;
/// assert_eq!(receiver.recv(), Ok(3));
/// # std::io::Result::Ok(())
/// ```
///
/// # Errors
///
/// The system's error if it cannot start a thread or has no memory for one.
pub fn spawn_in_turn(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    check_room(THREAD)?;
    let (runs, work) = announced(work);
    Builder::new().spawn(work)?;
    runs.wait();
    Ok(())
}

/// What a thread needs for itself: its stack, and what the standard library and the C library allocate when it starts.
/// Without it, the thread ends the process.
const THREAD: usize = 8 << 20;

/// [`THREAD`] plus the arena that the C library reserves for a thread's allocations if there is room: 64 MiB of address
/// space.
const THREAD_AND_ARENA: usize = THREAD + (72 << 20);

/// Checks that this many bytes are available. Maps them from the system, because bytes that the allocator keeps in
/// reserve cannot serve as a stack.
fn check_room(bytes: usize) -> io::Result<()> {
    memmap2::MmapMut::map_anon(bytes).map(drop)
}

/// Wraps `work` to signal its start through the barrier.
fn announced<T>(work: impl FnOnce() -> T) -> (Arc<Barrier>, impl FnOnce() -> T) {
    let runs = Arc::new(Barrier::new(2));
    let meeting = Arc::clone(&runs);
    let work = move || {
        meeting.wait();
        drop(meeting);
        work()
    };
    (runs, work)
}

/// The number of threads, up to `wanted`, that can run at the same time now. Some systems allow fewer than they have
/// cores. At least 1, the caller's.
#[must_use]
pub fn startable_threads(wanted: usize) -> usize {
    std::thread::scope(|scope| {
        let others = spawn_with_room(THREAD_AND_ARENA, scope, wanted, |_| || ());
        let n = others.len() + 1;
        // The scope waits only for their work. Joining also waits until the system has freed their resources.
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
