//! Conditions on the sentences of a collection.

use std::{fmt, path::Path, str::FromStr};

use senv_index::{Collection, Id, IdKind};

use super::{SentenceCollection, has_column};
use crate::error::{Error, Result};

/// The ids, if no column has this name.
const ID: &str = "id";

/// A condition on a sentence of a collection: `column = value` (or `==`), or `column != value`. The value can be
/// quoted, and has to be if it begins with a quote. A file matches by its path as it was given, or by its file name;
/// `id` refers to the ids, numbers or texts.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// use senv::{SentenceCollection, collection::{Condition, NewSentences, SentenceCollectionParams, SentenceSearch}};
/// let params = SentenceCollectionParams { columns: vec!["year".into()], ..Default::default() };
/// let mut collection = SentenceCollection::create_with(folder.path().join("my.index"), "english", &params)?;
/// let sentences = NewSentences::new(vec!["The train is late.".into(), "Rain falls.".into()]);
/// collection.add_sentences(sentences.column("year", vec!["1987".into(), "1988".into()]))?;
/// let condition: Condition = "year != 1988".parse()?;
/// let meets = condition.positions(collection.rows())?;
/// assert_eq!(meets, [true, false]);
/// // Only among these sentences:
/// let keep = |_query: usize, position: usize| meets[position];
/// let search = SentenceSearch { keep: Some(&keep), ..SentenceSearch::new(5) };
/// let hits = collection.search_batch(&["Is it raining?"], &search)?;
/// assert_eq!(hits[0][0].text, "The train is late.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    column: String,
    value: String,
    is_equal: bool,
}

impl FromStr for Condition {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let bad = || Error::BadCondition {
            condition: format!("{text}", text = senv_core::quoted(text)),
            reason: "expected 'column = value' or 'column != value' with a column of the collection".into(),
        };
        let (column, value) = text.split_once('=').ok_or_else(bad)?;
        let (column, is_equal) = match column.strip_suffix('!') {
            Some(column) => (column, false),
            None => (column, true),
        };
        let value = value.strip_prefix('=').filter(|_| is_equal).unwrap_or(value);
        let (column, value) = (column.trim(), value.trim());
        if column.is_empty() {
            return Err(bad());
        }
        let value = unquoted(value).map_err(|quote| Error::BadCondition {
            condition: format!("{text}", text = senv_core::quoted(text)),
            reason: format!(
                "the value begins with {quote} and does not end with it; add {quote} at the end, or put the value \
                between {}",
                if quote == '"' { "single quotes" } else { "double quotes" }
            ),
        })?;
        Ok(Self { column: column.to_owned(), value: value.to_owned(), is_equal })
    }
}

/// The value without the quotes around it, or the quote that is not closed.
fn unquoted(value: &str) -> std::result::Result<&str, char> {
    let Some(quote) = value.chars().next().filter(|first| matches!(first, '\'' | '"')) else { return Ok(value) };
    value[1..].strip_suffix(quote).ok_or(quote)
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { column, value, is_equal } = self;
        write!(f, "{column} {} {value}", if *is_equal { "=" } else { "!=" })
    }
}

impl Condition {
    /// For each position of a collection, whether the sentence meets the condition.
    ///
    /// # Errors
    /// [`Error::BadCondition`] if there is no such column, or if an id is not a whole number, in a collection where ids
    /// are numbers; errors of reading the collection.
    pub fn positions(&self, rows: &Collection) -> Result<Vec<bool>> {
        let Self { column, value, is_equal } = self;
        if column == ID && !has_column(rows, ID) {
            return self.of_id(rows);
        }
        if !has_column(rows, column) {
            return Err(Error::BadCondition { condition: self.to_string(), reason: no_column(rows, column) });
        }
        let is_name = column == SentenceCollection::FILE && Path::new(value).file_name() == Some(value.as_ref());
        let holds = |text: &str| text == value || is_name && Path::new(text).file_name() == Some(value.as_ref());
        Ok(rows.positions_where(column, |text| holds(text) == *is_equal)?)
    }

    fn of_id(&self, rows: &Collection) -> Result<Vec<bool>> {
        let bad = |_| Error::BadCondition {
            condition: self.to_string(),
            reason: format!("an id of this collection is an integer from 0 to {}", u64::MAX),
        };
        let id = match rows.id_kind() {
            Some(IdKind::Texts) => Id::from(&self.value),
            _ => self.value.parse::<u64>().map_err(bad)?.into(),
        };
        let mut these: Vec<bool> =
            (0..rows.n_positions()).map(|position| !self.is_equal && rows.has_row(position)).collect();
        if let Some(position) = rows.position(id)? {
            these[position] = self.is_equal;
        }
        Ok(these)
    }
}

/// The reason why a condition cannot be on this column, with those it can be on.
fn no_column(rows: &Collection, column: &str) -> String {
    let id = (!has_column(rows, ID)).then_some(ID);
    let columns: Vec<&str> = id.into_iter().chain(rows.columns().iter().map(String::as_str)).collect();
    format!("no column {}; the columns are {}", senv_core::quoted(column), columns.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_read_with_blanks_and_quotes() {
        let of = |text: &str| text.parse::<Condition>().map(|c| (c.column, c.value, c.is_equal)).ok();
        let is = |column: &str, value: &str, is_equal| Some((column.to_owned(), value.to_owned(), is_equal));
        assert_eq!(of("year = 1987"), is("year", "1987", true));
        assert_eq!(of("year!=1987"), is("year", "1987", false));
        assert_eq!((of("year == 1987"), of("year==1987")), (is("year", "1987", true), is("year", "1987", true)));
        assert_eq!((of("year = '=x'"), of("year = =x")), (is("year", "=x", true), is("year", "=x", true)));
        assert_eq!("year!= 'x y'".parse::<Condition>().unwrap().to_string(), "year != x y");
        assert_eq!(of("name = 'a = b '"), is("name", "a = b ", true));
        assert_eq!(of("name = \"'\""), is("name", "'", true));
        assert_eq!((of("name = ''"), of("size = 5\"")), (is("name", "", true), is("size", "5\"", true)));
        assert_eq!(of("name ="), is("name", "", true));
        for open in ["name = 'a", "name = \"a'", "name != '", "name = 'a' b"] {
            let said = open.parse::<Condition>().unwrap_err().to_string();
            assert!(said.contains(" and does not end with it; add ") && said.contains(" quotes"), "{said}");
        }
        assert_eq!((of("year"), of("= 3"), of(" != 3"), of("== 3")), (None, None, None, None));
    }
}
