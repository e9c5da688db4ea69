//! `--where 'column = value'`.

use std::{fmt, path::Path};

use senv_index::Collection;

use crate::{
    commands::index::columns::{FILE, ID},
    failure::{Failure, Result},
};

/// A condition that a sentence must meet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Condition {
    column: String,
    value: String,
    is_equal: bool,
    /// The option that it was given to.
    option: &'static str,
}

impl Condition {
    /// Reads `column = value` (or `==`) or `column != value`; the value may stand in quotes.
    pub(crate) fn new(option: &'static str, text: &str) -> Result<Self> {
        let bad = || {
            Failure::Usage(format!(
                "{option} {text:?}: expected 'column = value' or 'column != value', a column of the collection"
            ))
        };
        let (column, value) = text.split_once('=').ok_or_else(bad)?;
        let (column, is_equal) = match column.strip_suffix('!') {
            Some(column) => (column, false),
            None => (column, true),
        };
        let value = value.strip_prefix('=').filter(|_| is_equal).unwrap_or(value);
        let (column, value) = (column.trim(), unquoted(value.trim()));
        if column.is_empty() {
            return Err(bad());
        }
        Ok(Self { column: column.to_owned(), value: value.to_owned(), is_equal, option })
    }
}

fn unquoted(value: &str) -> &str {
    let inner = |quote: char| value.strip_prefix(quote)?.strip_suffix(quote);
    inner('\'').or_else(|| inner('"')).unwrap_or(value)
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { column, value, is_equal, .. } = self;
        write!(f, "{column} {} {value}", if *is_equal { "=" } else { "!=" })
    }
}

impl Condition {
    /// For each position whether it meets the condition.
    pub(crate) fn positions(&self, collection: &Collection) -> Result<Vec<bool>> {
        let Self { column, value, is_equal, .. } = self;
        if column == ID && !collection.columns().contains(column) {
            return self.of_id(collection);
        }
        // A file is met by its path as it was given, and by its name alone.
        let is_name = column == FILE && Path::new(value).file_name() == Some(value.as_ref());
        let holds = |text: &str| text == value || is_name && Path::new(text).file_name() == Some(value.as_ref());
        Ok(collection.positions_where(column, |text| holds(text) == *is_equal)?)
    }

    fn of_id(&self, collection: &Collection) -> Result<Vec<bool>> {
        let bad = |_| Failure::Usage(format!("{} {self}: an id is a whole number from 0 to {}", self.option, u64::MAX));
        let id = self.value.parse::<u64>().map_err(bad)?;
        let is_there = |position| Ok(!self.is_equal && collection.id(position)?.is_some());
        let mut these = (0..collection.n_positions()).map(is_there).collect::<Result<Vec<bool>>>()?;
        if let Some(position) = collection.position(id)? {
            these[position] = self.is_equal;
        }
        Ok(these)
    }
}

/// For each position whether it meets all conditions; `None` without a condition.
pub(super) fn positions(collection: &Collection, conditions: &[Condition]) -> Result<Option<Vec<bool>>> {
    let mut all: Option<Vec<bool>> = None;
    for condition in conditions {
        let these = condition.positions(collection)?;
        match &mut all {
            Some(all) => all.iter_mut().zip(these).for_each(|(all, this)| *all &= this),
            None => all = Some(these),
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_read_with_blanks_and_quotes() {
        let of = |text: &str| Condition::new("--where", text).map(|c| (c.column, c.value, c.is_equal)).ok();
        let is = |column: &str, value: &str, is_equal| Some((column.to_owned(), value.to_owned(), is_equal));
        assert_eq!(of("year = 1987"), is("year", "1987", true));
        assert_eq!(of("year!=1987"), is("year", "1987", false));
        assert_eq!((of("year == 1987"), of("year==1987")), (is("year", "1987", true), is("year", "1987", true)));
        assert_eq!((of("year = '=x'"), of("year = =x")), (is("year", "=x", true), is("year", "=x", true)));
        assert_eq!(Condition::new("--where", "year!= 'x y'").unwrap().to_string(), "year != x y");
        assert_eq!(of("name = 'a = b '"), is("name", "a = b ", true));
        assert_eq!(of("name = \"'\""), is("name", "'", true));
        assert_eq!(of("name ="), is("name", "", true));
        assert_eq!((of("year"), of("= 3"), of(" != 3"), of("== 3")), (None, None, None, None));
    }
}
