//! The memory map of a model file.
#![allow(unsafe_code)]

use std::{fs::File, path::Path, sync::Arc};

use memmap2::Mmap;

use crate::{Error, Result, SharedBytes};

/// Memory-maps a whole file read-only.
///
/// If another program shortens the file meanwhile, accessing a lost page ends the process; senv itself only replaces
/// files atomically.
pub(super) fn map(path: &Path) -> Result<SharedBytes> {
    let file = File::open(path).map_err(|e| Error::io("open", path, e))?;
    let metadata = file.metadata().map_err(|e| Error::io("open", path, e))?;
    if !metadata.is_file() {
        return Err(Error::not_a_file(path, &metadata));
    }
    // SAFETY: the map is read-only, and its bytes are only ever read as integers and floats, for which every
    // pattern is valid, or as text after a check. That no one shortens the file meanwhile is the condition above.
    let map = unsafe { Mmap::map(&file) };
    Ok(Arc::new(map.map_err(|e| Error::io("map", path, e))?).into())
}
