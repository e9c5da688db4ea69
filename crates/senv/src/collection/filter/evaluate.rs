//! The sentences of a collection that meet a filter.

use std::{
    cmp::Ordering,
    path::Path,
    sync::atomic::{AtomicBool, Ordering as Order},
};

use senv_index::{Collection, Id, IdKind};

use super::{Comparison, Filter, value::ColumnKind};
use crate::{
    collection::{SentenceCollection, has_column},
    error::{Error, Result},
};

/// The ids, if no column has this name.
const ID: &str = "id";

impl Filter {
    /// For each position of a collection, whether the sentence meets the filter.
    ///
    /// # Errors
    /// [`Error::BadCondition`] if there is no such column, or if a value is not of the kind that a column or the ids
    /// have; errors of reading the collection.
    pub fn positions(&self, rows: &Collection) -> Result<Vec<bool>> {
        let join = |parts: &[Self], start: bool, join: fn(bool, bool) -> bool| {
            let mut these = existing(rows).into_iter().map(|exists| exists && start).collect::<Vec<_>>();
            for part in parts {
                these.iter_mut().zip(part.positions(rows)?).for_each(|(these, meets)| *these = join(*these, meets));
            }
            Ok(these)
        };
        match self {
            Self::All(all) => join(all, true, |a, b| a && b),
            Self::Any(any) => join(any, false, |a, b| a || b),
            Self::Not(one) => {
                let meets = one.positions(rows)?;
                Ok(existing(rows).into_iter().zip(meets).map(|(exists, meets)| exists && !meets).collect())
            }
            Self::Compare { column, by, value } => self.compared(rows, column, *by, value),
            Self::In { column, values } => {
                let equal = values.iter().map(|value| Self::equal(column, value)).collect();
                Self::Any(equal).positions(rows)
            }
            Self::StartsWith { column, prefix } => self.of_text(rows, column, |text| text.starts_with(&**prefix)),
            Self::IsNull { column } => self.of_text(rows, column, str::is_empty),
        }
    }

    /// Those whose text in a column is wanted.
    fn of_text(&self, rows: &Collection, column: &str, wanted: impl Fn(&str) -> bool + Sync) -> Result<Vec<bool>> {
        if column == ID && !has_column(rows, ID) {
            let mut these = existing(rows);
            for (position, meets) in these.iter_mut().enumerate().filter(|(_, meets)| **meets) {
                *meets = rows.id(position)?.is_some_and(|id| wanted(&id.to_string()));
            }
            return Ok(these);
        }
        if !has_column(rows, column) {
            return Err(self.bad(no_column(rows, column)));
        }
        Ok(rows.positions_where(column, wanted)?)
    }

    fn compared(&self, rows: &Collection, column: &str, by: Comparison, given: &str) -> Result<Vec<bool>> {
        let is_id = column == ID && !has_column(rows, ID);
        if is_id && matches!(by, Comparison::Equal | Comparison::NotEqual) {
            return self.of_id(rows, by == Comparison::Equal, given);
        }
        let is_name = column == SentenceCollection::FILE && Path::new(given).file_name() == Some(given.as_ref());
        let equals_text = |text: &str| text == given || is_name && Path::new(text).file_name() == Some(given.as_ref());
        if let (Comparison::Equal | Comparison::NotEqual, true) = (by, is_text(given)) {
            // What it is does not matter, as only the same text can be equal.
            return self.of_text(rows, column, |text| equals_text(text) == (by == Comparison::Equal));
        }
        let kind = if is_id { id_kind(rows) } else { self.kind(rows, column)? };
        let wanted: fn(Ordering) -> bool = match by {
            Comparison::Equal | Comparison::NotEqual => Ordering::is_eq,
            Comparison::Less => Ordering::is_lt,
            Comparison::AtMost => Ordering::is_le,
            Comparison::Greater => Ordering::is_gt,
            Comparison::AtLeast => Ordering::is_ge,
        };
        match by {
            Comparison::Equal | Comparison::NotEqual => {
                let equals = |text: &str| equals_text(text) || kind.compare(text, given).is_some_and(wanted);
                self.of_text(rows, column, |text| equals(text) == (by == Comparison::Equal))
            }
            _ if !kind.has(given) => Err(self.bad(format!(
                "the column {} has {}, and {} is none",
                senv_core::quoted(column),
                kind.name(),
                senv_core::quoted(given)
            ))),
            _ => {
                let meets = |text: &str| !text.is_empty() && kind.compare(text, given).is_some_and(wanted);
                self.of_text(rows, column, meets)
            }
        }
    }

    /// What all values of a column are that are not empty.
    fn kind(&self, rows: &Collection, column: &str) -> Result<ColumnKind> {
        let others = [(); ColumnKind::TYPED.len()].map(|()| AtomicBool::new(false));
        let has_values = AtomicBool::new(false);
        self.of_text(rows, column, |text| {
            if !text.is_empty() {
                has_values.store(true, Order::Relaxed);
                for (kind, is_other) in ColumnKind::TYPED.iter().zip(&others) {
                    if !is_other.load(Order::Relaxed) && !kind.has(text) {
                        is_other.store(true, Order::Relaxed);
                    }
                }
            }
            false
        })?;
        let of_all = ColumnKind::TYPED.iter().zip(&others).find(|(_, is_other)| !is_other.load(Order::Relaxed));
        Ok(of_all.filter(|_| has_values.load(Order::Relaxed)).map_or(ColumnKind::Text, |(kind, _)| *kind))
    }

    fn of_id(&self, rows: &Collection, is_equal: bool, value: &str) -> Result<Vec<bool>> {
        let bad = |_| self.bad(format!("an id of this collection is an integer from 0 to {}", u64::MAX));
        let id = match rows.id_kind() {
            Some(IdKind::Texts) => Id::from(value),
            _ => value.parse::<u64>().map_err(bad)?.into(),
        };
        let mut these: Vec<bool> = existing(rows).into_iter().map(|exists| !is_equal && exists).collect();
        if let Some(position) = rows.position(id)? {
            these[position] = is_equal;
        }
        Ok(these)
    }

    fn bad(&self, reason: String) -> Error {
        Error::BadCondition { condition: self.to_string(), reason }
    }
}

/// Whether a given value is neither a number, a date nor a truth.
fn is_text(given: &str) -> bool {
    !ColumnKind::TYPED.iter().any(|kind| kind.has(given))
}

fn id_kind(rows: &Collection) -> ColumnKind {
    if rows.id_kind() == Some(IdKind::Texts) { ColumnKind::Text } else { ColumnKind::Number }
}

/// The positions that have a row.
fn existing(rows: &Collection) -> Vec<bool> {
    (0..rows.n_positions()).map(|position| rows.has_row(position)).collect()
}

/// The reason why a filter cannot be on this column, with those it can be on.
fn no_column(rows: &Collection, column: &str) -> String {
    let id = (!has_column(rows, ID)).then_some(ID);
    let columns: Vec<&str> = id.into_iter().chain(rows.columns().iter().map(String::as_str)).collect();
    format!("no column {}; the columns are {}", senv_core::quoted(column), columns.join(", "))
}

#[cfg(test)]
mod tests {
    use senv_core::Table;
    use senv_index::{CollectionParams, NewRows};

    use super::*;

    const COLUMNS: [(&str, [&str; 6]); 6] = [
        ("year", ["1987", "1990", "900", "2001", "", "1990.0"]),
        ("date", ["2024-05-01", "2024-05-31T23:00Z", "2024-06-01", "2023", "", "2024-05"]),
        ("open", ["true", "false", "True", "", "false", "true"]),
        ("code", ["007", "7", "08", "x", "", "70"]),
        ("title", ["The Rain", "the rain", "Train", "", "Zug", "été"]),
        ("file", ["docs/a.txt", "docs/b.txt", "a.txt", "c/a.txt", "", "docs2/x"]),
    ];

    fn collection(folder: &Path) -> Collection {
        let params = COLUMNS.iter().fold(CollectionParams::new(1), |params, (name, _)| params.column(name));
        let mut collection = Collection::create(folder, &params).unwrap();
        let texts = COLUMNS.iter().map(|(_, values)| values.map(String::from).to_vec()).collect();
        let ids: Vec<u64> = (10..16).collect();
        collection.add(NewRows::new(Table::from_vec(6, 1, vec![1.0; 6]).unwrap()).texts(texts).ids(ids)).unwrap();
        collection
    }

    #[test]
    fn values_are_compared_by_what_a_column_has() {
        let folder = tempfile::tempdir().unwrap();
        let mut rows = collection(folder.path());
        let found = |rows: &Collection, filter: &str| -> Vec<usize> {
            let these = filter.parse::<Filter>().unwrap().positions(rows).unwrap();
            these.iter().enumerate().filter(|(_, meets)| **meets).map(|(i, _)| i).collect()
        };
        for (filter, expected) in [
            ("year < 1990", &[0, 2][..]),
            ("year <= 1990", &[0, 1, 2, 5]),
            ("year > 1987 and year < 2001", &[1, 5]),
            ("year = 1990", &[1, 5]),
            ("year != 1990", &[0, 2, 3, 4]),
            ("year in (900, 1990.00)", &[1, 2, 5]),
            ("year not in (900, 1990.00)", &[0, 3, 4]),
            ("year is null", &[4]),
            ("year =", &[4]),
            ("not year is null and not year > 1000", &[2]),
            ("year starts with 19", &[0, 1, 5]),
            ("date = 2024-05", &[0, 1, 5]),
            ("date <= 2024-05", &[0, 1, 3, 5]),
            ("date > 2024-05", &[2]),
            ("date >= 2024-05-31", &[1, 2]),
            ("open = TRUE", &[0, 2, 5]),
            ("open != true", &[1, 3, 4]),
            // A leading zero makes them codes.
            ("code = 7", &[1]),
            ("code < 08", &[0]),
            ("title = 'The Rain'", &[0]),
            ("title < a", &[0, 2, 4]),
            ("title starts with T", &[0, 2]),
            ("file = a.txt", &[0, 2, 3]),
            ("file = docs/a.txt", &[0]),
            ("file starts with docs/", &[0, 1]),
            ("id >= 13", &[3, 4, 5]),
            ("id = 11 or id = 12", &[1, 2]),
            ("id != 11", &[0, 2, 3, 4, 5]),
            ("id in (15, 10, 99)", &[0, 5]),
            ("id starts with 1", &[0, 1, 2, 3, 4, 5]),
            ("(year < 1990 or open = false) and not title = Zug", &[0, 1, 2]),
        ] {
            assert_eq!(found(&rows, filter), expected, "{filter}");
        }
        // Deleted rows meet nothing.
        rows.delete(&[11]).unwrap();
        for filter in ["not year = 0", "year != 0", "id != 0", "title != x"] {
            assert_eq!(found(&rows, filter), [0, 2, 3, 4, 5], "{filter}");
        }
        assert_eq!(Filter::All(Vec::new()).positions(&rows).unwrap(), [true, false, true, true, true, true]);
        assert_eq!(Filter::Any(Vec::new()).positions(&rows).unwrap(), [false; 6]);
    }

    #[test]
    fn what_cannot_be_compared_is_refused_with_the_reason() {
        let folder = tempfile::tempdir().unwrap();
        let rows = collection(folder.path());
        for (filter, says) in [
            ("year < soon", "year < soon: the column \"year\" has numbers, and \"soon\" is none"),
            ("date > May", "has dates"),
            ("author = x", "no column \"author\"; the columns are id, year, date"),
            ("id = x", "an id of this collection is an integer"),
            ("id < x", "has numbers"),
        ] {
            let error = filter.parse::<Filter>().unwrap().positions(&rows).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }
}
