//! Parses the header of a safetensors file and validates it against the file.
//!
//! In addition to the rules of the format, rejects too many tensors and duplicate names. JSON maps keep one of two
//! duplicates, and programs disagree on which.

use std::{
    collections::{BTreeMap, HashSet},
    fmt,
    path::Path,
};

use serde::{
    Deserialize,
    de::{Deserializer, Error as _, MapAccess, Visitor},
};

use senv_base::{Error, Result};

/// The types of the format, with the number of bits per value.
const TYPES: [(&str, usize); 22] = [
    ("F64", 64),
    ("F32", 32),
    ("F16", 16),
    ("BF16", 16),
    ("U64", 64),
    ("U32", 32),
    ("U16", 16),
    ("U8", 8),
    ("I64", 64),
    ("I32", 32),
    ("I16", 16),
    ("I8", 8),
    ("BOOL", 8),
    ("C64", 64),
    ("F8_E5M2", 8),
    ("F8_E4M3", 8),
    ("F8_E8M0", 8),
    ("F8_E4M3FNUZ", 8),
    ("F8_E5M2FNUZ", 8),
    ("F6_E2M3", 6),
    ("F6_E3M2", 6),
    ("F4", 4),
];

/// The size in bytes of the header length.
pub(crate) const LENGTH: usize = 8;
/// The maximum header length in bytes.
pub(crate) const MAX_HEADER: u64 = 100_000_000;
/// The maximum number of tensors.
pub(crate) const MAX_TENSORS: usize = 65_536;
/// The key of the metadata.
pub(crate) const METADATA: &str = "__metadata__";

/// The type, shape and position of a tensor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TensorInfo {
    /// The name of the type.
    pub(crate) dtype: &'static str,
    pub(crate) shape: Vec<usize>,
    /// The offsets of the first byte and the end, from the start of the file.
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// A validated header.
#[derive(Debug)]
pub(crate) struct Header {
    pub(crate) metadata: BTreeMap<String, String>,
    pub(crate) tensors: BTreeMap<String, TensorInfo>,
    /// The size of length word and header: the offset of the data.
    pub(crate) data: usize,
}

impl Header {
    /// Reads the header of a whole file.
    pub(crate) fn parse(path: &Path, file: &[u8]) -> Result<Self> {
        let bad = |reason: String| Error::BadTensors { path: path.to_owned(), reason };
        let Some(length) = file.first_chunk::<LENGTH>() else {
            return Err(bad(format!("{} bytes, expected at least 8", file.len())));
        };
        let length = u64::from_le_bytes(*length);
        if file.get(LENGTH).is_some_and(|&first| first != b'{') {
            return Err(bad("it has no header, so it is another kind of file or damaged".into()));
        }
        if length > MAX_HEADER {
            return Err(bad(format!("the header length is {length} bytes, above the limit of {MAX_HEADER}")));
        }
        let data = LENGTH + length as usize;
        let Some(text) = file.get(LENGTH..data) else {
            return Err(bad(format!("the header should end at byte {data}, but the file ends at byte {}", file.len())));
        };
        let table: Tensors =
            serde_json::from_slice(text).map_err(|e| bad(format!("the header is not a table of tensors: {e}")))?;
        let tensors = table.checked(file.len() - data).map_err(bad)?;
        let in_file = |(name, info): (String, TensorInfo)| {
            (name, TensorInfo { start: data + info.start, end: data + info.end, ..info })
        };
        Ok(Self { metadata: table.metadata, tensors: tensors.into_iter().map(in_file).collect(), data })
    }
}

/// The header as stored.
#[derive(Default)]
struct Tensors {
    metadata: BTreeMap<String, String>,
    entries: Vec<(String, Entry)>,
}

#[derive(Deserialize)]
struct Entry {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: (usize, usize),
}

impl Tensors {
    /// Checks types, shapes and ranges. In the order of their offsets, the tensors must cover all `length` bytes of
    /// data without gaps or overlaps. Positions are relative to the start of the data.
    fn checked(&self, length: usize) -> Result<Vec<(String, TensorInfo)>, String> {
        let mut tensors = Vec::with_capacity(self.entries.len());
        for (name, entry) in &self.entries {
            let (start, end) = entry.data_offsets;
            let Some(&(dtype, bits)) = TYPES.iter().find(|(dtype, _)| *dtype == entry.dtype) else {
                return Err(format!("tensor {name:?} has unknown type {:?}", entry.dtype));
            };
            let size = entry.shape.iter().try_fold(bits, |size, &n| size.checked_mul(n));
            match size {
                Some(size) if size % 8 == 0 && end.checked_sub(start) == Some(size / 8) => {}
                _ => {
                    return Err(format!(
                        "tensor {name:?}, {dtype} {:?}, cannot have bytes {start} to {end}",
                        entry.shape
                    ));
                }
            }
            tensors.push((name.clone(), TensorInfo { dtype, shape: entry.shape.clone(), start, end }));
        }
        tensors.sort_by_key(|(_, info)| (info.start, info.end));
        let mut at = 0;
        for (name, info) in &tensors {
            if info.start != at {
                return Err(format!("tensor {name:?} starts at byte {} of the data, expected {at}", info.start));
            }
            at = info.end;
        }
        if at != length {
            return Err(format!("tensors end at byte {at}, but there are {length} bytes of data"));
        }
        Ok(tensors)
    }
}

impl<'de> Deserialize<'de> for Tensors {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TensorsVisitor;
        impl<'de> Visitor<'de> for TensorsVisitor {
            type Value = Tensors;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table of tensors")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Tensors, A::Error> {
                let (mut seen, mut tensors) = (HashSet::new(), Tensors::default());
                while let Some(name) = map.next_key::<String>()? {
                    if seen.contains(&name) {
                        return Err(A::Error::custom(format!("duplicate name {name:?}")));
                    }
                    seen.insert(name.clone());
                    if seen.len() > MAX_TENSORS + 1 {
                        return Err(A::Error::custom(format!("more than {MAX_TENSORS} tensors")));
                    }
                    if name == METADATA {
                        tensors.metadata = map.next_value::<UniqueKeys>()?.0;
                    } else {
                        tensors.entries.push((name, map.next_value()?));
                    }
                }
                Ok(tensors)
            }
        }
        deserializer.deserialize_map(TensorsVisitor)
    }
}

/// A map of strings without duplicate keys.
struct UniqueKeys(BTreeMap<String, String>);

impl<'de> Deserialize<'de> for UniqueKeys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeysVisitor;
        impl<'de> Visitor<'de> for KeysVisitor {
            type Value = UniqueKeys;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table of strings")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<UniqueKeys, A::Error> {
                let mut entries = BTreeMap::new();
                while let Some((key, value)) = map.next_entry::<String, String>()? {
                    if entries.contains_key(&key) {
                        return Err(A::Error::custom(format!("duplicate metadata key {key:?}")));
                    }
                    entries.insert(key, value);
                }
                Ok(UniqueKeys(entries))
            }
        }
        deserializer.deserialize_map(KeysVisitor)
    }
}
