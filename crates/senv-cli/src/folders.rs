//! Folders of text in place of files.

use std::path::{Path, PathBuf};

use senv::jobs::{FolderContent, SkipReason, SkippedFile, TextFiles};

use crate::{
    failure::Result,
    output::{self, plural},
    repeated,
    visible::line,
};

/// Number of files that a note names.
const NAMED: usize = 3;

/// What happens to a folder with a collection of sentences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Collections {
    /// The command reads text only.
    Refused,
    /// The command reads the sentences of a collection.
    Kept,
}

/// Puts the text files of folders in place of the folders, and notes what is in them and not read.
pub(crate) fn open_folders(paths: &mut Vec<PathBuf>, content: FolderContent, collections: Collections) -> Result {
    if !paths.iter().any(|path| path.is_dir()) {
        return Ok(());
    }
    let (mut files, mut skipped) = (Vec::new(), Vec::new());
    for path in paths.iter() {
        if collections == Collections::Kept && path.is_dir() && path.join("manifest").exists() {
            files.push(path.clone());
            continue;
        }
        let found = TextFiles::find(&[path], content)?;
        files.extend(found.files);
        skipped.extend(found.skipped);
    }
    note_skipped(&skipped, content);
    repeated::note(&files);
    *paths = files;
    Ok(())
}

/// Notes the files of each reason in one line.
fn note_skipped(skipped: &[SkippedFile], content: FolderContent) {
    let reasons: Vec<String> = skipped.iter().map(|skipped| reason(&skipped.reason, content)).collect();
    for (i, reason) in reasons.iter().enumerate().filter(|(i, reason)| !reasons[..*i].contains(reason)) {
        let same = skipped.iter().zip(&reasons).skip(i).filter(|(_, other)| *other == reason);
        let paths: Vec<&Path> = same.map(|(skipped, _)| &*skipped.path).collect();
        let named: Vec<String> = paths.iter().take(NAMED).map(|path| path.display().to_string()).collect();
        let more = match paths.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let n = plural(paths.len() as u64, "file");
        output::note(&format!("left out {n}, {reason}: {}{more}", line(&named.join(", "))));
    }
}

fn reason(reason: &SkipReason, content: FolderContent) -> String {
    match (reason, content) {
        (SkipReason::OtherKind, FolderContent::Tables) => "not a table by the name".to_owned(),
        (SkipReason::OtherKind, _) => "not .txt or .md".to_owned(),
        (SkipReason::Table, _) => "a table (--column NAME reads tables)".to_owned(),
        (SkipReason::Binary, _) => "binary, not text".to_owned(),
        (SkipReason::Unreadable(why), _) => format!("not readable ({why})"),
        (SkipReason::Collection, _) => "a collection of senv".to_owned(),
        _ => "not text".to_owned(),
    }
}
