//! Storage of the ids: in memory while they are few, then in an unnamed temporary file.

use std::{
    fs::File,
    io::{ErrorKind, Write},
    path::{Path, PathBuf},
};

use senv_base::{Error, Result};
use senv_model::writing::AtomicFile;

/// The maximum number of ids in memory, which take 4 MiB; more go to a file.
const IN_MEMORY: usize = 1 << 20;

/// Receives ids piece by piece.
pub(super) struct Growing {
    memory: Vec<u32>,
    file: Option<ScratchFile>,
    n_words: u64,
    folder: PathBuf,
}

impl Growing {
    pub(super) fn new(scratch_dir: Option<&Path>) -> Self {
        let folder = scratch_dir.map_or_else(std::env::temp_dir, Path::to_owned);
        Self { memory: Vec::new(), file: None, n_words: 0, folder }
    }

    /// Appends the parts one after another; returns the start of the first.
    pub(super) fn append(&mut self, parts: [&[u32]; 2]) -> Result<u64> {
        let start = self.n_words;
        let n: usize = parts.iter().map(|part| part.len()).sum();
        if self.file.is_none() && self.memory.len() + n > IN_MEMORY {
            let file = ScratchFile::create(&self.folder)?;
            file.write(0, &self.memory)?;
            self.memory = Vec::new();
            self.file = Some(file);
        }
        match &self.file {
            None => parts.iter().for_each(|part| self.memory.extend_from_slice(part)),
            Some(file) => {
                file.write(start, parts[0])?;
                file.write(start + parts[0].len() as u64, parts[1])?;
            }
        }
        self.n_words += n as u64;
        Ok(start)
    }

    /// Continues a stored reading, of which the first `n_words` words are valid.
    pub(super) fn of_kept(file: ScratchFile, n_words: u64) -> Self {
        Self { memory: Vec::new(), folder: file.folder.clone(), file: Some(file), n_words }
    }

    /// Whether the ids are still in memory.
    pub(super) fn is_in_memory(&self) -> bool {
        self.file.is_none()
    }

    /// Gives the file this name; returns the number of words and their checksum.
    pub(super) fn keep(&mut self, path: &Path) -> Result<(u64, u32)> {
        let bytes = 4 * self.n_words;
        let checksum =
            self.file.as_mut().map_or(Ok(0), |file| file.keep(path, bytes).and_then(|()| file.checksum(bytes)));
        Ok((self.n_words, checksum?))
    }

    pub(super) fn finish(self) -> Storage {
        match self.file {
            Some(file) => Storage::File(file),
            None => Storage::Memory(self.memory),
        }
    }
}

/// Ids that several threads can read from any position.
#[derive(Debug)]
pub(super) enum Storage {
    Memory(Vec<u32>),
    File(ScratchFile),
}

impl Storage {
    /// Reads `to.len()` words starting at word `start`.
    pub(super) fn read(&self, start: u64, to: &mut [u32]) -> Result<()> {
        match self {
            Self::Memory(words) => to.copy_from_slice(&words[start as usize..start as usize + to.len()]),
            Self::File(file) => file.read(start, to)?,
        }
        Ok(())
    }

    /// The folder of the file; empty for memory.
    pub(super) fn folder(&self) -> &Path {
        match self {
            Self::Memory(_) => Path::new(""),
            Self::File(file) => &file.folder,
        }
    }
}

/// A temporary file without a name, which the system removes when the process ends for any reason.
#[derive(Debug)]
pub(super) struct ScratchFile {
    file: File,
    folder: PathBuf,
    /// The name under which it was opened.
    name: Option<PathBuf>,
    #[cfg(not(unix))]
    position: std::sync::Mutex<()>,
}

impl ScratchFile {
    pub(super) fn create(folder: &Path) -> Result<Self> {
        let file = tempfile::tempfile_in(folder).map_err(|e| Error::io("create a temporary file in", folder, e))?;
        Ok(Self::of(file, folder.to_owned(), None))
    }

    /// Opens a stored file. It keeps its name until the reading ends.
    pub(super) fn open_kept(path: &Path) -> Result<Self> {
        // It will be written to, so it must not be a symbolic link.
        let is_file = std::fs::symlink_metadata(path).map_err(|e| Error::io("open", path, e))?.is_file();
        if !is_file {
            let reason = "it is a link, a pipe or a folder, expected a file of an earlier run; start over".to_owned();
            return Err(Error::BadFile { path: path.to_owned(), reason });
        }
        let file = File::options().read(true).write(true).open(path).map_err(|e| Error::io("open", path, e))?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Ok(Self::of(file, folder.to_owned(), Some(path.to_owned())))
    }

    fn of(file: File, folder: PathBuf, name: Option<PathBuf>) -> Self {
        Self {
            file,
            folder,
            name,
            #[cfg(not(unix))]
            position: std::sync::Mutex::new(()),
        }
    }

    /// The size in bytes.
    pub(super) fn bytes(&self) -> Result<u64> {
        let metadata = self.file.metadata();
        Ok(metadata.map_err(|e| Error::io("read the temporary file in", &self.folder, e))?.len())
    }

    /// Gives the file this name or, if that is not possible, copies its first bytes there.
    pub(super) fn keep(&mut self, path: &Path, bytes: u64) -> Result<()> {
        if self.name.as_deref() == Some(path) {
            return Ok(());
        }
        match std::fs::remove_file(path) {
            Err(e) if e.kind() != ErrorKind::NotFound => return Err(Error::io("remove", path, e)),
            _ => {}
        }
        #[cfg(target_os = "linux")]
        if link(&self.file, path).is_ok() {
            self.name = Some(path.to_owned());
            return Ok(());
        }
        let mut file = AtomicFile::create(path)?;
        let mut buffer = vec![0; 1 << 20];
        let mut done = 0;
        while done < bytes {
            let n = buffer.len().min((bytes - done) as usize);
            self.read_bytes(done, &mut buffer[..n])?;
            file.write_all(&buffer[..n]).map_err(|e| Error::io("write", path, e))?;
            done += n as u64;
        }
        file.commit()
    }

    /// The CRC-32 of the first bytes.
    pub(super) fn checksum(&self, bytes: u64) -> Result<u32> {
        let mut hasher = crc32fast::Hasher::new();
        let mut buffer = vec![0; 1 << 20];
        let mut done = 0;
        while done < bytes {
            let n = buffer.len().min((bytes - done) as usize);
            self.read_bytes(done, &mut buffer[..n])?;
            hasher.update(&buffer[..n]);
            done += n as u64;
        }
        Ok(hasher.finalize())
    }

    /// The folder that contains it.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Reads words starting at word `start`.
    pub(super) fn read(&self, start: u64, to: &mut [u32]) -> Result<()> {
        self.read_bytes(4 * start, bytemuck::cast_slice_mut(to))
    }

    /// Writes words starting at word `start`.
    pub(super) fn write(&self, start: u64, words: &[u32]) -> Result<()> {
        self.write_bytes(4 * start, bytemuck::cast_slice(words))
    }

    /// Reads bytes starting at byte `start`.
    pub(super) fn read_bytes(&self, start: u64, to: &mut [u8]) -> Result<()> {
        #[cfg(unix)]
        let read = std::os::unix::fs::FileExt::read_exact_at(&self.file, to, start);
        #[cfg(not(unix))]
        let read = seeking::read(&self.file, &self.position, start, to);
        read.map_err(|e| Error::io("read the temporary file in", &self.folder, e))
    }

    /// Writes bytes starting at byte `start`.
    pub(super) fn write_bytes(&self, start: u64, bytes: &[u8]) -> Result<()> {
        #[cfg(unix)]
        let written = std::os::unix::fs::FileExt::write_all_at(&self.file, bytes, start);
        #[cfg(not(unix))]
        let written = seeking::write(&self.file, &self.position, start, bytes);
        written.map_err(|e| Error::io("write the temporary file in", &self.folder, e))
    }
}

/// Names an unnamed file.
#[cfg(target_os = "linux")]
fn link(file: &File, path: &Path) -> std::io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};
    use std::os::fd::AsRawFd;
    let open = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(linkat(CWD, open, CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

/// For systems with one file position for all threads.
#[cfg(any(test, not(unix)))]
mod seeking {
    use std::{
        fs::File,
        io::{Read, Result, Seek, SeekFrom, Write},
        sync::{Mutex, PoisonError},
    };

    pub(super) fn read(mut file: &File, position: &Mutex<()>, start: u64, to: &mut [u8]) -> Result<()> {
        let _held = position.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(to)
    }

    pub(super) fn write(mut file: &File, position: &Mutex<()>, start: u64, bytes: &[u8]) -> Result<()> {
        let _held = position.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(start))?;
        file.write_all(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_back_from_memory_and_from_the_file() {
        let folder = tempfile::tempdir().unwrap();
        for n in [10, IN_MEMORY as u32, IN_MEMORY as u32 + 70_000] {
            let mut growing = Growing::new(Some(folder.path()));
            let words: Vec<u32> = (0..n).map(|i| i.wrapping_mul(2_654_435_761)).collect();
            for (i, part) in words.chunks(65_536).enumerate() {
                let (a, b) = part.split_at(part.len() / 3);
                assert_eq!(growing.append([a, b]).unwrap(), 65_536 * i as u64);
            }
            let storage = growing.finish();
            assert_eq!(matches!(storage, Storage::File(_)), words.len() > IN_MEMORY);
            for (start, length) in [(0, words.len()), (3, 5), (words.len() - 1, 1), (words.len(), 0)] {
                let mut read = vec![0; length];
                storage.read(start as u64, &mut read).unwrap();
                assert!(read == words[start..start + length]);
            }
            if let Storage::File(file) = &storage {
                assert!(matches!(file.read(words.len() as u64, &mut [0]), Err(Error::Io { .. })));
            }
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "the file has no name");
        }
        let missing = folder.path().join("missing");
        let error = Growing::new(Some(&missing)).append([&[0; IN_MEMORY + 1], &[]]).unwrap_err();
        assert!(matches!(&error, Error::Io { path, .. } if *path == missing), "{error}");
    }

    #[test]
    fn a_file_with_one_position_serves_many_threads() {
        let (file, position) = (tempfile::tempfile().unwrap(), std::sync::Mutex::new(()));
        std::thread::scope(|scope| {
            for thread in 0..4_u8 {
                let (file, position) = (&file, &position);
                scope.spawn(move || {
                    for i in 0..200 {
                        let start = 4 * i + u64::from(thread);
                        seeking::write(file, position, 3 * start, &[thread; 3]).unwrap();
                        let mut read = [9; 3];
                        seeking::read(file, position, 3 * start, &mut read).unwrap();
                        assert_eq!(read, [thread; 3]);
                    }
                });
            }
        });
        assert!(seeking::read(&file, &position, 2400, &mut [0]).is_err());
    }
}
