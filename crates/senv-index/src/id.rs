//! Ids of rows: numbers, or texts such as `T-1234` or a UUID.

use std::fmt;

use senv_core::quoted;
use serde::{Deserialize, Serialize};

/// The id of a row of a [`Collection`](crate::Collection).
///
/// A collection has ids of one kind, which the first rows decide ([`IdKind`]). Where ids are numbers, a text that is
/// a whole number stands for that number. Where they are texts, a number stands for its decimal digits.
///
/// Numbers and texts convert to it, so `collection.position(17)` and `collection.position("T-1234")` both compile. It
/// is displayed without quotes, and serialized as a number or a string.
///
/// ```
/// use senv_index::Id;
/// assert_eq!(Id::from(17), 17);
/// assert_eq!(Id::from("T-1234"), "T-1234");
/// assert_eq!((Id::from(17).number(), Id::from("T-1234").text()), (Some(17), Some("T-1234")));
/// assert_eq!(Id::from("a\tb").quoted().to_string(), r#""a\tb""#);
/// ```
///
/// Exhaustive on purpose: an id is a number or a text.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(untagged)]
pub enum Id {
    /// A number.
    Number(u64),
    /// A text of 1 to [`Id::MAX_BYTES`] bytes.
    Text(String),
}

/// What the ids of a collection are.
///
/// Exhaustive on purpose: an id is a number or a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IdKind {
    /// Whole numbers from 0 to 2^64 - 1. Rows without ids get the next free one.
    #[default]
    Numbers,
    /// Texts. Each row must bring its own.
    Texts,
}

impl Id {
    /// The maximum length of a text in bytes of UTF-8.
    pub const MAX_BYTES: usize = 1024;

    /// The number; `None` for a text.
    #[must_use]
    pub fn number(&self) -> Option<u64> {
        if let Self::Number(number) = self { Some(*number) } else { None }
    }

    /// The text; `None` for a number.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// The id for a message: a text in quotes, with its control characters escaped.
    pub fn quoted(&self) -> impl fmt::Display + '_ {
        Quoted(self)
    }

    /// The id as one of this kind; `None` if there is none: a text that is not a whole number, among numbers.
    #[must_use]
    pub fn of_kind(self, kind: IdKind) -> Option<Self> {
        self.converted(kind).ok()
    }

    /// The id as one of this kind, or itself if there is none.
    pub(crate) fn converted(self, kind: IdKind) -> Result<Self, Self> {
        Ok(match (kind, self) {
            (IdKind::Numbers, Self::Text(text)) => match text.parse() {
                Ok(number) => Self::Number(number),
                Err(_) => return Err(Self::Text(text)),
            },
            (IdKind::Texts, Self::Number(number)) => Self::Text(number.to_string()),
            (_, id) => id,
        })
    }
}

struct Quoted<'a>(&'a Id);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Id::Number(number) => write!(f, "{number}"),
            Id::Text(text) => write!(f, "{}", quoted(text)),
        }
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => f.pad(text),
        }
    }
}

impl From<u64> for Id {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl From<String> for Id {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&String> for Id {
    fn from(text: &String) -> Self {
        Self::Text(text.clone())
    }
}

impl From<&str> for Id {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<&Id> for Id {
    fn from(id: &Id) -> Self {
        id.clone()
    }
}

impl PartialEq<u64> for Id {
    fn eq(&self, number: &u64) -> bool {
        self.number() == Some(*number)
    }
}

impl PartialEq<str> for Id {
    fn eq(&self, text: &str) -> bool {
        self.text() == Some(text)
    }
}

impl PartialEq<&str> for Id {
    fn eq(&self, text: &&str) -> bool {
        self.text() == Some(text)
    }
}

impl IdKind {
    pub(crate) fn is_numbers(&self) -> bool {
        *self == Self::Numbers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_stands_for_one_of_the_other_kind_where_there_is_one() {
        assert_eq!(Id::from("17").of_kind(IdKind::Numbers), Some(Id::Number(17)));
        assert_eq!(Id::from(17).of_kind(IdKind::Texts), Some(Id::from("17")));
        assert_eq!(Id::from(" 17").of_kind(IdKind::Texts), Some(Id::from(" 17")));
        for text in ["", "T-1", "-1", "1.0", "18446744073709551616"] {
            assert_eq!(Id::from(text).of_kind(IdKind::Numbers), None, "{text}");
        }
    }
}
