//! The folder of a collection.

use std::{fs, path::Path};

use senv::SentenceCollection;
use senv_index::{Collection, Rescoring};

use crate::{
    failure::{Failure, Result},
    output::{self, plural},
};

/// Parts of a collection from which on a search takes several times as long.
const MANY_PARTS: usize = 1000;

/// Warns where a search has many parts to look at, and says what helps.
pub(super) fn warn_of_many_parts(folder: &Path, collection: &Collection) {
    let n = collection.n_segments();
    if n < MANY_PARTS {
        return;
    }
    let helps = match collection.params().rescoring {
        Rescoring::None => "with --precision none they cannot be joined: add more at a time",
        _ => "--compact joins them",
    };
    let parts = plural(n as u64, "part");
    output::warn(&format!("{} has {parts}, each of which is searched by itself; {helps}", folder.display()));
}

/// Opens a collection with its model, which may have been moved.
pub(in crate::commands) fn open(folder: &Path, model: Option<&Path>) -> senv::Result<SentenceCollection> {
    match model {
        Some(model) => SentenceCollection::open_with_model(folder, model),
        None => SentenceCollection::open(folder),
    }
}

/// Refuses a place where something else is, which a collection would mix with.
pub(in crate::commands) fn check_new(folder: &Path, force: bool) -> Result {
    let Ok(file) = fs::metadata(folder) else { return Ok(()) };
    let shown = folder.display();
    if !file.is_dir() {
        return Err(Failure::Usage(format!("{shown} is a file, and a collection a folder; give another --output")));
    }
    if folder.join("manifest").exists() {
        return match force {
            true => Ok(()),
            false => {
                Err(Failure::Usage(format!("{shown} is a collection already; --add adds to it, --force makes it anew")))
            }
        };
    }
    // What a run left that was killed, perhaps; the library removes no file that only has such a name.
    let is_ours =
        |name: &str| name.starts_with('.') || [".segment", ".deletions"].iter().any(|end| name.ends_with(end));
    let entries = fs::read_dir(folder).map_err(|e| senv_core::Error::io("read", folder, e))?;
    let other =
        entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).find(|name| !is_ours(name));
    match other {
        Some(name) => Err(Failure::Usage(format!("{shown} holds other things ({name}); give another --output"))),
        None => Ok(()),
    }
}
