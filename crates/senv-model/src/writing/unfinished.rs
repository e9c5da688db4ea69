//! The temporary files of this process that are not finished, so that a signal handler can remove them, and what it
//! must not cut in two.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Held while files get their names; taken before [`UNFINISHED`].
static NAMING: Mutex<Naming> = Mutex::new(Naming { last: None, is_done: false });

/// What the files that get their names mean to the work of the process.
#[derive(Debug)]
pub(super) struct Naming {
    /// What a [`LastStep`] that waits for the next of them brings along.
    last: Option<Vec<Unfinished>>,
    /// Whether it has come.
    is_done: bool,
}

impl Naming {
    /// From here until this is dropped no signal handler removes anything.
    pub(super) fn begin() -> MutexGuard<'static, Self> {
        NAMING.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All files have their names.
    pub(super) fn succeeded(&mut self) {
        self.is_done |= self.last.take().is_some();
    }
}

/// While this lives, the next [`AtomicFile`](crate::writing::AtomicFile) (or files that belong together) that gets its
/// name makes the work of the process done: a program that a signal asks to end then goes on to its end
/// ([`remove_unfinished_unless_done`]). What is done stays done when this is dropped.
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
    /// From here on.
    #[must_use]
    pub fn begin() -> Self {
        Self::with(Vec::new())
    }

    /// The same of a file that makes others count, which a signal removes until it has its name, and never then.
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
/// is about to end, whose destructors do not run. Files that are about to get their names do so first, which takes a
/// moment. From here on nothing that was begun is finished. A file that cannot be removed stays, and the next writer of
/// the same name removes it.
pub fn remove_unfinished_files() {
    remove(Naming::begin());
}

/// The same unless the work is done ([`LastStep`]): then nothing is removed or held up, and `false` says so.
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
    // Kept locked for good: no thread gives a file a name, or begins another, between here and the end of the process.
    std::mem::forget((files, naming));
}
