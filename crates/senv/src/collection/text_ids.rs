//! The ids in a column of text: numbers, or texts.

use std::path::Path;

use senv_core::quoted;
use senv_index::{Id, IdKind};

use super::text_columns::bad_line;
use crate::error::Result;

/// Reads the ids of a column. The first part decides what they are, unless the collection has ids.
#[derive(Debug, Default)]
pub(super) struct TextIds {
    kind: Option<IdKind>,
    /// Whether numbers must be written in one way: those before them in the same input were.
    is_strict: bool,
}

impl TextIds {
    /// Takes all ids as ones of this kind.
    pub(super) fn set_kind(&mut self, kind: IdKind) {
        self.kind = Some(kind);
    }

    /// Refuses an id that the collection cannot have.
    pub(super) fn check(&self, cell: &str, path: &Path, line: u64) -> Result<()> {
        let refused = |reason: String| Err(bad_line(path, line, reason));
        match self.kind {
            Some(IdKind::Numbers) if cell.parse::<u64>().is_err() || self.is_strict && !is_number(cell) => {
                refused(format!(
                    "the id is {}, expected an integer from 0 to {} without zeros in front, as the other ids; make the \
                    collection with texts as ids (--text-ids)",
                    quoted(cell),
                    u64::MAX
                ))
            }
            Some(IdKind::Numbers) => Ok(()),
            _ if cell.is_empty() => refused("the id is empty; give each record an id".into()),
            _ if cell.len() > Id::MAX_BYTES => {
                refused(format!("the id has {} bytes, expected at most {}", cell.len(), Id::MAX_BYTES))
            }
            _ => Ok(()),
        }
    }

    /// The ids of a part. Returns the first that is not a number, if others are and it has decided the kind.
    pub(super) fn read(&mut self, cells: Vec<String>) -> (Vec<Id>, Option<usize>) {
        let mut odd = None;
        let kind = *self.kind.get_or_insert_with(|| {
            self.is_strict = true;
            let first = cells.iter().position(|cell| !is_number(cell));
            odd = first.filter(|&first| first > 0 || cells.iter().any(|cell| is_number(cell)));
            if first.is_none() { IdKind::Numbers } else { IdKind::Texts }
        });
        let id = |cell: String| match cell.parse() {
            Ok(number) if kind == IdKind::Numbers => Id::Number(number),
            _ => Id::Text(cell),
        };
        (cells.into_iter().map(id).collect(), odd)
    }
}

/// Whether an id is a number that is written in one way only: `007` and `+7` are texts.
fn is_number(cell: &str) -> bool {
    cell.parse::<u64>().is_ok_and(|number| number.to_string() == cell)
}

/// An id in a message: a number as it is, a text in quotes.
pub(super) fn shown(cell: &str) -> String {
    if is_number(cell) { cell.to_owned() } else { quoted(cell).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(ids: &mut TextIds, cells: &[&str]) -> (Vec<Id>, Option<usize>) {
        ids.read(cells.iter().map(|&cell| cell.to_owned()).collect())
    }

    #[test]
    fn the_first_part_decides_and_later_ones_follow() {
        let texts = |cells: &[&str]| cells.iter().map(|&cell| Id::from(cell)).collect::<Vec<_>>();
        for (cells, odd) in [
            (&["T-1", "T-2"][..], None),
            (&["17", "T-1"], Some(1)),
            (&["T-1", "17"], Some(0)),
            (&["007"], None),
            (&["+7"], None),
            (&["18446744073709551616"], None),
        ] {
            let mut ids = TextIds::default();
            assert_eq!(read(&mut ids, cells), (texts(cells), odd));
            assert_eq!(read(&mut ids, &["18", "x"]), (texts(&["18", "x"]), None));
        }
        let mut ids = TextIds::default();
        assert_eq!(read(&mut ids, &["17", "0"]), (vec![Id::from(17), Id::from(0)], None));
        for bad in ["T-1", "", "007", "+7"] {
            let refused = ids.check(bad, Path::new("a.tsv"), 3).unwrap_err().to_string();
            assert!(refused.starts_with("a.tsv:3: the id is \"") && refused.ends_with("(--text-ids)"), "{refused}");
        }
        assert!(ids.check("18", Path::new("a.tsv"), 3).is_ok());
        // A collection of numbers may have been made of such ids before ids could be texts.
        let mut ids = TextIds::default();
        ids.set_kind(IdKind::Numbers);
        assert!(ids.check("007", Path::new("a.tsv"), 3).is_ok() && ids.check("x", Path::new("a.tsv"), 3).is_err());
        assert_eq!(read(&mut ids, &["007"]).0, [7]);
    }

    #[test]
    fn an_empty_id_and_one_that_is_too_long_are_refused_with_their_line() {
        for kind in [None, Some(IdKind::Texts)] {
            let ids = TextIds { kind, ..TextIds::default() };
            let refused = |cell: &str| ids.check(cell, Path::new("a.tsv"), 3).unwrap_err().to_string();
            assert!(refused("").starts_with("a.tsv:3: the id is empty"), "{}", refused(""));
            assert!(refused(&"x".repeat(1025)).starts_with("a.tsv:3: the id has 1025 bytes"));
            assert!(ids.check(&"x".repeat(1024), Path::new("a.tsv"), 3).is_ok());
        }
    }
}
