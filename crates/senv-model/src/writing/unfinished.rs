//! The temporary files of this process that are not finished, so that a signal handler can remove them.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A file, or an empty folder, that [`remove_unfinished_files`] removes as long as this lives: for files that have
/// their name already and are of no use without another that is still to come.
///
/// ```
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("part");
/// let unfinished = senv_core::files::Unfinished::new(&path);
/// std::fs::write(&path, "the first of two")?;
/// // A signal that ends the program here leaves nothing behind; from here on it leaves the file.
/// drop(unfinished);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Unfinished(PathBuf);

impl Unfinished {
    /// Registers a file that need not be there yet, or a folder. A relative path is taken from the present working
    /// folder.
    #[must_use]
    pub fn new(path: &Path) -> Self {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).push(path.clone());
        Self(path)
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        let mut files = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(i) = files.iter().position(|path| *path == self.0) {
            // In order: what is in a folder came after it.
            files.remove(i);
        }
    }
}

/// Removes the temporary files of every [`AtomicFile`](crate::writing::AtomicFile) and
/// [`FileLock`](crate::writing::FileLock) that is still there, and what is [`Unfinished`]: for a program that a signal
/// is about to end, whose destructors do not run. From here on nothing that was begun is finished. A file that cannot
/// be removed stays, and the next writer of the same name removes it.
pub fn remove_unfinished_files() {
    let files = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    for path in files.iter().rev() {
        // A folder that others have put something into stays.
        let _ = fs::remove_file(path).or_else(|_| fs::remove_dir(path));
    }
    // Kept locked for good: no thread gives a file a name, or begins another, between here and the end of the process.
    std::mem::forget(files);
}
