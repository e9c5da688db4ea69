//! The beginnings of text files, by which settings are chosen before anything is read as a whole.

use std::{
    io::Cursor,
    path::{Path, PathBuf},
};

use super::{InvalidUtf8, TextOptions, TextReader, is_stdin, peek_stdin};

/// Lines with text and bytes that are looked at, of all files together;
const MAX_LINES: usize = 10_000;
const MAX_BYTES: usize = 4 << 20;
/// of the first file at least so many lines.
const MIN_LINES_OF_FIRST: usize = 2_000;
/// Files that are looked at: of more, this many, evenly spread.
const MAX_FILES: usize = 100;
/// Bytes of standard input that are looked at.
const STDIN_BYTES: usize = 256 << 10;

/// The first lines of text files (plain, `.gz`, `.zst`; `-` is standard input), those without text as well: 10,000 with
/// text at most, of 100 files at most. Invalid bytes are replaced. With `table` the lines are made of the records of
/// tables.
///
/// The part of standard input that is looked at is read again by its next reader. Named pipes have no lines here,
/// because they can be read only once, and neither have files that cannot be read: reading them gives the error.
///
/// ```
/// let file = tempfile::NamedTempFile::new()?;
/// std::fs::write(&file, "one\n\ntwo\n")?;
/// let files = senv_core::text::beginnings(&[file.path()], &senv_core::TextOptions::default());
/// assert_eq!(files, [(file.path().to_owned(), vec!["one".to_owned(), "".into(), "two".into()])]);
/// # Ok::<(), std::io::Error>(())
/// ```
#[must_use]
pub fn beginnings<P: AsRef<Path>>(paths: &[P], options: &TextOptions) -> Vec<(PathBuf, Vec<String>)> {
    beginnings_up_to(paths, options, MAX_LINES, MAX_BYTES)
}

/// The same of at most so many lines with text and about so many bytes, of all files together. Of standard input no
/// more than 256 kB can be looked at.
#[must_use]
pub fn beginnings_up_to<P: AsRef<Path>>(
    paths: &[P],
    options: &TextOptions,
    max_lines: usize,
    max_bytes: usize,
) -> Vec<(PathBuf, Vec<String>)> {
    let step = paths.len().div_ceil(MAX_FILES).max(1);
    let chosen: Vec<&Path> = paths.iter().map(AsRef::as_ref).step_by(step).collect();
    let n = chosen.len().max(1);
    let of = |(i, path): (usize, &Path)| {
        let lines = if i == 0 { (max_lines / n).max(MIN_LINES_OF_FIRST) } else { max_lines / n };
        (path.to_owned(), open(path, options).map_or_else(Vec::new, |reader| beginning(reader, lines, max_bytes / n)))
    };
    chosen.into_iter().enumerate().map(of).collect()
}

/// A file that can be read twice.
fn open(path: &Path, options: &TextOptions) -> Option<TextReader> {
    let options = TextOptions { invalid_utf8: InvalidUtf8::Replace, ..options.clone() };
    if is_stdin(path) {
        return TextReader::from_reader(PathBuf::from(path), Cursor::new(peek_stdin(STDIN_BYTES)), &options).ok();
    }
    if !std::fs::metadata(path).is_ok_and(|file| file.is_file()) {
        return None;
    }
    TextReader::open(&[path], &options).ok()
}

fn beginning(mut reader: TextReader, max_lines: usize, max_bytes: usize) -> Vec<String> {
    let (mut kept, mut lines, mut bytes) = (Vec::new(), 0, 0);
    while lines < max_lines && bytes < max_bytes {
        // A line that cannot be read ends it; standard input may end within a line there.
        let Ok(Some(line)) = reader.next_line() else { break };
        lines += usize::from(!line.is_blank());
        bytes += line.text.len() + 1;
        kept.push(line.text.to_owned());
    }
    kept
}
