//! Whole records of tables, as they stand in their files.

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use senv_core::{
    TextOptions, TextReader,
    text::{TableColumn, TableFormat},
};

use crate::failure::{Failure, Result};

/// Copies the records that are wanted, by their file and first line, in the order of the files, after the titles of the
/// first file. Lines are written as they are, with the line ends of Unix.
pub(crate) fn write_records(
    out: &mut impl Write,
    paths: &[PathBuf],
    options: &TextOptions,
    mut is_wanted: impl FnMut(&Path, u64) -> bool,
) -> Result {
    let Some(table) = &options.table else { return Ok(()) };
    let by_name = table.columns.iter().any(|column| matches!(column, TableColumn::Name(_)));
    let mut titles: Option<String> = None;
    for path in paths {
        let has_titles = (table.has_header || by_name) && table.format_of(path) != TableFormat::JsonLines;
        let mut records = TextReader::open(&[path], options)?;
        let mut raw = RawLines::open(path, options)?;
        let mut next = records.next_line()?.map(|record| record.number);
        let before = raw.until(next)?;
        if has_titles {
            match &titles {
                None => {
                    out.write_all(before.as_bytes()).map_err(Failure::stdout)?;
                    titles = Some(before);
                }
                Some(first) if *first != before => {
                    let message = format!(
                        "{} has other titles than {}: write the records of each file by itself",
                        path.display(),
                        paths[0].display()
                    );
                    return Err(Failure::Usage(message));
                }
                Some(_) => {}
            }
        }
        while let Some(number) = next {
            next = records.next_line()?.map(|record| record.number);
            let record = raw.until(next)?;
            if is_wanted(path, number) {
                out.write_all(record.as_bytes()).map_err(Failure::stdout)?;
            }
        }
    }
    Ok(())
}

/// The lines of a file, whatever is in them.
struct RawLines {
    reader: TextReader,
    /// The line that was read too far.
    ahead: Option<(u64, String)>,
}

impl RawLines {
    fn open(path: &PathBuf, options: &TextOptions) -> Result<Self> {
        let reader = TextReader::open(&[path], &options.of_lines())?;
        Ok(Self { reader, ahead: None })
    }

    /// The lines before the one of this number, or all that are left, without empty ones at the end, which belong to no
    /// record.
    fn until(&mut self, number: Option<u64>) -> Result<String> {
        let (mut lines, mut end) = (String::new(), 0);
        loop {
            let line = match self.ahead.take() {
                Some(line) => Some(line),
                None => self.reader.next_line()?.map(|line| (line.number, line.text.to_owned())),
            };
            match line {
                None => break,
                Some(line) if number.is_some_and(|number| line.0 >= number) => {
                    self.ahead = Some(line);
                    break;
                }
                Some((_, line)) => {
                    lines.push_str(&line);
                    lines.push('\n');
                    if !line.is_empty() {
                        end = lines.len();
                    }
                }
            }
        }
        lines.truncate(end);
        Ok(lines)
    }
}
