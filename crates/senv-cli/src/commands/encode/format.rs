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
    /// A vector after the other.
    Lines(VectorFormat),
    /// Parquet or Arrow.
    #[cfg(feature = "arrow")]
    Table,
}

impl Format {
    /// The format that the ending of a name stands for.
    pub(in crate::commands) fn of(path: &Path, digits: Option<u8>) -> Result<Self> {
        let in_text = digits.map_or(Digits::Shortest, Digits::Fixed);
        let separated_by = |separator| Self::Lines(VectorFormat::Text { separator, digits: in_text });
        let json = |whole| Self::Lines(VectorFormat::Json { whole, digits: in_text });
        let ending = path.extension().unwrap_or_default().to_ascii_lowercase();
        Ok(match ending.to_str() {
            Some("npy") if digits.is_some() => {
                let message = "--digits is for text; a .npy file holds the values themselves";
                return Err(Failure::Usage(message.into()));
            }
            Some("npy") => Self::Lines(VectorFormat::Npy),
            Some(ending @ ("parquet" | "arrow" | "feather" | "ipc")) => {
                if digits.is_some() {
                    let message = format!("--digits is for text; a .{ending} file holds the values themselves");
                    return Err(Failure::Usage(message));
                }
                #[cfg(not(feature = "arrow"))]
                return Err(Failure::Usage(format!(
                    "{}: this program was built without the feature `arrow`, which writes .{ending} files; give a name in .npy, or \
                     build it anew: in a clone of senv, cargo install --path crates/senv-cli --features arrow",
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
                    "{path}: vectors are not written in the format of this ending; give a name in .npy, .csv, .tsv, .json, \
                     .jsonl or .txt, or one without an ending, and convert the file (a data frame reads .npy and .csv)"
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
    /// How lines are written; text where a table was asked for, which is written as a whole.
    pub(super) fn of_lines(self) -> VectorFormat {
        match self {
            Self::Lines(format) => format,
            #[cfg(feature = "arrow")]
            Self::Table => VectorFormat::Text { separator: b' ', digits: Digits::Shortest },
        }
    }
}
