//! The unfinished temporary files of this process, which a signal handler can remove, and the steps that it must not
//! interrupt.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Locked while files get their names; locked before [`UNFINISHED`].
static NAMING: Mutex<Naming> = Mutex::new(Naming { last: None, is_done: false });

/// The effect that naming files has on the work of the process.
#[derive(Debug)]
pub(super) struct Naming {
    /// The parts of a [`LastStep`] that waits for the next named file.
    last: Option<Vec<Unfinished>>,
    /// Whether that file has been named.
    is_done: bool,
}

impl Naming {
    /// Until the guard is dropped, no signal handler removes anything.
    pub(super) fn begin() -> MutexGuard<'static, Self> {
        NAMING.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Called when all files have their names.
    pub(super) fn succeeded(&mut self) {
        self.is_done |= self.last.take().is_some();
    }
}

/// While this exists, the next [`AtomicFile`](crate::writing::AtomicFile) (or group of files) that gets its name
/// completes the work of the process. A program that then receives a signal to end continues to its end
/// ([`remove_unfinished_unless_done`]). Dropping this does not undo completed work.
///
/// ```
/// use senv_core::files::{AtomicFile, LastStep, remove_unfinished_unless_done};
/// use std::io::Write;
/// let folder = tempfile::tempdir()?;
/// let last = LastStep::begin();
/// AtomicFile::write_with(folder.path().join("counts.tsv"), |file| writeln!(file, "cat\t3"))?;
/// drop(last);
/// // In a signal handler: there is nothing to take back, so the program ends as it would have without the signal.
/// assert!(!remove_unfinished_unless_done());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct LastStep(());

impl LastStep {
    /// Starts the last step.
    #[must_use]
    pub fn begin() -> Self {
        Self::with(Vec::new())
    }

    /// Like [`LastStep::begin`], for a file that makes `parts` valid. A signal removes `parts` until the file has its
    /// name, but not afterwards.
    #[must_use]
    pub fn with(parts: Vec<Unfinished>) -> Self {
        Naming::begin().last = Some(parts);
        Self(())
    }
}

impl Drop for LastStep {
    fn drop(&mut self) {
        Naming::begin().last = None;
    }
}

/// A file, or an empty folder, that [`remove_unfinished_files`] removes while this exists. For files that already have
/// their name but are useless without another file that is not written yet.
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
    /// Registers a file, which does not have to exist yet, or a folder. A relative path is relative to the current
    /// working directory.
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
            // Keeps the order: the contents of a folder come after it.
            files.remove(i);
        }
    }
}

/// Removes the temporary files of every live [`AtomicFile`](crate::writing::AtomicFile) and
/// [`FileLock`](crate::writing::FileLock), and everything [`Unfinished`]. For a program that a signal is about to end,
/// whose destructors do not run. Waits briefly for files that are getting their names. Afterwards no unfinished file
/// can be completed. A file that cannot be removed stays, and the next writer of the same name removes it.
pub fn remove_unfinished_files() {
    remove(Naming::begin());
}

/// Like [`remove_unfinished_files`], unless the work is done ([`LastStep`]): then removes and blocks nothing, and
/// returns `false`.
#[must_use]
pub fn remove_unfinished_unless_done() -> bool {
    let naming = Naming::begin();
    if naming.is_done {
        return false;
    }
    remove(naming);
    true
}

fn remove(naming: MutexGuard<'static, Naming>) {
    let files = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    for path in files.iter().rev() {
        // A folder that others have put something into stays.
        let _ = fs::remove_file(path).or_else(|_| fs::remove_dir(path));
    }
    // Stays locked: until the process ends, no thread names a file or starts another.
    std::mem::forget((files, naming));
}
