//! Files with one JSON object per line, as published by SNLI and MTEB.

use std::{borrow::Cow, path::Path};

use serde::Deserialize;
use serde_json::Value;

use crate::{Error, Result};

/// Whether the first line of a file is an object.
pub(crate) fn is_object(line: u64, text: &str) -> bool {
    line == 1 && text.starts_with('{')
}

/// Parses the object of a line; `expected` lists the names that it should have.
pub(crate) fn parse<'a, T: Deserialize<'a>>(
    path: &Path,
    line: u64,
    text: &'a str,
    expected: &'static str,
) -> Result<T> {
    serde_json::from_str(text).map_err(|error| {
        // The parser sees only this line, so its line number is always 1.
        let reason = error.to_string().replace(" at line 1 column ", " at column ");
        Error::BadObject { path: path.to_owned(), line, reason, expected }
    })
}

/// A number, or a label by number or name, as text: `4.5`, `1`, `positive`.
pub(crate) fn cell(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        Value::Null => Cow::Borrowed(""),
        other => Cow::Owned(other.to_string()),
    }
}

/// A pair with a score.
#[derive(Deserialize)]
pub(crate) struct Scored<'a> {
    #[serde(borrow)]
    pub(crate) sentence1: Cow<'a, str>,
    #[serde(borrow)]
    pub(crate) sentence2: Cow<'a, str>,
    pub(crate) score: Value,
}

/// A pair with a label.
#[derive(Deserialize)]
pub(crate) struct LabeledPair<'a> {
    #[serde(borrow)]
    pub(crate) sentence1: Cow<'a, str>,
    #[serde(borrow)]
    pub(crate) sentence2: Cow<'a, str>,
    #[serde(alias = "labels")]
    pub(crate) label: Value,
}

/// A sentence with a label.
#[derive(Deserialize)]
pub(crate) struct LabeledText<'a> {
    #[serde(borrow)]
    pub(crate) text: Cow<'a, str>,
    pub(crate) label: Value,
}
