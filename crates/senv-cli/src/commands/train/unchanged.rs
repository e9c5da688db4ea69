//! Whether the files that a run reads stay as they are meanwhile.

use std::{
    fs,
    path::{Path, PathBuf},
    time::SystemTime,
};

use crate::output::{self, plural};

/// Size and time of change of files at one moment; pipes and what is not there have none.
pub(super) struct Unchanged(Vec<(PathBuf, Option<(u64, SystemTime)>)>);

impl Unchanged {
    /// As they are now.
    pub(super) fn note(paths: impl IntoIterator<Item = impl AsRef<Path>>) -> Self {
        Self(paths.into_iter().map(|path| (path.as_ref().to_owned(), state(path.as_ref()))).collect())
    }

    /// Warns of each that is another by now.
    pub(super) fn warn_of_others(&self) {
        for (path, before) in &self.0 {
            let (Some((bytes, _)), now) = (before, state(path)) else { continue };
            if *before == now {
                continue;
            }
            let was = plural(*bytes, "byte");
            let is = now.map_or_else(|| "is gone".to_owned(), |(bytes, _)| format!("has {}", plural(bytes, "byte")));
            output::warn(&format!(
                "{} was changed during training (it had {was} and {is} now): what was read of it may be neither the old text nor \
                 the new one; train again on a file that stays as it is",
                path.display()
            ));
        }
    }
}

fn state(path: &Path) -> Option<(u64, SystemTime)> {
    let file = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    Some((file.len(), file.modified().ok()?))
}
