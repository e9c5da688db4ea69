//! Reads the model file of the project, whose layout is specified in `docs/format.md`.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use memmap2::Mmap;
use rayon::prelude::*;
use safetensors::Dtype;
use senv_core::{Table, Vocabulary};

use crate::{
    Error, Result,
    header::{Header, TensorInfo},
    map::map,
};

/// The version of the layout that this crate writes, and the highest one that it reads.
pub const FORMAT_VERSION: u32 = 1;

pub(crate) const KEY_VERSION: &str = "senv.format_version";
pub(crate) const KEY_KIND: &str = "senv.kind";
pub(crate) const KEY_CONFIG: &str = "senv.config";
pub(crate) const KEY_CORPUS_TOKENS: &str = "senv.corpus_tokens";
pub(crate) const KEY_HEADER_CRC: &str = "senv.header_crc32";
/// Prefix of the metadata keys of checksums, before the name of a tensor.
pub(crate) const KEY_CRC: &str = "senv.crc32.";
pub(crate) const TEXT: &str = "vocabulary.text";
pub(crate) const OFFSETS: &str = "vocabulary.offsets";
pub(crate) const COUNTS: &str = "vocabulary.counts";

/// Bytes that one thread computes a checksum of at a time.
const PIECE: usize = 1 << 20;

/// A memory-mapped model file: opening it reads the header alone.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("model.safetensors");
/// use senv_core::{Rows, Table};
/// use senv_store::{ModelFile, ModelWriter};
/// let rows = Table::from_vec(2, 2, vec![1.0, 2.0, 3.0, 4.0])?;
/// ModelWriter::new("example").config(r#"{"dim":2}"#).table("rows", &rows).save(&path)?;
///
/// let model = ModelFile::open(&path)?;
/// model.expect_kind("example")?;
/// assert_eq!(model.config(), Some(r#"{"dim":2}"#));
/// assert_eq!(model.table("rows")?.row(1), [3.0, 4.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ModelFile {
    path: PathBuf,
    map: Arc<Mmap>,
    header: Header,
}

impl ModelFile {
    /// Memory-maps the file and checks its header: structure, version and, where it is recorded, checksum.
    ///
    /// # Errors
    /// [`Error::BadTensors`] if it breaks the rules of safetensors; [`Error::NotAModel`] without the metadata of
    /// senv; [`Error::NewerVersion`]; [`Error::Checksum`] if the header is damaged.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref().to_owned();
        let map = map(&path)?;
        let header = Header::parse(&path, &map)?;
        let model = Self { path, map, header };
        let version = model.required(KEY_VERSION)?;
        let is_number = !version.is_empty() && version.bytes().all(|b| b.is_ascii_digit());
        let number = is_number.then(|| version.parse::<u32>());
        match number {
            Some(Ok(1..=FORMAT_VERSION)) => {}
            None | Some(Ok(0)) => {
                let reason = format!("{KEY_VERSION} is {version:?}, expected a number from 1");
                return Err(Error::BadTensors { path: model.path, reason });
            }
            Some(_) => {
                let found = version.to_owned();
                return Err(Error::NewerVersion { path: model.path, found, supported: FORMAT_VERSION });
            }
        }
        model.required(KEY_KIND)?;
        match model.recorded(KEY_HEADER_CRC)? {
            Some(recorded) => model.check_header(recorded)?,
            // Checksums are all there or none, so that damage to the name of this key is found as well.
            None if model.header.metadata.keys().any(|key| key.starts_with(KEY_CRC)) => {
                let reason = format!("the tensors have checksums, the header ({KEY_HEADER_CRC}) has none");
                return Err(Error::BadTensors { path: model.path, reason });
            }
            None => {}
        }
        Ok(model)
    }

    fn check_header(&self, recorded: u32) -> Result<()> {
        let found = header_crc(&self.map[..self.header.data], recorded);
        if found != recorded {
            return Err(Error::Checksum { path: self.path.clone(), what: "the header".into(), found, recorded });
        }
        Ok(())
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The kind of the model, such as `sent2vec`.
    #[must_use]
    pub fn kind(&self) -> &str {
        self.header.metadata.get(KEY_KIND).map_or("", String::as_str)
    }

    /// Returns an error for a model of another kind.
    ///
    /// # Errors
    /// [`Error::WrongKind`].
    pub fn expect_kind(&self, expected: &str) -> Result<()> {
        if self.kind() == expected {
            return Ok(());
        }
        let (found, expected) = (self.kind().to_owned(), expected.to_owned());
        Err(Error::WrongKind { path: self.path.clone(), found, expected })
    }

    /// The configuration, JSON; `None` if the file has none.
    #[must_use]
    pub fn config(&self) -> Option<&str> {
        self.header.metadata.get(KEY_CONFIG).map(String::as_str)
    }

    /// All metadata, including those of the format.
    #[must_use]
    pub fn metadata(&self) -> &BTreeMap<String, String> {
        &self.header.metadata
    }

    /// A required value of the metadata.
    ///
    /// # Errors
    /// [`Error::NotAModel`] if it is missing.
    pub fn required(&self, key: &str) -> Result<&str> {
        let missing = || Error::NotAModel { path: self.path.clone(), key: key.to_owned() };
        self.header.metadata.get(key).map(String::as_str).ok_or_else(missing)
    }

    /// Name, type (`F32`, `U8`, ...), shape and bytes of each tensor, by name.
    pub fn tensors(&self) -> impl ExactSizeIterator<Item = (&str, String, &[usize], usize)> + '_ {
        self.header
            .tensors
            .iter()
            .map(|(name, t)| (name.as_str(), t.dtype.to_string(), t.shape.as_slice(), t.end - t.start))
    }

    /// Whether there is a tensor of this name.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.header.tensors.contains_key(name)
    }

    /// The F32 matrix `name`, memory-mapped (copied only where another program wrote it at an odd byte). Tables of one
    /// file share its map. The rows are not compared with their checksum: see [`ModelFile::verify`].
    ///
    /// # Errors
    /// [`Error::MissingTensor`]; [`Error::WrongTensor`] if it is no F32 matrix.
    pub fn table(&self, name: &str) -> Result<Table> {
        let tensor = self.typed(name, Dtype::F32, Some(2), "F32 [rows, dim]")?;
        let (rows, dim) = (tensor.shape[0], tensor.shape[1]);
        if tensor.start % 4 == 0 && cfg!(target_endian = "little") {
            return Ok(Table::from_map(&self.path, Arc::clone(&self.map), tensor.start, rows, dim)?);
        }
        Ok(Table::from_vec(rows, dim, numbers(self.data(tensor), f32::from_le_bytes))?)
    }

    /// The U8 tensor `name`, of any shape, memory-mapped.
    ///
    /// # Errors
    /// [`Error::MissingTensor`]; [`Error::WrongTensor`]; [`Error::Checksum`].
    pub fn bytes(&self, name: &str) -> Result<&[u8]> {
        let tensor = self.typed(name, Dtype::U8, None, "U8")?;
        self.check(name, tensor)?;
        Ok(self.data(tensor))
    }

    /// The values of the F32 tensor `name`, of any shape, copied.
    ///
    /// # Errors
    /// As [`ModelFile::bytes`].
    pub fn f32s(&self, name: &str) -> Result<Vec<f32>> {
        self.copied(name, Dtype::F32, "F32", f32::from_le_bytes)
    }

    /// The values of the F64 tensor `name`, of any shape, copied.
    ///
    /// # Errors
    /// As [`ModelFile::bytes`].
    pub fn f64s(&self, name: &str) -> Result<Vec<f64>> {
        self.copied(name, Dtype::F64, "F64", f64::from_le_bytes)
    }

    /// The values of the U32 tensor `name`, of any shape, copied.
    ///
    /// # Errors
    /// As [`ModelFile::bytes`].
    pub fn u32s(&self, name: &str) -> Result<Vec<u32>> {
        self.copied(name, Dtype::U32, "U32", u32::from_le_bytes)
    }

    /// The values of the U64 tensor `name`, of any shape, copied.
    ///
    /// # Errors
    /// As [`ModelFile::bytes`].
    pub fn u64s(&self, name: &str) -> Result<Vec<u64>> {
        self.copied(name, Dtype::U64, "U64", u64::from_le_bytes)
    }

    /// The vocabulary, as [`ModelWriter::vocabulary`](crate::ModelWriter::vocabulary) writes it.
    ///
    /// # Errors
    /// [`Error::MissingTensor`], [`Error::WrongTensor`] or [`Error::Checksum`] for a part of it;
    /// [`senv_core::Error::BadVocabulary`] if the parts do not fit together.
    pub fn vocabulary(&self) -> Result<Vocabulary> {
        let bad =
            |reason: String| senv_core::Error::BadVocabulary { reason: format!("{}: {reason}", self.path.display()) };
        let corpus_tokens = match self.header.metadata.get(KEY_CORPUS_TOKENS) {
            Some(n) => n.parse().map_err(|_| bad(format!("{KEY_CORPUS_TOKENS} is {n:?}, expected a number")))?,
            None => 0,
        };
        let text = std::str::from_utf8(self.bytes(TEXT)?).map_err(|e| bad(format!("{TEXT}: {e}")))?.to_owned();
        Ok(Vocabulary::from_parts(text, self.u32s(OFFSETS)?, self.u64s(COUNTS)?, corpus_tokens)?)
    }

    /// Reads the whole file and compares every tensor with its checksum, where one is recorded.
    ///
    /// # Errors
    /// [`Error::Checksum`] for the first tensor, by name, that is damaged.
    pub fn verify(&self) -> Result<()> {
        self.header.tensors.iter().try_for_each(|(name, tensor)| self.check(name, tensor))
    }

    fn check(&self, name: &str, tensor: &TensorInfo) -> Result<()> {
        let Some(recorded) = self.recorded(&format!("{KEY_CRC}{name}"))? else { return Ok(()) };
        let found = crc(self.data(tensor));
        if found != recorded {
            return Err(Error::Checksum { path: self.path.clone(), what: format!("tensor {name:?}"), found, recorded });
        }
        Ok(())
    }

    /// A checksum of the metadata.
    fn recorded(&self, key: &str) -> Result<Option<u32>> {
        let Some(text) = self.header.metadata.get(key) else { return Ok(None) };
        let all_hex = text.len() == 8 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        match u32::from_str_radix(text, 16) {
            Ok(n) if all_hex => Ok(Some(n)),
            _ => {
                let reason = format!("{key} is {text:?}, expected eight hexadecimal digits");
                Err(Error::BadTensors { path: self.path.clone(), reason })
            }
        }
    }

    fn typed(&self, name: &str, dtype: Dtype, axes: Option<usize>, expected: &str) -> Result<&TensorInfo> {
        let path = || self.path.clone();
        let tensor = self.header.tensors.get(name);
        let tensor = tensor.ok_or_else(|| Error::MissingTensor { path: path(), name: name.to_owned() })?;
        if tensor.dtype != dtype || axes.is_some_and(|axes| tensor.shape.len() != axes) {
            let found = format!("{} {:?}", tensor.dtype, tensor.shape);
            return Err(Error::WrongTensor {
                path: path(),
                name: name.to_owned(),
                found,
                expected: expected.to_owned(),
            });
        }
        Ok(tensor)
    }

    fn data(&self, tensor: &TensorInfo) -> &[u8] {
        &self.map[tensor.start..tensor.end]
    }

    fn copied<T, const N: usize>(
        &self,
        name: &str,
        dtype: Dtype,
        expected: &str,
        from: fn([u8; N]) -> T,
    ) -> Result<Vec<T>> {
        let tensor = self.typed(name, dtype, None, expected)?;
        self.check(name, tensor)?;
        Ok(numbers(self.data(tensor), from))
    }
}

fn numbers<T, const N: usize>(bytes: &[u8], from: fn([u8; N]) -> T) -> Vec<T> {
    bytes.as_chunks::<N>().0.iter().map(|&bytes| from(bytes)).collect()
}

/// CRC-32 of bytes; of many, on all threads.
pub(crate) fn crc(bytes: &[u8]) -> u32 {
    if bytes.len() <= PIECE {
        return crc32fast::hash(bytes);
    }
    let pieces: Vec<crc32fast::Hasher> = bytes
        .par_chunks(PIECE)
        .map(|piece| {
            let mut hasher = crc32fast::Hasher::new();
            hasher.update(piece);
            hasher
        })
        .collect();
    combine(pieces)
}

/// The checksum of adjacent pieces.
pub(crate) fn combine(pieces: Vec<crc32fast::Hasher>) -> u32 {
    let mut all = crc32fast::Hasher::new();
    for piece in &pieces {
        all.combine(piece);
    }
    all.finalize()
}

/// The checksum of length word and header, with the checksum itself as eight zeros.
pub(crate) fn header_crc(header: &[u8], recorded: u32) -> u32 {
    let digits = format!("\"{KEY_HEADER_CRC}\":\"{recorded:08x}\"");
    let mut hasher = crc32fast::Hasher::new();
    match memchr::memmem::find(header, digits.as_bytes()) {
        Some(at) => {
            let at = at + digits.len() - 9;
            hasher.update(&header[..at]);
            hasher.update(b"00000000");
            hasher.update(&header[at + 8..]);
        }
        // Rewritten with other blanks by another program, which should have dropped the key.
        None => hasher.update(header),
    }
    hasher.finalize()
}
