//! Reads the model file of senv, specified in `docs/format.md`.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use super::{
    COUNTS, FORMAT_VERSION, KEY_CONFIG, KEY_CORPUS_TOKENS, KEY_CRC, KEY_HEADER_CRC, KEY_KIND, KEY_TERMS, KEY_VERSION,
    OFFSETS, TEXT,
    checksum::{crc, header_crc},
    header::{Header, TensorInfo},
};
use crate::Vocabulary;
use senv_base::{Error, Result, SharedBytes};
use senv_kernels::Table;
use senv_text::Tokenizer;

/// The path that errors name for a model that is not a file.
const IN_MEMORY: &str = "<in memory>";

/// A model file, memory-mapped or part of the program. Opening it reads only the header.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("model.safetensors");
/// use senv_core::{ModelFile, ModelWriter, Rows, Table};
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
    pub(super) path: PathBuf,
    bytes: SharedBytes,
    pub(super) header: Header,
}

/// A tensor of a [`ModelFile`], as stored.
#[derive(Debug, Clone)]
pub struct RawTensor {
    /// The type of the values: `F32`, `U8`, ...
    pub dtype: String,
    /// The shape.
    pub shape: Vec<usize>,
    /// The little-endian values.
    pub bytes: SharedBytes,
}

impl ModelFile {
    /// Memory-maps the file and checks its header: structure, version and, if recorded, checksum.
    ///
    /// While the file is open it must only be replaced, as senv does, and not written into. Writing into it changes the
    /// numbers that are read, and truncating it ends the program. For files that others may write into, use
    /// [`ModelFile::read`].
    ///
    /// # Errors
    /// [`Error::BadTensors`] if the file breaks the rules of safetensors; [`Error::NotAModel`] if it lacks the metadata
    /// of senv; [`Error::NewerVersion`]; [`Error::Checksum`] if the header is damaged.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Self::from_shared(path, SharedBytes::map(path)?)
    }

    /// Reads the whole file into memory, with the checks of [`ModelFile::open`]. Use it for a file that others may
    /// write into while it is used: a map would show their changes, or end the program if the file is truncated.
    ///
    /// # Errors
    /// The errors of [`ModelFile::open`]; [`Error::Io`] if the file cannot be read or memory runs out.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let bytes = std::fs::read(path).map_err(|e| Error::io("read", path, e))?;
        Self::from_shared(path, bytes.into())
    }

    /// Opens a model in memory: included with `include_bytes!`, or any vector of bytes. Errors call it `<in memory>`.
    ///
    /// Rows are used in place if they start at a multiple of four bytes in memory, and copied otherwise. Include F32
    /// tables in particular with an alignment.
    ///
    /// # Errors
    /// The errors of [`ModelFile::open`].
    pub fn from_bytes(bytes: impl Into<SharedBytes>) -> Result<Self> {
        Self::from_shared(Path::new(IN_MEMORY), bytes.into())
    }

    pub(crate) fn from_shared(path: &Path, bytes: SharedBytes) -> Result<Self> {
        let header = Header::parse(path, &bytes)?;
        let model = Self { path: path.to_owned(), bytes, header };
        let version = model.required(KEY_VERSION)?;
        let is_number = !version.is_empty() && version.bytes().all(|b| b.is_ascii_digit());
        let number = is_number.then(|| version.parse::<u32>());
        match number {
            Some(Ok(1..=FORMAT_VERSION)) => {}
            None | Some(Ok(0)) => {
                let reason = format!("{KEY_VERSION} is {version:?}, expected a number of at least 1");
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
            // Either all checksums exist or none, so damage to the name of this key is detected too.
            None if model.header.metadata.keys().any(|key| key.starts_with(KEY_CRC)) => {
                let reason = format!("the tensors have checksums, but the header has no {KEY_HEADER_CRC}");
                return Err(Error::BadTensors { path: model.path, reason });
            }
            None => {}
        }
        Ok(model)
    }

    fn check_header(&self, recorded: u32) -> Result<()> {
        let found = header_crc(&self.bytes[..self.header.data], recorded);
        if found != recorded {
            return Err(Error::Checksum { path: self.path.clone(), what: "the header".into(), found, recorded });
        }
        Ok(())
    }

    /// The path of the file; `<in memory>` if the model is not a file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The kind of the model, for example `sent2vec`.
    #[must_use]
    pub fn kind(&self) -> &str {
        self.header.metadata.get(KEY_KIND).map_or("", String::as_str)
    }

    /// The terms of use of the model, if it was built from one that has terms ([`Vocabulary::terms`]).
    #[must_use]
    pub fn terms(&self) -> Option<&str> {
        self.header.metadata.get(KEY_TERMS).map(String::as_str)
    }

    /// Returns an error if the model is of a different kind.
    ///
    /// # Errors
    /// [`Error::WrongKind`] if the kind is not `expected`.
    pub fn expect_kind(&self, expected: &str) -> Result<()> {
        if self.kind() == expected {
            return Ok(());
        }
        let (found, expected) = (self.kind().to_owned(), expected.to_owned());
        Err(Error::WrongKind { path: self.path.clone(), found, expected })
    }

    /// The JSON configuration, if there is one.
    #[must_use]
    pub fn config(&self) -> Option<&str> {
        self.header.metadata.get(KEY_CONFIG).map(String::as_str)
    }

    /// Returns an error if the model needs a tokenizer that this program does not have. Call this before parsing the
    /// configuration, which would fail.
    ///
    /// # Errors
    /// [`Error::MissingTokenizer`] if the tokenizer is not registered.
    pub fn expect_known_tokenizer(&self) -> Result<()> {
        match self.config().and_then(Tokenizer::missing_in) {
            Some(name) => Err(Error::MissingTokenizer { path: self.path.clone(), name }),
            None => Ok(()),
        }
    }

    /// All metadata, including that of the format.
    #[must_use]
    pub fn metadata(&self) -> &BTreeMap<String, String> {
        &self.header.metadata
    }

    /// Returns a required value of the metadata.
    ///
    /// # Errors
    /// [`Error::NotAModel`] if the key is missing.
    pub fn required(&self, key: &str) -> Result<&str> {
        let missing = || Error::NotAModel { path: self.path.clone(), key: key.to_owned() };
        self.header.metadata.get(key).map(String::as_str).ok_or_else(missing)
    }

    /// Iterates over name, type (`F32`, `U8`, ...), shape and number of bytes of each tensor, ordered by name.
    pub fn tensors(&self) -> impl ExactSizeIterator<Item = (&str, String, &[usize], usize)> + '_ {
        self.header
            .tensors
            .iter()
            .map(|(name, t)| (name.as_str(), t.dtype.to_string(), t.shape.as_slice(), t.end - t.start))
    }

    /// Whether the header contains a checksum of every tensor, so the header changes with the content of the file.
    #[must_use]
    pub fn has_checksums(&self) -> bool {
        self.header.tensors.keys().all(|name| self.header.metadata.contains_key(&format!("{KEY_CRC}{name}")))
    }

    /// Whether a tensor of this name exists.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.header.tensors.contains_key(name)
    }

    /// Returns the F32 matrix `name`, memory-mapped, or copied if it is not aligned to four bytes. Tables of one file
    /// share its map. Does not check the rows against their checksum; see [`ModelFile::verify`].
    ///
    /// # Errors
    /// [`Error::MissingTensor`]; [`Error::WrongTensor`] if it is not an F32 matrix.
    pub fn table(&self, name: &str) -> Result<Table> {
        let tensor = self.typed(name, "F32", Some(2), "F32 [rows, dim]")?;
        let (rows, dim) = (tensor.shape[0], tensor.shape[1]);
        let bytes = self.bytes.slice(tensor.start..tensor.end);
        if bytes.is_aligned_to(4) && cfg!(target_endian = "little") {
            return Table::from_shared(&self.path, bytes, rows, dim);
        }
        Table::from_vec(rows, dim, numbers(&bytes, f32::from_le_bytes))
    }

    /// Returns the bytes of tensor `name`, of any type and shape, without a copy. They keep the map alive and can
    /// outlive the [`ModelFile`]. Like the rows of a table, they are not checked against their checksum; see
    /// [`ModelFile::verify`].
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("model.safetensors");
    /// use senv_core::{ModelFile, ModelWriter};
    /// ModelWriter::new("example").bytes("codes", &[1, 2, 3]).save(&path)?;
    /// let tensor = ModelFile::open(&path)?.raw("codes")?;
    /// assert_eq!((tensor.dtype.as_str(), tensor.shape.as_slice()), ("U8", [3].as_slice()));
    /// assert_eq!(tensor.bytes[..], [1, 2, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::MissingTensor`] if the tensor does not exist.
    pub fn raw(&self, name: &str) -> Result<RawTensor> {
        let tensor = self.tensor(name)?;
        let bytes = self.bytes.slice(tensor.start..tensor.end);
        Ok(RawTensor { dtype: tensor.dtype.to_string(), shape: tensor.shape.clone(), bytes })
    }

    /// Returns the U8 tensor `name`, of any shape, memory-mapped.
    ///
    /// # Errors
    /// [`Error::MissingTensor`]; [`Error::WrongTensor`]; [`Error::Checksum`].
    pub fn bytes(&self, name: &str) -> Result<&[u8]> {
        let tensor = self.typed(name, "U8", None, "U8")?;
        self.check(name, tensor)?;
        Ok(self.data(tensor))
    }

    /// Returns a copy of the values of the F32 tensor `name`, of any shape.
    ///
    /// # Errors
    /// The errors of [`ModelFile::bytes`].
    pub fn f32s(&self, name: &str) -> Result<Vec<f32>> {
        self.copied(name, "F32", f32::from_le_bytes)
    }

    /// Returns a copy of the values of the F64 tensor `name`, of any shape.
    ///
    /// # Errors
    /// The errors of [`ModelFile::bytes`].
    pub fn f64s(&self, name: &str) -> Result<Vec<f64>> {
        self.copied(name, "F64", f64::from_le_bytes)
    }

    /// Returns a copy of the values of the U32 tensor `name`, of any shape.
    ///
    /// # Errors
    /// The errors of [`ModelFile::bytes`].
    pub fn u32s(&self, name: &str) -> Result<Vec<u32>> {
        self.copied(name, "U32", u32::from_le_bytes)
    }

    /// Returns a copy of the values of the U64 tensor `name`, of any shape.
    ///
    /// # Errors
    /// The errors of [`ModelFile::bytes`].
    pub fn u64s(&self, name: &str) -> Result<Vec<u64>> {
        self.copied(name, "U64", u64::from_le_bytes)
    }

    /// Returns the vocabulary that `ModelWriter::vocabulary` wrote.
    ///
    /// # Errors
    /// [`Error::MissingTensor`], [`Error::WrongTensor`] or [`Error::Checksum`] for a part of the vocabulary;
    /// [`Error::BadVocabulary`] if the parts do not match.
    pub fn vocabulary(&self) -> Result<Vocabulary> {
        let bad = |reason: String| Error::BadVocabulary { reason: format!("{}: {reason}", self.path.display()) };
        let corpus_tokens = match self.header.metadata.get(KEY_CORPUS_TOKENS) {
            Some(n) => n.parse().map_err(|_| bad(format!("{KEY_CORPUS_TOKENS} is {n:?}, expected a number")))?,
            None => 0,
        };
        // Check a copy and not the map: another program may write to the file between a check and the copy.
        let text = self.data(self.typed(TEXT, "U8", None, "U8")?).to_vec();
        self.check_bytes(TEXT, &text)?;
        let text = String::from_utf8(text).map_err(|e| bad(format!("{TEXT}: {e}")))?;
        let read = Vocabulary::from_parts(text, self.u32s(OFFSETS)?, self.u64s(COUNTS)?, corpus_tokens);
        let terms = self.header.metadata.get(KEY_TERMS).map(|terms| &**terms);
        read.map(|vocabulary| vocabulary.with_terms(terms)).map_err(|error| match error {
            Error::BadVocabulary { reason } => bad(reason),
            error => error,
        })
    }

    fn check(&self, name: &str, tensor: &TensorInfo) -> Result<()> {
        self.check_bytes(name, self.data(tensor))
    }

    /// Compares the bytes of a tensor, or a copy of them, with the checksum, if one is recorded.
    fn check_bytes(&self, name: &str, bytes: &[u8]) -> Result<()> {
        match self.recorded(&format!("{KEY_CRC}{name}"))? {
            Some(recorded) => self.compare(name, crc(bytes), recorded),
            None => Ok(()),
        }
    }

    /// Compares the computed checksum of a tensor with the recorded one, if there is one.
    pub(crate) fn check_sum(&self, name: &str, found: u32) -> Result<()> {
        match self.recorded(&format!("{KEY_CRC}{name}"))? {
            Some(recorded) => self.compare(name, found, recorded),
            None => Ok(()),
        }
    }

    pub(super) fn compare(&self, name: &str, found: u32, recorded: u32) -> Result<()> {
        if found == recorded {
            return Ok(());
        }
        Err(Error::Checksum { path: self.path.clone(), what: format!("tensor {name:?}"), found, recorded })
    }

    /// A checksum from the metadata.
    pub(super) fn recorded(&self, key: &str) -> Result<Option<u32>> {
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

    fn tensor(&self, name: &str) -> Result<&TensorInfo> {
        let missing = || Error::MissingTensor { path: self.path.clone(), name: name.to_owned() };
        self.header.tensors.get(name).ok_or_else(missing)
    }

    fn typed(&self, name: &str, dtype: &str, axes: Option<usize>, expected: &str) -> Result<&TensorInfo> {
        let tensor = self.tensor(name)?;
        if tensor.dtype != dtype || axes.is_some_and(|axes| tensor.shape.len() != axes) {
            let found = format!("{} {:?}", tensor.dtype, tensor.shape);
            let (path, name, expected) = (self.path.clone(), name.to_owned(), expected.to_owned());
            return Err(Error::WrongTensor { path, name, found, expected });
        }
        Ok(tensor)
    }

    pub(super) fn data(&self, tensor: &TensorInfo) -> &[u8] {
        &self.bytes[tensor.start..tensor.end]
    }

    fn copied<T, const N: usize>(&self, name: &str, dtype: &str, from: fn([u8; N]) -> T) -> Result<Vec<T>> {
        let tensor = self.typed(name, dtype, None, dtype)?;
        self.check(name, tensor)?;
        Ok(numbers(self.data(tensor), from))
    }
}

fn numbers<T, const N: usize>(bytes: &[u8], from: fn([u8; N]) -> T) -> Vec<T> {
    bytes.as_chunks::<N>().0.iter().map(|&bytes| from(bytes)).collect()
}
