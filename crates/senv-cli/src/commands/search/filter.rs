//! `--where 'column = value'`.

use senv_index::Collection;

use crate::failure::{Failure, Result};

/// A condition that a sentence must meet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Condition {
    column: String,
    value: String,
    is_equal: bool,
}

impl Condition {
    /// Reads `column = value` or `column != value`; the value may stand in quotes.
    pub(super) fn new(text: &str) -> Result<Self> {
        let bad = || {
            Failure::Usage(format!(
                "--where {text:?}: expected 'column = value' or 'column != value', a column of the collection"
            ))
        };
        let (column, value) = text.split_once('=').ok_or_else(bad)?;
        let (column, is_equal) = match column.strip_suffix('!') {
            Some(column) => (column, false),
            None => (column, true),
        };
        let (column, value) = (column.trim(), unquoted(value.trim()));
        if column.is_empty() {
            return Err(bad());
        }
        Ok(Self { column: column.to_owned(), value: value.to_owned(), is_equal })
    }
}

fn unquoted(value: &str) -> &str {
    let inner = |quote: char| value.strip_prefix(quote)?.strip_suffix(quote);
    inner('\'').or_else(|| inner('"')).unwrap_or(value)
}

/// For each position whether it meets all conditions; `None` without a condition.
pub(super) fn positions(collection: &Collection, conditions: &[Condition]) -> Result<Option<Vec<bool>>> {
    let mut all: Option<Vec<bool>> = None;
    for Condition { column, value, is_equal } in conditions {
        let these = collection.positions_where(column, |text| (text == value) == *is_equal)?;
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
        let of = |text: &str| Condition::new(text).map(|c| (c.column, c.value, c.is_equal)).ok();
        let is = |column: &str, value: &str, is_equal| Some((column.to_owned(), value.to_owned(), is_equal));
        assert_eq!(of("year = 1987"), is("year", "1987", true));
        assert_eq!(of("year!=1987"), is("year", "1987", false));
        assert_eq!(of("name = 'a = b '"), is("name", "a = b ", true));
        assert_eq!(of("name = \"'\""), is("name", "'", true));
        assert_eq!(of("name ="), is("name", "", true));
        assert_eq!((of("year"), of("= 3"), of(" != 3")), (None, None, None));
    }
}
