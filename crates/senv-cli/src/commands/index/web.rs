//! `senv index --export-web`: a collection in one file for the web page.

use std::path::{Path, PathBuf};

use senv::SentenceCollection;
use senv_index::Collection;

use crate::{
    destination::{Content, Destination},
    failure::{Failure, Result},
    output::{self, plural},
};

/// Refuses, before anything is changed, a file that cannot be written, or that somebody may need, and a collection
/// whose model the page does not hold: the one that is there, or, with `new_model`, the one that is to be made.
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
        let message = format!("--export-web {shown}: this is in the folder of the collection; give another place");
        return Err(Failure::Usage(message));
    }
    match new_model {
        Some(model) => SentenceCollection::check_model_for_web(model)?,
        None => SentenceCollection::check_for_web(&Collection::open(collection)?)?,
    };
    Ok(())
}

/// Writes the file, if there is one to write.
pub(super) fn export(file: Option<&Path>, collection: &SentenceCollection) -> Result {
    let Some(path) = file else { return Ok(()) };
    let written = collection.export_web(path)?;
    let (sentences, distinct) = (written.sentences, written.distinct as u64);
    let among = if distinct < sentences { format!(" ({} distinct)", output::grouped(distinct)) } else { String::new() };
    let page = if written.small { "the page with the small model" } else { "the web page" };
    let size = output::bytes(written.bytes as u64);
    output::note(&format!("{}{among} for {page} in {} ({size})", plural(sentences, "sentence"), path.display()));
    Ok(())
}
