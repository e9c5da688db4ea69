//! The temporary file that replaces another one. It has no name on systems with unnamed files, so nothing is left of it
//! however the process ends.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use tempfile::TempPath;

use crate::writing::unfinished::{Naming, Unfinished};

/// The suffix of temporary file names.
const SUFFIX: &str = ".tmp";

/// A locked temporary file on the disk of the target.
#[derive(Debug)]
pub(super) struct Temporary {
    pub(super) file: File,
    target: PathBuf,
    /// The name next to the target, if it already has one; removed if the file is not renamed to the target.
    name: Option<(TempPath, Unfinished)>,
}

impl Temporary {
    /// Creates the file, after removing leftovers of killed processes. `permissions` are those of the replaced file.
    pub(super) fn create(target: PathBuf, permissions: Option<fs::Permissions>) -> io::Result<Self> {
        let folder = folder_of(&target);
        remove_leftovers(folder, &prefix_of(&target));
        let (file, name) = match unnamed(folder) {
            Some(file) => (file, None),
            None => named(&target).map(|(file, name)| (file, Some(name)))?,
        };
        if let Some(permissions) = permissions {
            file.set_permissions(permissions)?;
        }
        Ok(Self { file, target, name })
    }

    /// Gives the file a name next to the target.
    #[cfg_attr(not(target_os = "linux"), expect(unused_mut))]
    pub(super) fn named(mut self) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        if self.name.is_none() {
            let linked = builder(&prefix_of(&self.target)).make_in(folder_of(&self.target), |path| {
                // Registered before the file exists, so a signal leaves nothing.
                let unfinished = Unfinished::new(path);
                link(&self.file, path).map(|()| unfinished)
            })?;
            let (unfinished, path) = linked.into_parts();
            self.name = Some((path, unfinished));
        }
        Ok(self)
    }

    /// The file to be replaced.
    pub(super) fn target(&self) -> &Path {
        &self.target
    }

    /// Renames the file to the target.
    pub(super) fn rename(self) -> io::Result<PathBuf> {
        let Self { file: _file, target, name } = self.named()?;
        if let Some((path, _unfinished)) = name {
            let path = path.keep().map_err(|e| e.error)?;
            fs::rename(&path, &target).inspect_err(|_| {
                let _ = fs::remove_file(&path);
            })?;
        }
        Ok(target)
    }

    /// Like [`Temporary::rename`], but fails if the target exists.
    pub(super) fn rename_new(self) -> io::Result<PathBuf> {
        let Self { file: _file, target, name } = self;
        match name {
            Some((path, _unfinished)) => path.persist_noclobber(&target).map_err(|e| e.error)?,
            #[cfg(target_os = "linux")]
            None => link(&_file, &target)?,
            #[cfg(not(target_os = "linux"))]
            None => {}
        }
        Ok(target)
    }
}

/// The state of a name before a file was renamed to it.
pub(super) enum Before {
    Nothing,
    /// The previous file, under another name.
    File(TempPath),
    /// The file cannot have two names, so it cannot be restored.
    Lost,
}

impl Before {
    pub(super) fn of(target: &Path) -> Self {
        if target.symlink_metadata().is_err_and(|e| e.kind() == ErrorKind::NotFound) {
            return Self::Nothing;
        }
        let linked = builder(&prefix_of(target)).make_in(folder_of(target), |path| fs::hard_link(target, path));
        linked.map_or(Self::Lost, |linked| Self::File(linked.into_temp_path()))
    }

    /// Restores the state. An error says where the previous file is.
    pub(super) fn put_back(self, target: &Path) -> Result<(), String> {
        match self {
            Self::Nothing => fs::remove_file(target).map_err(|e| format!("the new file cannot be removed ({e})")),
            Self::File(path) => path.persist(target).map_err(|e| match e.path.keep() {
                Ok(kept) => format!(
                    "the old file is now {} (the next write deletes it) and cannot be renamed ({})",
                    kept.display(),
                    e.error
                ),
                Err(lost) => format!("the old file cannot be renamed ({})", lost.error),
            }),
            Self::Lost => Err("the old file is lost".into()),
        }
    }
}

/// A locked unnamed file on the disk of a folder; `None` if the system does not support it.
fn unnamed(folder: &Path) -> Option<File> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt;
        let mut options = OpenOptions::new();
        options.read(true).write(true).custom_flags(OFlags::TMPFILE.bits() as i32).mode(0o666); // minus the umask
        let file = options.open(folder).ok()?;
        // It gets a name through `/proc`.
        fs::metadata(by_number(&file)).ok().filter(fs::Metadata::is_file)?;
        // Keeps other processes from removing it once it has a name. Without locks, no process does.
        let _ = file.try_lock();
        Some(file)
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = folder;
        None
    }
}

/// The path of an open file, named or not.
#[cfg(target_os = "linux")]
fn by_number(file: &File) -> String {
    use std::os::fd::AsRawFd;
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

/// Gives an unnamed file a name that is not in use.
#[cfg(target_os = "linux")]
fn link(file: &File, path: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};
    Ok(linkat(CWD, by_number(file), CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

fn builder<'a>(prefix: &'a str) -> tempfile::Builder<'a, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix).suffix(SUFFIX);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666)); // minus the umask
    builder
}

/// A locked temporary file with a name next to the target.
pub(super) fn named(target: &Path) -> io::Result<(File, (TempPath, Unfinished))> {
    let prefix = prefix_of(target);
    for _ in 0..100 {
        let _naming = Naming::begin();
        let (file, path) = builder(&prefix).tempfile_in(folder_of(target))?.into_parts();
        // A process that is cleaning up may already have locked or removed the file; then try again.
        let locked = match file.try_lock() {
            Ok(()) => true,
            Err(fs::TryLockError::WouldBlock) => false,
            Err(fs::TryLockError::Error(_)) => true, // no locks here, so no process cleans up either
        };
        if locked && path.exists() {
            let unfinished = Unfinished::new(&path);
            return Ok((file, (path, unfinished)));
        }
    }
    Err(io::Error::new(ErrorKind::AlreadyExists, "temporary files are deleted as soon as they are created"))
}

/// Opens only a file with this exact name: follows no symbolic link and waits for no pipe.
pub(super) fn no_follow(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32);
    }
    options
}

/// The folder of a path; `.` for a bare name.
pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The start of the names of a target's temporary files. Part of a long name is enough: the system limits the length,
/// and the lock distinguishes writers.
pub(super) fn prefix_of(target: &Path) -> String {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    format!(".{}.", name.chars().take(40).collect::<String>())
}

/// Removes temporary files of this target that no process has locked. Files that cannot be removed stay.
pub(super) fn remove_leftovers(folder: &Path, prefix: &str) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        let middle = name.strip_prefix(prefix).and_then(|rest| rest.strip_suffix(SUFFIX));
        let ours = middle.is_some_and(|m| m.len() == 6 && m.bytes().all(|b| b.is_ascii_alphanumeric()));
        if !ours || !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        // Does not follow or wait for anything that meanwhile takes this name.
        let Ok(file) = no_follow(OpenOptions::new().write(true)).open(entry.path()) else { continue };
        if file.try_lock().is_ok() {
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_taken_back_is_said_with_the_place_of_the_old_file() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("w.npy");
        fs::write(&target, "old").unwrap();
        let before = Before::of(&target);
        // A file cannot be renamed to a folder.
        fs::remove_file(&target).unwrap();
        fs::create_dir(&target).unwrap();
        let said = before.put_back(&target).unwrap_err();
        let place = said.strip_prefix("the old file is now ").and_then(|rest| rest.split(" (the next").next()).unwrap();
        assert_eq!(fs::read_to_string(place).unwrap(), "old", "{said}");
        let said = Before::Nothing.put_back(&folder.path().join("none")).unwrap_err();
        assert!(said.starts_with("the new file cannot be removed ("), "{said}");
        assert!(Before::Lost.put_back(&target).is_err());
    }
}
