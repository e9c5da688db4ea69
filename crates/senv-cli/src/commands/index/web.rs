//! `senv index --export-web`: a collection in one file for the web page.

use std::path::{Path, PathBuf};

use senv::SentenceCollection;
use senv_index::Collection;

use super::{Index, open};
use crate::{
    destination::{Content, Destination},
    failure::{Failure, Result},
    interrupt::LastWords,
    output::{self, plural},
    report::{is_done_by, said},
};

/// Refuses, before anything is changed, a file that cannot or must not be written, and a model that the page does not
/// have. The model is that of the existing collection, or `new_model` of one that will be made.
pub(super) fn check(
    file: Option<&Path>,
    collection: &Path,
    new_model: Option<&Path>,
    inputs: &[PathBuf],
    force: bool,
) -> Result {
    let Some(path) = file else { return Ok(()) };
    let destination = Destination { path, option: "--export-web", content: Content::WebCollection, force: Some(force) };
    destination.check(inputs)?;
    if path.starts_with(collection) {
        let shown = path.display();
        let message = format!("--export-web {shown} is inside the folder of the collection; give another file");
        return Err(Failure::Usage(message));
    }
    match new_model {
        Some(model) => SentenceCollection::check_model_for_web(model)?,
        None => SentenceCollection::check_for_web(&Collection::open(collection)?)?,
    };
    Ok(())
}

impl Index {
    /// Exports the collection as it is, if requested.
    pub(super) fn export(&self) -> Result {
        match &self.export_web {
            Some(path) => export(path, &open(&self.output, self.model.as_deref())?),
            None => Ok(()),
        }
    }

    /// Exports the changed collection, unless the change failed. If the export fails, the change is kept.
    pub(super) fn export_changed(&self, changed: Result) -> Result {
        let Some(path) = &self.export_web else { return changed };
        if changed.as_ref().is_err_and(|failure| !is_done_by(failure)) {
            return changed;
        }
        let _last_words = LastWords::set(|| {
            output::warn("the change was made but the export was interrupted; do not repeat the change");
        });
        let Err(failure) = self.export() else { return changed };
        if is_done_by(&failure) {
            return changed.and(Err(failure));
        }
        let in_doubt = changed.err().map_or_else(String::new, |failure| format!("; {}", said(&failure)));
        let by_itself = format!("senv index --index {} --export-web {}", self.output.display(), path.display());
        Err(Failure::Done(format!(
            "the change was made but the export was not written: {}; do not repeat the change, run \
             {by_itself}{in_doubt}",
            said(&failure)
        )))
    }
}

/// The failure of a step that follows a change of a collection.
pub(super) fn behind_change(what: &str, failure: &Failure) -> Failure {
    match is_done_by(failure) {
        true => Failure::Done(said(failure)),
        false => Failure::Done(format!(
            "the change was made but {what} was not recorded: {}; do not repeat the change",
            said(failure)
        )),
    }
}

fn export(path: &Path, collection: &SentenceCollection) -> Result {
    let written = collection.export_web(path)?;
    let (sentences, distinct) = (written.sentences, written.distinct as u64);
    let among = if distinct < sentences { format!(" ({} distinct)", output::grouped(distinct)) } else { String::new() };
    let size = output::bytes(written.bytes as u64);
    output::note(&format!("{}{among} exported to {} ({size})", plural(sentences, "sentence"), path.display()));
    Ok(())
}
