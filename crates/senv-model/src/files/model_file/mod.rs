//! The model file of senv, specified in `docs/format.md`: any tensors, metadata, a version and checksums in a
//! safetensors file.
//!
//! [`ModelFile`] reads it, memory-mapped or as a part of the program; `ModelWriter` writes it.

pub(crate) mod checksum;
pub(crate) mod header;
mod reader;
mod verify;

pub use reader::{ModelFile, RawTensor};
pub use verify::Verification;

/// The highest format version that this crate reads. It writes 2 for a model whose tokenizer has a normalization, which
/// older readers would leave out, and 1 for any other.
pub const FORMAT_VERSION: u32 = 2;

pub(crate) const KEY_VERSION: &str = "senv.format_version";
pub(crate) const KEY_KIND: &str = "senv.kind";
pub(crate) const KEY_CONFIG: &str = "senv.config";
pub(crate) const KEY_CORPUS_TOKENS: &str = "senv.corpus_tokens";
pub(crate) const KEY_TERMS: &str = "senv.terms";
pub(crate) const KEY_HEADER_CRC: &str = "senv.header_crc32";
/// The prefix of the metadata keys of checksums; the name of a tensor follows.
pub(crate) const KEY_CRC: &str = "senv.crc32.";
pub(crate) const TEXT: &str = "vocabulary.text";
pub(crate) const OFFSETS: &str = "vocabulary.offsets";
pub(crate) const COUNTS: &str = "vocabulary.counts";
