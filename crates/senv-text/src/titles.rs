//! Recognizes tables, and lists their columns.

use std::{io::Read, path::Path};

use crate::{
    TextOptions, TextReader, decode,
    decode::BOM,
    is_stdin,
    table::{Names, TableColumn, TableFormat, TableText, arrow},
};
use senv_base::{Error, Result};

/// What a table is, as far as its name and its first bytes tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TableKind {
    /// CSV, by its extension.
    Csv,
    /// TSV, by its extension.
    Tsv,
    /// JSON lines, by the extension, or because the first line is an object with fields.
    JsonLines,
    /// An array of JSON objects in a file with the extension `.json`.
    JsonArray,
}

impl TableKind {
    /// The kind of a file; `None` for other files, and for standard input and pipes, which can be read once.
    ///
    /// ```
    /// use senv_core::text::TableKind;
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("pets.txt");
    /// std::fs::write(&path, "{\"text\":\"A cat.\"}\n")?;
    /// assert_eq!(TableKind::of_file(&path), Some(TableKind::JsonLines));
    /// std::fs::write(&path, "A cat.\n")?;
    /// assert_eq!(TableKind::of_file(&path), None);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn of_file(path: &Path) -> Option<Self> {
        if is_stdin(path) || !path.is_file() {
            return None;
        }
        let named = TableFormat::of_path(path);
        match named {
            Some(TableFormat::Csv) => return Some(Self::Csv),
            Some(TableFormat::Tsv) => return Some(Self::Tsv),
            Some(TableFormat::JsonLines) | None => {}
        }
        let head = head(path, HEAD).ok()?;
        let is_array = named.is_some() && head.trim_ascii_start().starts_with(b"[");
        if is_array {
            return Some(Self::JsonArray);
        }
        let is_object = || first_names(&head).is_some_and(|names| !names.is_empty());
        (named.is_some() || head.trim_ascii_start().starts_with(b"{") && is_object()).then_some(Self::JsonLines)
    }
}

/// The number of bytes in which the first object of a JSON file is searched.
const HEAD: u64 = 1 << 20;

/// The titles of the columns of a file, or the names of the fields of its first record. In CSV and TSV, these are the
/// fields of the first record, whatever they are.
///
/// ```
/// use senv_core::{TextOptions, text::column_titles};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("pets.csv");
/// std::fs::write(&path, "id,text\n1,A cat.\n")?;
/// assert_eq!(column_titles(&path, &TextOptions::default())?, ["id", "text"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Errors of reading; [`Error::BadTable`] if the first record is damaged.
pub fn column_titles(path: &Path, options: &TextOptions) -> Result<Vec<String>> {
    if let Some(titles) = arrow::titles(path)? {
        return Ok(titles);
    }
    let table = TableText { bad_records: None, ..options.table.clone().unwrap_or_else(|| TableText::column("1")) };
    if table.format_of(path) == TableFormat::JsonLines || TableKind::of_file(path) == Some(TableKind::JsonLines) {
        let head = head(path, HEAD)?;
        return first_names(&head).ok_or_else(|| Error::BadTable {
            path: path.to_owned(),
            line: 1,
            reason: "the first record is not a JSON object, or is longer than 1 MiB".into(),
        });
    }
    let table = TableText { columns: vec![TableColumn::All], has_header: false, ..table };
    let options = TextOptions { table: Some(table), split: None, ..options.clone() };
    let mut reader = TextReader::open(&[path], &options)?;
    let titles = reader.next_line()?.map(|line| line.text.split('\t').map(|title| title.trim().to_owned()).collect());
    Ok(titles.unwrap_or_default())
}

/// The first bytes of a file, decompressed, without a byte order mark.
fn head(path: &Path, n: u64) -> Result<Vec<u8>> {
    let mut source = decode::open(path, &Default::default())?;
    let mut head = Vec::new();
    (&mut source.reader).take(n).read_to_end(&mut head).map_err(|e| source.error(path, e))?;
    if head.starts_with(BOM) {
        head.drain(..BOM.len());
    }
    Ok(head)
}

/// The names of the fields of the first object of a text, which may be the first element of an array.
fn first_names(head: &[u8]) -> Option<Vec<String>> {
    let head = head.trim_ascii_start();
    let head = head.strip_prefix(b"[").unwrap_or(head);
    let mut objects = serde_json::Deserializer::from_slice(head).into_iter::<Names>();
    objects.next()?.ok().map(|Names(names)| names)
}
