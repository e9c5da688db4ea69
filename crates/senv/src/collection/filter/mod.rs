//! Filters on the sentences of a collection: values that are built in a program or read from text.
//!
//! ```text
//! filter = any                      any  = all {"or" all}
//! all    = part {"and" part}        part = "not" part | "(" any ")" | test
//! test   = column ("=" | "!=" | "<" | "<=" | ">" | ">=") value
//!        | column ["not"] "in" "(" value {"," value} ")"
//!        | column "starts" "with" value
//!        | column "is" ["not"] "null"
//! ```
//!
//! `==` is `=`, and `<>` is `!=`. Keywords are read in any case. A value ends before `and`, `or` and a parenthesis,
//! or in a list before a comma, unless it is quoted. A repeated quote stands for the quote itself. A column with
//! blanks is quoted, too.

mod evaluate;
mod parse;
mod value;

use std::{fmt, str::FromStr};

use crate::error::{Error, Result};
use parse::is_plain;

/// A condition on the sentences of a collection, with the values of its columns.
///
/// As text, it is what `senv search --where` takes, as in `year >= 1987 and not author = Ada`. A column is one of the
/// collection, `file` and `line` for sentences from files, or `id`. A file is met by its path as it was given, and by
/// its name.
///
/// A column whose values are all numbers, ISO 8601 dates, or `true` and `false` is compared by them, and any other by
/// its text. A date is compared as far as the given one goes: `date = 2024-05` is met by every day of May. An empty
/// value is null: no other comparison than `!=` is met by it. Numbers with leading zeros, as in `007`, are text.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// use senv::{SentenceCollection, collection::{Filter, NewSentences, SentenceCollectionParams, SentenceSearch}};
/// let params = SentenceCollectionParams { columns: vec!["year".into()], ..Default::default() };
/// let mut collection = SentenceCollection::create_with(folder.path().join("my.index"), "english", &params)?;
/// let sentences = NewSentences::new(vec!["The train is late.".into(), "Rain falls.".into()]);
/// collection.add_sentences(sentences.column("year", vec!["1987".into(), "1988".into()]))?;
/// let filter = Filter::less("year", 1988).or(Filter::equal("year", 2001));
/// assert_eq!(filter, "year < 1988 or year = 2001".parse()?);
/// let meets = filter.positions(collection.rows())?;
/// assert_eq!(meets, [true, false]);
/// // Only among these sentences:
/// let keep = |_query: usize, position: usize| meets[position];
/// let search = SentenceSearch { keep: Some(&keep), ..SentenceSearch::new(5) };
/// let hits = collection.search_batch(&["Is it raining?"], &search)?;
/// assert_eq!(hits[0][0].text, "The train is late.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Filter {
    /// The value of a column compares in this way with a given one.
    Compare {
        /// The column.
        column: String,
        /// How it compares.
        by: Comparison,
        /// The given value.
        value: String,
    },
    /// The value of a column equals one of these.
    In {
        /// The column.
        column: String,
        /// The given values.
        values: Vec<String>,
    },
    /// The text of a column starts with this.
    StartsWith {
        /// The column.
        column: String,
        /// The given beginning.
        prefix: String,
    },
    /// A column has no value.
    IsNull {
        /// The column.
        column: String,
    },
    /// All of these hold; with none, it always holds.
    All(Vec<Filter>),
    /// One of these holds; with none, it never holds.
    Any(Vec<Filter>),
    /// This does not hold.
    Not(Box<Filter>),
}

/// How a value compares with a given one.
///
/// Exhaustive on purpose: there are no other comparisons of two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// `=`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    Greater,
    /// `>=`
    AtLeast,
}

impl Comparison {
    const ALL: [(Self, &str); 6] = [
        (Self::Equal, "="),
        (Self::NotEqual, "!="),
        (Self::Less, "<"),
        (Self::AtMost, "<="),
        (Self::Greater, ">"),
        (Self::AtLeast, ">="),
    ];

    fn sign(self) -> &'static str {
        Self::ALL.iter().find(|(by, _)| *by == self).map_or("=", |(_, sign)| sign)
    }
}

impl Filter {
    fn compare(column: impl Into<String>, by: Comparison, value: impl fmt::Display) -> Self {
        Self::Compare { column: column.into(), by, value: value.to_string() }
    }

    /// The column equals a value.
    pub fn equal(column: impl Into<String>, value: impl fmt::Display) -> Self {
        Self::compare(column, Comparison::Equal, value)
    }

    /// The column differs from a value.
    pub fn not_equal(column: impl Into<String>, value: impl fmt::Display) -> Self {
        Self::compare(column, Comparison::NotEqual, value)
    }

    /// The column is below a value.
    pub fn less(column: impl Into<String>, value: impl fmt::Display) -> Self {
        Self::compare(column, Comparison::Less, value)
    }

    /// The column is at most a value.
    pub fn at_most(column: impl Into<String>, value: impl fmt::Display) -> Self {
        Self::compare(column, Comparison::AtMost, value)
    }

    /// The column is above a value.
    pub fn greater(column: impl Into<String>, value: impl fmt::Display) -> Self {
        Self::compare(column, Comparison::Greater, value)
    }

    /// The column is at least a value.
    pub fn at_least(column: impl Into<String>, value: impl fmt::Display) -> Self {
        Self::compare(column, Comparison::AtLeast, value)
    }

    /// The column equals one of the values.
    pub fn one_of<V: fmt::Display>(column: impl Into<String>, values: impl IntoIterator<Item = V>) -> Self {
        Self::In { column: column.into(), values: values.into_iter().map(|value| value.to_string()).collect() }
    }

    /// The text of the column starts with this.
    pub fn starts_with(column: impl Into<String>, prefix: impl Into<String>) -> Self {
        Self::StartsWith { column: column.into(), prefix: prefix.into() }
    }

    /// The column has no value.
    pub fn is_null(column: impl Into<String>) -> Self {
        Self::IsNull { column: column.into() }
    }

    /// Both hold.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match self {
            Self::All(mut all) => {
                all.push(other);
                Self::All(all)
            }
            one => Self::All(vec![one, other]),
        }
    }

    /// One of both holds.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        match self {
            Self::Any(mut any) => {
                any.push(other);
                Self::Any(any)
            }
            one => Self::Any(vec![one, other]),
        }
    }

    /// This does not hold.
    #[must_use]
    #[expect(clippy::should_implement_trait, reason = "a name of the grammar, beside `and` and `or`")]
    pub fn not(self) -> Self {
        Self::Not(Box::new(self))
    }
}

/// Reads a filter from text.
///
/// # Errors
/// [`Error::BadCondition`] with the place.
impl FromStr for Filter {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        parse::parse(text).map_err(|reason| Error::BadCondition {
            condition: format!("{text}", text = senv_core::quoted(text)),
            reason,
        })
    }
}

/// Formats as text that reads back to the same filter, unless one of its lists has a single part or none.
impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn word(text: &str) -> Quoted<'_> {
            Quoted(text)
        }
        match self {
            Self::Compare { column, by, value } => write!(f, "{} {} {}", word(column), by.sign(), word(value)),
            Self::In { column, values } => {
                write!(f, "{} in (", word(column))?;
                join(f, values.iter().map(|value| word(value)), ", ")?;
                f.write_str(")")
            }
            Self::StartsWith { column, prefix } => write!(f, "{} starts with {}", word(column), word(prefix)),
            Self::IsNull { column } => write!(f, "{} is null", word(column)),
            Self::All(all) => join(f, all.iter().map(Part), " and "),
            Self::Any(any) => join(f, any.iter().map(Part), " or "),
            Self::Not(one) => write!(f, "not {}", Part(one)),
        }
    }
}

/// A filter inside another, in parentheses if it needs them.
struct Part<'f>(&'f Filter);

impl fmt::Display for Part<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Filter::All(_) | Filter::Any(_) => write!(f, "({})", self.0),
            one => write!(f, "{one}"),
        }
    }
}

/// A column or a value, quoted if it needs to be.
struct Quoted<'t>(&'t str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if is_plain(self.0) { f.write_str(self.0) } else { write!(f, "'{}'", self.0.replace('\'', "''")) }
    }
}

fn join(f: &mut fmt::Formatter<'_>, parts: impl Iterator<Item = impl fmt::Display>, by: &str) -> fmt::Result {
    for (i, part) in parts.enumerate() {
        write!(f, "{}{part}", if i == 0 { "" } else { by })?;
    }
    Ok(())
}
