//! Reads text files as lines in bounded memory, and splits lines into tokens.
//!
//! `senv-core` re-exports this crate; depend on that one.

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
mod sentences;
mod shard;
mod split;
mod table;
mod text_marks;
mod titles;
mod token;
mod wide;
#[cfg_attr(not(feature = "zstd"), path = "built_without/zstd.rs")]
mod zstd;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

pub use beginnings::{beginnings, beginnings_up_to};
// For the corpus of `senv-training`, which reads blocks on several threads.
pub use blocks::{BlockReader, TextBlock};
pub use bytes::TextBytes;
pub use cut::{check_line, cut_line, in_cell};
pub use cut::{is_blank, on_one_line};
pub use decode::{is_stdin, peek_stdin};
pub use foreign::is_binary;
pub use gathered::Lines;
pub use line_batches::{LineBatch, for_line_batches};
pub use lines::{Line, TextReader};
pub use reading_progress::ReadingProgress;
pub use records::{
    RecordCells, RecordHead, RecordPlace, RecordSyntax, WantedRecords, check_record_heads, copy_records, record_cells,
    wanted_records,
};
pub use sentences::{sentences, without_last_emoji};
pub use shard::{LineNumbers, Shard};
pub use split::Split;
#[cfg(feature = "arrow")]
pub use table::arrow::{ArrowBatches, ArrowFormat, Cells, ColumnPlace};
pub use table::{
    BadRecord, BadRecords, BlankRecords, TableColumn, TableFormat, TableText, recognized_delimiter, unread_delimiter,
};
pub use text_marks::{TextMarks, is_english_function_word};
pub use titles::{TableKind, column_titles};
pub use token::{Normalization, Tokenize, Tokenizer, lowercase_into};
pub use wide::wide_text;
/// The crates whose types these functions take and return.
#[cfg(feature = "arrow")]
pub use {arrow_array, arrow_schema};

/// The number of bytes read ahead of a decoder.
#[allow(dead_code)]
const AHEAD_OF_DECODER: usize = 1 << 16;

/// The default maximum line length in bytes: 1 MiB.
pub const DEFAULT_MAX_LINE_BYTES: usize = 1 << 20;

/// How a line that is not UTF-8 is handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum InvalidUtf8 {
    /// Stop with [`Error::InvalidUtf8`](senv_base::Error::InvalidUtf8) or
    /// [`Error::NulByte`](senv_base::Error::NulByte), which name file, line and byte.
    #[default]
    Error,
    /// Replace each invalid sequence and each NUL by U+FFFD and continue.
    Replace,
    /// Read the bytes of the line as windows-1252 and continue: the usual encoding of files from older programs for
    /// Windows. It is ISO 8859-1 (Latin-1) with quotes, dashes and other characters for the bytes from 0x80 to 0x9F.
    /// NUL becomes U+FFFD.
    #[serde(rename = "windows-1252", alias = "latin1")]
    Windows1252,
}

impl InvalidUtf8 {
    /// Decodes bytes as text; the result is owned if they are not UTF-8.
    ///
    /// ```
    /// use senv_core::text::InvalidUtf8;
    /// let bytes = b"caf\xe9";
    /// assert!(InvalidUtf8::Error.decode(bytes).is_err());
    /// assert_eq!(InvalidUtf8::Replace.decode(bytes)?, "caf\u{fffd}");
    /// assert_eq!(InvalidUtf8::Windows1252.decode(bytes)?, "café");
    /// assert_eq!(InvalidUtf8::Windows1252.decode(b"it\x92s")?, "it’s");
    /// # Ok::<(), std::str::Utf8Error>(())
    /// ```
    ///
    /// # Errors
    /// For [`InvalidUtf8::Error`], the position where the bytes stop being UTF-8.
    pub fn decode(self, bytes: &[u8]) -> std::result::Result<Cow<'_, str>, std::str::Utf8Error> {
        match (std::str::from_utf8(bytes), self) {
            (Ok(text), _) => Ok(Cow::Borrowed(text)),
            (Err(error), Self::Error) => Err(error),
            (Err(_), Self::Replace) => Ok(Cow::Owned(String::from_utf8_lossy(bytes).into_owned())),
            (Err(_), Self::Windows1252) => Ok(Cow::Owned(bytes.iter().map(|&byte| windows_1252(byte)).collect())),
        }
    }
}

/// The characters of windows-1252 for the bytes from 0x80 to 0x9F. As in browsers, unassigned bytes are controls.
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}', '‘', '’',
    '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

fn windows_1252(byte: u8) -> char {
    match byte {
        0x80..=0x9F => WINDOWS_1252[usize::from(byte - 0x80)],
        _ => char::from(byte),
    }
}

/// Options for reading text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextOptions {
    /// How a line that is not UTF-8 is handled; [`InvalidUtf8::Error`] by default.
    pub invalid_utf8: InvalidUtf8,
    /// The maximum line length in bytes without the line end, at least 1; [`DEFAULT_MAX_LINE_BYTES`] by default. A
    /// longer line is an error. Finding it takes no more memory than this limit and a buffer.
    pub max_line_bytes: usize,
    /// The fields of CSV, TSV and JSON lines that contain the text; by default none, and files are plain lines.
    pub table: Option<TableText>,
    /// How text is split into sentences; by default not at all. Each sentence becomes a line with the number of the
    /// line on which it starts. Empty lines are kept.
    pub split: Option<Split>,
    /// Whether a compressed file, or one of record batches, may expand to more text than is plausible: 200 bytes or 10
    /// lines per byte of the file. False by default, because such a file was probably made to fill memory or a disk.
    pub any_expansion: bool,
    /// Whether files of pairs quote their cells as in CSV; false by default. For tables with named columns, see
    /// [`TableText::quotes`].
    pub quoted_pairs: bool,
}

impl TextOptions {
    /// Returns the same options for files of plain lines.
    #[must_use]
    pub fn of_lines(&self) -> Self {
        Self { table: None, split: None, ..self.clone() }
    }

    /// Returns the same options for files of pairs, whose lines are tab-separated cells.
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
