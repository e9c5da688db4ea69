//! What is read from a table: its format, its columns, and how its cells are written.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{BadRecords, BlankRecords};

/// The syntax of records and fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TableFormat {
    /// Fields separated by commas, or by another character ([`TableText::delimiter`]), and quoted if they contain that
    /// character, quotes or line ends (RFC 4180).
    Csv,
    /// Tab-separated fields, taken literally, one record per line, as data sets are often distributed; with
    /// [`TableText::quotes`], quoted as in CSV.
    Tsv,
    /// One JSON object per line, or an array of objects, which begins with `[`.
    JsonLines,
}

impl TableFormat {
    /// The format for the extension of a file name, ignoring a final `.gz` or `.zst`; `None` for other extensions.
    ///
    /// ```
    /// use senv_core::text::TableFormat;
    /// assert_eq!(TableFormat::of_path("a.csv.gz".as_ref()), Some(TableFormat::Csv));
    /// assert_eq!(TableFormat::of_path("a.ndjson".as_ref()), Some(TableFormat::JsonLines));
    /// assert_eq!(TableFormat::of_path("a.json".as_ref()), Some(TableFormat::JsonLines));
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
            "jsonl" | "ndjson" | "json" => Some(Self::JsonLines),
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
/// replaced by spaces. If the text is split into sentences, paragraphs in the first of the fields stay separate. A
/// missing value or `null` becomes an empty field. Line numbers are those of the first line of the record in the file;
/// records are also counted, from 1 ([`Line::record`](crate::Line::record)). A CSV record with more nonempty fields
/// than there are titles is an error, because unquoted commas would otherwise split the text.
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
    /// The ASCII character between the fields of CSV and TSV. By default a tab in TSV, and in CSV the character that a
    /// first line such as `sep=;` names, or else a comma. It is `;`, tab or `|` if that separates the titles, or gives
    /// most of the first records equally many fields, and the comma does not
    /// ([`recognized_delimiter`](crate::recognized_delimiter)).
    pub delimiter: Option<u8>,
    /// Whether fields of TSV can be quoted, so they can contain tabs and line ends, as in CSV.
    pub quotes: bool,
    /// Whether spaces at the start of a field are left out if fields can be quoted. Without it, a space before the
    /// quotes around a field is an error.
    pub skip_initial_space: bool,
    /// Whether line ends within the first of the columns are kept, as U+000B, instead of becoming spaces. False by
    /// default.
    pub line_ends: bool,
    /// Which bad records are left out; by default none, and the first is an error.
    pub bad_records: Option<BadRecords>,
    /// Counts the records without text, if somebody asks for it.
    pub blank_records: Option<BlankRecords>,
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
    pub(super) fn title(&self) -> std::borrow::Cow<'_, str> {
        match self {
            Self::Number(number) => number.to_string().into(),
            Self::Name(name) => (&**name).into(),
            Self::All => "".into(),
        }
    }

    /// Its index from 0, if it is a number.
    pub(super) fn index(&self) -> Option<usize> {
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
        Self::of(None, column.into(), false)
    }

    /// Selects all fields of tab-separated files with quoted fields.
    #[must_use]
    pub fn quoted_tsv() -> Self {
        Self::of(Some(TableFormat::Tsv), TableColumn::All, true)
    }

    fn of(format: Option<TableFormat>, column: TableColumn, quotes: bool) -> Self {
        Self {
            format,
            columns: vec![column],
            has_header: false,
            delimiter: None,
            quotes,
            skip_initial_space: false,
            line_ends: false,
            bad_records: None,
            blank_records: None,
        }
    }

    /// Returns the format of a file.
    #[must_use]
    pub fn format_of(&self, path: &Path) -> TableFormat {
        self.format.or_else(|| TableFormat::of_path(path)).unwrap_or(TableFormat::Csv)
    }
}
