//! The arguments of commands that read text.

pub(crate) mod bad_records;
pub(crate) mod blank_records;
mod other;
mod tables;

use std::{
    io::IsTerminal,
    path::{Path, PathBuf},
    sync::LazyLock,
};

use clap::{ArgGroup, ValueEnum};
use senv::jobs::FolderContent;
use senv_core::{
    TextOptions,
    text::{InvalidUtf8, Split, TableColumn, TableFormat, TableText},
};

pub(crate) use self::other::{AgainstText, OtherText, QueriesText, SecondText, WithText};
use crate::{
    argument::argument_of,
    failure::{Failure, Result},
    folders::{Collections, open_folders},
    line_ends::note_line_ends,
    output,
};

argument_of! {
    /// What to do with a line that is not UTF-8, as an argument.
    pub(crate) enum Utf8Policy for InvalidUtf8 {
        /// Stop and name file, line and byte.
        Error,
        /// Replace each invalid sequence with U+FFFD.
        Replace,
        /// Read the line as windows-1252, as older programs for Windows write it; latin1 is another name for it.
        #[value(name = "windows-1252", alias = "latin1")]
        Windows1252,
    }
}

/// How lines are read.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct LineArgs {
    /// What to do with a line that is not UTF-8.
    #[arg(long, value_name = "POLICY", default_value = "error", help_heading = "Text")]
    invalid_utf8: Utf8Policy,
    /// Longest line allowed, in bytes.
    #[arg(long, value_name = "N", default_value_t = TextOptions::default().max_line_bytes, help_heading = "Text")]
    max_line_bytes: usize,
    /// Accept a compressed, Parquet or Arrow file that expands beyond 200 bytes or 10 lines per byte.
    #[arg(long, help_heading = "Text")]
    any_expansion: bool,
}

impl LineArgs {
    /// The options of the library.
    pub(crate) fn options(&self) -> TextOptions {
        TextOptions {
            invalid_utf8: self.invalid_utf8.into(),
            max_line_bytes: self.max_line_bytes,
            table: None,
            split: None,
            any_expansion: self.any_expansion,
            quoted_pairs: false,
        }
    }
}

argument_of! {
    /// The format of a text file.
    pub(crate) enum TextFormat for TableFormat {
        /// Values separated by commas, or as --delimiter says, with quotes.
        Csv,
        /// Tab-separated values, without quoting.
        Tsv,
        /// One JSON object per line, or an array of objects.
        #[value(name = "jsonl")]
        JsonLines,
    }
}

argument_of! {
    /// What is split into sentences.
    pub(crate) enum SplitText for Split {
        /// Paragraphs, which end at an empty line, and at the end of each record of a table.
        Paragraphs,
        /// Each line separately.
        Lines,
    }
}

/// How tables are read. The group `tabled` has the arguments that name a column of one, the group `quoted` also the
/// files of pairs, whose quoted cells `--quotes` reads too.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct TableArgs {
    /// Format of tables without a known file extension.
    #[arg(long, value_name = "FORMAT", requires = "tabled", help_heading = "Text")]
    text_format: Option<TextFormat>,
    /// The first record has column titles. Needed only if --column is a number.
    #[arg(long, requires = "tabled", help_heading = "Text")]
    header: bool,
    /// Character between the fields of CSV or TSV, such as ; or tab [default: recognized]
    #[arg(long, value_name = "CHAR", requires = "tabled", value_parser = delimiter, help_heading = "Text")]
    delimiter: Option<u8>,
    /// Read quoted cells of TSV and of files of pairs as in CSV: they can contain tabs and line ends.
    #[arg(long, requires = "quoted", help_heading = "Text")]
    quotes: bool,
    /// Leave out spaces before the fields of CSV, as in: 7, "Rain falls."
    #[arg(long, requires = "tabled", help_heading = "Text")]
    skip_initial_space: bool,
    /// Leave out up to N bad records, and list them at the end.
    #[arg(long, value_name = "N", requires = "tabled", help_heading = "Text")]
    skip_bad: Option<u64>,
}

impl TableArgs {
    /// The options of the library for a column.
    pub(crate) fn of_column(&self, column: &str) -> TableText {
        TableText {
            format: self.text_format.map(TableFormat::from),
            has_header: self.header,
            delimiter: self.delimiter,
            quotes: self.quotes,
            skip_initial_space: self.skip_initial_space,
            bad_records: self.skip_bad.map(bad_records::up_to),
            blank_records: Some(blank_records::seen()),
            ..TableText::column(column)
        }
    }
}

/// Parses the character between fields.
pub(crate) fn delimiter(text: &str) -> std::result::Result<u8, String> {
    match (text, text.as_bytes()) {
        ("tab" | "\\t", _) => Ok(b'\t'),
        (_, &[byte]) if byte.is_ascii() && !b"\"\r\n".contains(&byte) => Ok(byte),
        _ => Err("expected one ASCII character, such as ; or |, or the word tab".into()),
    }
}

/// How text is read.
#[derive(Debug, Clone, clap::Args)]
#[command(
    group = ArgGroup::new("tabled").args(["column", "field"]).multiple(true),
    group = ArgGroup::new("quoted").args(["column"]).multiple(true)
)]
pub(crate) struct TextArgs {
    /// Read this column of a table: CSV, TSV, JSON, Parquet or Arrow.
    ///
    /// The title or number (from 1) of a column of CSV or TSV, or a field of JSON lines (.jsonl, .ndjson) or of an
    /// array of objects (.json). With --header, an exact title comes before a number. A build with the feature `arrow`
    /// also reads columns of Parquet and Arrow. Line ends in it become spaces; --split keeps its paragraphs. Files with
    /// other extensions are read as CSV. Results show the number of the record, without titles.
    #[arg(long, value_name = "NAME", help_heading = "Text")]
    column: Option<String>,
    /// Read this field of JSON, for any file extension. Dots separate the names of nested fields.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["column", "text_format", "header", "delimiter"],
          help_heading = "Text")]
    field: Option<String>,
    /// Read tables as plain lines, too. Without it or a column, they are refused.
    #[arg(id = "as_lines", long = "lines", conflicts_with_all = ["column", "field"], help_heading = "Text")]
    as_lines: bool,
    #[command(flatten)]
    table: TableArgs,
    /// Split the text into sentences, as `senv split` does. Each sentence has the number of the line where it starts.
    #[arg(long, value_name = "WHAT", num_args = 0..=1, require_equals = true, default_missing_value = "paragraphs",
          help_heading = "Text")]
    split: Option<SplitText>,
    #[command(flatten)]
    lines: LineArgs,
}

impl TextArgs {
    /// The options of the library.
    pub(crate) fn options(&self) -> TextOptions {
        let of_field = |field: &String| TableText {
            format: Some(TableFormat::JsonLines),
            columns: vec![TableColumn::Name(field.as_str().into())],
            ..self.table.of_column(field)
        };
        let column = self.column.as_ref().map(|column| self.table.of_column(column));
        let table = column.or_else(|| self.field.as_ref().map(of_field));
        let split = self.split.map(Split::from);
        TextOptions { table, split, quoted_pairs: self.table.quotes, ..self.lines.options() }
    }

    /// Which files of a folder are read: tables if a column is named.
    pub(crate) fn content(&self) -> FolderContent {
        if self.column.is_some() || self.field.is_some() { FolderContent::Tables } else { FolderContent::Text }
    }

    /// The names and values of the arguments that decide which sentences a file has.
    pub(crate) fn settings(&self) -> Vec<(&'static str, String)> {
        let of = |name, value: Option<String>| value.map(|value| (name, value));
        let LineArgs { invalid_utf8, max_line_bytes, any_expansion: _ } = self.lines;
        let TableArgs { text_format, header, delimiter, quotes, skip_initial_space, skip_bad } = self.table;
        [
            of("--column", self.column.clone()),
            of("--field", self.field.clone()),
            of("--lines", self.as_lines.then(|| "true".into())),
            of("--text-format", text_format.map(name_of)),
            of("--header", header.then(|| "true".into())),
            of("--delimiter", delimiter.map(|byte| byte.escape_ascii().to_string())),
            of("--quotes", quotes.then(|| "true".into())),
            of("--skip-initial-space", skip_initial_space.then(|| "true".into())),
            of("--skip-bad", skip_bad.map(|n| n.to_string())),
            of("--split", self.split.map(name_of)),
            of("--invalid-utf8", Some(name_of(invalid_utf8))),
            of("--max-line-bytes", Some(max_line_bytes.to_string())),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// Refuses tables without a column, whose titles it lists. Notes how other tables are read, and lines that are
    /// unlikely to be sentences.
    pub(crate) fn check_tables(&self, paths: &[impl AsRef<Path>]) -> Result {
        self.check_shape(paths, self.split.is_some())
    }

    /// The same for a command that always splits the text into sentences.
    pub(crate) fn check_tables_to_cut(&self, paths: &[impl AsRef<Path>]) -> Result {
        self.check_shape(paths, true)
    }

    fn check_shape(&self, paths: &[impl AsRef<Path>], is_cut: bool) -> Result {
        match self.options().table {
            Some(table) => tables::note(paths, &table),
            None => {
                if !self.as_lines {
                    tables::refuse(paths, &self.of_titles(), ["--column", "--lines"])?;
                }
                note_line_ends(paths, is_cut);
            }
        }
        Ok(())
    }

    /// The options for another input, which has arguments of its own.
    pub(crate) fn options_of(&self, other: &OtherText<'_>) -> TextOptions {
        let options = self.options();
        let table = match other {
            OtherText { column: Some(column), .. } => Some(self.table.of_column(column)),
            OtherText { as_lines: true, .. } | OtherText { follows: false, .. } => None,
            _ => options.table,
        };
        TextOptions { table, ..options }
    }

    /// The same as [`TextArgs::check_tables`] for another input; returns its options.
    pub(crate) fn check_other(&self, paths: &[impl AsRef<Path>], other: &OtherText<'_>) -> Result<TextOptions> {
        let options = self.options_of(other);
        match &options.table {
            Some(table) => tables::note(paths, table),
            None => {
                if !(other.as_lines || other.follows && self.as_lines) {
                    tables::refuse(paths, &self.of_titles(), other.names)?;
                }
                note_line_ends(paths, options.split.is_some());
            }
        }
        Ok(options)
    }

    /// How titles are read.
    fn of_titles(&self) -> TextOptions {
        TextOptions { table: Some(self.table.of_column("1")), ..self.lines.options() }
    }
}

/// The options for queries of a command that reads no other text; refuses tables as [`TextArgs::check_tables`] does.
pub(crate) fn check_queries(
    path: &Path,
    lines: &LineArgs,
    table: &TableArgs,
    other: &OtherText<'_>,
) -> Result<TextOptions> {
    let of = |column: &str| TextOptions { table: Some(table.of_column(column)), ..lines.options() };
    match other.column {
        Some(column) => {
            note_tables(&[path], &table.of_column(column));
            Ok(of(column))
        }
        None => {
            if !other.as_lines {
                refuse_tables(&[path], &of("1"), other.names)?;
            }
            Ok(lines.options())
        }
    }
}

/// The options with another column of the same table, which is separated by a tab in each line.
pub(crate) fn with_column(mut options: TextOptions, other: &str) -> Result<TextOptions> {
    match &mut options.table {
        Some(table) => table.columns.push(other.into()),
        None => return Err(Failure::Usage("--by needs a table; name the column of the text with --column".into())),
    }
    Ok(options)
}

pub(crate) use self::tables::{MOST_TITLES, note as note_tables, refuse as refuse_tables, short as short_title};

/// The name of a value of an argument.
fn name_of(value: impl ValueEnum) -> String {
    value.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

/// Files given by position or with an option.
#[derive(Debug, Clone, Default, clap::Args)]
#[group(multiple = false)]
pub(crate) struct InputArgs {
    /// Text, one sentence per line; plain, .gz or .zst; a folder of .txt and .md files; - is standard input.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The same as FILE.
    #[arg(long, short, value_name = "FILE", num_args = 1..)]
    input: Vec<PathBuf>,
}

/// Help of files that default to standard input.
pub(crate) const INPUT_HELP: &str = "Text, one sentence per line; plain, .gz or .zst; a folder of .txt and .md files; \
                                     - is standard input [default: -]";

impl InputArgs {
    /// The files; standard input if there are none.
    pub(crate) fn paths_or_stdin(&self) -> &[PathBuf] {
        static STDIN: LazyLock<[PathBuf; 1]> = LazyLock::new(|| [PathBuf::from("-")]);
        if self.paths().is_empty() { &*STDIN } else { self.paths() }
    }

    /// Puts the files of folders in their place.
    pub(crate) fn open_folders(&mut self, content: FolderContent, collections: Collections) -> Result {
        let paths = if self.files.is_empty() { &mut self.input } else { &mut self.files };
        open_folders(paths, content, collections)
    }

    /// Whether a folder is given.
    pub(crate) fn has_folder(&self) -> bool {
        self.paths().iter().any(|path| path.is_dir())
    }

    /// The files; empty if none is given.
    pub(crate) fn paths(&self) -> &[PathBuf] {
        if self.files.is_empty() { &self.input } else { &self.files }
    }
}

/// Whether a file is Parquet or Arrow, and this build reads them.
pub(crate) fn is_arrow(path: &Path) -> bool {
    #[cfg(feature = "arrow")]
    return senv_core::text::ArrowFormat::of_file(path).is_some();
    #[cfg(not(feature = "arrow"))]
    {
        let _ = path;
        false
    }
}

/// Whether a path means standard input or output.
pub(crate) fn is_dash(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Whether standard input is a pipe or a file, which the user wants to be read.
///
/// False for a terminal, and for /dev/null and sockets, which services have.
pub(crate) fn stdin_is_given() -> bool {
    #[cfg(unix)]
    {
        use std::os::{fd::AsFd, unix::fs::FileTypeExt};
        let stdin = std::io::stdin();
        let file = stdin.as_fd().try_clone_to_owned().map(std::fs::File::from);
        file.and_then(|file| file.metadata()).is_ok_and(|file| file.file_type().is_fifo() || file.is_file())
    }
    #[cfg(not(unix))]
    false
}

/// Notes what the program waits for if a person has to type it.
pub(crate) fn note_typing(paths: &[impl AsRef<Path>], what: &str) {
    if paths.iter().any(|path| is_dash(path.as_ref())) && std::io::stdin().is_terminal() {
        output::note(&format!("reading {what} from standard input; Ctrl-D ends it"));
    }
}
