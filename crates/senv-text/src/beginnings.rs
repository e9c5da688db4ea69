//! Reads the beginnings of text files, to choose settings before anything is read completely.

use std::{
    io::Cursor,
    path::{Path, PathBuf},
};

use super::{InvalidUtf8, TextOptions, TextReader, is_stdin, peek_stdin};

/// The maximum number of non-blank lines, and of bytes, over all files.
const MAX_LINES: usize = 10_000;
const MAX_BYTES: usize = 4 << 20;
/// The minimum number of lines from the first file, if it has them.
const MIN_LINES_OF_FIRST: usize = 2_000;
/// The maximum number of files; if there are more, this many are chosen, evenly spread.
const MAX_FILES: usize = 100;
/// The number of bytes examined of standard input.
const STDIN_BYTES: usize = 256 << 10;

/// Returns the first lines of text files (plain, `.gz`, `.zst`; `-` is standard input), including blank ones. Reads at
/// most 10,000 non-blank lines, about 4 MiB and 100 files. Invalid bytes are replaced. With `table`, the lines come
/// from the records of tables.
///
/// The next reader of standard input reads the examined part again. Named pipes have no lines here, because they can be
/// read only once. Unreadable files have none either; reading them gives the error.
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

/// Like [`beginnings`], with at most `max_lines` non-blank lines and about `max_bytes` bytes over all files. Examines
/// at most 256 KiB of standard input.
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

/// Opens a file that can be read twice.
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
        // An unreadable line ends the beginning; the examined part of standard input may end within a line.
        let Ok(Some(line)) = reader.next_line() else { break };
        lines += usize::from(!line.is_blank());
        bytes += line.text.len() + 1;
        kept.push(line.text.to_owned());
    }
    kept
}
