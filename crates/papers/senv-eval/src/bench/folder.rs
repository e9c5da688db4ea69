//! A folder of data sets: its files, in any layout, and their checksums.

use std::{
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
};

use senv_core::Error as CoreError;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::Result;

/// Maximum depth of nested folders that are searched.
const MAX_DEPTH: usize = 6;
/// Maximum number of files that are listed. A folder of data sets has hundreds.
const MAX_FILES: usize = 100_000;

/// A file of a data set, with its checksum.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataFile {
    /// Path inside the folder, with `/` between the parts.
    pub path: String,
    /// SHA-256 of its bytes, in hexadecimal.
    pub sha256: String,
}

/// The files of a folder, listed once.
#[derive(Debug)]
pub struct DataFolder {
    root: PathBuf,
    /// Paths inside the folder, in lower case and without `.gz` or `.zst`, with the files themselves; sorted.
    files: Vec<(String, PathBuf)>,
}

impl DataFolder {
    /// Lists the files of a folder and its subfolders. Links to folders are not followed.
    ///
    /// # Errors
    /// [`senv_core::Error::Io`] if the folder itself cannot be read.
    pub fn open(root: impl AsRef<Path>) -> Result<Self> {
        let root = root.as_ref().to_owned();
        let mut files = Vec::new();
        let entries = fs::read_dir(&root).map_err(|error| CoreError::io("open", &root, error))?;
        let mut open = vec![(entries, 0)];
        while let Some((entries, depth)) = open.pop() {
            // Ignore whatever cannot be read inside the folder.
            for entry in entries.flatten() {
                let path = entry.path();
                let Ok(kind) = entry.file_type() else { continue };
                if kind.is_dir() {
                    if let (true, Ok(inside)) = (depth < MAX_DEPTH, fs::read_dir(&path)) {
                        open.push((inside, depth + 1));
                    }
                } else if path.is_file() && files.len() < MAX_FILES {
                    let name = inside(&root, &path).to_lowercase();
                    let name = [".gz", ".zst"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
                    files.push((format!("/{name}"), path));
                }
            }
        }
        files.sort();
        Ok(Self { root, files })
    }

    /// Returns the first file whose path has one of these endings, tried in order. Letter case and compression are
    /// ignored.
    pub(crate) fn find(&self, ends: &[&str]) -> Option<&Path> {
        ends.iter().find_map(|end| {
            let end = format!("/{end}");
            self.files.iter().find(|(name, _)| name.ends_with(&end)).map(|(_, path)| path.as_path())
        })
    }

    /// Iterates over all files by path, each with its path inside the folder (in lower case, after a `/`).
    pub fn files(&self) -> impl Iterator<Item = (&str, &Path)> {
        self.files.iter().map(|(name, path)| (&name[..], path.as_path()))
    }

    /// Returns the folder itself.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Computes the checksum of a file.
    ///
    /// # Errors
    /// [`senv_core::Error::Io`] if it cannot be read.
    pub fn checksum(&self, path: &Path) -> Result<DataFile> {
        Ok(DataFile { path: inside(&self.root, path), sha256: sha256_of_file(path)? })
    }
}

/// Computes the SHA-256 of the bytes of a file, in hexadecimal.
///
/// # Errors
/// [`senv_core::Error::Io`] if it cannot be read.
pub fn sha256_of_file(path: impl AsRef<Path>) -> Result<String> {
    let path = path.as_ref();
    let read = || -> std::io::Result<String> {
        let (mut file, mut hash, mut buffer) = (File::open(path)?, Sha256::new(), vec![0; 1 << 16]);
        loop {
            match file.read(&mut buffer)? {
                0 => return Ok(hexadecimal(&hash.finalize())),
                n => hash.update(&buffer[..n]),
            }
        }
    };
    Ok(read().map_err(|error| CoreError::io("read", path, error))?)
}

/// Computes the SHA-256 of bytes in memory, in hexadecimal.
#[must_use]
pub fn sha256_of_bytes(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the path inside a folder, with `/` between the parts.
pub(super) fn inside(root: &Path, path: &Path) -> String {
    let parts = path.strip_prefix(root).unwrap_or(path).components();
    parts.map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_by_their_ends_in_any_case_and_compressed() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("SentEval/data/SICK");
        fs::create_dir_all(&deep).unwrap();
        fs::write(deep.join("SICK_train.txt"), "abc").unwrap();
        fs::write(folder.path().join("dev.tsv.gz"), "").unwrap();
        let found = DataFolder::open(folder.path()).unwrap();
        assert_eq!(found.find(&["sick/test.tsv", "sick_train.txt"]), Some(&*deep.join("SICK_train.txt")));
        assert_eq!(found.find(&["dev.tsv"]), Some(&*folder.path().join("dev.tsv.gz")));
        assert_eq!(found.find(&["ev.tsv"]), None, "whole names");
        let file = found.checksum(&deep.join("SICK_train.txt")).unwrap();
        assert_eq!(file.path, "SentEval/data/SICK/SICK_train.txt");
        // The checksum of "abc", from FIPS 180-2.
        assert_eq!(file.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(sha256_of_bytes(b"abc"), file.sha256);
        assert_eq!(found.files().count(), 2);
    }

    #[test]
    fn a_folder_that_is_not_there_is_an_error_and_an_empty_one_is_empty() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(DataFolder::open(folder.path()).unwrap().files().count(), 0);
        let error = DataFolder::open(folder.path().join("none")).unwrap_err().to_string();
        assert!(error.starts_with("cannot open ") && error.contains("none"), "{error}");
        assert!(sha256_of_file(folder.path().join("none")).is_err());
    }
}
