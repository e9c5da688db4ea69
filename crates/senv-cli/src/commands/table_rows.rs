//! Results joined with the user's table: columns beside a result, or whole records.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    io::{self, Write},
    path::{Path, PathBuf},
};

use senv_core::{
    TextOptions, TextReader,
    text::{
        Lines, RecordCells, RecordHead, RecordPlace, RecordSyntax, TableColumn, TableFormat, TableText, WantedRecords,
        check_record_heads, record_cells, wanted_records,
    },
};
use serde::{Serialize, Serializer, de::IgnoredAny};

use crate::{
    failure::{Failure, Result},
    output::cell,
    text::{MOST_TITLES, is_arrow, short_title},
};

/// What is printed of the records of results.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct RecordArgs {
    /// Also print this column of the table; can be repeated.
    #[arg(long, value_name = "NAME", conflicts_with = "records")]
    pub(crate) show: Vec<String>,
    /// Print whole records of the table after its titles, with the figures of the result before them.
    #[arg(long)]
    pub(crate) records: bool,
}

/// The records of results, as far as they are printed.
#[derive(Debug, Default)]
pub(crate) struct Joined {
    names: Vec<String>,
    cells: RecordCells,
    records: Option<WantedRecords>,
    /// Whether fields of the records can be quoted.
    has_quotes: bool,
}

/// What a result says of a record, in a column before its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Figure<'a> {
    Number(String),
    Text(&'a str),
    /// No value, such as the group of a sentence in none.
    Absent,
}

impl Figure<'_> {
    /// The figure as a field of CSV or TSV.
    fn field(&self, delimiter: u8, has_quotes: bool) -> String {
        match self {
            Self::Number(number) => number.clone(),
            Self::Text(text) if has_quotes => {
                let quoted = text.starts_with(' ') || text.contains(['"', '\n', '\r', char::from(delimiter)]);
                if quoted { format!("\"{}\"", text.replace('"', "\"\"")) } else { (*text).to_owned() }
            }
            Self::Text(text) => text.replace(['\t', '\n', '\r', char::from(delimiter)], " "),
            Self::Absent => "-".to_owned(),
        }
    }

    /// The figure as a value of JSON.
    fn json(&self) -> String {
        match self {
            Self::Number(number) => number.clone(),
            Self::Text(text) => serde_json::Value::from(*text).to_string(),
            Self::Absent => "null".to_owned(),
        }
    }
}

/// Whether fields of a file can be quoted.
fn quotes(table: &TableText, path: &Path) -> bool {
    table.quotes || table.format_of(path) == TableFormat::Csv
}

impl RecordArgs {
    /// Refuses inputs that cannot be read twice, such as pipes. `options` describe the table.
    pub(crate) fn check(&self, input: &[PathBuf], options: &TextOptions) -> Result {
        self.check_beside(input, options, None)
    }

    /// Checks the same if `--by` reads another column besides the text.
    pub(crate) fn check_beside(&self, input: &[PathBuf], options: &TextOptions, by: Option<&str>) -> Result {
        if self.show.is_empty() && !self.records {
            return Ok(());
        }
        let option = if self.records { "--records" } else { "--show" };
        if options.table.is_none() {
            let message = format!("{option} needs a table; name the text with --column or --field");
            return Err(Failure::Usage(message));
        }
        if input.iter().any(|path| !path.is_file()) {
            return Err(Failure::Usage(format!("{option} reads the table twice; give it as a file")));
        }
        if let Some(path) = input.iter().find(|path| self.records && is_arrow(path)) {
            let path = path.display();
            let message = format!("--records copies lines of text, and {path} is not text; --show prints its columns");
            return Err(Failure::Usage(message));
        }
        // Before the model reads everything.
        if self.records {
            check_record_heads(input, options, other_titles)?;
        }
        self.check_titles(input, options, by)
    }

    /// Checks that the first record of each file has the columns that are shown, and that all columns agree on whether
    /// it has titles. Otherwise the records that are shown would be those after the ones of the results.
    fn check_titles(&self, input: &[PathBuf], options: &TextOptions, by: Option<&str>) -> Result {
        let Some(table) = &options.table else { return Ok(()) };
        let text = table.columns.first();
        let first_line_with = |path: &Path, others: &[&str]| {
            let columns = text.cloned().into_iter().chain(others.iter().map(|&name| name.into())).collect();
            let table = Some(TableText { columns, ..table.clone() });
            first_line(path, &TextOptions { table, split: None, ..options.clone() })
        };
        let shown: Vec<&str> = self.show.iter().map(String::as_str).collect();
        let beside: Vec<&str> = by.into_iter().collect();
        for path in input {
            // For records, no column is shown.
            if first_line_with(path, &shown)? != first_line_with(path, &beside)? {
                let message = format!(
                    "{}: one column is given by its title and another by its number, without titles; add --header, or \
                     give all as titles",
                    path.display()
                );
                return Err(Failure::Usage(message));
            }
        }
        Ok(())
    }

    /// Reads the records in these places.
    pub(crate) fn read<'a>(
        &self,
        input: &[PathBuf],
        options: &TextOptions,
        places: impl IntoIterator<Item = (&'a Path, Option<u64>)>,
    ) -> Result<Joined> {
        if self.show.is_empty() && !self.records {
            return Ok(Joined::default());
        }
        let places = places.into_iter().filter_map(|(path, record)| Some((path.to_owned(), record?)));
        let wanted: HashSet<RecordPlace> = places.collect();
        if self.records {
            let records = wanted_records(input, options, &wanted, other_titles)?;
            let has_quotes = options.table.as_ref().is_some_and(|table| input.iter().any(|path| quotes(table, path)));
            return Ok(Joined { records: Some(records), has_quotes, ..Joined::default() });
        }
        let columns: Vec<TableColumn> = self.show.iter().map(|name| name.as_str().into()).collect();
        let cells = record_cells(input, options, &columns, &wanted)?;
        Ok(Joined { names: self.show.clone(), cells, ..Joined::default() })
    }

    /// The same for lines in memory.
    pub(crate) fn read_of(
        &self,
        input: &[PathBuf],
        options: &TextOptions,
        lines: &Lines,
        of: impl IntoIterator<Item = usize>,
    ) -> Result<Joined> {
        self.read(input, options, of.into_iter().map(|i| (lines.place(i).0, lines.record(i))))
    }
}

/// The line of the first record that is not titles.
fn first_line(path: &Path, options: &TextOptions) -> Result<Option<u64>> {
    let mut reader = TextReader::open(&[path], options)?;
    Ok(reader.next_line()?.map(|line| line.number))
}

/// The failure for a table whose records cannot follow those of the first one.
pub(crate) fn other_titles(first: &RecordHead, other: &RecordHead) -> Failure {
    let [first, other] = [first, other].map(|head| format!("{} {}", head.path.display(), described(head)));
    Failure::Usage(format!("{other}, but {first}; run --records on each file separately"))
}

/// What precedes the records of a file, in words.
fn described(head: &RecordHead) -> String {
    let delimiter = match head.syntax {
        RecordSyntax::JsonLines => return "has JSON lines".to_owned(),
        RecordSyntax::JsonArray => return "has a JSON array".to_owned(),
        RecordSyntax::Fields(delimiter) => delimiter,
        _ => return "has other records".to_owned(),
    };
    let by = match delimiter {
        b',' => String::new(),
        b'\t' => ", separated by tabs".to_owned(),
        _ => format!(", separated by '{}'", char::from(delimiter)),
    };
    let titles = head.titles.trim_end_matches(['\r', '\n']);
    if titles.is_empty() {
        return format!("has no titles{by}");
    }
    let names: Vec<String> = titles.split(char::from(delimiter)).take(MOST_TITLES).map(short_title).collect();
    let more = if titles.split(char::from(delimiter)).count() > MOST_TITLES { ", …" } else { "" };
    format!("has the columns {}{more}{by}", names.join(", "))
}

impl Joined {
    /// The columns of a record.
    pub(crate) fn cells(&self, path: &Path, record: Option<u64>) -> Cells<'_> {
        if self.names.is_empty() {
            return Cells::default();
        }
        let values = record.and_then(|record| self.cells.get(&(path.to_owned(), record)));
        Cells { names: &self.names, values: values.map_or(&[], Vec::as_slice) }
    }

    /// Whether whole records are printed.
    pub(crate) fn has_records(&self) -> bool {
        self.records.is_some()
    }

    /// Writes records, each with figures of the result before its own fields. `names` are those of the figures.
    pub(crate) fn write_records<'a>(
        &self,
        out: &mut impl Write,
        names: &[&str],
        results: impl IntoIterator<Item = (&'a Path, Option<u64>, Vec<Figure<'a>>)>,
    ) -> io::Result<()> {
        let Some(WantedRecords { titles, syntax, records, .. }) = &self.records else { return Ok(()) };
        let taken = if names.is_empty() { HashSet::new() } else { names_in(titles, records.values(), *syntax) };
        let names = free_names(names, &taken);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let before_fields =
            |record, figures: &[Figure<'_>]| with_figures(record, &names, figures, *syntax, self.has_quotes);
        let [before, between, behind] = syntax.frame();
        write!(out, "{before}")?;
        if !titles.is_empty() {
            let names: Vec<Figure<'_>> = names.iter().map(|name| Figure::Text(name)).collect();
            write!(out, "{}", before_fields(titles, &names))?;
        }
        let mut is_first = true;
        for (path, record, figures) in results {
            let Some(text) = record.and_then(|record| records.get(&(path.to_owned(), record))) else { continue };
            if !std::mem::take(&mut is_first) {
                write!(out, "{between}")?;
            }
            write!(out, "{}", before_fields(text, &figures))?;
        }
        write!(out, "{behind}")
    }
}

/// The names of the fields of records: of titles, or of the keys of all objects.
fn names_in<'a>(titles: &str, records: impl Iterator<Item = &'a String>, syntax: RecordSyntax) -> HashSet<String> {
    if let RecordSyntax::Fields(delimiter) = syntax {
        let bare = |title: &str| title.trim().trim_matches('"').to_owned();
        return titles.split(char::from(delimiter)).map(bare).collect();
    }
    let keys = |record: &'a String| serde_json::from_str::<HashMap<String, IgnoredAny>>(record.trim());
    records.filter_map(|record| keys(record).ok()).flat_map(HashMap::into_keys).collect()
}

/// The names of figures, with a number behind one that the records have, as `cosine_2`.
fn free_names(names: &[&str], taken: &HashSet<String>) -> Vec<String> {
    let free = |name: &&str| {
        let numbered = (2..).map(|n| format!("{name}_{n}"));
        std::iter::once((*name).to_owned()).chain(numbered).find(|name| !taken.contains(name))
    };
    names.iter().filter_map(free).collect()
}

/// A record with figures before its own fields.
fn with_figures<'a>(
    record: &'a str,
    names: &[&str],
    figures: &[Figure<'_>],
    syntax: RecordSyntax,
    has_quotes: bool,
) -> Cow<'a, str> {
    if figures.is_empty() {
        return record.into();
    }
    if let RecordSyntax::Fields(delimiter) = syntax {
        let of = |figure: &Figure<'_>| figure.field(delimiter, has_quotes) + &char::from(delimiter).to_string();
        return (figures.iter().map(of).collect::<String>() + record).into();
    }
    let of = |(name, figure): (&&str, &Figure<'_>)| format!("\"{name}\":{}", figure.json());
    let before: Vec<String> = names.iter().zip(figures).map(of).collect();
    let inner = record.trim_start().strip_prefix('{').unwrap_or(record);
    let comma = if inner.trim_start().starts_with('}') { "" } else { "," };
    format!("{{{}{comma}{inner}", before.join(",")).into()
}

/// Columns of a record, in the order asked for.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Cells<'a> {
    names: &'a [String],
    values: &'a [String],
}

impl Cells<'_> {
    /// Whether no column is shown.
    pub(crate) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Writes a tab and the value for each column; one that the record lacks is empty.
    pub(crate) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        for i in 0..self.names.len() {
            write!(out, "\t{}", cell(self.values.get(i).map_or("", String::as_str)))?;
        }
        Ok(())
    }
}

impl Serialize for Cells<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_map(self.names.iter().enumerate().map(|(i, name)| (name, self.values.get(i))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_does_not_take_the_name_of_a_field() {
        let of = |titles: &str, records: &[&str], syntax| {
            let records: Vec<String> = records.iter().map(|&record| record.to_owned()).collect();
            free_names(&["cosine", "query"], &names_in(titles, records.iter(), syntax))
        };
        let objects = ["{\"cosine\": 1, \"a\": {\"query\": 2}}\n", " {\"cosine_2\": \"x\"}"];
        assert_eq!(
            of("", &objects, RecordSyntax::JsonLines),
            ["cosine_3", "query"],
            "keys of all records, not inside them"
        );
        assert_eq!(of("id;\"query\"\r\n", &["1;2\n"], RecordSyntax::Fields(b';')), ["cosine", "query_2"]);
        assert_eq!(of("id\tcosines\n", &[], RecordSyntax::Fields(b'\t')), ["cosine", "query"]);
    }

    #[test]
    fn figures_stand_before_the_fields_of_a_record() {
        let figures = [Figure::Number("3".into()), Figure::Text("a; \"b\"")];
        let of = |record: &'static str, syntax| with_figures(record, &["group", "query"], &figures, syntax, true);
        assert_eq!(of("1;\"a\nb\"\r\n", RecordSyntax::Fields(b';')), "3;\"a; \"\"b\"\"\";1;\"a\nb\"\r\n");
        assert_eq!(
            of("{\"id\": 1}\n", RecordSyntax::JsonLines),
            "{\"group\":3,\"query\":\"a; \\\"b\\\"\",\"id\": 1}\n"
        );
        assert_eq!(of(" { }", RecordSyntax::JsonArray), "{\"group\":3,\"query\":\"a; \\\"b\\\"\" }");
        assert_eq!(with_figures("a\n", &[], &[], RecordSyntax::JsonLines, true), "a\n");
        // TSV without quotes has no way to write a tab.
        let tab = with_figures("1\n", &["query"], &[Figure::Text("a\t\"b\"")], RecordSyntax::Fields(b'\t'), false);
        assert_eq!(tab, "a \"b\"\t1\n");
        assert_eq!([Figure::Absent.field(b',', true), Figure::Absent.json()], ["-", "null"]);
    }
}
