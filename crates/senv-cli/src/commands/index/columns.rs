//! Which columns of a table are the text, the id and what is kept beside them.

use std::path::Path;

use senv_core::text::{TableColumn, TableText};

use crate::{
    failure::{Failure, Result},
    stream::bad_line,
};

/// The column of the sentence, and of the id.
pub(super) const TEXT: &str = "text";
pub(crate) const ID: &str = "id";
/// Columns that every collection of the program has.
pub(crate) const FILE: &str = "file";
pub(crate) const LINE: &str = "line";
/// Columns of collections of documents: which one a sentence is of, and which of its sentences it is, from 1.
pub(crate) const DOCUMENT: &str = "document";
pub(crate) const PLACE: &str = "place";

/// A column of the files, as it was asked for.
#[derive(Debug, Clone)]
struct Wanted {
    name: String,
    /// Its number, from 1, or its name in the header.
    place: String,
}

/// What is taken of each line.
#[derive(Debug, Clone, Default)]
pub(super) struct Columns {
    text: Option<Wanted>,
    id: Option<Wanted>,
    further: Vec<Wanted>,
    has_header: bool,
    places: Option<Places>,
}

/// Places of columns in the present file, from 0.
#[derive(Debug, Clone)]
struct Places {
    text: usize,
    id: Option<usize>,
    further: Vec<usize>,
}

/// What was taken of a line.
#[derive(Debug, PartialEq)]
pub(super) struct Cells<'a> {
    pub(super) text: &'a str,
    pub(super) id: Option<u64>,
    pub(super) further: Vec<&'a str>,
}

impl Columns {
    /// Reads `NAME=N`, `NAME=TITLE` and `NAME`; a title is looked for in a header, which files then have. With
    /// `of_documents` an id is the name of a document.
    pub(super) fn new(asked: &[String], has_header: bool, of_documents: bool) -> Result<Self> {
        let mut columns = Self { has_header, ..Self::default() };
        for asked in asked {
            let (name, place) = asked.split_once('=').unwrap_or((asked, asked));
            let (name, place) = (name.trim(), place.trim());
            let is_zero = !columns.has_header && place.parse() == Ok(0);
            if name.is_empty() || place.is_empty() || is_zero || name.contains(['\t', '\n', '=', '!']) {
                let message = format!(
                    "--column {asked}: expected NAME=N, as in author=3, the number of a column counted from 1; NAME=TITLE; or just \
                     NAME, which is a title, too"
                );
                return Err(Failure::Usage(message));
            }
            let name = if of_documents && name == ID { DOCUMENT } else { name };
            if [FILE, LINE].contains(&name)
                || of_documents && (name == PLACE || name == DOCUMENT && !asked.starts_with(ID))
            {
                let message = format!("--column {asked}: {name} is where a sentence comes from; give another name");
                return Err(Failure::Usage(message));
            }
            let wanted = Wanted { name: name.to_owned(), place: place.to_owned() };
            columns.has_header |= number_of(&wanted).is_none();
            let is_twice = match name {
                TEXT => columns.text.replace(wanted).is_some(),
                ID => columns.id.replace(wanted).is_some(),
                _ => {
                    let is_twice = columns.further.iter().any(|other| other.name == name);
                    columns.further.push(wanted);
                    is_twice
                }
            };
            if is_twice {
                return Err(Failure::Usage(format!("--column {name} is given twice")));
            }
        }
        if columns.text.is_none() && !asked.is_empty() {
            let message = "which column is the text? --column text=N, or text=TITLE, says so".to_owned();
            return Err(Failure::Usage(message));
        }
        if has_header && asked.is_empty() {
            return Err(Failure::Usage("--header is for files with columns; give --column text=N or the like".into()));
        }
        Ok(columns)
    }

    /// The same for CSV and JSON lines, whose fields are taken by the reader: it gives those that are wanted, with tabs
    /// between.
    pub(super) fn of_table(self, is_json: bool) -> (Self, Option<TableText>) {
        let wanted: Vec<&Wanted> = self.text.iter().chain(&self.id).chain(&self.further).collect();
        let column = |wanted: &&Wanted| match number_of(wanted).filter(|_| !is_json) {
            Some(place) => TableColumn::Number(place + 1),
            None => TableColumn::Name(wanted.place.as_str().into()),
        };
        let columns = wanted.iter().map(column).collect();
        let table = TableText { format: None, columns, has_header: self.has_header && !is_json, quotes: false };
        let n_first = 1 + usize::from(self.id.is_some());
        let further = (n_first..n_first + self.further.len()).collect();
        let places = Places { text: 0, id: self.id.as_ref().map(|_| 1), further };
        (Self { has_header: false, places: Some(places), ..self }, Some(table))
    }

    /// Names of what is kept beside the sentence.
    pub(super) fn further(&self) -> impl Iterator<Item = &str> {
        self.further.iter().map(|wanted| wanted.name.as_str())
    }

    /// Whether there are ids.
    pub(super) fn has_ids(&self) -> bool {
        self.id.is_some()
    }

    /// Whether this is a line of titles, which are looked up.
    pub(super) fn is_header(&mut self, line: &str, number: u64, path: &Path) -> Result<bool> {
        if number != 1 || !self.has_header {
            return Ok(false);
        }
        let titles: Vec<&str> = line.split('\t').map(str::trim).collect();
        self.places = self.find(|wanted| match titles.iter().position(|title| *title == wanted.place) {
            Some(place) => Ok(place),
            None => number_of(wanted).ok_or_else(|| {
                bad_line(path, 1, format!("no column {:?}; there are {}", wanted.place, titles.join(", ")))
            }),
        })?;
        Ok(true)
    }

    fn find(&self, find: impl Fn(&Wanted) -> Result<usize>) -> Result<Option<Places>> {
        let Some(text) = &self.text else { return Ok(None) };
        let id = self.id.as_ref().map(&find).transpose()?;
        Ok(Some(Places { text: find(text)?, id, further: self.further.iter().map(&find).collect::<Result<_>>()? }))
    }

    /// The cells of a line that are wanted, without the blanks around them: all of the line where no columns were asked
    /// for.
    pub(super) fn cells<'a>(&mut self, line: &'a str, number: u64, path: &Path) -> Result<Cells<'a>> {
        if self.text.is_none() {
            return Ok(Cells { text: line, id: None, further: Vec::new() });
        }
        if self.places.is_none() {
            self.places = self.find(|wanted| {
                number_of(wanted).ok_or_else(|| bad_line(path, number, format!("no header names {:?}", wanted.place)))
            })?;
        }
        let cells: Vec<&str> = line.split('\t').map(str::trim).collect();
        let cell = |place: usize| {
            cells.get(place).copied().ok_or_else(|| {
                let reason = format!("column {} is wanted, the line has {}", place + 1, cells.len());
                bad_line(path, number, reason)
            })
        };
        let Some(Places { text, id, further }) = &self.places else {
            return Ok(Cells { text: line, id: None, further: Vec::new() });
        };
        let parsed = |cell: &str| {
            cell.parse::<u64>().map_err(|_| {
                bad_line(path, number, format!("the id is {cell:?}, expected a whole number from 0 to {}", u64::MAX))
            })
        };
        Ok(Cells {
            text: cell(*text)?,
            id: id.map(|id| parsed(cell(id)?)).transpose()?,
            further: further.iter().map(|&place| cell(place)).collect::<Result<_>>()?,
        })
    }
}

fn number_of(wanted: &Wanted) -> Option<usize> {
    wanted.place.parse::<usize>().ok()?.checked_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(asked: &[&str], has_header: bool) -> Result<Columns> {
        Columns::new(&asked.iter().map(|asked| (*asked).to_owned()).collect::<Vec<_>>(), has_header, false)
    }

    #[test]
    fn columns_are_found_by_number_and_by_title() {
        let path = Path::new("a.tsv");
        let mut by_number = columns(&["author=1", "text=3", "id=2"], false).unwrap();
        let expected = Cells { text: "Rain.", id: Some(7), further: vec!["Ada"] };
        assert!(!by_number.is_header("author\tid\ttext", 1, path).unwrap());
        assert_eq!(by_number.cells("Ada\t7\tRain.", 1, path).unwrap(), expected);
        assert_eq!(by_number.cells(" Ada \t 7\t  Rain. ", 1, path).unwrap(), expected);
        let mut by_title = columns(&["author", "text = body", "id=2"], true).unwrap();
        // Another file may have them in another order.
        assert!(by_title.is_header("author\tid\tbody", 1, path).unwrap());
        assert_eq!(by_title.cells("Ada\t7\tRain.", 2, path).unwrap(), expected);
        assert!(by_title.is_header("body\tnumber\tauthor", 1, path).unwrap());
        assert_eq!(by_title.cells("Rain.\t7\tAda", 2, path).unwrap(), expected);
        assert!(by_title.is_header("text\tid", 1, path).is_err());
        assert_eq!(by_title.further().collect::<Vec<_>>(), ["author"]);
        let mut whole = columns(&[], false).unwrap();
        assert_eq!(whole.cells("a\tb", 1, path).unwrap(), Cells { text: "a\tb", id: None, further: vec![] });
    }

    #[test]
    fn a_title_says_that_there_is_a_header() {
        let path = Path::new("a.tsv");
        for asked in [&["text"][..], &["text=text"], &["text=1", "year"]] {
            let mut by_title = columns(asked, false).unwrap();
            assert!(by_title.is_header("text\tyear", 1, path).unwrap(), "{asked:?}");
            assert_eq!(by_title.cells("Rain.\t1987", 2, path).unwrap().text, "Rain.");
        }
        assert!(!columns(&["text=1", "year=2"], false).unwrap().is_header("text\tyear", 1, path).unwrap());
    }

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
        assert!(bad.iter().all(|asked| matches!(columns(asked, false), Err(Failure::Usage(_)))));
        assert!(matches!(columns(&[], true), Err(Failure::Usage(_))));
        let mut short = columns(&["text=1", "id=2"], false).unwrap();
        for line in ["only", "text\tx", "text\t-1", "text\t"] {
            assert!(short.cells(line, 4, Path::new("a.tsv")).is_err(), "{line:?}");
        }
    }
}
