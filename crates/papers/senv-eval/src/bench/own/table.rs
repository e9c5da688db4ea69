//! Reads tables of any columns: CSV, TSV, and JSON lines.

use std::path::Path;

use senv_core::{
    TextOptions, TextReader,
    memory::check_memory,
    text::{TableColumn, TableFormat, TableText},
};
use serde_json::Value;

/// Records after which a file that cannot be a data set is left.
const LOOKED_AT: usize = 1000;

/// The note on a file that is not a table.
const NOT_A_TABLE: &str = "not a table; own data are .tsv, .csv and .jsonl files, also compressed (.gz, .zst), and \
    folders with corpus.jsonl";

/// A record of a table.
#[derive(Debug)]
pub(super) struct Row {
    /// The line on which it starts, counted from 1.
    pub(super) line: u64,
    /// Its cells, without tabs and line ends.
    pub(super) cells: Vec<String>,
}

/// The records of a file.
#[derive(Debug, Default)]
pub(super) struct OwnTable {
    /// The names of the columns, where the format has them: in JSON lines, those of the first object.
    pub(super) titles: Option<Vec<String>>,
    /// The records; in CSV and TSV, the first one may have the titles.
    pub(super) rows: Vec<Row>,
}

impl OwnTable {
    /// Reads a file. `look` is shown the first records, and ends the reading of a file that is no data set.
    ///
    /// # Errors
    /// Why the file is not read, without its name.
    pub(super) fn read(path: &Path, look: impl Fn(&Self) -> Result<(), String>) -> Result<Self, String> {
        let format = match TableFormat::of_path(path) {
            Some(format) => format,
            None if is_plain_text(path) => TableFormat::Tsv,
            None => return Err(NOT_A_TABLE.to_owned()),
        };
        let options = match format {
            TableFormat::JsonLines => TextOptions::default(),
            _ => {
                let columns = vec![TableColumn::All];
                let table = TableText { format: Some(format), columns, quotes: false, ..TableText::quoted_tsv() };
                TextOptions { table: Some(table), ..TextOptions::default() }
            }
        };
        let without_name = |error: senv_core::Error| {
            let text = error.to_string();
            text.strip_prefix(&format!("{}:", path.display())).map_or(text.clone(), |rest| format!("line {rest}"))
        };
        let mut reader = TextReader::open(&[path], &options).map_err(without_name)?;
        let (mut table, mut bytes, mut checked) = (Self::default(), 0, 0);
        while let Some(line) = reader.next_line().map_err(without_name)? {
            if line.text.trim().is_empty() {
                continue;
            }
            bytes += line.text.len() + 64;
            if bytes > checked {
                checked = bytes + bytes / 8;
                check_memory::<u8>(1, checked).map_err(|error| error.to_string())?;
            }
            let cells = match format {
                TableFormat::JsonLines => table.object(line.number, line.text)?,
                _ => line.text.split('\t').map(str::to_owned).collect(),
            };
            table.rows.push(Row { line: line.number, cells });
            if table.rows.len() == LOOKED_AT {
                look(&table)?;
            }
        }
        match table.rows.is_empty() {
            true => Err("no records".to_owned()),
            false => Ok(table),
        }
    }

    /// Returns the cells of an object, by the names of the first one.
    fn object(&mut self, line: u64, text: &str) -> Result<Vec<String>, String> {
        let object = match serde_json::from_str(text) {
            Ok(Value::Object(object)) => object,
            Ok(_) => return Err(format!("line {line} is not a JSON object; give one object on each line")),
            Err(error) => {
                let reason = error.to_string().replace(" at line 1 column ", " at column ");
                return Err(format!("line {line}: {reason}; give one JSON object on each line"));
            }
        };
        let titles = self.titles.get_or_insert_with(|| object.keys().cloned().collect());
        Ok(titles.iter().map(|title| object.get(title).map_or_else(String::new, cell)).collect())
    }
}

/// Whether a file has the extension of plain text, whose lines can have tabs.
fn is_plain_text(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let name = [".gz", ".zst"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
    name.ends_with(".txt")
}

/// Returns a value as the cell of a table: text without line ends and tabs, a number, or nothing.
fn cell(value: &Value) -> String {
    match value {
        Value::String(text) => text.replace(['\n', '\r', '\t'], " "),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}
