//! The records of a folder of outputs: its settings, and the origin of each file.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, Read, Write},
    path::Path,
    time::UNIX_EPOCH,
};

use senv_core::files::{AtomicFile, remove_leftovers_of};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};

/// Bytes hashed at a time.
const CHUNK: usize = 1 << 20;
/// Maximum size of a record in bytes.
const MOST: u64 = 1 << 20;

/// The settings of the files in a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Settings {
    /// Digest of the model.
    pub(super) model: String,
    pub(super) settings: BTreeMap<String, String>,
}

impl Settings {
    /// A digest that identifies the settings.
    pub(super) fn digest(&self) -> String {
        let mut sum = Sha256::new();
        let texts = self.settings.iter().flat_map(|(name, value)| [name, value]);
        for text in [&self.model].into_iter().chain(texts) {
            sum.update((text.len() as u64).to_le_bytes());
            sum.update(text);
        }
        hex(sum)
    }

    /// A description of the differences.
    fn difference(&self, now: &Self) -> String {
        let mut parts = Vec::new();
        if self.model != now.model {
            parts.push(format!("the model was {}, now {}", self.model, now.model));
        }
        let none = || "not given".to_owned();
        let names = self.settings.keys().chain(now.settings.keys().filter(|name| !self.settings.contains_key(*name)));
        for name in names {
            let (old, new) = (self.settings.get(name), now.settings.get(name));
            if old != new {
                let (old, new) = (old.cloned().unwrap_or_else(none), new.cloned().unwrap_or_else(none));
                parts.push(format!("{name} was {old}, now {new}"));
            }
        }
        parts.join("; ")
    }

    /// Records the settings in a folder, or compares them with the recorded ones. With `replace`, different ones are
    /// replaced.
    pub(super) fn agree(&self, path: &Path, output: &Path, replace: bool) -> Result<()> {
        // Leftovers of killed writers; earlier versions used other names.
        remove_leftovers_of(path);
        remove_leftovers_of(path.with_extension(""));
        if !replace && !path.exists() {
            match create(path, &to_json(path, self)?) {
                Ok(()) => return Ok(()),
                Err(senv_core::Error::Io { error, .. }) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error.of_step().into()),
            }
        }
        match read::<Self>(path) {
            Ok(Some(old)) if old == *self => Ok(()),
            _ if replace => write(path, self),
            Ok(Some(old)) => {
                let (path, difference) = (output.to_owned(), old.difference(self));
                Err(Error::OtherSettings { path, difference })
            }
            Ok(None) => write(path, self),
            Err(error) => Err(error),
        }
    }
}

/// The state of a file at some time. Length and modification time show most changes quickly; the hash shows all. Store
/// it, as JSON or otherwise, with what was made from the file.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("text.txt");
/// use senv::jobs::FileState;
/// std::fs::write(&path, "one line\n")?;
/// let state = FileState::of(&path)?;
/// assert!(state.bytes == 9 && state.still_holds(&path, false)?);
/// std::fs::write(&path, "another line\n")?;
/// assert!(!state.still_holds(&path, false)?);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileState {
    /// Its path at the time; it may have moved since.
    pub path: String,
    /// Its length.
    pub bytes: u64,
    /// Nanoseconds since 1970; 0 if the system does not provide it.
    pub modified: u64,
    /// SHA-256 of its bytes, as 64 hexadecimal digits.
    pub sha256: String,
}

impl FileState {
    /// The current state of a file; reads all of it.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn of(path: &Path) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let (bytes, modified) = stamp(&file.metadata()?);
        let mut sum = Sha256::new();
        let mut chunk = vec![0; CHUNK];
        loop {
            match file.read(&mut chunk) {
                Ok(0) => break,
                Ok(n) => sum.update(&chunk[..n]),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(Self { path: path.display().to_string(), bytes, modified, sha256: hex(sum) })
    }

    /// Whether a file is still in this state. `exactly` compares the bytes even if length and time match.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn still_holds(&self, path: &Path, exactly: bool) -> io::Result<bool> {
        let (bytes, modified) = stamp(&fs::metadata(path)?);
        if bytes != self.bytes {
            return Ok(false);
        }
        if modified == self.modified && modified != 0 && !exactly {
            return Ok(true);
        }
        Ok(Self::of(path)?.sha256 == self.sha256)
    }

    /// Whether length and modification time match: for a file that was just read.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn is_untouched(&self, path: &Path) -> io::Result<bool> {
        Ok(stamp(&fs::metadata(path)?) == (self.bytes, self.modified))
    }
}

fn stamp(metadata: &fs::Metadata) -> (u64, u64) {
    let modified = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    (metadata.len(), modified.map_or(0, |since| u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)))
}

/// The record of an output: what it was made from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) version: u32,
    pub(super) input: FileState,
    pub(super) output: FileState,
    /// Rows of the output.
    pub(super) rows: u64,
    /// Digest of the settings.
    pub(super) settings: String,
}

impl Record {
    /// The version that is written.
    pub(super) const VERSION: u32 = 1;
}

/// Reads a JSON record; `None` if the file does not exist or is not such a record, in which case the output is rebuilt.
pub(super) fn read<T: for<'a> Deserialize<'a>>(path: &Path) -> Result<Option<T>> {
    let io = |e: io::Error| Error::from(senv_core::Error::io("read", path, e));
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => {}
        // Reading a pipe would block.
        Ok(_) => return Err(io(io::Error::other("it is not a file; remove it"))),
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(io(e)),
    }
    let file = match File::open(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file.map_err(io)?,
    };
    let mut text = Vec::new();
    file.take(MOST).read_to_end(&mut text).map_err(io)?;
    Ok(serde_json::from_slice(&text).ok())
}

/// Replaces a JSON file, as one step of a larger operation.
pub(super) fn write(path: &Path, value: &impl Serialize) -> Result<()> {
    let text = to_json(path, value)?;
    Ok(AtomicFile::write_with(path, |file| file.write_all(text.as_bytes())).map_err(senv_core::Error::of_step)?)
}

fn to_json(path: &Path, value: &impl Serialize) -> Result<String> {
    let bad = |e: serde_json::Error| {
        let (path, what, reason) = (path.to_owned(), "the record of a file".into(), e.to_string());
        senv_core::Error::BadWrite { path, what, reason }
    };
    Ok(serde_json::to_string_pretty(value).map_err(bad)? + "\n")
}

/// Creates a file that does not exist yet: atomically, and by one process only.
fn create(path: &Path, text: &str) -> senv_core::Result<()> {
    let mut file = AtomicFile::create(path)?;
    file.write_all(text.as_bytes()).map_err(|e| file.error(e))?;
    file.commit_new()
}

fn hex(sum: Sha256) -> String {
    sum.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_a_file_is_seen_by_length_time_or_hash() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "abc").unwrap();
        let state = FileState::of(&path).unwrap();
        assert_eq!(state.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"); // FIPS 180-2, B.1
        assert!(state.still_holds(&path, true).unwrap() && state.is_untouched(&path).unwrap());
        let touch = |time| File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
        touch(UNIX_EPOCH + std::time::Duration::from_secs(1));
        assert!(state.still_holds(&path, false).unwrap(), "the bytes are the same");
        assert!(!state.is_untouched(&path).unwrap());
        fs::write(&path, "abd").unwrap();
        // Some systems count in milliseconds.
        touch(UNIX_EPOCH + std::time::Duration::from_secs(2));
        assert!(!state.still_holds(&path, false).unwrap());
        touch(UNIX_EPOCH + std::time::Duration::from_nanos(state.modified));
        assert!(state.still_holds(&path, false).unwrap() && !state.still_holds(&path, true).unwrap());
        fs::write(&path, "abcd").unwrap();
        assert!(!state.still_holds(&path, false).unwrap());
        assert!(FileState::of(&folder.path().join("absent")).is_err());
    }

    #[test]
    fn settings_are_noted_once_and_a_difference_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.json");
        let settings = |model: &str, digits: Option<&str>| Settings {
            model: model.into(),
            settings: digits.map(|digits| ("digits".to_owned(), digits.to_owned())).into_iter().collect(),
        };
        let first = settings("aa", Some("3"));
        first.agree(&path, folder.path(), false).unwrap();
        first.agree(&path, folder.path(), false).unwrap();
        for (other, says) in [
            (settings("bb", Some("3")), "the model was aa, now bb"),
            (settings("aa", Some("4")), "digits was 3, now 4"),
            (settings("aa", None), "digits was 3, now not given"),
        ] {
            assert_ne!(other.digest(), first.digest());
            let error = other.agree(&path, folder.path(), false).unwrap_err();
            assert!(matches!(error, Error::OtherSettings { .. }) && error.to_string().contains(says), "{error}");
        }
        settings("bb", None).agree(&path, folder.path(), true).unwrap();
        assert!(first.agree(&path, folder.path(), false).is_err());
        // An invalid record is replaced.
        fs::write(&path, "{").unwrap();
        first.agree(&path, folder.path(), false).unwrap();
        assert_eq!(read::<Settings>(&path).unwrap(), Some(first));
    }
}
