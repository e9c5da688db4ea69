//! Reads arrays from `.npz` files: zip archives of `.npy` files, stored or deflated.

use std::{
    fs::File,
    io::BufReader,
    path::{Path, PathBuf},
};

use senv_core::{Error as CoreError, Table};
use senv_store::read_npy_stream;
use zip::{ZipArchive, result::ZipError};

use crate::error::{Error, Result};

/// The maximum compression ratio of deflate.
const MOST_UNPACKED: u64 = 1032;

/// An open archive of arrays.
#[derive(Debug)]
pub(super) struct Npz {
    path: PathBuf,
    /// Length of the file in bytes.
    len: u64,
    archive: ZipArchive<BufReader<File>>,
}

impl Npz {
    /// Opens a file and reads its directory.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(|e| CoreError::io("open", path, e))?;
        let len = file.metadata().map_err(|e| CoreError::io("read", path, e))?.len();
        let archive = ZipArchive::new(BufReader::new(file))
            .map_err(|error| bad(path, format!("not a ZIP archive, which .npz files are: {error}")))?;
        Ok(Self { path: path.to_owned(), len, archive })
    }

    /// Reads the array of this name; a vector is one column.
    pub(super) fn array(&mut self, name: &str) -> Result<Table> {
        let wrong = |reason: String| bad(&self.path, format!("array {name:?}: {reason}"));
        let names: Vec<String> =
            self.archive.file_names().flatten().map(|name| name.trim_end_matches(".npy").into()).collect();
        let entry = self.archive.by_name(&format!("{name}.npy")).map_err(|error| match error {
            ZipError::FileNotFound => wrong(format!("not found; the arrays are {}", names.join(", "))),
            error => wrong(error.to_string()),
        })?;
        let (size, packed) = (entry.size(), entry.compressed_size());
        if packed > self.len || size / MOST_UNPACKED > packed {
            return Err(wrong(format!(
                "{size} bytes, compressed to {packed}, in a file of {} bytes; the file is \
                damaged",
                self.len
            )));
        }
        let table = read_npy_stream(entry, size, name).map_err(|error| match error {
            senv_store::Error::BadNpy { reason, .. } => wrong(reason),
            error => wrong(error.to_string()),
        })?;
        if table.values().iter().all(|x| x.is_finite()) {
            Ok(table)
        } else {
            Err(wrong("it contains a number that is not finite".into()))
        }
    }
}

fn bad(path: &Path, reason: String) -> Error {
    Error::BadWeights { path: path.to_owned(), reason }
}
