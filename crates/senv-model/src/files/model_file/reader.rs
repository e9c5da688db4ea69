//! Reads the model file of the project, whose layout is specified in `docs/format.md`.

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

/// The path of a model that is no file, in errors.
const IN_MEMORY: &str = "<in memory>";

/// A model file, memory-mapped or part of the program: opening it reads the header alone.
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

/// A tensor of a [`ModelFile`] as it is stored.
#[derive(Debug, Clone)]
pub struct RawTensor {
    /// The type of its values: `F32`, `U8`, ...
    pub dtype: String,
    /// Its shape.
    pub shape: Vec<usize>,
    /// Its little-endian values.
    pub bytes: SharedBytes,
}

impl ModelFile {
    /// Memory-maps the file and checks its header: structure, version and, where it is recorded, checksum.
    ///
    /// The file must not be written into while it is open, only replaced, as senv does: other numbers would be read,
    /// and a file that gets shorter ends the program. [`ModelFile::read`] is for files that others may write into.
    ///
    /// # Errors
    /// [`Error::BadTensors`] if it breaks the rules of safetensors; [`Error::NotAModel`] without the metadata of
    /// senv; [`Error::NewerVersion`]; [`Error::Checksum`] if the header is damaged.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Self::from_shared(path, SharedBytes::map(path)?)
    }

    /// Reads the whole file into memory, with the same checks: for a file that others may write into while it is used.
    /// The map of [`ModelFile::open`] would follow them, or end the program where the file gets shorter.
    ///
    /// # Errors
    /// As [`ModelFile::open`]; [`Error::Io`] if it cannot be read, also for lack of memory.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let bytes = std::fs::read(path).map_err(|e| Error::io("read", path, e))?;
        Self::from_shared(path, bytes.into())
    }

    /// A model that is in memory: part of the program by `include_bytes!`, or a vector of bytes that came from
    /// somewhere. Errors name it `<in memory>`.
    ///
    /// Rows are used where they are if they start at a multiple of four bytes in memory, and are copied otherwise: F32
    /// tables in particular are best included with an alignment.
    ///
    /// # Errors
    /// As [`ModelFile::open`].
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
            // Checksums are all there or none, so that damage to the name of this key is found as well.
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

    /// The file; `<in memory>` for a model that is none.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The kind of the model, such as `sent2vec`.
    #[must_use]
    pub fn kind(&self) -> &str {
        self.header.metadata.get(KEY_KIND).map_or("", String::as_str)
    }

    /// The terms under which the model may be used, where another that it was made of has some ([`Vocabulary::terms`]).
    #[must_use]
    pub fn terms(&self) -> Option<&str> {
        self.header.metadata.get(KEY_TERMS).map(String::as_str)
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

    /// Returns an error for a model whose text is tokenized by a tokenizer that this program does not have: to be asked
    /// before the configuration is parsed, which fails then.
    ///
    /// # Errors
    /// [`Error::MissingTokenizer`].
    pub fn expect_known_tokenizer(&self) -> Result<()> {
        match self.config().and_then(Tokenizer::missing_in) {
            Some(name) => Err(Error::MissingTokenizer { path: self.path.clone(), name }),
            None => Ok(()),
        }
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

    /// Whether the header has a checksum of every tensor, so that it changes with the content of the file.
    #[must_use]
    pub fn has_checksums(&self) -> bool {
        self.header.tensors.keys().all(|name| self.header.metadata.contains_key(&format!("{KEY_CRC}{name}")))
    }

    /// Whether there is a tensor of this name.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.header.tensors.contains_key(name)
    }

    /// The F32 matrix `name`, memory-mapped (copied only where it starts at an odd byte). Tables of one file share its
    /// map. The rows are not compared with their checksum: see [`ModelFile::verify`].
    ///
    /// # Errors
    /// [`Error::MissingTensor`]; [`Error::WrongTensor`] if it is no F32 matrix.
    pub fn table(&self, name: &str) -> Result<Table> {
        let tensor = self.typed(name, "F32", Some(2), "F32 [rows, dim]")?;
        let (rows, dim) = (tensor.shape[0], tensor.shape[1]);
        let bytes = self.bytes.slice(tensor.start..tensor.end);
        if bytes.is_aligned_to(4) && cfg!(target_endian = "little") {
            return Table::from_shared(&self.path, bytes, rows, dim);
        }
        Table::from_vec(rows, dim, numbers(&bytes, f32::from_le_bytes))
    }

    /// The bytes of tensor `name`, of any type and shape, without a copy: they keep the map alive, and may outlive the
    /// [`ModelFile`]. As the rows of a table they are not compared with their checksum: see [`ModelFile::verify`].
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
    /// [`Error::MissingTensor`].
    pub fn raw(&self, name: &str) -> Result<RawTensor> {
        let tensor = self.tensor(name)?;
        let bytes = self.bytes.slice(tensor.start..tensor.end);
        Ok(RawTensor { dtype: tensor.dtype.to_string(), shape: tensor.shape.clone(), bytes })
    }

    /// The U8 tensor `name`, of any shape, memory-mapped.
    ///
    /// # Errors
    /// [`Error::MissingTensor`]; [`Error::WrongTensor`]; [`Error::Checksum`].
    pub fn bytes(&self, name: &str) -> Result<&[u8]> {
        let tensor = self.typed(name, "U8", None, "U8")?;
        self.check(name, tensor)?;
        Ok(self.data(tensor))
    }

    /// The values of the F32 tensor `name`, of any shape, copied.
    ///
    /// # Errors
    /// As [`ModelFile::bytes`].
    pub fn f32s(&self, name: &str) -> Result<Vec<f32>> {
        self.copied(name, "F32", f32::from_le_bytes)
    }

    /// The values of the F64 tensor `name`, of any shape, copied.
    ///
    /// # Errors
    /// As [`ModelFile::bytes`].
    pub fn f64s(&self, name: &str) -> Result<Vec<f64>> {
        self.copied(name, "F64", f64::from_le_bytes)
    }

    /// The values of the U32 tensor `name`, of any shape, copied.
    ///
    /// # Errors
    /// As [`ModelFile::bytes`].
    pub fn u32s(&self, name: &str) -> Result<Vec<u32>> {
        self.copied(name, "U32", u32::from_le_bytes)
    }

    /// The values of the U64 tensor `name`, of any shape, copied.
    ///
    /// # Errors
    /// As [`ModelFile::bytes`].
    pub fn u64s(&self, name: &str) -> Result<Vec<u64>> {
        self.copied(name, "U64", u64::from_le_bytes)
    }

    /// The vocabulary, as `ModelWriter::vocabulary` writes it.
    ///
    /// # Errors
    /// [`Error::MissingTensor`], [`Error::WrongTensor`] or [`Error::Checksum`] for a part of it;
    /// [`Error::BadVocabulary`] if the parts do not fit together.
    pub fn vocabulary(&self) -> Result<Vocabulary> {
        let bad = |reason: String| Error::BadVocabulary { reason: format!("{}: {reason}", self.path.display()) };
        let corpus_tokens = match self.header.metadata.get(KEY_CORPUS_TOKENS) {
            Some(n) => n.parse().map_err(|_| bad(format!("{KEY_CORPUS_TOKENS} is {n:?}, expected a number")))?,
            None => 0,
        };
        // A copy is checked and not the map: another program may write to the file between a check and the copy.
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

    /// Compares the bytes of a tensor, or a copy of them, with its checksum, where one is recorded.
    fn check_bytes(&self, name: &str, bytes: &[u8]) -> Result<()> {
        match self.recorded(&format!("{KEY_CRC}{name}"))? {
            Some(recorded) => self.compare(name, crc(bytes), recorded),
            None => Ok(()),
        }
    }

    /// Compares the checksum that the bytes of a tensor were found to have with the recorded one, where there is one.
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

    /// A checksum of the metadata.
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
