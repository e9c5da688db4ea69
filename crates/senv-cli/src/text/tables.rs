//! Tables among the inputs: those without a column are refused, and it is said how others are read.

use std::path::Path;

use senv_core::{
    Error, TextOptions,
    text::{InvalidUtf8, TableFormat, TableKind, TableText, column_titles, recognized_delimiter, unread_delimiter},
};

use super::is_arrow;
use crate::{
    failure::{Failure, Result},
    output,
    quotes::note_quotes,
};

/// The most titles that are listed, and the most characters of each.
pub(crate) const MOST_TITLES: usize = 20;
const MOST_CHARACTERS: usize = 40;

/// Refuses the first table among some files. `options` say how its titles are read, and `names` are the arguments that
/// name a column and that read the file as plain lines.
pub(crate) fn refuse(paths: &[impl AsRef<Path>], options: &TextOptions, names: [&str; 2]) -> Result {
    // Faults in the titles are reported later, when a column is named.
    let invalid_utf8 = match options.invalid_utf8 {
        InvalidUtf8::Error => InvalidUtf8::Replace,
        policy => policy,
    };
    let options = TextOptions { invalid_utf8, ..options.clone() };
    for path in paths.iter().map(AsRef::as_ref) {
        let batches = is_arrow(path).then_some("a Parquet or Arrow file");
        let Some(what) = batches.or_else(|| named(path)) else { continue };
        let titles = match column_titles(path, &options) {
            // UTF-16, an archive: no column helps.
            Err(error @ Error::NotText { .. }) => return Err(error.into()),
            titles => titles.unwrap_or_default(),
        };
        return Err(Failure::Usage(refusal(path, what, &titles, names)));
    }
    Ok(())
}

/// What a table is called.
fn named(path: &Path) -> Option<&'static str> {
    Some(match TableKind::of_file(path)? {
        TableKind::Csv => "a table (CSV)",
        TableKind::Tsv => "a table (TSV)",
        TableKind::JsonArray => "a JSON array",
        _ => "JSON lines",
    })
}

fn refusal(path: &Path, what: &str, titles: &[String], [column, lines]: [&str; 2]) -> String {
    let is_unnamed = TableFormat::of_path(path).is_none() && !is_arrow(path);
    let format = if is_unnamed { " and --text-format jsonl" } else { "" };
    let more = if titles.len() > MOST_TITLES { ", …" } else { "" };
    let shown: Vec<String> = titles.iter().take(MOST_TITLES).map(|title| short(title)).collect();
    let of = if shown.is_empty() { String::new() } else { format!(": {}{more}", shown.join(", ")) };
    let plain = if is_arrow(path) { String::new() } else { format!("; {lines} reads it as plain lines") };
    format!("{} is {what}; name the column of the text with {column}{format}{plain}. Columns{of}", path.display())
        .trim_end_matches(". Columns")
        .to_owned()
}

pub(crate) fn short(title: &str) -> String {
    match title.char_indices().nth(MOST_CHARACTERS) {
        Some((end, _)) => format!("{}…", &title[..end]),
        None => title.to_owned(),
    }
}

/// What a character between fields is called.
fn delimiter_name(delimiter: u8) -> String {
    if delimiter == b'\t' { "tab".to_owned() } else { char::from(delimiter).to_string() }
}

/// Notes which character separates fields, if it was recognized and is not the usual one. Also notes files that are
/// read as whole lines but seem to have several columns, and TSV files with quoted cells that are read with their
/// quotes.
pub(crate) fn note(paths: &[impl AsRef<Path>], table: &TableText) {
    for path in paths.iter().map(AsRef::as_ref) {
        if let Ok(Some(delimiter)) = recognized_delimiter(path, table) {
            let (path, name) = (path.display(), delimiter_name(delimiter));
            output::note(&format!(
                "{path}: fields are separated by {name}, as the first records show (--delimiter overrides)"
            ));
        }
        if let Ok(Some(delimiter)) = unread_delimiter(path, table) {
            let (path, name) = (path.display(), delimiter_name(delimiter));
            let quoted = if delimiter == b'\t' { "tab".to_owned() } else { format!("'{name}'") };
            output::note(&format!(
                "{path}: each line is read as one field, but {name} seems to separate fields; --delimiter {quoted} \
                 does that"
            ));
        }
        if table.format_of(path) == TableFormat::Tsv && !table.quotes {
            note_quotes(path, "a cell of TSV", "--quotes reads them as in CSV");
        }
    }
}
