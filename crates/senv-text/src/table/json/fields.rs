//! Finds fields of a JSON object.

use std::fmt;

use serde::{
    Deserialize,
    de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

/// The names of the fields of an object, in their order.
pub(crate) struct Names(pub(crate) Vec<String>);

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Visited;
        impl<'de> Visitor<'de> for Visited {
            type Value = Names;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Names, A::Error> {
                let mut names = Vec::new();
                while let Some((name, IgnoredAny)) = map.next_entry()? {
                    names.push(name);
                }
                Ok(Names(names))
            }
        }
        deserializer.deserialize_map(Visited)
    }
}

/// The field names of an object, as many as fit in a message.
pub(super) fn field_names(text: &str) -> String {
    let Names(mut names) = serde_json::from_str(text).unwrap_or(Names(Vec::new()));
    names.truncate(20);
    if names.is_empty() { "none".into() } else { names.join(", ") }
}

/// The content of a field.
#[derive(Clone)]
pub(super) enum Found {
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
pub(super) struct Object<'a> {
    pub(super) names: &'a [String],
    pub(super) prefix: &'a str,
    pub(super) found: &'a mut [Found],
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
