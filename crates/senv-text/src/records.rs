//! Whole records of tables, unchanged from their files, and cells of chosen records.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    path::{Path, PathBuf},
    sync::Arc,
};

use senv_base::{Error, Result};

use super::{
    InvalidUtf8, TableColumn, TableFormat, TableText, TextOptions, TextReader,
    decode::{self, Source},
    table::{LineBuffers, LineEnds, RawRecord, TableReader},
};

/// A record of a table: its file, and its number there ([`Line::record`](crate::Line::record)).
pub type RecordPlace = (PathBuf, u64);

/// How the records of a table are written next to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RecordSyntax {
    /// Lines of fields with this ASCII character between them.
    Fields(u8),
    /// A JSON object on each line.
    JsonLines,
    /// Elements of a JSON array.
    JsonArray,
}

impl RecordSyntax {
    /// What precedes all records, separates two of them, and follows all, apart from titles.
    #[must_use]
    pub fn frame(self) -> [&'static str; 3] {
        if self == Self::JsonArray { ["[\n", ",\n", "\n]\n"] } else { ["", "", ""] }
    }
}

/// What precedes the records of a file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct RecordHead {
    /// The file.
    pub path: PathBuf,
    /// The titles, with their line end; empty if there are none.
    pub titles: String,
    /// How the records are written next to each other.
    pub syntax: RecordSyntax,
}

impl RecordHead {
    /// Whether the records of both files can follow each other. Files without titles go with those that have some.
    fn goes_with(&self, other: &Self) -> bool {
        let has_other_titles = !other.titles.is_empty() && !self.titles.lines().eq(other.titles.lines());
        self.syntax == other.syntax && !has_other_titles
    }
}

/// Checks that the records of some files can follow each other, before any is copied. `other_titles` creates the error
/// for the first file and one whose titles or syntax differ from it. Files without records and titles go with any.
///
/// # Errors
/// The errors of reading and of `other_titles`.
pub fn check_record_heads<E: From<Error>>(
    paths: &[PathBuf],
    options: &TextOptions,
    other_titles: impl Fn(&RecordHead, &RecordHead) -> E,
) -> Result<(), E> {
    let mut first: Option<RecordHead> = None;
    for path in paths {
        let Some(head) = head(path, options)? else { continue };
        match &first {
            Some(first) if !first.goes_with(&head) => return Err(other_titles(first, &head)),
            Some(_) => {}
            None => first = Some(head),
        }
    }
    Ok(())
}

/// What precedes the records of a file; `None` if it has neither records nor titles.
fn head(path: &Path, options: &TextOptions) -> Result<Option<RecordHead>> {
    let Some(table) = &options.table else { return Ok(None) };
    let (mut reader, mut source) = open(table, path, options)?;
    let mut raw = RawRecord::default();
    let has_record = next_record(&mut reader, &mut source, path, options, &mut raw)?.is_some();
    if !has_record && raw.titles.is_empty() {
        return Ok(None);
    }
    let syntax = syntax(table, path, &reader, &raw);
    let titles = decoded(&raw.titles, raw.titles_line, path, options.invalid_utf8)?.into_owned();
    Ok(Some(RecordHead { path: path.to_owned(), titles, syntax }))
}

/// Copies the selected records of tables, in the order of the files, after the titles of the first file. `is_wanted`
/// receives the file and the number of a record. Records keep their content and line ends; if the last record of a file
/// has no end, `\n` is added. The elements of an array become an array. `other_titles` creates the error for the first
/// file and one whose titles differ from it; nothing is written then ([`check_record_heads`]).
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("t.csv");
/// use senv_core::{Error, TextOptions, text::{RecordHead, TableText, copy_records}};
/// std::fs::write(&path, "author,body\nAda,\"two\nlines\"\nBob,one\n")?;
/// let options = TextOptions { table: Some(TableText::column("body")), ..TextOptions::default() };
/// let error = |_: &_, other: &RecordHead| Error::BadFile { path: other.path.clone(), reason: "other titles".into() };
/// let mut text = String::new();
/// copy_records(&[path], &options, |_, record| record == 1, error, |record| Ok(text += record))?;
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
    other_titles: impl Fn(&RecordHead, &RecordHead) -> E,
    mut write: impl FnMut(&str) -> Result<(), E>,
) -> Result<(), E> {
    check_record_heads(paths, options, other_titles)?;
    let (mut first, mut n) = (None, 0);
    for_each_record(paths, options, |path, record| -> Result<(), E> {
        let Record { text, titles, number, syntax } = record;
        if first.is_none() {
            write(syntax.frame()[0])?;
            write(&titles)?;
            first = Some(syntax);
        }
        if is_wanted(path, number) {
            if n > 0 {
                write(syntax.frame()[1])?;
            }
            n += 1;
            write(&text)?;
        }
        Ok(())
    })?;
    first.map_or(Ok(()), |syntax| write(syntax.frame()[2]))
}

/// Records of tables in memory.
#[derive(Debug)]
#[non_exhaustive]
pub struct WantedRecords {
    /// The titles of the first file that has some, with their line end; empty if there are none.
    pub titles: String,
    /// How the records are written next to each other.
    pub syntax: RecordSyntax,
    /// The records, with their line ends.
    pub records: HashMap<RecordPlace, String>,
}

/// Reads some records of tables, to write them in any order. They are as [`copy_records`] copies them.
///
/// # Errors
/// The errors of [`copy_records`].
pub fn wanted_records<E: From<Error>>(
    paths: &[PathBuf],
    options: &TextOptions,
    wanted: &HashSet<RecordPlace>,
    other_titles: impl Fn(&RecordHead, &RecordHead) -> E,
) -> Result<WantedRecords, E> {
    check_record_heads(paths, options, other_titles)?;
    let mut found = WantedRecords {
        titles: String::new(),
        syntax: RecordSyntax::JsonLines,
        records: HashMap::with_capacity(wanted.len()),
    };
    let mut is_first = true;
    for_each_record(paths, options, |path, record| -> Result<(), E> {
        let Record { text, titles, number, syntax } = record;
        if std::mem::take(&mut is_first) {
            (found.titles, found.syntax) = (titles.into_owned(), syntax);
        }
        let place = (path.to_owned(), number);
        if wanted.contains(&place) {
            found.records.insert(place, text.into_owned());
        }
        Ok(())
    })?;
    Ok(found)
}

/// Cells of some records.
pub type RecordCells = HashMap<RecordPlace, Vec<String>>;

/// Reads further columns of some records of tables: their cells in the order of `columns`, with line ends and tabs
/// replaced by spaces. `options` are those with which the records were read.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("t.csv");
/// use senv_core::{TextOptions, text::{TableText, record_cells}};
/// std::fs::write(&path, "id,body\nT-1,Rain.\nT-2,Sun.\n")?;
/// let options = TextOptions { table: Some(TableText::column("body")), ..TextOptions::default() };
/// let wanted = [(path.clone(), 2)].into();
/// let cells = record_cells(&[path.clone()], &options, &["id".into()], &wanted)?;
/// assert_eq!(cells[&(path, 2)], ["T-2"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The errors of reading, for example of a column that does not exist.
pub fn record_cells(
    paths: &[PathBuf],
    options: &TextOptions,
    columns: &[TableColumn],
    wanted: &HashSet<RecordPlace>,
) -> Result<RecordCells> {
    let mut cells = HashMap::with_capacity(wanted.len());
    let Some(table) = &options.table else { return Ok(cells) };
    let first = table.columns.iter().take(1).cloned();
    let columns = first.chain(columns.iter().cloned()).collect();
    let table = TableText { columns, line_ends: false, ..table.clone() };
    let options = TextOptions { table: Some(table), split: None, ..options.clone() };
    let mut reader = TextReader::open(paths, &options)?;
    while let Some(line) = reader.next_line()? {
        let Some(record) = line.record else { continue };
        let place = (line.path.to_owned(), record);
        if wanted.contains(&place) {
            cells.insert(place, line.text.split('\t').skip(1).map(str::to_owned).collect());
        }
    }
    Ok(cells)
}

/// A record with what is needed to write it.
struct Record<'a> {
    text: Cow<'a, str>,
    titles: Cow<'a, str>,
    number: u64,
    syntax: RecordSyntax,
}

/// Passes on each record of some tables.
fn for_each_record<E: From<Error>>(
    paths: &[PathBuf],
    options: &TextOptions,
    mut each: impl FnMut(&Path, Record<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let Some(table) = &options.table else { return Ok(()) };
    for path in paths {
        let (mut reader, mut source) = open(table, path, options)?;
        let mut raw = RawRecord::default();
        while let Some(number) = next_record(&mut reader, &mut source, path, options, &mut raw)? {
            let syntax = syntax(table, path, &reader, &raw);
            let text = |bytes, line| decoded(bytes, line, path, options.invalid_utf8);
            let with_end = |text: Cow<'_, str>| match syntax {
                RecordSyntax::JsonArray => text.into_owned(),
                _ if text.is_empty() || text.ends_with(['\n', '\r']) => text.into_owned(),
                _ => text.into_owned() + "\n",
            };
            let (record, titles) =
                (with_end(text(&raw.bytes, number.1)?), with_end(text(&raw.titles, raw.titles_line)?));
            each(path, Record { text: record.into(), titles: titles.into(), number: number.0, syntax })?;
        }
    }
    Ok(())
}

fn open(table: &TableText, path: &Path, options: &TextOptions) -> Result<(TableReader, Source)> {
    let source = decode::open(path, &Arc::default())?;
    source.is_lifted.store(options.any_expansion, std::sync::atomic::Ordering::Relaxed);
    Ok((TableReader::new(table, path, options.invalid_utf8)?, source))
}

/// The syntax of a file whose last record or titles were read.
fn syntax(table: &TableText, path: &Path, reader: &TableReader, raw: &RawRecord) -> RecordSyntax {
    match (table.format_of(path), raw.is_element) {
        (TableFormat::JsonLines, true) => RecordSyntax::JsonArray,
        (TableFormat::JsonLines, false) => RecordSyntax::JsonLines,
        _ => RecordSyntax::Fields(reader.delimiter()),
    }
}

/// The text of a record that starts on this line.
fn decoded<'a>(bytes: &'a [u8], line: u64, path: &Path, invalid_utf8: InvalidUtf8) -> Result<Cow<'a, str>> {
    invalid_utf8.decode(bytes).map_err(|error| {
        let before = &bytes[..error.valid_up_to()];
        let mut ends = LineEnds::default();
        let start = before.iter().rposition(|&byte| byte == b'\n' || byte == b'\r').map_or(0, |end| end + 1);
        let (path, line, byte) = (path.to_owned(), line + ends.count(before), before.len() - start + 1);
        Error::InvalidUtf8 { path, line, byte, column: None }
    })
}

/// Reads the next record; returns its number and its line, or `None` at the end.
fn next_record(
    reader: &mut TableReader,
    source: &mut Source,
    path: &Path,
    options: &TextOptions,
    raw: &mut RawRecord,
) -> Result<Option<(u64, u64)>> {
    let (mut text, mut numbers, mut records) = (Vec::new(), Vec::new(), Vec::new());
    let out = LineBuffers { text: &mut text, numbers: &mut numbers, records: &mut records, raw: Some(raw) };
    // One record at a time is at least a byte.
    reader.next_lines(source, path, 1, options.max_line_bytes, false, out)?;
    Ok(records.last().copied().zip(numbers.last().copied()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The wanted records of some files.
    fn copied(paths: &[PathBuf], options: &TextOptions, is_wanted: impl FnMut(&Path, u64) -> bool) -> Result<String> {
        let mut text = String::new();
        copy_records(paths, options, is_wanted, error, |record| {
            text += record;
            Ok(())
        })?;
        Ok(text)
    }

    fn error(_: &RecordHead, other: &RecordHead) -> Error {
        Error::BadFile { path: other.path.clone(), reason: "other titles".into() }
    }

    fn of_column(column: &str) -> TextOptions {
        TextOptions { table: Some(TableText::column(column)), ..TextOptions::default() }
    }

    #[test]
    fn records_keep_their_line_ends_within_cells_and_behind_them() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("a.csv"), "id,text\r\n1,\"a\r\nb\nc\r\n\r\nd\"\r\n2,x\r\n\r\n3,y").unwrap();
        std::fs::write(at("b.csv"), "id,text\n4,z\n").unwrap();
        let options = of_column("text");
        let text = copied(&[at("a.csv"), at("b.csv")], &options, |_, record| record != 2).unwrap();
        assert_eq!(text, "id,text\r\n1,\"a\r\nb\nc\r\n\r\nd\"\r\n3,y\n4,z\n");

        std::fs::write(at("c.csv"), "id,text\r1,x\r2,y\r3,z\r").unwrap();
        let text = copied(&[at("c.csv")], &options, |_, record| record != 2).unwrap();
        assert_eq!(text, "id,text\r1,x\r3,z\r");
    }

    #[test]
    fn files_with_other_titles_or_separators_are_refused_before_anything_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for (name, text) in [
            ("a.csv", "id,text\n1,a\n"),
            ("same.csv", "id,text\r\n2,b\r\n"),
            ("only-titles.csv", "text,id\n"),
            ("other.csv", "text,id\nb,2\n"),
            ("semicolon.csv", "id;text\n2;b\n"),
            ("a.jsonl", "{\"text\":\"a\"}\n"),
            ("empty.csv", ""),
        ] {
            std::fs::write(at(name), text).unwrap();
        }
        let of = |name: &str| {
            let mut written = String::new();
            let write = |record: &str| -> Result<()> {
                written += record;
                Ok(())
            };
            let copied = copy_records(&[at("a.csv"), at(name)], &of_column("text"), |_, _| true, error, write);
            (copied.is_ok(), written)
        };
        assert_eq!(of("same.csv"), (true, "id,text\n1,a\n2,b\r\n".to_owned()));
        for other in ["only-titles.csv", "other.csv", "semicolon.csv", "a.jsonl"] {
            assert_eq!(of(other), (false, String::new()), "{other}");
        }
        assert!(of("empty.csv").0);
    }

    #[test]
    fn the_byte_of_a_bad_record_is_counted_in_its_line() {
        let record = b"1,\"two\r\nlin\xE9s\",x\n";
        let error = decoded(record, 7, Path::new("a.csv"), InvalidUtf8::Error).unwrap_err();
        assert!(matches!(error, Error::InvalidUtf8 { line: 8, byte: 4, column: None, .. }), "{error}");
    }

    #[test]
    fn bad_records_are_not_copied_with_the_record_before_them() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        std::fs::write(&path, "id;text\n1;a\n2\n3;\"b\n4;\"c\" d\n5;e\n").unwrap();
        let bad = crate::BadRecords::up_to(9);
        let table = TableText { bad_records: Some(bad), delimiter: Some(b';'), ..TableText::column("text") };
        let options = TextOptions { table: Some(table), ..TextOptions::default() };
        assert_eq!(copied(&[path], &options, |_, _| true).unwrap(), "id;text\n1;a\n5;e\n");
    }

    #[test]
    fn elements_of_an_array_become_an_array_and_lines_of_json_stay_lines() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("a.json"), "[{\"t\":\"a\"},\n {\"t\":\"b\"}, {\"t\":\n\"c\"}]").unwrap();
        std::fs::write(at("b.jsonl"), "{\"t\":\"a\"}\n\n{\"t\":\"b\"}").unwrap();
        let of = |name: &str, wanted: &[u64]| copied(&[at(name)], &of_column("t"), |_, n| wanted.contains(&n)).unwrap();
        assert_eq!(of("a.json", &[1, 3]), "[\n{\"t\":\"a\"},\n{\"t\":\n\"c\"}\n]\n");
        assert_eq!(of("a.json", &[]), "[\n\n]\n");
        assert_eq!(of("b.jsonl", &[2]), "{\"t\":\"b\"}\n");
        assert!(copied(&[at("a.json"), at("b.jsonl")], &of_column("t"), |_, _| true).is_err());
    }

    #[test]
    fn records_and_their_cells_are_found_by_number_in_any_order() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("a.csv"), "id,n,text\nx,1,\"a\nb\"\ny,2,c\n").unwrap();
        std::fs::write(at("b.csv"), "id,n,text\nz,3,d").unwrap();
        let paths = [at("a.csv"), at("b.csv")];
        let wanted = HashSet::from([(at("b.csv"), 1), (at("a.csv"), 1)]);
        let options = TextOptions { split: Some(crate::Split::Paragraphs), ..of_column("text") };
        let cells = record_cells(&paths, &options, &["n".into(), "id".into(), "n".into()], &wanted).unwrap();
        assert_eq!(cells[&(at("a.csv"), 1)], ["1", "x", "1"]);
        assert_eq!((cells.len(), &cells[&(at("b.csv"), 1)][1]), (2, &"z".to_owned()));
        let missing = record_cells(&paths, &options, &["no".into()], &wanted).unwrap_err().to_string();
        assert!(missing.contains("no column \"no\"; the columns are id, n, text"), "{missing}");
        let found = wanted_records(&paths, &options, &wanted, error).unwrap();
        assert_eq!((found.titles.as_str(), found.syntax), ("id,n,text\n", RecordSyntax::Fields(b',')));
        assert_eq!(found.records[&(at("a.csv"), 1)], "x,1,\"a\nb\"\n");
        assert_eq!(found.records[&(at("b.csv"), 1)], "z,3,d\n");
    }
}
