//! The temporary files of this process that are not finished, so that a signal handler can remove them.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A file that is removed by [`remove_unfinished_files`] as long as this lives.
#[derive(Debug)]
pub(crate) struct Unfinished(PathBuf);

impl Unfinished {
    /// Registers a file, by its absolute path.
    pub(crate) fn new(path: &Path) -> Self {
        UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).push(path.to_owned());
        Self(path.to_owned())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        let mut files = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(i) = files.iter().position(|path| *path == self.0) {
            files.swap_remove(i);
        }
    }
}

/// Removes the temporary files of every [`AtomicFile`](crate::files::AtomicFile) and [`FileLock`](crate::files::FileLock) that is still
/// there: for a program that a signal is about to end, whose destructors do not run. From here on nothing that was begun is
/// finished. A file that cannot be removed stays, and the next writer of the same name removes it.
pub fn remove_unfinished_files() {
    let files = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    for path in files.iter() {
        let _ = fs::remove_file(path);
    }
    // Kept locked for good: no thread gives a file a name, or begins another, between here and the end of the process.
    std::mem::forget(files);
}
