//! The columns of a table that contain the sentence, its id, and further values to keep.

use std::path::Path;

use senv_core::{
    quoted,
    text::{TableColumn, TableText},
};

use crate::error::{Error, Result};

/// A column of the files.
#[derive(Debug, Clone)]
struct Wanted {
    name: String,
    /// Its number, from 1, or its title.
    place: String,
}

/// Which part of each line becomes a sentence, and what is kept with it: the whole line, or columns of a table, by
/// number from 1 or by title. If a column is given by title, the first line of each file must contain titles.
///
/// ```
/// use senv::collection::TextColumns;
/// let columns = TextColumns::new("body").id("number").further("author", "3");
/// assert_eq!(columns.names().collect::<Vec<_>>(), ["author"]);
/// ```
#[derive(Debug, Clone, Default)]
pub struct TextColumns {
    text: Option<Wanted>,
    id: Option<Wanted>,
    further: Vec<Wanted>,
    /// Whether the first line has titles, whatever the columns are.
    has_header: bool,
    /// Whether a column is a title.
    has_titles: bool,
    /// The number of titles in the current file.
    n_titles: Option<usize>,
    places: Option<Places>,
}

/// Positions of columns in the current file, from 0.
#[derive(Debug, Clone)]
struct Places {
    text: usize,
    id: Option<usize>,
    further: Vec<usize>,
}

/// The selected cells of a line.
#[derive(Debug, PartialEq)]
pub(super) struct Cells<'a> {
    pub(super) text: &'a str,
    pub(super) id: Option<&'a str>,
    pub(super) further: Vec<&'a str>,
}

impl TextColumns {
    /// Takes the sentence from this column; [`TextColumns::default`] takes whole lines.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let mut columns = Self::default();
        columns.text = Some(columns.wanted(super::new_sentences::TEXT, text));
        columns
    }

    /// Takes ids, which are numbers or texts, from this column.
    #[must_use]
    pub fn id(mut self, place: &str) -> Self {
        self.id = Some(self.wanted("id", place));
        self
    }

    /// Keeps a column under a name.
    #[must_use]
    pub fn further(mut self, name: &str, place: &str) -> Self {
        let wanted = self.wanted(name, place);
        self.further.push(wanted);
        self
    }

    /// Treats the first line of each file as titles, even if all columns are given by number.
    #[must_use]
    pub fn with_titles(mut self) -> Self {
        self.has_header = true;
        self
    }

    fn wanted(&mut self, name: &str, place: &str) -> Wanted {
        let wanted = Wanted { name: name.to_owned(), place: place.to_owned() };
        // `03` is a title, if there is such a one.
        self.has_titles |= number_of(&wanted).is_none_or(|index| (index + 1).to_string() != place);
        wanted
    }

    /// Converts to columns for CSV, JSON lines, Parquet and Arrow, with the table options for a
    /// [`TextReader`](senv_core::TextReader). The reader returns the selected fields separated by tabs. Fields of JSON
    /// lines only have names.
    #[must_use]
    pub fn of_table(self, is_json: bool) -> (Self, TableText) {
        let wanted: Vec<&Wanted> = self.text.iter().chain(&self.id).chain(&self.further).collect();
        let columns = wanted.iter().map(|wanted| TableColumn::from(wanted.place.as_str())).collect();
        let has_header = self.has_header && !is_json;
        let table = TableText { columns, has_header, ..TableText::column(super::new_sentences::TEXT) };
        let n_first = 1 + usize::from(self.id.is_some());
        let further = (n_first..n_first + self.further.len()).collect();
        let places = Places { text: 0, id: self.id.as_ref().map(|_| 1), further };
        (Self { has_header: false, has_titles: false, n_titles: None, places: Some(places), ..self }, table)
    }

    /// Names of the further columns.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.further.iter().map(|wanted| wanted.name.as_str())
    }

    /// Whether there is an id column.
    #[must_use]
    pub fn has_ids(&self) -> bool {
        self.id.is_some()
    }

    /// Whether this is a line of titles; if so, looks them up.
    pub(super) fn is_header(&mut self, line: &str, number: u64, path: &Path) -> Result<bool> {
        if number != 1 || !self.has_header && !self.has_titles {
            return Ok(false);
        }
        let titles: Vec<&str> = line.split('\t').map(str::trim).collect();
        self.n_titles = Some(titles.len());
        self.places = self.find(|wanted| match titles.iter().position(|title| *title == wanted.place) {
            Some(place) => Ok(place),
            None => number_of(wanted).ok_or_else(|| {
                bad_line(path, 1, format!("no column {}; the columns are {}", quoted(&wanted.place), titles.join(", ")))
            }),
        })?;
        Ok(true)
    }

    fn find(&self, find: impl Fn(&Wanted) -> Result<usize>) -> Result<Option<Places>> {
        let Some(text) = &self.text else { return Ok(None) };
        let id = self.id.as_ref().map(&find).transpose()?;
        Ok(Some(Places { text: find(text)?, id, further: self.further.iter().map(&find).collect::<Result<_>>()? }))
    }

    /// The selected cells of a line, without surrounding spaces; the whole line if no columns are selected.
    pub(super) fn cells<'a>(&mut self, line: &'a str, number: u64, path: &Path) -> Result<Cells<'a>> {
        if self.text.is_none() {
            return Ok(Cells { text: line, id: None, further: Vec::new() });
        }
        if self.places.is_none() {
            self.places = self.find(|wanted| {
                number_of(wanted).ok_or_else(|| {
                    bad_line(path, number, format!("no column {}: there is no header", quoted(&wanted.place)))
                })
            })?;
        }
        let cells: Vec<&str> = line.split('\t').map(str::trim).collect();
        // A tab in the text has split it.
        if let Some(titles) = self.n_titles.filter(|&n| cells.iter().skip(n).any(|cell| !cell.is_empty())) {
            let reason = format!(
                "the record has {} columns, but the first record has {titles}; a tab ends a field",
                cells.len()
            );
            return Err(bad_line(path, number, reason));
        }
        let cell = |place: usize| {
            cells.get(place).copied().ok_or_else(|| {
                let reason = format!("no column {}: the line has {}", place + 1, cells.len());
                bad_line(path, number, reason)
            })
        };
        let Some(Places { text, id, further }) = &self.places else {
            return Ok(Cells { text: line, id: None, further: Vec::new() });
        };
        Ok(Cells {
            text: cell(*text)?,
            id: id.map(cell).transpose()?,
            further: further.iter().map(|&place| cell(place)).collect::<Result<_>>()?,
        })
    }
}

fn number_of(wanted: &Wanted) -> Option<usize> {
    wanted.place.parse::<usize>().ok()?.checked_sub(1)
}

/// The error of a line.
pub(super) fn bad_line(path: &Path, number: u64, reason: impl std::fmt::Display) -> Error {
    senv_core::Error::BadTable { path: path.to_owned(), line: number, reason: reason.to_string() }.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_found_by_number_and_by_title() {
        let path = Path::new("a.tsv");
        let mut by_number = TextColumns::new("3").further("author", "1").id("2");
        let expected = Cells { text: "Rain.", id: Some("7"), further: vec!["Ada"] };
        assert!(!by_number.is_header("author\tid\ttext", 1, path).unwrap());
        assert_eq!(by_number.cells("Ada\t7\tRain.", 1, path).unwrap(), expected);
        assert_eq!(by_number.cells(" Ada \t 7\t  Rain. ", 1, path).unwrap(), expected);
        let mut by_title = TextColumns::new("body").further("author", "author").id("2");
        // Another file can have them in a different order.
        assert!(by_title.is_header("author\tid\tbody", 1, path).unwrap());
        assert_eq!(by_title.cells("Ada\t7\tRain.", 2, path).unwrap(), expected);
        assert!(by_title.is_header("body\tnumber\tauthor", 1, path).unwrap());
        assert_eq!(by_title.cells("Rain.\t7\tAda", 2, path).unwrap(), expected);
        assert!(by_title.is_header("text\tid", 1, path).is_err());
        assert_eq!(by_title.names().collect::<Vec<_>>(), ["author"]);
        let mut whole = TextColumns::default();
        assert_eq!(whole.cells("a\tb", 1, path).unwrap(), Cells { text: "a\tb", id: None, further: vec![] });
    }

    #[test]
    fn a_title_says_that_there_is_a_header() {
        let path = Path::new("a.tsv");
        let by_title = [TextColumns::new("text"), TextColumns::new("1").further("year", "year")];
        for mut by_title in by_title.into_iter().chain([TextColumns::new("1").with_titles()]) {
            assert!(by_title.is_header("text\tyear", 1, path).unwrap(), "{by_title:?}");
            assert_eq!(by_title.cells("Rain.\t1987", 2, path).unwrap().text, "Rain.");
        }
        assert!(!TextColumns::new("1").further("year", "2").is_header("text\tyear", 1, path).unwrap());
    }

    #[test]
    fn a_line_with_more_cells_than_titles_is_refused() {
        let mut columns = TextColumns::new("text");
        assert!(columns.is_header("id\ttext", 1, Path::new("a.tsv")).unwrap());
        let error = columns.cells("1\t\"a cat\tsat\"", 2, Path::new("a.tsv")).unwrap_err().to_string();
        assert!(error.contains("a.tsv:2: the record has 3 columns, but the first record has 2;"), "{error}");
        assert_eq!(columns.cells("1\ta cat\t \t", 3, Path::new("a.tsv")).unwrap().text, "a cat");
    }

    #[test]
    fn lines_that_lack_a_column_are_refused() {
        let mut short = TextColumns::new("1").id("2");
        assert!(short.cells("only", 4, Path::new("a.tsv")).is_err());
        assert_eq!(short.cells("text\t", 4, Path::new("a.tsv")).unwrap().id, Some(""));
    }
}
