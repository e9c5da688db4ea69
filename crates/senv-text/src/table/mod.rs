//! Converts CSV, TSV and JSON lines to lines of text.

#[cfg_attr(not(feature = "arrow"), path = "../built_without/arrow.rs")]
pub(crate) mod arrow;
mod csv;
mod json;
mod quotes;

use std::{
    io::ErrorKind,
    path::{Path, PathBuf},
    sync::Arc,
};

pub(super) use arrow::ArrowLines;

use super::{
    InvalidUtf8,
    decode::{BOM, Source},
    foreign::foreign,
};
use senv_base::{Error, Result};

/// The number of bytes read at a time.
const CHUNK: usize = 1 << 16;
/// The number of bytes by which a file that is not text is recognized.
const HEAD: usize = 512;

/// The syntax of records and fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TableFormat {
    /// Comma-separated fields, quoted if they contain commas, quotes or line ends (RFC 4180).
    Csv,
    /// Tab-separated fields, taken literally, one record per line, as data sets are often distributed; with
    /// [`TableText::quotes`], quoted as in CSV.
    Tsv,
    /// One JSON object per line.
    JsonLines,
}

impl TableFormat {
    /// The format for the extension of a file name, ignoring a final `.gz` or `.zst`; `None` for other extensions.
    ///
    /// ```
    /// use senv_core::text::TableFormat;
    /// assert_eq!(TableFormat::of_path("a.csv.gz".as_ref()), Some(TableFormat::Csv));
    /// assert_eq!(TableFormat::of_path("a.ndjson".as_ref()), Some(TableFormat::JsonLines));
    /// assert_eq!(TableFormat::of_path("a.txt".as_ref()), None);
    /// ```
    #[must_use]
    pub fn of_path(path: &Path) -> Option<Self> {
        let ending = |path: &Path| path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
        let packed = matches!(ending(path).as_deref(), Some("gz" | "zst"));
        let path = if packed { path.file_stem().map_or_else(PathBuf::new, PathBuf::from) } else { path.to_owned() };
        match ending(&path)?.as_str() {
            "csv" => Some(Self::Csv),
            "tsv" | "tab" => Some(Self::Tsv),
            "jsonl" | "ndjson" => Some(Self::JsonLines),
            _ => None,
        }
    }
}

/// A field of the records of a table. A title that is exactly the given text comes before a number, wherever there are
/// titles: in JSON lines, Parquet and Arrow, and in CSV and TSV with a header.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TableColumn {
    /// The field whose title is this number, or else the field with this number, counted from 1. In CSV and TSV without
    /// a header, the number counts unless a record has fewer fields: then the first record is searched for the title.
    Number(usize),
    /// The title in the first record, or else the number, if it is one (`03`). In JSON lines, the name of a field, or
    /// names joined by dots for a nested field.
    Name(Arc<str>),
    /// All fields of a CSV or TSV record, regardless of their number; cannot be combined with others.
    All,
}

/// The fields of tables that contain the text.
///
/// Each record becomes a line: the fields in the given order, separated by tabs, with line ends and tabs within them
/// replaced by spaces. A missing value or `null` becomes an empty field. Line numbers are those of the first line of
/// the record in the file. A CSV record with more nonempty fields than there are titles is an error, because unquoted
/// commas would otherwise split the text.
///
/// With the feature `arrow`, Parquet and Arrow IPC files are recognized by their first bytes, regardless of `format`.
/// Their rows are numbered from 1.
///
/// ```
/// use senv_core::{TextOptions, TextReader, text::TableText};
/// let csv = "id,text\n1,\"The cat, who\nsat.\"\n2,A dog.\n".as_bytes();
/// let options = TextOptions { table: Some(TableText::column("text")), ..TextOptions::default() };
/// let mut reader = TextReader::from_reader("pets.csv", csv, &options)?;
/// let mut lines = Vec::new();
/// while let Some(line) = reader.next_line()? {
///     lines.push((line.number, line.text.to_owned()));
/// }
/// assert_eq!(lines, [(2, "The cat, who sat.".into()), (4, "A dog.".into())]);
/// # Ok::<(), senv_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TableText {
    /// The format of all files. `None` uses the extension of each file ([`TableFormat::of_path`]), and CSV for unknown
    /// extensions.
    pub format: Option<TableFormat>,
    /// The fields, at least one.
    pub columns: Vec<TableColumn>,
    /// Whether the first record of a file contains titles although all columns are given by number.
    pub has_header: bool,
    /// Whether fields of TSV can be quoted, so they can contain tabs and line ends, as in CSV.
    pub quotes: bool,
    /// Whether spaces at the start of a field are left out if fields can be quoted. Without it, a space before the
    /// quotes around a field is an error.
    pub skip_initial_space: bool,
}

impl From<&str> for TableColumn {
    /// A number from 1, as it is usually written, or a title.
    fn from(column: &str) -> Self {
        match column.parse::<usize>() {
            Ok(number) if number > 0 && column == number.to_string() => Self::Number(number),
            _ => Self::Name(column.into()),
        }
    }
}

impl TableColumn {
    /// The text that is searched among titles.
    fn title(&self) -> std::borrow::Cow<'_, str> {
        match self {
            Self::Number(number) => number.to_string().into(),
            Self::Name(name) => (&**name).into(),
            Self::All => "".into(),
        }
    }

    /// Its index from 0, if it is a number.
    fn index(&self) -> Option<usize> {
        match self {
            Self::Number(number) => number.checked_sub(1),
            Self::Name(name) => name.parse::<usize>().ok()?.checked_sub(1),
            Self::All => None,
        }
    }
}

impl TableText {
    /// Selects one field by its title or number ([`TableColumn`]).
    #[must_use]
    pub fn column(column: &str) -> Self {
        Self { format: None, columns: vec![column.into()], has_header: false, quotes: false, skip_initial_space: false }
    }

    /// Selects all fields of tab-separated files with quoted fields.
    #[must_use]
    pub fn quoted_tsv() -> Self {
        Self {
            format: Some(TableFormat::Tsv),
            columns: vec![TableColumn::All],
            has_header: false,
            quotes: true,
            skip_initial_space: false,
        }
    }

    /// Returns the format of a file.
    #[must_use]
    pub fn format_of(&self, path: &Path) -> TableFormat {
        self.format.or_else(|| TableFormat::of_path(path)).unwrap_or(TableFormat::Csv)
    }
}

/// The lines that a parser outputs, and the bytes it reads them from.
struct Lines<'a> {
    path: &'a Path,
    max: usize,
    invalid_utf8: InvalidUtf8,
    out: &'a mut Vec<u8>,
    numbers: &'a mut Vec<u64>,
}

impl Lines<'_> {
    /// Appends a field, with line ends and tabs replaced by spaces.
    fn push_field(&mut self, field: &[u8]) {
        let start = self.out.len();
        self.out.extend_from_slice(field);
        if memchr::memchr3(b'\n', b'\r', b'\t', field).is_none() {
            return;
        }
        let mut end = start;
        for i in start..self.out.len() {
            let byte = self.out[i];
            // A carriage return before a line feed is part of the same line end.
            if byte == b'\r' && self.out.get(i + 1) == Some(&b'\n') {
                continue;
            }
            self.out[end] = if matches!(byte, b'\n' | b'\r' | b'\t') { b' ' } else { byte };
            end += 1;
        }
        self.out.truncate(end);
    }

    fn end_record(&mut self, number: u64) {
        self.out.push(b'\n');
        self.numbers.push(number);
    }

    fn bad(&self, line: u64, reason: String) -> Error {
        Error::BadTable { path: self.path.to_owned(), line, reason }
    }
}

/// Converts the bytes of one file to lines.
trait Parse: Send {
    /// Converts records in `bytes` to lines until there are `size` bytes of output. `at_end` means that no further
    /// bytes follow. Returns the number of bytes consumed: all of them, unless there is enough output.
    fn parse(&mut self, bytes: &[u8], at_end: bool, size: usize, lines: &mut Lines<'_>) -> Result<usize>;
}

/// Reads the records of one file.
pub(super) struct TableReader {
    parser: Box<dyn Parse>,
    invalid_utf8: InvalidUtf8,
    bytes: Vec<u8>,
    start: usize,
    at_start: bool,
    at_end: bool,
    /// Whether the parser needs more bytes to continue.
    wants_more: bool,
    is_done: bool,
}

impl TableReader {
    pub(super) fn new(table: &TableText, path: &Path, invalid_utf8: InvalidUtf8) -> Result<Self> {
        let columns = &table.columns;
        let bad =
            |requirement: &'static str, got: String| Err(Error::InvalidParameter { name: "columns", requirement, got });
        let is_mixed = columns.len() > 1 && columns.contains(&TableColumn::All);
        if columns.is_empty() || columns.contains(&TableColumn::Number(0)) || is_mixed {
            return bad("at least one, counted from 1", format!("{columns:?}"));
        }
        let parser: Box<dyn Parse> = match table.format_of(path) {
            TableFormat::Csv => Box::new(csv::Parser::new(b',', true, table)),
            TableFormat::Tsv => Box::new(csv::Parser::new(b'\t', table.quotes, table)),
            TableFormat::JsonLines => match json::Parser::new(columns) {
                Some(parser) => Box::new(parser),
                None => return bad("field names for JSON lines", format!("{columns:?} for {}", path.display())),
            },
        };
        let bytes = Vec::with_capacity(CHUNK);
        Ok(Self {
            parser,
            invalid_utf8,
            bytes,
            start: 0,
            at_start: true,
            at_end: false,
            wants_more: true,
            is_done: false,
        })
    }

    /// Converts the next records to about `size` bytes of lines; returns false at the end.
    pub(super) fn next_lines(
        &mut self,
        source: &mut Source,
        path: &Path,
        size: usize,
        max: usize,
        eager: bool,
        (out, numbers): (&mut Vec<u8>, &mut Vec<u64>),
    ) -> Result<bool> {
        out.clear();
        numbers.clear();
        let mut lines = Lines { path, max, invalid_utf8: self.invalid_utf8, out, numbers };
        while !self.is_done && lines.out.len() < size {
            if self.wants_more && !self.at_end {
                if eager && !lines.numbers.is_empty() {
                    break;
                }
                self.fill(source, path)?;
            }
            if self.at_start {
                // Enough to recognize the format, or the first line that a person has typed.
                while self.bytes.len() < HEAD && !self.at_end && !(eager && self.bytes.contains(&b'\n')) {
                    self.fill(source, path)?;
                }
                foreign(&self.bytes, path, true).map_or(Ok(()), Err)?;
                self.start = if self.bytes.starts_with(BOM) { BOM.len() } else { 0 };
                self.at_start = false;
            }
            let rest = &self.bytes[self.start..];
            let all = rest.len();
            // After an error, the reader is finished for every caller.
            let done = self.parser.parse(rest, self.at_end, size, &mut lines).inspect_err(|_| self.is_done = true)?;
            self.start += done;
            self.wants_more = lines.out.len() < size;
            self.is_done = self.at_end && done == all && self.wants_more;
        }
        Ok(!numbers.is_empty())
    }

    /// Appends bytes to those not consumed yet.
    fn fill(&mut self, source: &mut Source, path: &Path) -> Result<()> {
        self.bytes.drain(..self.start);
        self.start = 0;
        let filled = self.bytes.len();
        self.bytes.resize(filled + CHUNK, 0);
        let n = loop {
            match source.reader.read(&mut self.bytes[filled..]) {
                Ok(n) => break n,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(source.error(path, e)),
            }
        };
        self.bytes.truncate(filled + n);
        self.at_end = n == 0;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
