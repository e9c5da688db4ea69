//! The memory map of a file.
#![allow(unsafe_code)]

use std::{
    fs::{self, File},
    path::Path,
    sync::Arc,
};

use memmap2::Mmap;

use crate::{Error, Result, SharedBytes};

/// Memory-maps a whole file read-only.
///
/// A map is only as constant as its file. senv replaces model files by a rename and never writes into one, so that a
/// map keeps the file that it was made of. Whoever writes into a model file in place can make a program that has it
/// open read other numbers; whoever shortens it ends that program at the next access to a page that is gone (SIGBUS).
/// What must hold for the program to be sound (the vocabulary is UTF-8, offsets are in range) is checked on copies. Why
/// a file is mapped all the same is in `docs/design.md`; `ModelFile::read` copies it instead, and `--copy` does so in
/// the program.
fn map(path: &Path) -> Result<SharedBytes> {
    // Before it is opened: that of a pipe would wait for somebody who writes.
    let metadata = fs::metadata(path).map_err(|e| Error::io("open", path, e))?;
    if !metadata.is_file() {
        return Err(Error::not_a_file(path, &metadata));
    }
    let file = File::open(path).map_err(|e| Error::io("open", path, e))?;
    let metadata = file.metadata().map_err(|e| Error::io("open", path, e))?;
    if !metadata.is_file() {
        return Err(Error::not_a_file(path, &metadata));
    }
    // SAFETY: the map is read-only, and its bytes are only read as integers and floats, for which every pattern is
    // valid; text and lengths are checked on copies. That nobody writes into the file meanwhile is the condition above.
    let map = unsafe { Mmap::map(&file) };
    Ok(Arc::new(map.map_err(|e| Error::io("map", path, e))?).into())
}

impl SharedBytes {
    /// Memory-maps a whole file read-only.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("bytes");
    /// std::fs::write(&path, b"a model")?;
    /// assert_eq!(senv_core::files::SharedBytes::map(&path)?[2..], *b"model");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// The file must not be written into meanwhile, as with `ModelFile::open`.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be mapped; [`Error::NotAFile`] for anything but a plain file.
    pub fn map(path: impl AsRef<Path>) -> Result<Self> {
        map(path.as_ref())
    }
}
