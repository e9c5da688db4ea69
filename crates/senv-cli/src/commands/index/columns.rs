//! `--column NAME=N`: the columns of a table that are the text, the id and further columns.

use std::{collections::HashSet, path::PathBuf};

use senv::{SentenceCollection, collection::TextColumns};
use senv_core::text::{TableFormat, TableText};
use senv_index::Collection;

use super::Index;
use crate::{
    failure::{Failure, Result},
    text::{bad_records, blank_records, is_arrow},
};

/// The column of the id.
const ID: &str = "id";

/// Parses `NAME=N`, `NAME=TITLE` and `NAME`. With a title, the files have a header. With `of_documents`, an id is the
/// name of a document.
pub(super) fn columns(asked: &[String], has_header: bool, of_documents: bool) -> Result<TextColumns> {
    let usage = |message: String| Err(Failure::Usage(message));
    if asked.is_empty() {
        return match has_header {
            true => usage("--header needs columns; add --column text=N".into()),
            false => Ok(TextColumns::default()),
        };
    }
    let mut wanted = Vec::new();
    let mut names = HashSet::new();
    let mut has_titles = has_header;
    for asked in asked {
        let (name, place) = asked.split_once('=').unwrap_or((asked, asked));
        let (name, place) = (name.trim(), place.trim());
        let is_zero = !has_titles && place.parse() == Ok(0);
        if name.is_empty() || place.is_empty() || is_zero || name.contains(['\t', '\n', '=', '!']) {
            return usage(format!(
                "--column {asked}: expected NAME=N with a column number from 1, as in author=3, NAME=TITLE, or NAME for a \
                 title"
            ));
        }
        has_titles |= !place.parse::<usize>().is_ok_and(|place| place > 0);
        let name = if of_documents && name == ID { SentenceCollection::DOCUMENT } else { name };
        let is_origin = [SentenceCollection::FILE, SentenceCollection::LINE].contains(&name);
        let is_place =
            name == SentenceCollection::PLACE || name == SentenceCollection::DOCUMENT && !asked.starts_with(ID);
        if is_origin || of_documents && is_place {
            return usage(format!(
                "--column {asked}: {name} is reserved for the location of a sentence; give another name"
            ));
        }
        if !names.insert(name) {
            return usage(format!("--column {name} is given twice"));
        }
        wanted.push((name, place));
    }
    let Some((_, text)) = wanted.iter().find(|(name, _)| *name == SentenceCollection::TEXT) else {
        return usage("no column for the text; add --column text=N or text=TITLE".into());
    };
    let columns = wanted.iter().fold(TextColumns::new(text), |columns, &(name, place)| match name {
        SentenceCollection::TEXT => columns,
        ID => columns.id(place),
        _ => columns.further(name, place),
    });
    Ok(if has_header { columns.with_titles() } else { columns })
}

impl Index {
    /// The requested columns, and how a reader reads them.
    pub(super) fn columns_of(&self, input: &[PathBuf]) -> Result<(TextColumns, Option<TableText>)> {
        if self.columns.is_empty() {
            return Ok((columns(&self.columns, self.header, self.documents.is_some())?, None));
        }
        let formats = || input.iter().map(|path| TableFormat::of_path(path));
        let says_otherwise = |format| matches!(format, Some(TableFormat::Csv | TableFormat::JsonLines));
        let is_batches = input.iter().all(|path| is_arrow(path));
        // Fields of JSON lines, and columns of Parquet and Arrow, have names without a header.
        let is_json = formats().all(|format| format == Some(TableFormat::JsonLines));
        let has_titles = self.header || is_json || is_batches;
        let (columns, table) = columns(&self.columns, has_titles, self.documents.is_some())?.of_table(is_json);
        // Files are tab-separated, unless the extension of one says otherwise.
        let format = (!formats().any(says_otherwise)).then_some(TableFormat::Tsv);
        let Self { quotes, skip_initial_space, delimiter, skip_bad, .. } = *self;
        let (line_ends, bad_records) = (self.documents.is_some(), skip_bad.map(bad_records::up_to));
        let blank_records = Some(blank_records::seen());
        let table = TableText { format, quotes, skip_initial_space, delimiter, line_ends, ..table };
        let table = TableText { bad_records, blank_records, ..table };
        Ok((columns, Some(table)))
    }

    /// Refuses documents that lack a column of the collection.
    pub(super) fn check_columns(&self) -> Result {
        let given = columns(&self.columns, self.header, true)?;
        let collection = Collection::open(&self.output)?;
        let own = [
            SentenceCollection::TEXT,
            SentenceCollection::FILE,
            SentenceCollection::LINE,
            SentenceCollection::PLACE,
            SentenceCollection::DOCUMENT,
        ];
        let lacks = |column: &&String| !own.contains(&column.as_str()) && !given.names().any(|name| name == *column);
        let missing: Vec<&str> = collection.columns().iter().filter(lacks).map(String::as_str).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let (shown, missing) = (self.output.display(), missing.join(", "));
        Err(Failure::Usage(format!(
            "{shown} also has the columns {missing}; name them in the input (--column NAME=N for each)"
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_refused() {
        let bad: [&[&str]; 7] = [
            &["author=1"],
            &["text=0"],
            &["text="],
            &["text=1", "text=2"],
            &["text=1", "a=2", "a=3"],
            &["text=1", "line=2"],
            &["text=1", "=2"],
        ];
        let owned = |asked: &[&str]| asked.iter().map(|asked| (*asked).to_owned()).collect::<Vec<_>>();
        assert!(bad.iter().all(|asked| matches!(columns(&owned(asked), false, false), Err(Failure::Usage(_)))));
        assert!(matches!(columns(&[], true, false), Err(Failure::Usage(_))));
    }
}
