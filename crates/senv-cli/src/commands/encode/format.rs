//! The formats of vectors.

use std::path::Path;

use crate::{
    destination::Content,
    failure::{Failure, Result},
    number::{Digits, push_row},
};

/// How vectors are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::commands) enum Format {
    Npy,
    /// Parquet or Arrow.
    Table,
    Text {
        separator: u8,
        digits: Digits,
    },
    /// An array a line; in a whole one, each with a comma before it.
    Json {
        whole: bool,
        digits: Digits,
    },
}

impl Format {
    /// The format that the ending of a name stands for.
    pub(in crate::commands) fn of(path: &Path, digits: Option<u8>) -> Result<Self> {
        let in_text = digits.map_or(Digits::Shortest, Digits::Fixed);
        let separated_by = |separator| Self::Text { separator, digits: in_text };
        let ending = path.extension().unwrap_or_default().to_ascii_lowercase();
        Ok(match ending.to_str() {
            Some("npy") if digits.is_some() => {
                let message = "--digits is for text; a .npy file holds the values themselves";
                return Err(Failure::Usage(message.into()));
            }
            Some("npy") => Self::Npy,
            Some(ending @ ("parquet" | "arrow" | "feather" | "ipc")) => {
                if digits.is_some() {
                    let message = format!("--digits is for text; a .{ending} file holds the values themselves");
                    return Err(Failure::Usage(message));
                }
                if cfg!(not(feature = "arrow")) {
                    let message = format!(
                        "{}: this program was built without the feature `arrow`, which writes .{ending} files; give a name in .npy, or \
                         build it anew: cargo install senv-cli --features arrow",
                        path.display()
                    );
                    return Err(Failure::Usage(message));
                }
                Self::Table
            }
            Some("" | "txt") => separated_by(b' '),
            Some("tsv") => separated_by(b'\t'),
            Some("csv") => separated_by(b','),
            Some("jsonl") => Self::Json { whole: false, digits: in_text },
            Some("json") => Self::Json { whole: true, digits: in_text },
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
            Self::Npy => Content::Matrix,
            Self::Table => Content::VectorTable,
            _ => Content::Vectors,
        }
    }

    /// What stands before the first row, which loses as many bytes of its own, and behind the last.
    pub(super) fn frame(self) -> [&'static [u8]; 2] {
        if matches!(self, Self::Json { whole: true, .. }) { [b"[", b"\n]\n"] } else { [b"", b""] }
    }

    pub(super) fn push(self, row: &[f32], out: &mut Vec<u8>) {
        match self {
            // Written as a whole, not in rows.
            Self::Table => {}
            Self::Npy => row.iter().for_each(|x| out.extend_from_slice(&x.to_le_bytes())),
            Self::Text { separator, digits } => push_row(row, separator, digits, out),
            Self::Json { whole, digits } => {
                out.extend_from_slice(if whole { b",\n[" } else { b"[" });
                push_row(row, b',', digits, out);
                out.pop();
                out.extend_from_slice(if whole { b"]" } else { b"]\n" });
            }
        }
    }
}
