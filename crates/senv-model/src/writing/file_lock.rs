//! Locks on names of files that take long to write. Without a lock, two programs that write the same file would lose
//! the work of one.

use std::{
    ffi::OsString,
    fs::{self, File, OpenOptions, TryLockError},
    io::{ErrorKind, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use crate::writing::{
    atomic_file::replaced,
    temporary::no_follow,
    unfinished::{Naming, Unfinished},
};
use senv_base::{Error, Result};

/// The maximum size of a lock file: the id of a process, and room for what other programs may add to a number.
const MOST: u64 = 32;

/// The right to write a file, held by one process at a time or [shared](Self::acquire_shared). It is the same lock for
/// every symbolic link to the file. While it is held, a file `.NAME.lock` exists next to it. The lock ends with the
/// process for any reason, and a leftover lock file locks nothing. Anything else with that name (a link, a pipe, a file
/// with more than a process id) is an error and is not changed.
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
    /// Present if the lock is not shared: a signal that ends the process removes the file.
    unfinished: Option<Unfinished>,
}

impl FileLock {
    /// Locks a file, which does not have to exist. Always succeeds on systems without locks, and for devices and pipes,
    /// which are not replaced.
    ///
    /// # Errors
    /// [`Error::InUse`] if another process, or another part of this one, holds the lock; [`Error::BadFile`] if the lock
    /// file is something else; [`Error::Io`] if the lock file cannot be created.
    pub fn acquire(target: impl AsRef<Path>) -> Result<Self> {
        Self::take(target.as_ref(), false)
    }

    /// Takes a lock that any number of processes can hold at the same time, unless one holds it by
    /// [`acquire`](Self::acquire).
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
    /// The errors of [`acquire`](Self::acquire).
    pub fn acquire_shared(target: impl AsRef<Path>) -> Result<Self> {
        Self::take(target.as_ref(), true)
    }

    fn take(target: &Path, is_shared: bool) -> Result<Self> {
        // The lock is on the file that a writer replaces.
        let replaced = replaced(target).map_err(|e| Error::io("create a lock for", target, e))?;
        let Some((real, _)) = replaced else { return Ok(Self { _held: None }) };
        let mut name = OsString::from(".");
        name.push(real.file_name().unwrap_or_default());
        name.push(".lock");
        let path = real.with_file_name(name);
        loop {
            // A signal waits until the owner of the lock file, who removes it, is known.
            let _naming = Naming::begin();
            let file = no_follow(OpenOptions::new().read(true).write(true).create(true).truncate(false)).open(&path);
            let mut file = match file {
                Ok(file) => file,
                Err(e) => return Err(refused(&path, e)),
            };
            let is_foreign = !file.metadata().is_ok_and(|metadata| is_single_file(&metadata));
            if is_foreign && is_at(&file, &path) {
                return Err(no_lock(&path));
            }
            match if is_shared { file.try_lock_shared() } else { file.try_lock() } {
                Ok(()) | Err(TryLockError::Error(_)) => {}
                Err(TryLockError::WouldBlock) => {
                    return Err(Error::InUse { path: target.to_owned(), holder: holder(&mut file) });
                }
            }
            // The previous holder removes the file at the end; then this is a lock on an unnamed file.
            if is_at(&file, &path) {
                if content(&mut file).is_none() {
                    return Err(no_lock(&path));
                }
                // The id that other processes report, unless the lock is shared. Only the lock matters, so a full disk
                // makes no difference.
                let id = if is_shared { String::new() } else { std::process::id().to_string() };
                let empty = file.set_len(0).and_then(|()| file.seek(SeekFrom::Start(0)));
                let _ = empty.and_then(|_| file.write_all(id.as_bytes()));
                let unfinished = (!is_shared).then(|| Unfinished::new(&path));
                return Ok(Self { _held: Some(Held { file, path, unfinished }) });
            }
        }
    }
}

/// The number in a lock file, or an empty text; `None` if the file is not a lock file.
fn content(file: &mut File) -> Option<String> {
    let mut text = String::new();
    file.seek(SeekFrom::Start(0)).ok()?;
    file.take(MOST).read_to_string(&mut text).ok()?;
    let is_number = (text.len() as u64) < MOST && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then_some(text)
}

/// The process whose id is in a lock file; `None` if it cannot be read or is not written yet.
fn holder(file: &mut File) -> Option<u32> {
    content(file)?.parse().ok()
}

fn no_lock(path: &Path) -> Error {
    let reason = "it has the name of a senv lock file but is not one (it is a link, a pipe or another file); rename \
        or remove it, then try again";
    Error::BadFile { path: path.to_owned(), reason: reason.into() }
}

/// The error for a lock file that cannot be opened.
fn refused(path: &Path, error: std::io::Error) -> Error {
    match fs::symlink_metadata(path) {
        Ok(there) if !there.is_file() && error.kind() != ErrorKind::PermissionDenied => no_lock(path),
        _ => Error::io("create", path, error),
    }
}

/// Whether this is a regular file without another name.
fn is_single_file(metadata: &fs::Metadata) -> bool {
    #[cfg(unix)]
    let is_single = std::os::unix::fs::MetadataExt::nlink(metadata) == 1;
    #[cfg(not(unix))]
    let is_single = true;
    metadata.is_file() && is_single
}

impl Drop for Held {
    fn drop(&mut self) {
        // Remove it while it is locked, so no other process's file is removed. Of those that share it, only the last
        // can lock it exclusively.
        let is_alone = self.unfinished.is_some() || !matches!(self.file.try_lock(), Err(TryLockError::WouldBlock));
        if is_alone {
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), fs::symlink_metadata(path)) {
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
        // The leftover text is not part of the number.
        fs::write(folder.path().join(".model.lock"), "99999999999").unwrap();
        let _lock = FileLock::acquire(&path).unwrap();
        let Err(error) = FileLock::acquire(&path) else { panic!("two hold it") };
        assert!(matches!(error, Error::InUse { holder: Some(holder), .. } if holder == std::process::id()), "{error}");
        assert!(
            error.to_string().contains(&format!("another process ({}) is writing this file;", std::process::id())),
            "{error}"
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_file_in_the_place_of_a_lock_file_is_refused_and_stays_as_it_is() {
        use std::os::unix::{fs::symlink, net::UnixListener};
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let (model, lock) = (at("model"), at(".model.lock"));
        let refused = || [FileLock::acquire(&model), FileLock::acquire_shared(&model)].map(Result::unwrap_err);
        for content in ["dear diary", "17 letters", "17\n", &"1".repeat(40)] {
            fs::write(at("precious"), content).unwrap();
            for link in [|from, to| symlink(from, to), |from, to| fs::hard_link(from, to)] {
                link(at("precious"), lock.clone()).unwrap();
                for error in refused() {
                    assert!(matches!(&error, Error::BadFile { path, .. } if path.ends_with(".model.lock")), "{error}");
                }
                assert_eq!(fs::read_to_string(&lock).unwrap(), content);
                fs::remove_file(&lock).unwrap();
            }
            fs::write(&lock, content).unwrap();
            refused();
            assert_eq!(fs::read_to_string(&lock).unwrap(), content);
            fs::remove_file(&lock).unwrap();
        }
        // A file with only a number is also rejected if it has another name: a link to the lock of another collection.
        fs::write(at("precious"), "17").unwrap();
        for link in [|from, to| symlink(from, to), |from, to| fs::hard_link(from, to)] {
            link(at("precious"), lock.clone()).unwrap();
            refused();
            fs::remove_file(&lock).unwrap();
        }
        assert_eq!(fs::read_to_string(at("precious")).unwrap(), "17");
        symlink("nothing", &lock).unwrap();
        refused();
        assert!(!at("nothing").exists());
        fs::remove_file(&lock).unwrap();
        fs::create_dir(&lock).unwrap();
        refused();
        fs::remove_dir(&lock).unwrap();
        let _socket = UnixListener::bind(&lock).unwrap();
        refused();
        fs::remove_file(&lock).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, &lock, rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0).unwrap();
        refused();
        fs::remove_file(&lock).unwrap();
        assert!(FileLock::acquire(&model).is_ok());
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
