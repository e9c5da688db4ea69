//! One meaning for a number of threads, everywhere, and threads that a system may refuse.

use std::{
    io,
    sync::{Arc, Barrier, Mutex},
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
/// caller's. Where the system refuses one (a limit on processes, on memory), the others have to do: it and those behind
/// it are left out, so the handles may be fewer. No thread begins its work before the last one is started, because a
/// thread that finds no memory for itself when it starts ends the process.
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

/// The same, if there are `room` bytes for each of them.
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
/// For pools of threads: started one after the other by this, none takes the memory that the next one needs to start,
/// for want of which that one would end the process.
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
/// The system's, where it starts no thread or has no memory for one.
pub fn spawn_in_turn(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    check_room(THREAD)?;
    let (runs, work) = announced(work);
    Builder::new().spawn(work)?;
    runs.wait();
    Ok(())
}

/// What a thread takes by itself: its stack, and what the standard library and the C library ask for once it runs. A
/// thread that does not find it ends the process.
const THREAD: usize = 8 << 20;

/// The same and the memory that the C library sets aside for what a thread allocates, where there is as much: 64 MiB of
/// addresses.
const THREAD_AND_ARENA: usize = THREAD + (72 << 20);

/// Whether there are that many bytes. They are asked of the system: an allocator may hold as many in reserve, which is
/// of no use to a stack.
fn check_room(bytes: usize) -> io::Result<()> {
    memmap2::MmapMut::map_anon(bytes).map(drop)
}

/// `work`, which first meets the one who waits for it to run.
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

/// How many threads can run beside each other now, of `wanted`: some systems allow fewer than they have cores. At least
/// 1, the caller's.
#[must_use]
pub fn startable_threads(wanted: usize) -> usize {
    std::thread::scope(|scope| {
        let others = spawn_with_room(THREAD_AND_ARENA, scope, wanted, |_| || ());
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
