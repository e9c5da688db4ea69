//! Files that are replaced atomically: written to a temporary file, then renamed.
//!
//! [`AtomicFile`] writes to a file without a name on the disk of the target. At the end it names the file next to the
//! target and renames it. So a full disk, a crash or an error leaves the old file unchanged and no other file behind.
//! Targets that must not be replaced by renaming (a device such as `/dev/stdout`, a pipe) are written directly. A
//! symbolic link stays a link, and the file that it points to is replaced.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, BufWriter, ErrorKind, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use crate::writing::{
    temporary::{Before, Temporary, folder_of, prefix_of, remove_leftovers},
    unfinished::Naming,
};
use senv_base::{Error, Result};

/// The number of bytes buffered before a system call.
const BUFFER: usize = 1 << 18;

/// The number of links after which a chain counts as a loop.
const MAX_LINKS: usize = 40;

/// A file under construction that gets its name only when it is complete.
///
/// Dropping it without [`AtomicFile::commit`] removes what was written; so does the end of the process for any reason.
/// Systems and disks without unnamed files name the temporary file `.NAME.XXXXXX.tmp` from the start. A process that is
/// killed leaves it behind unless it calls [`remove_unfinished_files`](crate::writing::remove_unfinished_files) on a
/// signal; then the next [`AtomicFile::create`] of the same name removes it. A file that another writer is still
/// writing is locked and is not removed.
///
/// ```
/// use std::io::Write;
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("vectors.txt");
/// let mut file = senv_core::files::AtomicFile::create(&path)?;
/// writeln!(file, "cat 0.5 0.25")?;
/// assert!(!path.exists());
/// file.commit()?;
/// assert_eq!(std::fs::read_to_string(&path)?, "cat 0.5 0.25\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct AtomicFile {
    sink: BufWriter<Sink>,
    path: PathBuf,
}

/// Where the bytes go until the commit.
#[derive(Debug)]
enum Sink {
    /// A temporary file that is renamed to the target at the end.
    Temporary(Temporary),
    /// Something that cannot be replaced: a device, a pipe.
    Direct(File),
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Temporary(temporary) => temporary.file.write(bytes),
            Self::Direct(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Temporary(temporary) => temporary.file.flush(),
            Self::Direct(file) => file.flush(),
        }
    }
}

impl Seek for Sink {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        match self {
            Self::Temporary(temporary) => temporary.file.seek(position),
            Self::Direct(file) => file.seek(position),
        }
    }
}

impl AtomicFile {
    /// Starts a file that will be named `path`. An old file of that name stays in place until [`AtomicFile::commit`];
    /// the new file gets its permissions.
    ///
    /// # Errors
    /// [`Error::Io`] if the folder is missing or not writable, or `path` is a folder or a read-only file.
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let sink = open(path).map_err(|e| Error::io("create", path, e))?;
        Ok(Self { sink: BufWriter::with_capacity(BUFFER, sink), path: path.to_owned() })
    }

    /// Writes a whole file: calls `content` once, and commits if it succeeds.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("counts.tsv");
    /// use std::io::Write;
    /// senv_core::files::AtomicFile::write_with(&path, |file| writeln!(file, "cat\t3"))?;
    /// # assert_eq!(std::fs::read_to_string(&path)?, "cat\t3\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Io`] with `path` if the file cannot be created or written, or `content` fails.
    pub fn write_with(path: impl AsRef<Path>, content: impl FnOnce(&mut Self) -> io::Result<()>) -> Result<()> {
        let mut file = Self::create(path)?;
        match content(&mut file) {
            Ok(()) => file.commit(),
            Err(e) => Err(file.error(e)),
        }
    }

    /// The final name of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Converts an error of writing to this file, using the final name.
    #[must_use]
    pub fn error(&self, source: io::Error) -> Error {
        Error::io("write", &self.path, source)
    }

    /// Writes everything to disk and gives the file its name.
    ///
    /// # Errors
    /// [`Error::Io`] if the rest cannot be written or the file cannot be renamed; then the old file is unchanged and
    /// nothing else is left. [`Error::NotDurable`] if the new file has its name but the system cannot write that to
    /// disk. Readers find the new file, but after a power failure they may find the old one.
    pub fn commit(self) -> Result<()> {
        Self::commit_all([self])
    }

    /// Commits files that belong together. All are on disk before the first gets its name, so a full disk or a failed
    /// rename leaves all old files. A crash in the short time between two renames can leave new files next to old ones.
    /// [`remove_unfinished_files`](crate::writing::remove_unfinished_files) waits for the last rename.
    ///
    /// # Errors
    /// The errors of [`AtomicFile::commit`]. If a rename fails and an earlier one cannot be undone, the error says
    /// which file is new, and where the old one is.
    pub fn commit_all(files: impl IntoIterator<Item = Self>) -> Result<()> {
        let written = files.into_iter().map(Self::written).collect::<Result<Vec<_>>>()?;
        let mut durable = Ok(());
        // All files get a name next to the target before the first gets its own, because folders can be full too.
        let mut naming = Naming::begin();
        let io = |path: &Path, e| Error::io("rename the finished file to", path, e);
        let named = written.into_iter().filter_map(|(sink, path)| match sink {
            Sink::Temporary(temporary) => Some(temporary.named().map_err(|e| io(&path, e)).map(|named| (named, path))),
            Sink::Direct(_) => None,
        });
        let named = named.collect::<Result<Vec<_>>>()?;
        let may_undo = named.len() > 1;
        let mut renamed = Vec::with_capacity(named.len());
        for (temporary, path) in named {
            let before = may_undo.then(|| Before::of(temporary.target()));
            match temporary.rename() {
                Ok(target) => renamed.push((target, path, before)),
                Err(e) => {
                    let mut kept = String::new();
                    for (target, path, before) in renamed.into_iter().rev() {
                        if let Some(Err(why)) = before.map(|before: Before| before.put_back(&target)) {
                            kept +=
                                &format!("; {} was already replaced and could not be restored: {why}", path.display());
                        }
                    }
                    let e = if kept.is_empty() { e } else { io::Error::new(e.kind(), format!("{e}{kept}")) };
                    return Err(io(&path, e));
                }
            }
        }
        naming.succeeded();
        // Dropping them removes the other names of the old files.
        let renamed: Vec<_> = renamed.into_iter().map(|(target, path, _)| (target, path)).collect();
        drop(naming);
        for (target, path) in renamed {
            let synced = sync_folder_of(&target).map_err(|error| Error::NotDurable { path, error });
            durable = durable.and(synced);
        }
        durable
    }

    /// Like [`AtomicFile::commit`], but never replaces an existing file.
    ///
    /// # Errors
    /// The errors of [`AtomicFile::commit`]; [`Error::Io`] with [`ErrorKind::AlreadyExists`] if the file exists.
    pub fn commit_new(self) -> Result<()> {
        let (sink, path) = self.written()?;
        let Sink::Temporary(temporary) = sink else { return Ok(()) };
        let mut naming = Naming::begin();
        let target = temporary.rename_new().map_err(|e| Error::io("rename the finished file to", &path, e))?;
        naming.succeeded();
        drop(naming);
        sync_folder_of(&target).map_err(|error| Error::NotDurable { path, error })
    }

    /// Writes everything to disk.
    fn written(self) -> Result<(Sink, PathBuf)> {
        let Self { sink, path } = self;
        let mut sink = sink.into_inner().map_err(|e| Error::io("write", &path, e.into_error()))?;
        match &mut sink {
            Sink::Temporary(temporary) => temporary.file.sync_all(),
            Sink::Direct(file) => file.flush(),
        }
        .map_err(|e| Error::io("write", &path, e))?;
        Ok((sink, path))
    }
}

/// For formats whose header is known only at the end; a pipe returns an error.
impl Seek for AtomicFile {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.sink.seek(position)
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.sink.write(bytes)
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.sink.write_all(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}

/// Determines what `path` names and opens the matching sink.
fn open(path: &Path) -> io::Result<Sink> {
    match replaced(path)? {
        Some((_, Some(permissions))) if permissions.readonly() => {
            // A rename needs no permission of the file itself, so the read-only flag is checked here.
            Err(io::Error::new(ErrorKind::PermissionDenied, "the existing file is read-only"))
        }
        Some((target, permissions)) => Temporary::create(target, permissions).map(Sink::Temporary),
        // Redirecting standard output to an existing file means appending; it makes no difference for devices and
        // pipes.
        None => OpenOptions::new().append(true).open(path).map(Sink::Direct),
    }
}

/// The file that is replaced when `path` is written, with all links resolved, and the permissions of the old one.
/// `None` for targets that are written directly.
pub(crate) fn replaced(path: &Path) -> io::Result<Option<(PathBuf, Option<fs::Permissions>)>> {
    let mut current = path.to_owned();
    for _ in 0..MAX_LINKS {
        let Some(name) = current.file_name() else { break };
        // Uses the real path of the folder, so a link in it is recognized however it was reached.
        let target = folder_of(&current).canonicalize()?.join(name);
        match fs::symlink_metadata(&target) {
            Ok(metadata) if metadata.is_symlink() => {
                // System links to open files of this process must be written to unchanged.
                if ["/dev", "/proc"].iter().any(|folder| target.starts_with(folder)) {
                    break;
                }
                current = folder_of(&target).join(fs::read_link(&target)?);
            }
            Ok(metadata) if metadata.is_file() => return Ok(Some((target, Some(metadata.permissions())))),
            Ok(_) => break,
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Some((target, None))),
            Err(e) => return Err(e),
        }
    }
    Ok(None)
}

/// Removes the files that killed writers of this path left, as [`AtomicFile::create`] does at the start.
pub fn remove_leftovers_of(path: impl AsRef<Path>) {
    if let Ok(Some((target, _))) = replaced(path.as_ref()) {
        remove_leftovers(folder_of(&target), &prefix_of(&target));
    }
}

/// Writes the name of a file or folder to disk, if the system can.
///
/// # Errors
/// [`Error::NotDurable`] if that fails.
pub fn sync_folder(path: impl AsRef<Path>) -> Result<()> {
    let path = path.as_ref();
    sync_folder_of(path).map_err(|error| Error::NotDurable { path: path.to_owned(), error })
}

fn sync_folder_of(target: &Path) -> io::Result<()> {
    if !cfg!(unix) {
        return Ok(());
    }
    let Ok(folder) = File::open(folder_of(target)) else { return Ok(()) }; // writable but not readable
    match folder.sync_all() {
        Err(e) if !matches!(e.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => Err(e),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use tempfile::NamedTempFile;

    use super::*;
    use crate::writing::temporary::named;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_head_is_written_over_at_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("matrix");
        let mut file = AtomicFile::create(&path).unwrap();
        file.write_all(b"???").unwrap();
        file.write_all(&[b'x'; 2 * BUFFER]).unwrap();
        file.seek(SeekFrom::Start(0)).unwrap();
        file.write_all(b"two").unwrap();
        assert_eq!(file.stream_position().unwrap(), 3);
        file.commit().unwrap();
        let bytes = fs::read(&path).unwrap();
        assert_eq!((&bytes[..5], bytes.len()), (b"twoxx".as_slice(), 3 + 2 * BUFFER));
    }

    #[test]
    fn a_failure_half_way_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        fs::write(&path, "old").unwrap();
        let failed = AtomicFile::write_with(&path, |file| {
            file.write_all(&[b'n'; 3 * BUFFER])?;
            assert_eq!(names(folder.path()).len(), if cfg!(target_os = "linux") { 1 } else { 2 }, "a temporary file");
            Err(io::Error::other("stop"))
        });
        let Err(Error::Io { path: named, .. }) = failed else { panic!("an error was expected") };
        assert_eq!(named, path);
        drop(AtomicFile::create(&path).unwrap());
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(names(folder.path()), ["model"]);

        AtomicFile::write_with(&path, |file| file.write_all(b"new")).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(names(folder.path()), ["model"]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn of_files_that_belong_together_all_are_replaced_or_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("first");
        fs::write(&path, "old").unwrap();
        let started = |path: &Path| {
            let mut file = AtomicFile::create(path).unwrap();
            file.write_all(b"new").unwrap();
            file
        };
        let second = folder.path().join("second");
        assert!(AtomicFile::commit_all([started(&path), started(Path::new("/dev/full"))]).is_err());
        assert_eq!((fs::read_to_string(&path).unwrap(), names(folder.path()).len()), ("old".into(), 1));
        AtomicFile::commit_all([started(&path), started(&second)]).unwrap();
        assert_eq!([path, second].map(|path| fs::read_to_string(path).unwrap()), ["new", "new"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_rename_that_fails_takes_those_before_it_back() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("first"), "old").unwrap();
        let files = ["first", "second", "third"].map(|name| {
            let mut file = AtomicFile::create(at(name)).unwrap();
            file.write_all(b"new").unwrap();
            file
        });
        // A file cannot be renamed to a folder.
        fs::create_dir(at("third")).unwrap();
        let error = AtomicFile::commit_all(files).unwrap_err();
        assert!(matches!(&error, Error::Io { path, .. } if path.ends_with("third")), "{error}");
        assert_eq!(
            (fs::read_to_string(at("first")).unwrap().as_str(), names(folder.path())),
            ("old", vec!["first".into(), "third".into()])
        );
    }

    #[test]
    fn a_new_file_is_never_put_in_the_place_of_another() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings");
        let started = |text: &[u8]| {
            let mut file = AtomicFile::create(&path).unwrap();
            file.write_all(text).unwrap();
            file
        };
        let second = started(b"second");
        started(b"first").commit_new().unwrap();
        let refused = second.commit_new().unwrap_err();
        assert!(matches!(&refused, Error::Io { error, .. } if error.kind() == ErrorKind::AlreadyExists), "{refused}");
        assert_eq!((fs::read_to_string(&path).unwrap().as_str(), names(folder.path()).len()), ("first", 1));
        fs::write(folder.path().join(".settings.abcdef.tmp"), "").unwrap();
        remove_leftovers_of(&path);
        assert_eq!(names(folder.path()), ["settings"]);
    }

    #[test]
    fn leftovers_of_killed_writers_go_and_files_of_living_ones_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        let (file, (name, _)) = named(&path).unwrap();
        let living = AtomicFile::create(&path).unwrap();
        let kept = [".model.abc.tmp", ".model.abcdef", "model.abcdef.tmp", ".other.abcdef.tmp"];
        for name in kept.iter().chain(&[".model.abcdef.tmp"]) {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let second = AtomicFile::create(&path).unwrap();
        assert!(!folder.path().join(".model.abcdef.tmp").exists());
        assert!(kept.iter().all(|name| folder.path().join(name).exists()));
        assert!(name.exists(), "another works on it");
        drop(file);
        second.commit().unwrap();
        living.commit().unwrap();
        remove_leftovers_of(&path);
        assert!(!name.exists());
        assert_eq!(names(folder.path()).len(), kept.len() + 1);
    }

    #[test]
    fn a_missing_folder_a_folder_and_a_bare_root_are_errors() {
        let folder = tempfile::tempdir().unwrap();
        for path in [folder.path().join("no/file"), folder.path().to_owned(), PathBuf::from("/"), PathBuf::new()] {
            assert!(matches!(AtomicFile::create(&path), Err(Error::Io { .. })), "{}", path.display());
        }
        let long = folder.path().join("ä".repeat(120));
        AtomicFile::write_with(&long, |file| file.write_all(b"x")).unwrap();
        assert!(long.exists());
    }

    #[cfg(unix)]
    #[test]
    fn links_stay_links_and_permissions_are_kept() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("disk")).unwrap();
        fs::write(at("disk/real"), "old").unwrap();
        fs::set_permissions(at("disk/real"), fs::Permissions::from_mode(0o640)).unwrap();
        symlink("disk/real", at("first")).unwrap();
        symlink("first", at("second")).unwrap();
        symlink("disk/fresh", at("dangling")).unwrap();
        symlink("loop", at("loop")).unwrap();

        AtomicFile::write_with(at("second"), |file| file.write_all(b"new")).unwrap();
        assert!(fs::symlink_metadata(at("second")).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(at("disk/real")).unwrap(), "new");
        assert_eq!(fs::metadata(at("disk/real")).unwrap().permissions().mode() & 0o777, 0o640);
        AtomicFile::write_with(at("dangling"), |file| file.write_all(b"new")).unwrap();
        assert_eq!(fs::read_to_string(at("disk/fresh")).unwrap(), "new");
        // A new file has the same permissions as any other new file.
        fs::write(at("plain"), "").unwrap();
        let mode = |name: &str| fs::metadata(at(name)).unwrap().permissions().mode();
        assert_eq!(mode("disk/fresh"), mode("plain"));
        assert!(AtomicFile::create(at("loop")).is_err());
        fs::set_permissions(at("plain"), fs::Permissions::from_mode(0o444)).unwrap();
        assert!(AtomicFile::create(at("plain")).is_err(), "read-only");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn devices_and_pipes_are_written_directly_and_a_full_disk_is_an_error() {
        for n in [1, 3 * BUFFER] {
            let full = AtomicFile::write_with("/dev/full", |file| file.write_all(&vec![0; n]));
            let Err(Error::Io { path, error: source, .. }) = full else { panic!("a full device took {n} bytes") };
            assert_eq!((path.to_str(), source.kind()), (Some("/dev/full"), ErrorKind::StorageFull));
        }
        AtomicFile::write_with("/dev/null", |file| file.write_all(b"gone")).unwrap();

        // A pipe by its name among the open files of this process, like /dev/stdout.
        use std::{io::Read, os::fd::AsRawFd};
        let (mut reader, writer) = io::pipe().unwrap();
        AtomicFile::write_with(format!("/dev/fd/{}", writer.as_raw_fd()), |file| file.write_all(b"through")).unwrap();
        drop(writer);
        let mut seen = String::new();
        reader.read_to_string(&mut seen).unwrap();
        assert_eq!(seen, "through");

        // A redirection to a file appends to it and keeps the file.
        let mut file = NamedTempFile::new().unwrap();
        file.write_all(b"first ").unwrap();
        let link = format!("/proc/self/fd/{}", file.as_file().as_raw_fd());
        AtomicFile::write_with(link, |file| file.write_all(b"second")).unwrap();
        assert_eq!(fs::read_to_string(file.path()).unwrap(), "first second");
    }
}
