//! The model file of the project, whose layout is specified in `docs/format.md`: any tensors, metadata, a version and
//! checksums in a safetensors file.
//!
//! [`ModelFile`] reads it, memory-mapped or as a part of the program; [`ModelWriter`] writes it.

mod checksum;
mod header;
mod map;
mod reader;
mod verify;
#[cfg(feature = "write")]
mod writer;

pub use reader::{ModelFile, RawTensor};
pub use verify::Verification;
#[cfg(feature = "write")]
pub use writer::ModelWriter;

/// The version of the layout that this crate writes, and the highest one that it reads.
pub const FORMAT_VERSION: u32 = 1;

const KEY_VERSION: &str = "senv.format_version";
const KEY_KIND: &str = "senv.kind";
const KEY_CONFIG: &str = "senv.config";
const KEY_CORPUS_TOKENS: &str = "senv.corpus_tokens";
const KEY_TERMS: &str = "senv.terms";
const KEY_HEADER_CRC: &str = "senv.header_crc32";
/// Prefix of the metadata keys of checksums, before the name of a tensor.
const KEY_CRC: &str = "senv.crc32.";
const TEXT: &str = "vocabulary.text";
const OFFSETS: &str = "vocabulary.offsets";
const COUNTS: &str = "vocabulary.counts";
