//! Reads a static encoder from a model file of kind `static`; the format is specified in `docs/format.md`.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{
    CompressedRows, RowEncoding, StaticEncoder,
    order::{OrderConfig, OrderPart},
};
use crate::ModelFile;
use senv_base::{Error, Result, SharedBytes};
use senv_text::Tokenizer;

/// The kind of these models.
pub(crate) const KIND: &str = "static";
pub(crate) const ROWS: &str = "rows";
pub(crate) const SCALES: &str = "row_scales";
pub(crate) const LENGTH: &str = "unknown_word_length";

/// The configuration of a static encoder in a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StaticConfig {
    /// The dimension of the rows.
    pub dim: usize,
    /// The encoding of the row values.
    pub encoding: RowEncoding,
    /// The tokenizer.
    pub tokenizer: Tokenizer,
    /// The origin of the model; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// The settings of the order part, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<OrderConfig>,
}

impl StaticEncoder {
    /// Opens a model that [`StaticEncoder::save`] wrote. Its rows are memory-mapped. As in every model, only
    /// [`ModelFile::verify`] compares them with their checksum.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("model.senv");
    /// use senv_core::{SentenceEncoder, StaticEncoder, Table, Tokenizer, Vocabulary, static_model::{CompressedRows, RowEncoding}};
    /// let vocabulary = Vocabulary::from_counts([("cat", 1)], 1)?;
    /// let rows = CompressedRows::compress(&Table::from_vec(1, 2, vec![7.0, -1.0])?, RowEncoding::Int4)?;
    /// StaticEncoder::new(Tokenizer::words(), vocabulary, rows, None)?.save(&path)?;
    ///
    /// let encoder = StaticEncoder::open(&path)?;
    /// assert_eq!(encoder.encode(&["a cat"])?.row(0).to_vec(), [7.0, -1.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`StaticEncoder::from_model_file`] and [`ModelFile::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::from_model_file(&ModelFile::open(path)?)
    }

    /// Opens a model in memory: included with `include_bytes!`, or any vector of bytes. Rows are used in place.
    ///
    /// # Errors
    /// The errors of [`StaticEncoder::open`].
    pub fn from_bytes(bytes: impl Into<SharedBytes>) -> Result<Self> {
        Self::from_model_file(&ModelFile::from_bytes(bytes)?)
    }

    /// Opens a model that is part of the program.
    ///
    /// # Errors
    /// The errors of [`StaticEncoder::open`].
    pub fn from_static(bytes: &'static [u8]) -> Result<Self> {
        Self::from_bytes(bytes)
    }

    /// Reads the encoder from an open model file of kind `static`.
    ///
    /// # Errors
    /// [`Error::NotStatic`] if the model is of a different kind; [`Error::MissingTokenizer`]; [`Error::MissingTensor`],
    /// [`Error::WrongTensor`] and [`Error::Checksum`] for a tensor; [`Error::BadFile`] if the configuration cannot be
    /// read or does not fit the tensors; [`Error::BadVocabulary`].
    pub fn from_model_file(file: &ModelFile) -> Result<Self> {
        if file.kind() != KIND {
            let (path, kind) = (file.path().to_owned(), file.kind().to_owned());
            return Err(Error::NotStatic { path, kind });
        }
        let bad = |reason: String| Error::BadFile { path: file.path().to_owned(), reason };
        let json = file.config().ok_or_else(|| bad("the model has no configuration".into()))?;
        file.expect_known_tokenizer()?;
        Self::from_parts_of(file, serde_json::from_str(json).map_err(|e| bad(format!("bad configuration: {e}")))?)
    }

    /// Reads an encoder whose vocabulary and rows are parts of a model file of a different kind, written with
    /// [`StaticEncoder::write_as`].
    ///
    /// # Errors
    /// The errors of [`StaticEncoder::from_model_file`], except the one about the kind.
    pub fn from_parts_of(file: &ModelFile, config: StaticConfig) -> Result<Self> {
        let bad = |reason: String| Error::BadFile { path: file.path().to_owned(), reason };
        let vocabulary = file.vocabulary()?;
        let rows = file.raw(ROWS)?;
        let shape = [vocabulary.len(), config.encoding.columns(config.dim)];
        if rows.dtype != config.encoding.dtype() || rows.shape != shape {
            return Err(Error::WrongTensor {
                path: file.path().to_owned(),
                name: ROWS.to_owned(),
                found: format!("{} {:?}", rows.dtype, rows.shape),
                expected: format!("{} {shape:?}", config.encoding.dtype()),
            });
        }
        let scales = file.f32s(SCALES)?;
        if scales.len() != vocabulary.len() {
            return Err(bad(format!("{} row scales for {} words", scales.len(), vocabulary.len())));
        }
        let rows = CompressedRows::from_parts(file.path(), config.encoding, config.dim, rows.bytes, scales)?;
        let length = if file.contains(LENGTH) {
            match file.f32s(LENGTH)?[..] {
                [length] if length.is_finite() && length >= 0.0 => Some(length),
                ref other => return Err(bad(format!("tensor {LENGTH:?} contains {other:?}, expected one length"))),
            }
        } else {
            None
        };
        let order = config.order.map(|order| OrderPart::from_file(file, order, &vocabulary, rows.dim())).transpose()?;
        let encoder = Self::new(config.tokenizer, vocabulary, rows, length)?.with_source(config.source);
        Ok(Self { order, ..encoder })
    }

    /// The configuration that files store.
    #[must_use]
    pub fn config(&self) -> StaticConfig {
        let (dim, encoding) = (self.rows.dim(), self.rows.encoding());
        let order = self.order.as_ref().map(|part| part.config().clone());
        StaticConfig { dim, encoding, tokenizer: self.tokenizer.clone(), source: self.source.clone(), order }
    }
}
