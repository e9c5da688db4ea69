//! Reads records of JSON lines.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::{Lines, Parse, TableColumn};
use senv_base::{Error, Result};

/// Extracts fields from one JSON object per line.
pub(super) struct Parser {
    names: Vec<String>,
    line: u64,
    /// How far the current line has been searched for its end.
    searched: usize,
}

impl Parser {
    /// Creates a parser for fields by name, which can be a number; `None` for all fields.
    pub(super) fn new(columns: &[TableColumn]) -> Option<Self> {
        let name = |column: &TableColumn| match column {
            TableColumn::Name(_) | TableColumn::Number(_) => Some(column.title().into_owned()),
            TableColumn::All => None,
        };
        Some(Self { names: columns.iter().map(name).collect::<Option<_>>()?, line: 0, searched: 0 })
    }

    fn record(&self, line: &[u8], lines: &mut Lines<'_>) -> Result<()> {
        let number = self.line;
        let invalid = |error: std::str::Utf8Error| Error::InvalidUtf8 {
            path: lines.path.to_owned(),
            line: number,
            byte: error.valid_up_to() + 1,
        };
        let text = lines.invalid_utf8.decode(line).map_err(invalid)?;
        let mut found = vec![Found::Missing; self.names.len()];
        let mut reader = serde_json::Deserializer::from_str(&text);
        let object = Object { names: &self.names, prefix: "", found: &mut found };
        let read = object.deserialize(&mut reader).and_then(|()| reader.end());
        read.map_err(|error| lines.bad(number, format!("not a JSON object: {}", without_line(&error))))?;
        for (i, (name, found)) in self.names.iter().zip(found).enumerate() {
            if i > 0 {
                lines.out.push(b'\t');
            }
            match found {
                Found::Text(text) => lines.push_field(text.as_bytes()),
                Found::Null => {}
                // Values other than the text are kept verbatim, to the last digit.
                Found::Value(text, _) if i > 0 => lines.push_field(text.as_bytes()),
                Found::Twice => {
                    return Err(lines.bad(number, format!("duplicate field {name}", name = senv_base::quoted(name))));
                }
                Found::Value(_, what) | Found::Other(what) => {
                    return Err(
                        lines.bad(number, format!("field {name} is {what}, not text", name = senv_base::quoted(name)))
                    );
                }
                Found::Missing => {
                    let names = field_names(&text);
                    return Err(lines.bad(
                        number,
                        format!("no field {name}; the fields are {names}", name = senv_base::quoted(name)),
                    ));
                }
            }
        }
        lines.end_record(number);
        Ok(())
    }
}

/// The parser's message with the column but without the line, which it counts from the start of the object.
fn without_line(error: &serde_json::Error) -> String {
    let (text, place) = (error.to_string(), format!(" at line {} column {}", error.line(), error.column()));
    match text.strip_suffix(&place) {
        Some(what) => format!("{what} at column {}", error.column()),
        None => text,
    }
}

impl Parse for Parser {
    fn parse(&mut self, bytes: &[u8], at_end: bool, size: usize, lines: &mut Lines<'_>) -> Result<usize> {
        let mut position = 0;
        while lines.out.len() < size && position < bytes.len() {
            let rest = &bytes[position..];
            let (line, end) = match memchr::memchr(b'\n', &rest[self.searched..]) {
                Some(at) => (&rest[..self.searched + at], self.searched + at + 1),
                None if at_end => (rest, rest.len()),
                None => {
                    if rest.len() > lines.max.saturating_add(1) {
                        let path = lines.path.to_owned();
                        return Err(Error::LineTooLong { path, line: self.line + 1, limit: lines.max });
                    }
                    self.searched = rest.len();
                    return Ok(position);
                }
            };
            self.searched = 0;
            self.line += 1;
            position += end;
            if line.len() > lines.max.saturating_add(1) {
                return Err(Error::LineTooLong { path: lines.path.to_owned(), line: self.line, limit: lines.max });
            }
            if !line.trim_ascii().is_empty() {
                self.record(line, lines)?;
            }
        }
        Ok(position)
    }
}

/// The field names of an object, as many as fit in a message.
fn field_names(text: &str) -> String {
    let object: serde_json::Map<String, serde_json::Value> = serde_json::from_str(text).unwrap_or_default();
    let names: Vec<String> = object.keys().take(20).cloned().collect();
    if names.is_empty() { "none".into() } else { names.join(", ") }
}

/// The content of a field.
#[derive(Clone)]
enum Found {
    Missing,
    Twice,
    Null,
    Text(String),
    /// The verbatim text and what it is: a number, or true or false.
    Value(String, &'static str),
    Other(&'static str),
}

impl Found {
    /// Classifies a JSON value.
    fn of(json: &str) -> serde_json::Result<Self> {
        Ok(match json.as_bytes().first() {
            Some(b'"') => Self::Text(serde_json::from_str(json)?),
            Some(b'n') => Self::Null,
            Some(b't' | b'f') => Self::Value(json.to_owned(), "true or false"),
            Some(b'[') => Self::Other("a list"),
            Some(b'{') => Self::Other("an object"),
            _ => Self::Value(json.to_owned(), "a number"),
        })
    }
}

/// An object and the fields to find in it: a name, or a path of names separated by dots for nested fields.
struct Object<'a> {
    names: &'a [String],
    prefix: &'a str,
    found: &'a mut [Found],
}

impl<'de> DeserializeSeed<'de> for Object<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Object<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<(), A::Error> {
        while let Some(key) = map.next_key::<std::borrow::Cow<'de, str>>()? {
            let rest = |name: &'_ str| name.strip_prefix(self.prefix).is_some_and(|rest| rest == key);
            let inner = |name: &str| {
                let rest = name.strip_prefix(self.prefix).and_then(|rest| rest.strip_prefix(key.as_ref()));
                rest.is_some_and(|rest| rest.starts_with('.'))
            };
            if let Some(i) = self.names.iter().position(|name| rest(name)) {
                let value = Found::of(map.next_value::<&RawValue>()?.get()).map_err(A::Error::custom)?;
                let value = if matches!(self.found[i], Found::Missing) { value } else { Found::Twice };
                // The same field may be selected twice.
                for (name, found) in self.names.iter().zip(self.found.iter_mut()) {
                    if *name == self.names[i] {
                        *found = value.clone();
                    }
                }
            } else if self.names.iter().any(|name| inner(name)) {
                let prefix = format!("{}{key}.", self.prefix);
                map.next_value_seed(Inner(Object { names: self.names, prefix: &prefix, found: self.found }))?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

/// Visits an object; in anything else there is nothing to find.
struct Inner<'a>(Object<'a>);

impl<'de> DeserializeSeed<'de> for Inner<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

/// Visitors that ignore everything except objects.
macro_rules! passed_over {
    ($($visit:ident($type:ty)),*) => {
        $(fn $visit<E>(self, _: $type) -> std::result::Result<(), E> { Ok(()) })*
    };
}

impl<'de> Visitor<'de> for Inner<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> std::result::Result<(), A::Error> {
        self.0.visit_map(map)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> std::result::Result<(), A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }

    fn visit_unit<E>(self) -> std::result::Result<(), E> {
        Ok(())
    }

    passed_over!(visit_bool(bool), visit_u64(u64), visit_i64(i64), visit_f64(f64), visit_str(&str));
}
