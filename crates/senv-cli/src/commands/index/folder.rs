//! The folder of a collection.

use std::{fs, path::Path};

use senv::SentenceCollection;
use senv_index::{Collection, Rescoring};

use crate::{
    failure::{Failure, Result},
    output::{self, plural},
};

/// The number of parts at which a search takes several times as long.
const MANY_PARTS: usize = 1000;

/// Warns if a search has many parts to go through, and names the remedy.
pub(super) fn warn_of_many_parts(folder: &Path, collection: &Collection) {
    let n = collection.n_segments();
    if n < MANY_PARTS {
        return;
    }
    let helps = match collection.params().rescoring {
        Rescoring::None => "with --precision none they cannot be merged; add more sentences at a time",
        _ => "--compact merges them",
    };
    let parts = plural(n as u64, "part");
    output::warn(&format!("{} has {parts}, which slows down searches; {helps}", folder.display()));
}

/// Opens a collection with its model, or with `model` if that was moved.
pub(in crate::commands) fn open(folder: &Path, model: Option<&Path>) -> senv::Result<SentenceCollection> {
    match model {
        Some(model) => SentenceCollection::open_with_model(folder, model),
        None => SentenceCollection::open(folder),
    }
}

/// Refuses a folder with other files, so that a collection is not mixed with them.
pub(in crate::commands) fn check_new(folder: &Path, force: bool) -> Result {
    let Ok(file) = fs::metadata(folder) else { return Ok(()) };
    let shown = folder.display();
    if !file.is_dir() {
        return Err(Failure::Usage(format!("{shown} is a file; a collection is a folder; give another --output")));
    }
    if folder.join("manifest").exists() {
        return match force {
            true => Ok(()),
            false => Err(Failure::Usage(format!(
                "{shown} is already a collection; add to it with --add, or replace it with --force"
            ))),
        };
    }
    // Perhaps left by a killed run; the library removes only files that are its own.
    let is_ours =
        |name: &str| name.starts_with('.') || [".segment", ".deletions"].iter().any(|end| name.ends_with(end));
    let entries = fs::read_dir(folder).map_err(|e| senv_core::Error::io("read", folder, e))?;
    let other =
        entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).find(|name| !is_ours(name));
    match other {
        Some(name) => Err(Failure::Usage(format!("{shown} contains other files ({name}); give another --output"))),
        None => Ok(()),
    }
}
