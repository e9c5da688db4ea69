//! Options for reading and writing: formats, policies, limits, and the report of a reader.

use senv_core::text::InvalidUtf8;
use std::{fmt, path::Path};

/// A file format of word embeddings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// A line with rows and dimension, then one line per word.
    Word2vecText,
    /// A line with rows and dimension, then words and little-endian f32.
    Word2vecBinary,
    /// One line per word, without a header.
    GloveText,
    /// Like [`Format::Word2vecText`], with a space at the end of each line.
    FastTextVec,
    /// The senv model file: safetensors with vocabulary and metadata, memory-mapped.
    Safetensors,
    /// finalfusion (`.fifu`): unit rows, full or quantized, and their norms. Read only.
    Finalfusion,
}

impl Format {
    /// The format for a file name when writing: `.safetensors`, `.vec` (fastText), `.bin` (word2vec binary), `.w2v`
    /// (word2vec text), `.txt` (GloVe text, which every program that splits lines can read).
    ///
    /// ```
    /// use senv_store::Format;
    /// assert_eq!(Format::from_path("model.safetensors".as_ref()), Some(Format::Safetensors));
    /// assert_eq!(Format::from_path("model".as_ref()), None);
    /// ```
    #[must_use]
    pub fn from_path(path: &Path) -> Option<Self> {
        match path.extension()?.to_ascii_lowercase().to_str()? {
            "safetensors" => Some(Self::Safetensors),
            "vec" => Some(Self::FastTextVec),
            "bin" => Some(Self::Word2vecBinary),
            "w2v" => Some(Self::Word2vecText),
            "txt" => Some(Self::GloveText),
            _ => None,
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Word2vecText => "word2vec text",
            Self::Word2vecBinary => "word2vec binary",
            Self::GloveText => "GloVe text",
            Self::FastTextVec => "fastText .vec",
            Self::Safetensors => "safetensors",
            Self::Finalfusion => "finalfusion",
        })
    }
}

/// What to do with a word that already has a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Duplicates {
    /// Keep the first row; leave out and count later ones.
    #[default]
    KeepFirst,
    /// Stop with [`Error::Duplicate`](crate::Error::Duplicate).
    Error,
}

/// What to do with NaN and infinite values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NonFinite {
    /// Accept them; readers count them.
    Accept,
    /// Stop with [`Error::NonFinite`](crate::Error::NonFinite).
    Error,
}

/// Options for reading. The limits reject damaged and foreign files before memory is allocated for them.
///
/// ```
/// use senv_store::{Format, InvalidUtf8, ReadOptions};
/// let options = ReadOptions::default().format(Format::GloveText).invalid_utf8(InvalidUtf8::Replace);
/// # let _ = options;
/// ```
#[derive(Debug, Clone)]
pub struct ReadOptions {
    pub(crate) format: Option<Format>,
    pub(crate) invalid_utf8: InvalidUtf8,
    pub(crate) duplicates: Duplicates,
    pub(crate) non_finite: NonFinite,
    pub(crate) verify: bool,
    pub(crate) accept_wrong_row_count: bool,
    pub(crate) max_dim: usize,
    pub(crate) max_word_bytes: usize,
    pub(crate) max_rows: u64,
    pub(crate) first_rows: u64,
    pub(crate) max_expanded_bytes: u64,
    pub(crate) max_expansion: u64,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            format: None,
            invalid_utf8: InvalidUtf8::Error,
            duplicates: Duplicates::KeepFirst,
            non_finite: NonFinite::Accept,
            verify: false,
            accept_wrong_row_count: false,
            max_dim: 65_536,
            max_word_bytes: 65_536,
            max_rows: i32::MAX as u64,
            first_rows: u64::MAX,
            max_expanded_bytes: 1 << 38,
            max_expansion: 200,
        }
    }
}

impl ReadOptions {
    /// The format. Default: detected from the content.
    #[must_use]
    pub fn format(mut self, format: Format) -> Self {
        self.format = Some(format);
        self
    }

    /// Words that are not UTF-8; words that become equal are duplicates. Default: [`InvalidUtf8::Error`].
    #[must_use]
    pub fn invalid_utf8(mut self, policy: InvalidUtf8) -> Self {
        self.invalid_utf8 = policy;
        self
    }

    /// Words that occur twice. Default: [`Duplicates::KeepFirst`].
    #[must_use]
    pub fn duplicates(mut self, policy: Duplicates) -> Self {
        self.duplicates = policy;
        self
    }

    /// NaN and infinite values. Default: [`NonFinite::Accept`].
    #[must_use]
    pub fn non_finite(mut self, policy: NonFinite) -> Self {
        self.non_finite = policy;
        self
    }

    /// Whether a memory-mapped senv model file is first read completely and compared with its checksums
    /// ([`ModelFile::verify`](crate::ModelFile::verify)). Default: no.
    #[must_use]
    pub fn verify(mut self, verify: bool) -> Self {
        self.verify = verify;
        self
    }

    /// Whether a word2vec or fastText file can have more or fewer rows than its header declares, like files cut by
    /// `head`. Default: no.
    #[must_use]
    pub fn accept_wrong_row_count(mut self, accept: bool) -> Self {
        self.accept_wrong_row_count = accept;
        self
    }

    /// The highest dimension. Default: 65,536.
    #[must_use]
    pub fn max_dim(mut self, max: usize) -> Self {
        self.max_dim = max;
        self
    }

    /// The longest word in bytes. Default: 65,536; words of word2vec binary files never exceed 4,096.
    #[must_use]
    pub fn max_word_bytes(mut self, max: usize) -> Self {
        self.max_word_bytes = max;
        self
    }

    /// The maximum number of rows. Default, and the highest possible: 2^31 − 1.
    #[must_use]
    pub fn max_rows(mut self, max: u64) -> Self {
        self.max_rows = max.min(i32::MAX as u64);
        self
    }

    /// The number of rows to read from the start; the rest of the file is ignored. Word vectors are usually sorted by
    /// descending frequency. Default: all.
    #[must_use]
    pub fn first_rows(mut self, n: u64) -> Self {
        self.first_rows = n;
        self
    }

    /// The maximum expanded size of a `.gz` file in bytes, in total and per compressed byte. Default: 256 GiB, 200
    /// (vectors as text reach about 3).
    #[must_use]
    pub fn max_expansion(mut self, bytes: u64, ratio: u64) -> Self {
        (self.max_expanded_bytes, self.max_expansion) = (bytes, ratio);
        self
    }
}

/// The report of a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoadReport {
    /// The format of the file.
    pub format: Format,
    /// Rows of the file, including those left out.
    pub rows: u64,
    /// Rows left out because their word already had a row.
    pub duplicates: u64,
    /// Values of the kept rows that are NaN or infinite; 0 for a memory-mapped file, whose rows are not checked.
    pub non_finite: u64,
    /// Words in which invalid UTF-8 was replaced.
    pub invalid_utf8: u64,
}

impl LoadReport {
    pub(crate) fn new(format: Format) -> Self {
        Self { format, rows: 0, duplicates: 0, non_finite: 0, invalid_utf8: 0 }
    }
}
