//! A lock on the name of a file that takes long to make: two programs that write the same one would end with the work
//! of one of them lost.

use std::{
    ffi::OsString,
    fs::{self, File, OpenOptions, TryLockError},
    io::Write,
    path::{Path, PathBuf},
};

use crate::writing::{atomic_file::replaced, unfinished::Unfinished};
use senv_base::{Error, Result};

/// The right to write a file, held by one process at a time or [shared](Self::acquire_shared), by whatever symbolic
/// link each of them reaches it. A file `.NAME.lock` lies beside it meanwhile; the lock ends with the process, in
/// whatever way that ends, and a lock file that is left behind locks nothing.
///
/// ```
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("model.senv");
/// let lock = senv_core::files::FileLock::acquire(&path)?;
/// assert!(matches!(senv_core::files::FileLock::acquire(&path), Err(senv_core::Error::InUse { .. })));
/// drop(lock);
/// assert!(senv_core::files::FileLock::acquire(&path).is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FileLock {
    _held: Option<Held>,
}

/// A lock file that this process has locked.
#[derive(Debug)]
struct Held {
    file: File,
    path: PathBuf,
    /// Where it is not shared: a signal that ends the process removes the file.
    unfinished: Option<Unfinished>,
}

impl FileLock {
    /// Takes the lock of a file, which need not be there. Where the system has no locks it is always free, and so are
    /// devices and pipes, of which nothing is replaced.
    ///
    /// # Errors
    /// [`Error::InUse`] if another process, or another part of this one, holds it; [`Error::Io`] if the lock file
    /// cannot be made.
    pub fn acquire(target: impl AsRef<Path>) -> Result<Self> {
        Self::take(target.as_ref(), false)
    }

    /// Takes a lock that any number of processes hold together, while none holds it by [`acquire`](Self::acquire).
    ///
    /// ```
    /// use senv_core::files::FileLock;
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("vectors");
    /// let locks = [FileLock::acquire_shared(&path)?, FileLock::acquire_shared(&path)?];
    /// assert!(FileLock::acquire(&path).is_err());
    /// drop(locks);
    /// let lock = FileLock::acquire(&path)?;
    /// assert!(FileLock::acquire_shared(&path).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`acquire`](Self::acquire).
    pub fn acquire_shared(target: impl AsRef<Path>) -> Result<Self> {
        Self::take(target.as_ref(), true)
    }

    fn take(target: &Path, is_shared: bool) -> Result<Self> {
        // What is locked is what a writer replaces.
        let replaced = replaced(target).map_err(|e| Error::io("create a lock for", target, e))?;
        let Some((real, _)) = replaced else { return Ok(Self { _held: None }) };
        let mut name = OsString::from(".");
        name.push(real.file_name().unwrap_or_default());
        name.push(".lock");
        let path = real.with_file_name(name);
        loop {
            let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
            let mut file = file.map_err(|e| Error::io("create", &path, e))?;
            match if is_shared { file.try_lock_shared() } else { file.try_lock() } {
                Ok(()) | Err(TryLockError::Error(_)) => {}
                Err(TryLockError::WouldBlock) => {
                    return Err(Error::InUse { path: target.to_owned(), holder: holder(&path) });
                }
            }
            // Whoever held it before removes the file at the end: then this is a lock on a file without a name.
            if is_at(&file, &path) {
                // Whom the others name, if it is one. The lock is what counts, so a disk that is full changes nothing.
                let id = if is_shared { String::new() } else { std::process::id().to_string() };
                let _ = file.set_len(0).and_then(|()| file.write_all(id.as_bytes()));
                let unfinished = (!is_shared).then(|| Unfinished::new(&path));
                return Ok(Self { _held: Some(Held { file, path, unfinished }) });
            }
        }
    }
}

/// The process that has written its number into a lock file; `None` where that cannot be read, or not yet.
fn holder(path: &Path) -> Option<u32> {
    fs::read_to_string(path).ok()?.parse().ok()
}

impl Drop for Held {
    fn drop(&mut self) {
        // While it is still locked, so that nobody else's is removed: the last of those that share it can have it
        // alone.
        let is_alone = self.unfinished.is_some() || !matches!(self.file.try_lock(), Err(TryLockError::WouldBlock));
        if is_alone {
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), fs::metadata(path)) {
        (Ok(a), Ok(b)) => (a.dev(), a.ino()) == (b.dev(), b.ino()),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_at(_: &File, path: &Path) -> bool {
    path.exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_many_threads_holds_the_lock_at_a_time_and_nothing_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        let (inside, total) = (std::sync::atomic::AtomicU32::new(0), std::sync::atomic::AtomicU32::new(0));
        use std::sync::atomic::Ordering::SeqCst;
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let mut held = 0;
                    while held < 50 {
                        let Ok(lock) = FileLock::acquire(&path) else { continue };
                        assert_eq!(inside.fetch_add(1, SeqCst), 0, "two hold it");
                        std::thread::yield_now();
                        inside.fetch_sub(1, SeqCst);
                        drop(lock);
                        (held, _) = (held + 1, total.fetch_add(1, SeqCst));
                    }
                });
            }
        });
        assert_eq!((total.into_inner(), fs::read_dir(folder.path()).unwrap().count()), (200, 0));
    }

    #[test]
    fn a_lock_that_is_shared_keeps_out_whoever_wants_it_alone_until_the_last_has_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        let first = FileLock::acquire_shared(&path).unwrap();
        let second = FileLock::acquire_shared(&path).unwrap();
        drop(first);
        assert!(matches!(FileLock::acquire(&path), Err(Error::InUse { holder: None, .. })));
        let third = FileLock::acquire_shared(&path).unwrap();
        drop((second, third));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        let alone = FileLock::acquire(&path).unwrap();
        assert!(matches!(FileLock::acquire_shared(&path), Err(Error::InUse { holder: Some(_), .. })));
        drop(alone);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn a_file_is_locked_under_all_of_its_links() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("disk")).unwrap();
        symlink("disk/model", at("link")).unwrap();
        symlink("disk", at("way")).unwrap();
        let lock = FileLock::acquire(at("link")).unwrap();
        for name in ["link", "disk/model", "way/model", "disk/../link"] {
            assert!(
                matches!(FileLock::acquire(at(name)), Err(Error::InUse { path, .. }) if path == at(name)),
                "{name}"
            );
        }
        assert!(FileLock::acquire(at("disk/link")).is_ok(), "another file of that name");
        drop(lock);
        assert_eq!(fs::read_dir(at("disk")).unwrap().count(), 0);
    }

    #[test]
    fn whoever_is_refused_is_told_who_holds_the_lock() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        // What was left behind is no part of the number.
        fs::write(folder.path().join(".model.lock"), "99999999999").unwrap();
        let _lock = FileLock::acquire(&path).unwrap();
        let Err(error) = FileLock::acquire(&path) else { panic!("two hold it") };
        assert!(matches!(error, Error::InUse { holder: Some(holder), .. } if holder == std::process::id()), "{error}");
        assert!(
            error.to_string().contains(&format!("another process is writing it (process {});", std::process::id())),
            "{error}"
        );
    }

    #[test]
    fn a_lock_file_that_was_left_behind_locks_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        fs::write(folder.path().join(".model.lock"), "").unwrap();
        drop(FileLock::acquire(&path).unwrap());
        assert!(matches!(FileLock::acquire(folder.path().join("no/model")), Err(Error::Io { .. })));
    }
}
