//! Results joined with the user's table: columns beside a result, or whole records.

use std::{
    borrow::Cow,
    collections::HashSet,
    io::{self, Write},
    path::{Path, PathBuf},
};

use senv_core::{
    TextOptions,
    text::{Lines, RecordCells, RecordPlace, RecordSyntax, TableColumn, WantedRecords, record_cells, wanted_records},
};
use serde::{Serialize, Serializer};

use crate::{
    failure::{Failure, Result},
    output::cell,
    text::is_arrow,
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
}

impl RecordArgs {
    /// Refuses inputs that cannot be read twice, such as pipes. `options` describe the table.
    pub(crate) fn check(&self, input: &[PathBuf], options: &TextOptions) -> Result {
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
            let records = wanted_records(input, options, &wanted, other_titles(input))?;
            return Ok(Joined { records: Some(records), ..Joined::default() });
        }
        let columns: Vec<TableColumn> = self.show.iter().map(|name| name.as_str().into()).collect();
        let cells = record_cells(input, options, &columns, &wanted)?;
        Ok(Joined { names: self.show.clone(), cells, records: None })
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

/// The failure for a table with other titles than the first.
pub(crate) fn other_titles(input: &[PathBuf]) -> impl Fn(&Path) -> Failure {
    let first = input[0].display().to_string();
    move |path: &Path| {
        let path = path.display();
        Failure::Usage(format!("{path} has different titles from {first}; run --records on each file separately"))
    }
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

    /// Whether the records are JSON.
    pub(crate) fn is_json(&self) -> bool {
        self.records.as_ref().is_some_and(|found| !matches!(found.syntax, RecordSyntax::Fields(_)))
    }

    /// Writes records, each with figures of the result before its own fields. `names` are those of the figures.
    pub(crate) fn write_records<'a>(
        &self,
        out: &mut impl Write,
        names: &[&str],
        results: impl IntoIterator<Item = (&'a Path, Option<u64>, Vec<String>)>,
    ) -> io::Result<()> {
        let Some(WantedRecords { titles, syntax, records, .. }) = &self.records else { return Ok(()) };
        let [before, between, behind] = syntax.frame();
        write!(out, "{before}")?;
        if !titles.is_empty() {
            write!(out, "{}", with_figures(titles, names, names, *syntax))?;
        }
        let mut is_first = true;
        for (path, record, figures) in results {
            let Some(text) = record.and_then(|record| records.get(&(path.to_owned(), record))) else { continue };
            if !std::mem::take(&mut is_first) {
                write!(out, "{between}")?;
            }
            write!(out, "{}", with_figures(text, names, &figures, *syntax))?;
        }
        write!(out, "{behind}")
    }
}

/// A record with figures before its own fields.
fn with_figures<'a>(
    record: &'a str,
    names: &[&str],
    figures: &[impl AsRef<str>],
    syntax: RecordSyntax,
) -> Cow<'a, str> {
    if figures.is_empty() {
        return record.into();
    }
    let figures = figures.iter().map(AsRef::as_ref);
    if let RecordSyntax::Fields(delimiter) = syntax {
        let before: String = figures.map(|figure| format!("{figure}{}", char::from(delimiter))).collect();
        return (before + record).into();
    }
    let before: Vec<String> = names.iter().zip(figures).map(|(name, figure)| format!("\"{name}\":{figure}")).collect();
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
    fn figures_stand_before_the_fields_of_a_record() {
        let of = |record: &'static str, syntax| with_figures(record, &["group", "cosine"], &["3", "0.5"], syntax);
        assert_eq!(of("1;\"a\nb\"\r\n", RecordSyntax::Fields(b';')), "3;0.5;1;\"a\nb\"\r\n");
        assert_eq!(of("{\"id\": 1}\n", RecordSyntax::JsonLines), "{\"group\":3,\"cosine\":0.5,\"id\": 1}\n");
        assert_eq!(of(" { }", RecordSyntax::JsonArray), "{\"group\":3,\"cosine\":0.5 }");
        assert_eq!(with_figures("a\n", &[], &[""; 0], RecordSyntax::JsonLines), "a\n");
    }
}
