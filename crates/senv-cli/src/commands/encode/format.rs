//! The formats of vectors.

use std::path::Path;

use senv::jobs::VectorFormat;
use senv_store::Digits;

use crate::{
    destination::Content,
    failure::{Failure, Result},
};

/// How vectors are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::commands) enum Format {
    /// One vector after another.
    Lines(VectorFormat),
    /// Parquet or Arrow.
    #[cfg(feature = "arrow")]
    Table,
}

impl Format {
    /// The format of a file extension.
    pub(in crate::commands) fn of(path: &Path, digits: Option<u8>) -> Result<Self> {
        let in_text = digits.map_or(Digits::Shortest, Digits::Fixed);
        let separated_by = |separator| Self::Lines(VectorFormat::Text { separator, digits: in_text });
        let json = |whole| Self::Lines(VectorFormat::Json { whole, digits: in_text });
        let ending = path.extension().unwrap_or_default().to_ascii_lowercase();
        Ok(match ending.to_str() {
            Some("npy") if digits.is_some() => {
                let message = "--digits is for text formats; a .npy file has exact values";
                return Err(Failure::Usage(message.into()));
            }
            Some("npy") => Self::Lines(VectorFormat::Npy),
            Some(ending @ ("parquet" | "arrow" | "feather" | "ipc")) => {
                if digits.is_some() {
                    let message = format!("--digits is for text formats; a .{ending} file has exact values");
                    return Err(Failure::Usage(message));
                }
                #[cfg(not(feature = "arrow"))]
                return Err(Failure::Usage(format!(
                    "{}: this senv was built without the feature `arrow`, which writes .{ending} files; use .npy, or build senv \
                     with it (in a clone: cargo install --path crates/senv-cli --features arrow)",
                    path.display()
                )));
                #[cfg(feature = "arrow")]
                Self::Table
            }
            Some("" | "txt") => separated_by(b' '),
            Some("tsv") => separated_by(b'\t'),
            Some("csv") => separated_by(b','),
            Some("jsonl") => json(false),
            Some("json") => json(true),
            _ => {
                let path = path.display();
                let message = format!(
                    "{path}: vectors cannot be written in the format of this extension; use .npy, .csv, .tsv, .json, .jsonl, \
                     .txt or no extension, and convert the file (data frames read .npy and .csv)"
                );
                return Err(Failure::Usage(message));
            }
        })
    }

    pub(in crate::commands) fn content(self) -> Content<'static> {
        match self {
            Self::Lines(VectorFormat::Npy) => Content::Matrix,
            #[cfg(feature = "arrow")]
            Self::Table => Content::VectorTable,
            _ => Content::Vectors,
        }
    }
    /// How lines are written; text for a table, which is written by other means.
    pub(super) fn of_lines(self) -> VectorFormat {
        match self {
            Self::Lines(format) => format,
            #[cfg(feature = "arrow")]
            Self::Table => VectorFormat::Text { separator: b' ', digits: Digits::Shortest },
        }
    }
}
