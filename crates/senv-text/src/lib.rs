//! Text files -> lines, in bounded memory; lines -> tokens.
//!
//! `senv-core` re-exports it; depend on that crate.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod beginnings;
mod blocks;
mod bytes;
mod cut;
mod decode;
mod expansion;
mod foreign;
mod gathered;
#[cfg_attr(not(feature = "gzip"), path = "built_without/gzip.rs")]
mod gzip;
mod line_batches;
mod lines;
mod reading_progress;
mod records;
mod sentence_runs;
mod sentences;
mod shard;
mod split;
mod table;
mod token;
mod wide;
#[cfg_attr(not(feature = "zstd"), path = "built_without/zstd.rs")]
mod zstd;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

pub use beginnings::{beginnings, beginnings_up_to};
// For the corpus of `senv-training`, which reads blocks by several threads.
pub use blocks::{BlockReader, TextBlock};
pub use bytes::TextBytes;
pub use cut::is_blank;
pub use cut::{check_line, cut_line};
pub use decode::{is_stdin, peek_stdin};
pub use gathered::Lines;
pub use line_batches::{LineBatch, for_line_batches};
pub use lines::{Line, TextReader};
pub use reading_progress::ReadingProgress;
pub use records::copy_records;
pub use sentences::sentences;
pub use shard::{LineNumbers, Shard};
pub use split::Split;
#[cfg(feature = "arrow")]
pub use table::arrow::{ArrowBatches, ArrowFormat, Cells, ColumnPlace};
pub use table::{TableColumn, TableFormat, TableText};
pub use token::{Tokenize, Tokenizer, lowercase_into};
pub use wide::wide_text;
/// The crates whose types these functions take and return.
#[cfg(feature = "arrow")]
pub use {arrow_array, arrow_schema};

/// Bytes that are read ahead of a decoder.
#[allow(dead_code)]
const AHEAD_OF_DECODER: usize = 1 << 16;

/// Default of the maximum line length, in bytes: 1 MiB.
pub const DEFAULT_MAX_LINE_BYTES: usize = 1 << 20;

/// What to do with a line that is not UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum InvalidUtf8 {
    /// Stop with [`Error::InvalidUtf8`](senv_base::Error::InvalidUtf8), or
    /// [`Error::NulByte`](senv_base::Error::NulByte), which name file, line and byte.
    #[default]
    Error,
    /// Replace each invalid sequence, and NUL, by U+FFFD and continue.
    Replace,
    /// Take the bytes of the line as characters of ISO 8859-1, as old English data sets are written, NUL as U+FFFD, and
    /// continue.
    Latin1,
}

impl InvalidUtf8 {
    /// Bytes as text; owned where they are not UTF-8.
    ///
    /// ```
    /// use senv_core::text::InvalidUtf8;
    /// let bytes = b"caf\xe9";
    /// assert!(InvalidUtf8::Error.decode(bytes).is_err());
    /// assert_eq!(InvalidUtf8::Replace.decode(bytes)?, "caf\u{fffd}");
    /// assert_eq!(InvalidUtf8::Latin1.decode(bytes)?, "café");
    /// # Ok::<(), std::str::Utf8Error>(())
    /// ```
    ///
    /// # Errors
    /// For [`InvalidUtf8::Error`], where the bytes stop being UTF-8.
    pub fn decode(self, bytes: &[u8]) -> std::result::Result<Cow<'_, str>, std::str::Utf8Error> {
        match (std::str::from_utf8(bytes), self) {
            (Ok(text), _) => Ok(Cow::Borrowed(text)),
            (Err(error), Self::Error) => Err(error),
            (Err(_), Self::Replace) => Ok(Cow::Owned(String::from_utf8_lossy(bytes).into_owned())),
            (Err(_), Self::Latin1) => Ok(Cow::Owned(bytes.iter().map(|&byte| char::from(byte)).collect())),
        }
    }
}

/// How text is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextOptions {
    /// What to do with a line that is not UTF-8; [`InvalidUtf8::Error`] by default.
    pub invalid_utf8: InvalidUtf8,
    /// The longest accepted line, in bytes without its end, at least 1; [`DEFAULT_MAX_LINE_BYTES`] by default. A longer
    /// line is an error, which is found before more memory than this and a buffer is used.
    pub max_line_bytes: usize,
    /// Which fields are the text, of CSV, TSV and JSON lines; none by default: a line is a line.
    pub table: Option<TableText>,
    /// What is cut into sentences, each of which becomes a line with the number of the line on which it begins; none by
    /// default: lines stay as they are. Empty lines stay.
    pub split: Option<Split>,
    /// Whether a compressed file, or one of record batches, may become more text than any text does: 200 bytes or 10
    /// lines for each of its bytes. Not by default: such a file was made to fill memory or a disk.
    pub any_expansion: bool,
    /// Whether quotes around the cells of files of pairs are no part of them, as in CSV; not by default. Of a table
    /// with a column [`TableText::quotes`] says it.
    pub quoted_pairs: bool,
}

impl TextOptions {
    /// The same for files of plain lines, as they are.
    #[must_use]
    pub fn of_lines(&self) -> Self {
        Self { table: None, split: None, ..self.clone() }
    }

    /// The same for files of pairs, whose lines are cells with tabs between.
    #[must_use]
    pub fn of_pairs(&self) -> Self {
        Self { table: self.quoted_pairs.then(TableText::quoted_tsv), ..self.of_lines() }
    }
}

impl Default for TextOptions {
    fn default() -> Self {
        Self {
            invalid_utf8: InvalidUtf8::default(),
            max_line_bytes: DEFAULT_MAX_LINE_BYTES,
            table: None,
            split: None,
            any_expansion: false,
            quoted_pairs: false,
        }
    }
}

#[cfg(test)]
mod tests;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
