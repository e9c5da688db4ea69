//! The terms of word vectors in formats that have no place for them: in a second file, `words.vec.license` for
//! `words.vec`. The name and the line with the identifier follow the REUSE specification
//! (<https://reuse.software/spec>).

use std::{
    fs::{self, File},
    io::{ErrorKind, Read, Write},
    path::{Path, PathBuf},
};

use senv_core::{Error as CoreError, Terms, files::AtomicFile};

use crate::Result;

/// The start of the line with the identifier of the license.
const IDENTIFIER: &str = "SPDX-License-Identifier:";
/// The start of the terms, which are the rest of the file.
const TERMS: &str = "Terms of use: ";
/// The rest of a longer file is not read.
const MOST_BYTES: u64 = 1 << 16;

/// The path of the file with the terms of `file`: `words.vec.license` for `words.vec`.
pub(crate) fn path_of(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".license");
    name.into()
}

/// Commits the parts of an output, the first of which is at `path`, together with its terms. Without terms, a file with
/// the terms of an earlier output is removed, so that nobody takes them for those of the new one.
pub(crate) fn commit(files: impl IntoIterator<Item = AtomicFile>, path: &Path, terms: Option<&str>) -> Result<()> {
    // A device or a pipe is not kept.
    let is_kept = fs::metadata(path).map_or(true, |output| output.is_file());
    let beside = path_of(path);
    let license = match terms.filter(|_| is_kept) {
        Some(terms) => {
            let mut license = AtomicFile::create(&beside)?;
            license.write_all(content(terms).as_bytes()).map_err(|error| license.error(error))?;
            Some(license)
        }
        None => None,
    };
    let is_stale = license.is_none() && is_kept && is_ours_at(&beside);
    AtomicFile::commit_all(files.into_iter().chain(license))?;
    if !is_stale {
        return Ok(());
    }
    match fs::remove_file(&beside) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(CoreError::io("remove", &beside, error).into()),
        _ => Ok(()),
    }
}

/// The terms beside a file; `None` if there are none.
pub(crate) fn terms_of(file: &Path) -> Option<String> {
    let text = text_in(&path_of(file))?;
    let terms = text.split_once(TERMS).filter(|(before, _)| before.is_empty() || before.ends_with('\n'));
    let identifiers: Vec<&str> =
        text.lines().filter_map(|line| Some(line.trim_start().strip_prefix(IDENTIFIER)?.trim())).collect();
    let terms = terms.map_or_else(|| identifiers.join(" AND "), |(_, terms)| terms.trim().to_owned());
    Some(terms).filter(|terms| !terms.is_empty())
}

/// Whether senv wrote a file of this name.
pub(crate) fn is_ours_at(license: &Path) -> bool {
    text_in(license).is_some_and(|text| is_ours(&text))
}

/// Whether this is the text of a file with terms that senv wrote.
fn is_ours(text: &str) -> bool {
    text.lines().any(|line| line.starts_with(TERMS))
}

fn content(terms: &str) -> String {
    let identifier = Terms::new(terms).spdx().map(|spdx| format!("{IDENTIFIER} {spdx}\n\n"));
    format!("{}{TERMS}{}\n", identifier.unwrap_or_default(), terms.trim())
}

/// The text of a file, up to a length; `None` if it cannot be read.
fn text_in(path: &Path) -> Option<String> {
    // Opening a pipe would wait.
    fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
