//! Writes the model file of senv, specified in `docs/format.md`.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    io::{self, Write},
    path::Path,
};

use rayon::prelude::*;

use super::AtomicFile;
use crate::{
    Vocabulary,
    files::model_file::{
        COUNTS, FORMAT_VERSION, KEY_CONFIG, KEY_CORPUS_TOKENS, KEY_CRC, KEY_HEADER_CRC, KEY_KIND, KEY_TERMS,
        KEY_VERSION, OFFSETS, RawTensor, TEXT,
        checksum::{combine, crc, header_crc},
        header::{LENGTH, MAX_HEADER, MAX_TENSORS, METADATA},
    },
};
use senv_base::{Error, Result, Rows};
use senv_text::Tokenizer;

/// The types that can be written and their bytes per value, in the order of their tensors in the file.
const TYPES: [(&str, usize); 8] =
    [("U64", 8), ("F64", 8), ("F32", 4), ("U32", 4), ("F16", 2), ("BF16", 2), ("I8", 1), ("U8", 1)];

/// Tables start at a multiple of this size, a cache line.
const ALIGNMENT: usize = 64;
/// The number of rows per checksum step.
const ROWS: usize = 1024;

/// The format version of a model without a normalization.
const PLAIN_VERSION: u32 = 1;
/// The path that errors name for a writer.
const WRITER: &str = "<writer>";

/// The destination of a model.
#[non_exhaustive]
pub enum Destination<'d> {
    /// A file, which is replaced atomically.
    File(&'d Path),
    /// Any writer of bytes, such as a vector, a socket or an archive.
    Writer(&'d mut dyn Write),
}

impl Destination<'_> {
    /// The path that errors name: that of the file, or `<writer>`.
    #[must_use]
    pub fn path(&self) -> &Path {
        match self {
            Self::File(path) => path,
            Self::Writer(_) => Path::new(WRITER),
        }
    }
}

/// A model file under construction: add metadata and tensors, then call [`ModelWriter::save`].
///
/// Tables are written row by row without a copy. The same parts give the same bytes.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("model.safetensors");
/// use senv_core::{ModelWriter, Table, Vocabulary};
/// let vocabulary = Vocabulary::from_counts([("cat", 3)], 3)?;
/// let rows = Table::zeros(1, 5)?;
/// ModelWriter::new("example")
///     .metadata("example.note", "five zeros")
///     .vocabulary(&vocabulary)
///     .table("rows", &rows)
///     .save(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ModelWriter<'a> {
    metadata: BTreeMap<String, String>,
    tensors: Vec<Tensor<'a>>,
}

struct Tensor<'a> {
    name: String,
    data: Data<'a>,
}

enum Data<'a> {
    Rows(&'a dyn Rows),
    F32s(&'a [f32]),
    Bytes(&'a [u8]),
    Raw(&'a RawTensor),
    /// The name of the type, the bytes per value, and the little-endian bytes of the values.
    Numbers(&'static str, usize, Cow<'a, [u8]>),
}

impl Data<'_> {
    fn dtype(&self) -> &str {
        match self {
            Self::Rows(_) | Self::F32s(_) => "F32",
            Self::Bytes(_) => "U8",
            Self::Raw(tensor) => &tensor.dtype,
            Self::Numbers(dtype, ..) => dtype,
        }
    }

    /// The position among the tensors: wider types first; equal widths in the order of the `safetensors` crate.
    fn order(&self) -> usize {
        TYPES.iter().position(|&(dtype, _)| dtype == self.dtype()).unwrap_or(usize::MAX)
    }

    fn shape(&self) -> Vec<usize> {
        match self {
            Self::Raw(tensor) => tensor.shape.clone(),
            Self::Rows(rows) => vec![rows.n_rows(), rows.dim()],
            Self::F32s(values) => vec![values.len()],
            Self::Bytes(bytes) => vec![bytes.len()],
            Self::Numbers(_, width, bytes) => vec![bytes.len() / width],
        }
    }

    fn len(&self) -> Option<usize> {
        match self {
            Self::Rows(rows) => rows.n_rows().checked_mul(rows.dim())?.checked_mul(4),
            Self::F32s(values) => values.len().checked_mul(4),
            Self::Bytes(bytes) => Some(bytes.len()),
            Self::Raw(tensor) => Some(tensor.bytes.len()),
            Self::Numbers(_, _, bytes) => Some(bytes.len()),
        }
    }

    fn crc(&self) -> u32 {
        match self {
            Self::Rows(rows) => {
                let starts = (0..rows.n_rows()).into_par_iter().step_by(ROWS);
                let pieces = starts.map(|start| {
                    let mut hasher = crc32fast::Hasher::new();
                    for i in start..rows.n_rows().min(start + ROWS) {
                        hasher.update(&le_bytes(rows.row(i)));
                    }
                    hasher
                });
                combine(pieces.collect())
            }
            Self::F32s(values) => crc(&le_bytes(values)),
            Self::Bytes(bytes) => crc(bytes),
            Self::Raw(tensor) => crc(&tensor.bytes),
            Self::Numbers(_, _, bytes) => crc(bytes),
        }
    }

    fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Rows(rows) => (0..rows.n_rows()).try_for_each(|i| to.write_all(&le_bytes(rows.row(i)))),
            Self::F32s(values) => to.write_all(&le_bytes(values)),
            Self::Bytes(bytes) => to.write_all(bytes),
            Self::Raw(tensor) => to.write_all(&tensor.bytes),
            Self::Numbers(_, _, bytes) => to.write_all(bytes),
        }
    }
}

impl<'a> ModelWriter<'a> {
    /// Starts a model of this kind, for example `sent2vec`.
    #[must_use]
    pub fn new(kind: &str) -> Self {
        let metadata = [(KEY_VERSION, PLAIN_VERSION.to_string()), (KEY_KIND, kind.to_owned())];
        Self { metadata: metadata.map(|(k, v)| (k.to_owned(), v)).into(), tensors: Vec::new() }
    }

    /// Sets the JSON configuration. If it has a tokenizer with a normalization, the file has a format version that
    /// readers without normalization refuse.
    #[must_use]
    pub fn config(self, json: &str) -> Self {
        let version = if Tokenizer::normalizes_in(json) { FORMAT_VERSION } else { PLAIN_VERSION };
        self.metadata(KEY_VERSION, &version.to_string()).metadata(KEY_CONFIG, json)
    }

    /// Adds a metadata value. Keys that start with `senv.` belong to the format.
    #[must_use]
    pub fn metadata(mut self, key: &str, value: &str) -> Self {
        self.metadata.insert(key.to_owned(), value.to_owned());
        self
    }

    /// Adds the vocabulary: tensors `vocabulary.text`, `vocabulary.offsets`, `vocabulary.counts` and the number of
    /// tokens of the corpus.
    #[must_use]
    pub fn vocabulary(self, vocabulary: &'a Vocabulary) -> Self {
        let writer = self.metadata(KEY_CORPUS_TOKENS, &vocabulary.corpus_tokens().to_string());
        let writer = match vocabulary.terms() {
            Some(terms) => writer.metadata(KEY_TERMS, terms),
            None => writer,
        };
        writer
            .bytes(TEXT, vocabulary.text().as_bytes())
            .u32s(OFFSETS, vocabulary.offsets())
            .u64s(COUNTS, vocabulary.counts())
    }

    /// Adds an F32 matrix, without the padding between its rows.
    #[must_use]
    pub fn table(self, name: &str, rows: &'a dyn Rows) -> Self {
        self.tensor(name, Data::Rows(rows))
    }

    /// Adds a U8 vector.
    #[must_use]
    pub fn bytes(self, name: &str, bytes: &'a [u8]) -> Self {
        self.tensor(name, Data::Bytes(bytes))
    }

    /// Adds an F32 vector.
    #[must_use]
    pub fn f32s(self, name: &str, values: &'a [f32]) -> Self {
        self.tensor(name, Data::F32s(values))
    }

    /// Adds an F64 vector.
    #[must_use]
    pub fn f64s(self, name: &str, values: &'a [f64]) -> Self {
        self.tensor(name, Data::Numbers("F64", 8, little_endian(values, f64::to_le_bytes)))
    }

    /// Adds a U32 vector.
    #[must_use]
    pub fn u32s(self, name: &str, values: &'a [u32]) -> Self {
        self.tensor(name, Data::Numbers("U32", 4, little_endian(values, u32::to_le_bytes)))
    }

    /// Adds a U64 vector.
    #[must_use]
    pub fn u64s(self, name: &str, values: &'a [u64]) -> Self {
        self.tensor(name, Data::Numbers("U64", 8, little_endian(values, u64::to_le_bytes)))
    }

    /// Adds a tensor of any shape and of type `U64`, `F64`, `F32`, `U32`, `F16`, `BF16`, `I8` or `U8`, as stored.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("model.safetensors");
    /// use senv_core::{ModelWriter, files::RawTensor};
    /// let codes: &'static [u8] = &[1, 2, 3, 4];
    /// let tensor = RawTensor { dtype: "I8".into(), shape: vec![2, 2], bytes: codes.into() };
    /// ModelWriter::new("example").raw("codes", &tensor).save(&path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// [`ModelWriter::save`] rejects other types, and bytes that do not fit the shape.
    #[must_use]
    pub fn raw(self, name: &str, tensor: &'a RawTensor) -> Self {
        self.tensor(name, Data::Raw(tensor))
    }

    fn tensor(mut self, name: &str, data: Data<'a>) -> Self {
        self.tensors.push(Tensor { name: name.to_owned(), data });
        self
    }

    /// Writes the file with an atomic replace.
    ///
    /// # Errors
    /// [`Error::BadWrite`] if a name is used twice, there are too many tensors, or the header is too long. Also if a
    /// raw tensor has an unknown type or bytes that do not fit its shape. [`Error::Io`] if the file cannot be written.
    pub fn save(self, path: impl AsRef<Path>) -> Result<()> {
        self.write(Destination::File(path.as_ref()))
    }

    /// Writes the bytes of the file to a writer and flushes it.
    ///
    /// # Errors
    /// The errors of [`ModelWriter::save`].
    pub fn write_to(self, mut writer: impl Write) -> Result<()> {
        self.write(Destination::Writer(&mut writer))
    }

    /// Writes the file to its destination, for models that are saved to files and to writers.
    ///
    /// # Errors
    /// The errors of [`ModelWriter::save`].
    pub fn write(mut self, to: Destination<'_>) -> Result<()> {
        self.tensors.sort_by(|a, b| (a.data.order(), &a.name).cmp(&(b.data.order(), &b.name)));
        let header = self.header(to.path())?;
        let all = |to: &mut dyn Write| {
            to.write_all(&header)?;
            self.tensors.iter().try_for_each(|tensor| tensor.data.write(to))?;
            to.flush()
        };
        match to {
            Destination::File(path) => AtomicFile::write_with(path, |file| all(file)),
            Destination::Writer(writer) => all(writer).map_err(|e| Error::io("write", Path::new(WRITER), e)),
        }
    }

    /// The length word and the header, padded so that the largest table starts on a cache line.
    fn header(&mut self, path: &Path) -> Result<Vec<u8>> {
        let bad = |what: &str, reason: &str| Error::BadWrite {
            path: path.to_owned(),
            what: what.into(),
            reason: reason.into(),
        };
        if self.tensors.len() > MAX_TENSORS {
            return Err(bad("the model", "more than 65,536 tensors"));
        }
        let mut names: Vec<&str> = self.tensors.iter().map(|t| t.name.as_str()).collect();
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find(|w| w[0] == w[1]) {
            return Err(bad(twice[0], "duplicate name"));
        }
        if names.contains(&METADATA) {
            return Err(bad(METADATA, "the name is reserved"));
        }
        for tensor in &self.tensors {
            self.metadata.insert(format!("{KEY_CRC}{}", tensor.name), format!("{:08x}", tensor.data.crc()));
        }
        self.metadata.insert(KEY_HEADER_CRC.to_owned(), "00000000".to_owned());

        let json = |text: &str| serde_json::Value::from(text).to_string();
        let mut text = format!("{{{}:{{", json(METADATA));
        for (i, (key, value)) in self.metadata.iter().enumerate() {
            let comma = if i > 0 { "," } else { "" };
            text.push_str(&format!("{comma}{}:{}", json(key), json(value)));
        }
        text.push('}');
        let (mut offset, mut largest, mut aligned) = (0usize, 0, 0);
        for Tensor { name, data } in &self.tensors {
            let len = data.len().ok_or_else(|| bad(name, "its size overflows"))?;
            if matches!(data, Data::Raw(tensor) if tensor.size() != Some(len)) {
                return Err(bad(name, "its type is unknown, or its bytes do not match its shape"));
            }
            if matches!(data, Data::Rows(_) | Data::Raw(_)) && len > largest {
                (largest, aligned) = (len, offset);
            }
            let end = offset.checked_add(len).ok_or_else(|| bad(name, "the sizes overflow"))?;
            let (dtype, shape) = (data.dtype(), data.shape());
            text.push_str(&format!(
                ",{}:{{\"dtype\":\"{dtype}\",\"shape\":{shape:?},\"data_offsets\":[{offset},{end}]}}",
                json(name)
            ));
            offset = end;
        }
        text.push('}');
        let mut header = vec![0; LENGTH];
        header.extend_from_slice(text.as_bytes());
        // The data must start at a multiple of 8. The alignment of the table gives that too, unless an odd number of
        // four-byte values precedes it.
        let step = if aligned % 8 == 0 { aligned % ALIGNMENT } else { 0 };
        let padded = (header.len() + step).next_multiple_of(ALIGNMENT) - step;
        header.resize(padded, b' ');
        let length = (padded - LENGTH) as u64;
        if length > MAX_HEADER {
            return Err(bad("the metadata", "the header would exceed 100,000,000 bytes"));
        }
        header[..LENGTH].copy_from_slice(&length.to_le_bytes());
        let sum = header_crc(&header, 0);
        let key = format!("\"{KEY_HEADER_CRC}\":\"");
        if let Some(at) = memchr::memmem::find(&header, key.as_bytes()) {
            header[at + key.len()..][..8].copy_from_slice(format!("{sum:08x}").as_bytes());
        }
        Ok(header)
    }
}

/// The little-endian bytes of values, without a copy on nearly every machine.
fn le_bytes(values: &[f32]) -> Cow<'_, [u8]> {
    little_endian(values, f32::to_le_bytes)
}

impl RawTensor {
    /// The bytes of the values; `None` for a type that cannot be written, or on overflow.
    fn size(&self) -> Option<usize> {
        let &(_, width) = TYPES.iter().find(|(dtype, _)| *dtype == self.dtype)?;
        self.shape.iter().try_fold(width, |size, &n| size.checked_mul(n))
    }
}

fn little_endian<T: bytemuck::Pod, const N: usize>(values: &[T], to: fn(T) -> [u8; N]) -> Cow<'_, [u8]> {
    if cfg!(target_endian = "little") {
        Cow::Borrowed(bytemuck::cast_slice(values))
    } else {
        Cow::Owned(values.iter().flat_map(|&x| to(x)).collect())
    }
}
