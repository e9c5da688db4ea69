//! One meaning for a number of threads, everywhere.

/// The threads that a setting stands for: 0 is all cores.
///
/// ```
/// assert_eq!(senv_core::thread_count(3), 3);
/// assert!(senv_core::thread_count(0) >= 1);
/// ```
#[must_use]
pub fn thread_count(threads: usize) -> usize {
    match threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        n => n,
    }
}
