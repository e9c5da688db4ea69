//! Whether the files that a run reads stay unchanged during it.

use std::{
    fs,
    path::{Path, PathBuf},
    time::SystemTime,
};

use crate::output::{self, plural};

/// The size and modification time of files at one moment; none for pipes and missing files.
pub(super) struct Unchanged(Vec<(PathBuf, Option<(u64, SystemTime)>)>);

impl Unchanged {
    /// Records the present state of files.
    pub(super) fn note(paths: impl IntoIterator<Item = impl AsRef<Path>>) -> Self {
        Self(paths.into_iter().map(|path| (path.as_ref().to_owned(), state(path.as_ref()))).collect())
    }

    /// Warns about each file that has changed.
    pub(super) fn warn_of_others(&self) {
        for (path, before) in &self.0 {
            let (Some((bytes, _)), now) = (before, state(path)) else { continue };
            if *before == now {
                continue;
            }
            let was = plural(*bytes, "byte");
            let is = now.map_or_else(|| "is gone".to_owned(), |(bytes, _)| format!("has {}", plural(bytes, "byte")));
            output::warn(&format!(
                "{} changed during training (it had {was} and {is} now), so the model may be trained on a mix of old and new \
                 text; train again on an unchanged file",
                path.display()
            ));
        }
    }
}

fn state(path: &Path) -> Option<(u64, SystemTime)> {
    let file = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    Some((file.len(), file.modified().ok()?))
}
