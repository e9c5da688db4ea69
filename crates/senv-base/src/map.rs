//! Memory maps of files.
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
/// A map is only as constant as its file. senv never writes into a model file: it replaces files by renaming, so an
/// existing map keeps its old content. If another program writes into a mapped model file, readers see changed numbers.
/// If it truncates the file, the next access to a missing page ends the reader (SIGBUS). What soundness requires (the
/// vocabulary is UTF-8, offsets are in range) is checked on copies. `docs/design.md` explains why files are mapped
/// nevertheless. `ModelFile::read` and the program's `--copy` copy the file instead.
fn map(path: &Path) -> Result<SharedBytes> {
    // Checked before opening: opening a pipe would wait for a writer.
    let metadata = fs::metadata(path).map_err(|e| Error::io("open", path, e))?;
    if !metadata.is_file() {
        return Err(Error::not_a_file(path, &metadata));
    }
    let file = File::open(path).map_err(|e| Error::io("open", path, e))?;
    let metadata = file.metadata().map_err(|e| Error::io("open", path, e))?;
    if !metadata.is_file() {
        return Err(Error::not_a_file(path, &metadata));
    }
    // SAFETY: the map is read-only, and its bytes are only read as integers and floats, for which every bit pattern is
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
    /// Nobody must write into the file while it is mapped; see `ModelFile::open`.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be mapped; [`Error::NotAFile`] if it is not a regular file.
    pub fn map(path: impl AsRef<Path>) -> Result<Self> {
        map(path.as_ref())
    }
}
