//! The header of a safetensors file, validated against the file.
//!
//! The `safetensors` crate checks types, shapes and ranges. It does not check the following, which is done here: the
//! number of tensors, duplicate names (JSON maps keep one of them, and programs disagree on which), and offsets whose
//! sum with the header would overflow.

use std::{
    collections::{BTreeMap, HashSet},
    fmt,
    path::Path,
};

use safetensors::{Dtype, SafeTensors};
use serde::{
    Deserialize,
    de::{Deserializer, Error as _, MapAccess, Visitor},
};

use crate::{Error, Result};

/// Bytes of the length of the header.
pub(super) const LENGTH: usize = 8;
/// The longest header.
pub(super) const MAX_HEADER: u64 = 100_000_000;
/// The most tensors.
pub(super) const MAX_TENSORS: usize = 65_536;
/// The key of the metadata.
pub(super) const METADATA: &str = "__metadata__";

/// The type, shape and position of a tensor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TensorInfo {
    pub(super) dtype: Dtype,
    pub(super) shape: Vec<usize>,
    /// First byte and end, from the start of the file.
    pub(super) start: usize,
    pub(super) end: usize,
}

/// A validated header.
#[derive(Debug)]
pub(super) struct Header {
    pub(super) metadata: BTreeMap<String, String>,
    pub(super) tensors: BTreeMap<String, TensorInfo>,
    /// Length word and header: the first byte of the data.
    pub(super) data: usize,
}

impl Header {
    /// Reads the header of a whole file.
    pub(super) fn parse(path: &Path, file: &[u8]) -> Result<Self> {
        let bad = |reason: String| Error::BadTensors { path: path.to_owned(), reason };
        let Some(length) = file.first_chunk::<LENGTH>() else {
            return Err(bad(format!("{} bytes, expected at least 8", file.len())));
        };
        let length = u64::from_le_bytes(*length);
        if length > MAX_HEADER {
            return Err(bad(format!("the header is said to have {length} bytes, the limit is {MAX_HEADER}")));
        }
        let data = LENGTH + length as usize;
        let Some(text) = file.get(LENGTH..data) else {
            return Err(bad(format!("the header is said to end at byte {data}, the file ends at {}", file.len())));
        };
        if text.first() != Some(&b'{') {
            return Err(bad("the header does not start with a brace".into()));
        }
        let names: Names =
            serde_json::from_slice(text).map_err(|e| bad(format!("the header is no table of tensors: {e}")))?;
        if names.end > (file.len() - data) as u64 {
            return Err(bad(format!("tensors end at byte {} of {} bytes of data", names.end, file.len() - data)));
        }
        let (_, checked) = SafeTensors::read_metadata(file).map_err(|e| bad(e.to_string()))?;
        let metadata = checked.metadata().iter().flatten().map(|(k, v)| (k.clone(), v.clone())).collect();
        let tensors = checked.tensors().into_iter().map(|(name, info)| {
            let (start, end) = info.data_offsets;
            let info =
                TensorInfo { dtype: info.dtype, shape: info.shape.clone(), start: data + start, end: data + end };
            (name, info)
        });
        Ok(Self { metadata, tensors: tensors.collect(), data })
    }
}

/// A first pass over the header: checks for duplicate and too many names, and finds the highest end.
#[derive(Default)]
struct Names {
    end: u64,
}

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NamesVisitor;
        impl<'de> Visitor<'de> for NamesVisitor {
            type Value = Names;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table of tensors")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Names, A::Error> {
                #[derive(Deserialize)]
                struct Range {
                    data_offsets: (u64, u64),
                }
                let (mut seen, mut names) = (HashSet::new(), Names::default());
                while let Some(name) = map.next_key::<String>()? {
                    if name == METADATA {
                        map.next_value::<UniqueKeys>()?;
                    } else {
                        names.end = names.end.max(map.next_value::<Range>()?.data_offsets.1);
                    }
                    if seen.contains(&name) {
                        return Err(A::Error::custom(format!("the name {name:?} stands twice")));
                    }
                    seen.insert(name);
                    if seen.len() > MAX_TENSORS + 1 {
                        return Err(A::Error::custom(format!("more than {MAX_TENSORS} tensors")));
                    }
                }
                Ok(names)
            }
        }
        deserializer.deserialize_map(NamesVisitor)
    }
}

/// A table of strings without duplicate keys.
struct UniqueKeys;

impl<'de> Deserialize<'de> for UniqueKeys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeysVisitor;
        impl<'de> Visitor<'de> for KeysVisitor {
            type Value = UniqueKeys;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table of strings")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<UniqueKeys, A::Error> {
                let mut seen = HashSet::new();
                while let Some((key, _)) = map.next_entry::<String, String>()? {
                    if let Some(key) = seen.replace(key) {
                        return Err(A::Error::custom(format!("the metadata key {key:?} stands twice")));
                    }
                }
                Ok(UniqueKeys)
            }
        }
        deserializer.deserialize_map(KeysVisitor)
    }
}
