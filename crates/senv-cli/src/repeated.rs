//! Notes on files that are given twice.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use clap::ArgMatches;

use crate::{output, quotes::without_weight};

/// The files that were noted: once for a run.
static NOTED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Notes the files that an argument of the command has twice.
pub(crate) fn note_arguments(matches: &ArgMatches) {
    let mut within = matches;
    while let Some((_, matches)) = within.subcommand() {
        within = matches;
    }
    for id in within.ids().map(clap::Id::as_str) {
        if let Ok(Some(paths)) = within.try_get_many::<PathBuf>(id) {
            note(paths);
        } else if within.try_get_many::<String>(id).is_err()
            && let Ok(Some(raw)) = within.try_get_raw(id)
        {
            // Files with weights.
            note(raw.map(PathBuf::from).map(without_weight));
        }
    }
}

/// Notes which of these files are the same, whatever their paths.
pub(crate) fn note<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) {
    let mut seen = HashSet::new();
    for path in paths {
        let path = path.as_ref();
        let Some(real) = path.is_file().then(|| path.canonicalize().ok()).flatten() else { continue };
        if seen.insert(real.clone()) {
            continue;
        }
        let mut noted = NOTED.lock().unwrap_or_else(PoisonError::into_inner);
        if !noted.contains(&real) {
            noted.push(real);
            output::note(&format!("{} is given more than once, and is read each time", path.display()));
        }
    }
}
