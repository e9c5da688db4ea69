//! Loads sentences of text files and of collections into memory.

use std::path::{Path, PathBuf};

use senv_core::{TextOptions, TextReader, text::Lines};
use senv_index::Collection;

use super::{SentenceCollection, has_column};
use crate::error::Result;

/// All lines of files that are not blank, and the sentences of collections, which are folders.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("text.txt");
/// std::fs::write(&path, "The train is late.\n\nRain falls.\n")?;
/// let lines = senv::collection::read_sentences(&[&path], &senv_core::TextOptions::default())?;
/// assert_eq!((lines.len(), lines.place(1)), (2, (path.as_path(), 3)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Errors of reading; [`senv_core::Error::OutOfMemory`].
pub fn read_sentences(paths: &[impl AsRef<Path>], options: &TextOptions) -> Result<Lines> {
    let mut lines = Lines::default();
    for paths in paths.chunk_by(|a, b| a.as_ref().is_dir() == b.as_ref().is_dir()) {
        if paths[0].as_ref().is_dir() {
            paths.iter().try_for_each(|path| push_collection(&mut lines, path.as_ref()))?;
            continue;
        }
        let of_files = Lines::read_sentences(&mut TextReader::open(paths, options)?)?;
        if lines.is_empty() {
            lines = of_files;
            continue;
        }
        for i in 0..of_files.len() {
            let (path, number) = of_files.place(i);
            lines.push(of_files.get(i), path, number)?;
        }
    }
    Ok(lines)
}

/// Appends the sentences of a collection that are not deleted, with their files and lines. Sentences without a
/// file have the folder instead, and without a line their ids, or their positions from 1 where ids are texts.
fn push_collection(lines: &mut Lines, folder: &Path) -> Result<()> {
    let rows = Collection::open(folder)?;
    let [has_file, has_line] = [SentenceCollection::FILE, SentenceCollection::LINE].map(|name| has_column(&rows, name));
    for position in 0..rows.n_positions() {
        let Some(id) = rows.id(position)? else { continue };
        let text = rows.text(position, SentenceCollection::TEXT)?;
        let file = if has_file { rows.text(position, SentenceCollection::FILE)? } else { String::new() };
        let line = if has_line { rows.text(position, SentenceCollection::LINE)?.parse().ok() } else { None };
        let file = if file.is_empty() { folder.to_owned() } else { PathBuf::from(file) };
        let number = line.or(id.number()).unwrap_or(position as u64 + 1);
        if !text.trim().is_empty() {
            lines.push(&text, &file, number)?;
        }
    }
    Ok(())
}
