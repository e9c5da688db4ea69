//! Whole records of tables, unchanged from their files.

use std::{
    collections::VecDeque,
    path::{Path, PathBuf},
};

use senv_base::{Error, Result};

use super::{TableFormat, TextOptions, TextReader};

/// Copies the selected records of tables, in the order of the files, after the header of the first file. `is_wanted`
/// receives the file and the first line of a record. Lines keep their content and line ends; if the last line of a file
/// has no end, `\n` is added. `other_titles` creates the error for a file whose header differs from the first.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("t.csv");
/// use senv_core::{Error, TextOptions, text::{TableText, copy_records}};
/// std::fs::write(&path, "author,body\nAda,\"two\nlines\"\nBob,one\n")?;
/// let options = TextOptions { table: Some(TableText::column("body")), ..TextOptions::default() };
/// let error = |path: &_| Error::BadFile { path: std::path::Path::to_owned(path), reason: "other titles".into() };
/// let mut text = String::new();
/// copy_records(&[path], &options, |_, line| line == 2, error, |record| Ok(text += record))?;
/// assert_eq!(text, "author,body\nAda,\"two\nlines\"\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The errors of reading, of `other_titles` and of `write`.
pub fn copy_records<E: From<Error>>(
    paths: &[PathBuf],
    options: &TextOptions,
    mut is_wanted: impl FnMut(&Path, u64) -> bool,
    other_titles: impl Fn(&Path) -> E,
    mut write: impl FnMut(&str) -> Result<(), E>,
) -> Result<(), E> {
    let Some(table) = &options.table else { return Ok(()) };
    let mut titles: Option<String> = None;
    for path in paths {
        let mut records = TextReader::open(&[path], options)?;
        let mut raw = RawLines::open(path, options)?;
        let mut next = records.next_line()?.map(|record| record.number);
        let before = raw.until(next)?;
        // What precedes the first record is the line of titles.
        if table.format_of(path) != TableFormat::JsonLines && !before.trim().is_empty() {
            match &titles {
                Some(first) if !first.lines().eq(before.lines()) => return Err(other_titles(path)),
                Some(_) => {}
                None => {
                    write(&before)?;
                    titles = Some(before);
                }
            }
        }
        while let Some(number) = next {
            next = records.next_line()?.map(|record| record.number);
            let record = raw.until(next)?;
            if is_wanted(path, number) {
                write(&record)?;
            }
        }
    }
    Ok(())
}

/// The lines of a file, regardless of their content, numbered as the records of a table are: `\r` alone ends one, too.
struct RawLines {
    reader: TextReader,
    /// The lines that were read ahead, with their ends.
    ahead: VecDeque<(String, &'static str)>,
    /// The number of the next line.
    number: u64,
}

impl RawLines {
    fn open(path: &PathBuf, options: &TextOptions) -> Result<Self> {
        let reader = TextReader::open(&[path], &options.of_lines())?;
        Ok(Self { reader, ahead: VecDeque::new(), number: 1 })
    }

    /// Returns the lines before line `number`, or all remaining lines. Omits trailing empty lines, which belong to no
    /// record.
    fn until(&mut self, number: Option<u64>) -> Result<String> {
        let (mut lines, mut end) = (String::new(), 0);
        loop {
            if number.is_some_and(|number| self.number >= number) {
                break;
            }
            if self.ahead.is_empty() {
                let Some(text) = self.reader.next_line()?.map(|line| line.text.to_owned()) else { break };
                let mut parts = text.split('\r').map(str::to_owned).peekable();
                while let Some(part) = parts.next() {
                    self.ahead.push_back((part, if parts.peek().is_some() { "\r" } else { self.reader.line_end() }));
                }
            }
            let Some((line, line_end)) = self.ahead.pop_front() else { break };
            self.number += 1;
            lines.push_str(&line);
            lines.push_str(if line_end.is_empty() { "\n" } else { line_end });
            if !line.is_empty() {
                end = lines.len();
            }
        }
        lines.truncate(end);
        Ok(lines)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TableText;

    #[test]
    fn records_keep_their_line_ends_within_cells_and_behind_them() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("a.csv"), "id,text\r\n1,\"a\r\nb\nc\r\n\r\nd\"\r\n2,x\r\n\r\n3,y").unwrap();
        std::fs::write(at("b.csv"), "id,text\n4,z\n").unwrap();
        let options = TextOptions { table: Some(TableText::column("text")), ..TextOptions::default() };
        let error = |path: &Path| Error::BadFile { path: path.to_owned(), reason: "other titles".into() };
        let mut text = String::new();
        let is_wanted = |_: &Path, line| line != 7;
        copy_records(&[at("a.csv"), at("b.csv")], &options, is_wanted, error, |record| {
            text += record;
            Ok(())
        })
        .unwrap();
        assert_eq!(text, "id,text\r\n1,\"a\r\nb\nc\r\n\r\nd\"\r\n3,y\n4,z\n");

        std::fs::write(at("c.csv"), "id,text\r1,x\r2,y\r3,z\r").unwrap();
        text.clear();
        copy_records(
            &[at("c.csv")],
            &options,
            |_, line| line != 3,
            error,
            |record| {
                text += record;
                Ok(())
            },
        )
        .unwrap();
        // The last line of a file gets an end.
        assert_eq!(text, "id,text\r1,x\r3,z\n");
    }
}
