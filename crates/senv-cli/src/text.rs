//! The arguments of commands that read text.

use std::{
    io::IsTerminal,
    path::{Path, PathBuf},
    sync::LazyLock,
};

use clap::{ArgGroup, ValueEnum};
use senv::jobs::FolderContent;
use senv_core::{
    TextOptions,
    text::{InvalidUtf8, Split, TableColumn, TableFormat, TableText, TextBytes},
};

use crate::{
    argument::argument_of,
    failure::{Failure, Result},
    folders::{Collections, open_folders},
    line_ends::note_line_ends,
    output,
    quotes::note_quotes,
};

argument_of! {
    /// What to do with a line that is not UTF-8, as an argument.
    pub(crate) enum Utf8Policy for InvalidUtf8 {
        /// Stop and name file, line and byte.
        Error,
        /// Replace each invalid sequence with U+FFFD.
        Replace,
        /// Read the line as windows-1252, which is ISO 8859-1 with quotes and dashes.
        Latin1,
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
        /// Comma-separated values, with quotes.
        Csv,
        /// Tab-separated values, without quoting.
        Tsv,
        /// One JSON object per line.
        #[value(name = "jsonl")]
        JsonLines,
    }
}

argument_of! {
    /// What is split into sentences.
    pub(crate) enum SplitText for Split {
        /// Paragraphs, which end at an empty line; each record of a table is one.
        Paragraphs,
        /// Each line separately.
        Lines,
    }
}

/// How text is read.
///
/// The group `quoted` has the files whose quoted cells `--quotes` reads: tables with a column, and files of pairs.
#[derive(Debug, Clone, clap::Args)]
#[command(group = ArgGroup::new("quoted").args(["column"]).multiple(true))]
pub(crate) struct TextArgs {
    /// Read this column of a table: CSV, TSV, JSON lines, Parquet or Arrow.
    ///
    /// The title or number (from 1) of a column of CSV or TSV, or a field of JSON lines (.jsonl, .ndjson). With
    /// --header, an exact title comes before a number. A build with the feature `arrow` also reads columns of Parquet
    /// and Arrow. Line ends in it become spaces. Files with other extensions are read as CSV.
    #[arg(long, value_name = "NAME", help_heading = "Text")]
    column: Option<String>,
    /// Read this field of JSON lines, for any file extension. Dots separate the names of nested fields.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["column", "text_format", "header"], help_heading = "Text")]
    field: Option<String>,
    /// Format of tables without a known file extension.
    #[arg(long, value_name = "FORMAT", requires = "column", help_heading = "Text")]
    text_format: Option<TextFormat>,
    /// The first record has column titles. Needed only if --column is a number.
    #[arg(long, requires = "column", help_heading = "Text")]
    header: bool,
    /// Read quoted cells of TSV and of files of pairs as in CSV: they can contain tabs and line ends.
    #[arg(long, requires = "quoted", help_heading = "Text")]
    quotes: bool,
    /// Leave out spaces before the fields of CSV, as in: 7, "Rain falls."
    #[arg(long, requires = "column", help_heading = "Text")]
    skip_initial_space: bool,
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
        let of_column = |column: &String| TableText {
            format: self.text_format.map(TableFormat::from),
            has_header: self.header,
            quotes: self.quotes,
            skip_initial_space: self.skip_initial_space,
            ..TableText::column(column)
        };
        let of_field = |field: &String| TableText {
            format: Some(TableFormat::JsonLines),
            columns: vec![TableColumn::Name(field.as_str().into())],
            ..TableText::column(field)
        };
        let table = self.column.as_ref().map(of_column).or_else(|| self.field.as_ref().map(of_field));
        TextOptions { table, split: self.split.map(Split::from), quoted_pairs: self.quotes, ..self.lines.options() }
    }

    /// Which files of a folder are read: tables if a column is named.
    pub(crate) fn content(&self) -> FolderContent {
        if self.column.is_some() || self.field.is_some() { FolderContent::Tables } else { FolderContent::Text }
    }

    /// The names and values of the arguments that decide which sentences a file has.
    pub(crate) fn settings(&self) -> Vec<(&'static str, String)> {
        let of = |name, value: Option<String>| value.map(|value| (name, value));
        let LineArgs { invalid_utf8, max_line_bytes, any_expansion: _ } = self.lines;
        [
            of("--column", self.column.clone()),
            of("--field", self.field.clone()),
            of("--text-format", self.text_format.map(name_of)),
            of("--header", self.header.then(|| "true".into())),
            of("--quotes", self.quotes.then(|| "true".into())),
            of("--skip-initial-space", self.skip_initial_space.then(|| "true".into())),
            of("--split", self.split.map(name_of)),
            of("--invalid-utf8", Some(name_of(invalid_utf8))),
            of("--max-line-bytes", Some(max_line_bytes.to_string())),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// The options for this column and another one of the same table, separated by a tab in each line.
    pub(crate) fn options_with(&self, other: &str) -> Result<TextOptions> {
        let mut options = self.options();
        match &mut options.table {
            Some(table) => table.columns.extend(TableText::column(other).columns),
            None => {
                return Err(Failure::Usage("--by needs a table; name the column of the text with --column".into()));
            }
        }
        Ok(options)
    }

    /// Notes files that look like tables but are read as plain lines, tables whose quotes are treated as text, and
    /// lines that are unlikely to be sentences.
    pub(crate) fn note_tables(&self, paths: &[impl AsRef<Path>]) {
        self.note_shape(paths, self.split.is_some());
    }

    /// The same for a command that always splits the text into sentences.
    pub(crate) fn note_tables_to_cut(&self, paths: &[impl AsRef<Path>]) {
        self.note_shape(paths, true);
    }

    fn note_shape(&self, paths: &[impl AsRef<Path>], is_cut: bool) {
        if self.column.is_none() && self.field.is_none() {
            note_tables(paths);
            note_line_ends(paths, is_cut);
        }
        if let Some(table) = self.options().table {
            note_quotes_of(paths, &table);
        }
    }
}

/// The name of a value of an argument.
fn name_of(value: impl ValueEnum) -> String {
    value.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

/// Notes files that look like tables but are read as plain lines.
pub(crate) fn note_tables(paths: &[impl AsRef<Path>]) {
    for path in paths.iter().map(AsRef::as_ref) {
        if let Some((what, remedy)) = looks_like(path) {
            let path = path.display();
            output::note(&format!("{path} looks like {what} but is read as plain lines; {remedy} reads one column"));
        }
    }
}

/// Notes TSV files with quoted cells that are read with their quotes.
pub(crate) fn note_quotes_of(paths: &[impl AsRef<Path>], table: &TableText) {
    let is_tsv = |path: &&Path| table.format_of(path) == TableFormat::Tsv;
    for path in paths.iter().map(AsRef::as_ref).filter(is_tsv).filter(|_| !table.quotes) {
        note_quotes(path, "a cell of TSV", "--quotes reads them as in CSV");
    }
}

/// What a file seems to be, if it is not plain text, and the option that reads it.
fn looks_like(path: &Path) -> Option<(&'static str, &'static str)> {
    // A pipe can be read once.
    if !path.is_file() {
        return None;
    }
    match TableFormat::of_path(path) {
        Some(TableFormat::Csv) => return Some(("CSV", "--column NAME")),
        Some(TableFormat::Tsv) => return Some(("TSV", "--column NAME")),
        _ => {}
    }
    let is_object = TextBytes::open(path).and_then(|mut bytes| bytes.is_json_object()).unwrap_or(false);
    if is_object {
        return Some(("JSON lines", "--field NAME"));
    }
    let is_json = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
    is_json.then_some(("a JSON array", "one object per line (jq -c '.[]') with --field NAME"))
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
