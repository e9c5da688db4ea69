//! Errors of the files of this crate. They give the file, the position, what was expected, and what to do.

use std::{fmt, path::PathBuf};

use senv_core::{Remedy, counts::plural};

use crate::Format;

/// The result of a fallible operation of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A position in a file, as it follows the path in a message: `:3`, `, byte 40`, `, row 2`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Position {
    /// A line, counted from 1.
    Line(u64),
    /// A byte, counted from 0.
    Byte(u64),
    /// A row, counted from 1.
    Row(u64),
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(n) => write!(f, ":{n}"),
            Self::Byte(n) => write!(f, ", byte {n}"),
            Self::Row(n) => write!(f, ", row {n}"),
        }
    }
}

/// An error of reading, writing or searching embeddings.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An error of the core: from the operating system, of a model file, of a vocabulary, of memory.
    #[error(transparent)]
    Core(#[from] senv_core::Error),
    /// The format of the file is not recognized.
    #[error("{}: {found}; expected word2vec text or binary, GloVe text, fastText .vec or a senv model", path.display())]
    UnknownFormat {
        /// The file.
        path: PathBuf,
        /// What it looks like, and what to do if that is known.
        found: &'static str,
    },
    /// The first line of a word2vec file is not two integers.
    #[error(
        "{}: the first line is {found}, expected the number of rows and the dimension, such as \"3000000 300\"; a \
        file without this line is in GloVe format",
        path.display(), found = senv_core::quoted(found)
    )]
    BadHeader {
        /// The file.
        path: PathBuf,
        /// The first line, shortened if it is long.
        found: String,
    },
    /// A declared or actual size is above its limit.
    #[error("{}: {what} is {found}, above the limit of {limit}; if the file is not damaged or in a different format, \
        raise the limit", path.display())]
    AboveLimit {
        /// The file.
        path: PathBuf,
        /// Which size.
        what: &'static str,
        /// Its size.
        found: u64,
        /// The limit.
        limit: u64,
    },
    /// The dimension is zero.
    #[error("{}: the embeddings have dimension 0, expected 1 or more", path.display())]
    ZeroDim {
        /// The file.
        path: PathBuf,
    },
    /// The declared rows do not fit in the bytes that follow.
    #[error(
        "{}: the header declares {rows} rows of {dim} numbers, at least {needed} bytes, but only {left} bytes follow: \
        the file is truncated or its header is damaged; read it with {}",
        path.display(),
        Remedy::AcceptRowCount
    )]
    DeclaredTooMuch {
        /// The file.
        path: PathBuf,
        /// Rows declared.
        rows: u64,
        /// Values in a row.
        dim: u64,
        /// Bytes they take at least.
        needed: u128,
        /// Bytes after the header.
        left: u64,
    },
    /// A line has more or fewer values than the others.
    #[error("{}{at}: {word} has {found} numbers, expected {expected}{}", path.display(), tabs(word), word = senv_core::quoted(word))]
    WrongDim {
        /// The file.
        path: PathBuf,
        /// The line.
        at: Position,
        /// The first field of the line.
        word: String,
        /// Values in the line.
        found: usize,
        /// Values in the other lines.
        expected: usize,
    },
    /// A field is not a decimal number.
    #[error("{}{at}: number {number} of {word} is {found}, expected a decimal number such as -0.25 or 1e-3", path.display(), found = senv_core::quoted(found), word = senv_core::quoted(word))]
    BadNumber {
        /// The file.
        path: PathBuf,
        /// The line.
        at: Position,
        /// The first field of the line.
        word: String,
        /// Which value of the line, counted from 1.
        number: usize,
        /// The field, shortened if it is long.
        found: String,
    },
    /// A line is empty.
    #[error("{}{at}: the line is empty, expected a word and its numbers", path.display())]
    EmptyLine {
        /// The file.
        path: PathBuf,
        /// The line.
        at: Position,
    },
    /// A line of text or a word is too long.
    #[error("{}{at}: {what} does not end within {limit} bytes; the file is damaged or in a different format", path.display())]
    TooLong {
        /// The file.
        path: PathBuf,
        /// Where it starts.
        at: Position,
        /// `the line` or `the word`.
        what: &'static str,
        /// The limit in bytes.
        limit: usize,
    },
    /// A word that its format does not allow, found while reading: binary rows are then misaligned.
    #[error(
        "{}{at}: expected a word and {dim} numbers in word2vec binary format; the file is damaged, its dimension is \
        not {dim}, or words contain spaces; for words with spaces, save it as text (gensim: save_word2vec_format(FILE, \
        binary=False))",
        path.display()
    )]
    BadWord {
        /// The file.
        path: PathBuf,
        /// Where the word starts.
        at: Position,
        /// The word, shortened if it is long.
        word: String,
        /// Values in a row.
        dim: usize,
    },
    /// A word contains a control character, as in a file of a different format.
    #[error("{}{at}: {word} contains a control character; the file is damaged or in a different format", path.display(), word = senv_core::quoted(word))]
    ControlCharacter {
        /// The file.
        path: PathBuf,
        /// Position of the word.
        at: Position,
        /// The word, shortened if it is long.
        word: String,
    },
    /// A word is not UTF-8.
    #[error(
        "{}{at}: {word} is not valid UTF-8; convert the file, or read it with {}",
        path.display(),
        Remedy::ReplaceInvalidUtf8, word = senv_core::quoted(word)
    )]
    InvalidUtf8 {
        /// The file.
        path: PathBuf,
        /// Position of the word.
        at: Position,
        /// The word, its invalid bytes replaced.
        word: String,
    },
    /// A word occurs twice, in the strict mode.
    #[error("{}{at}: {word} already has a row; remove one, or keep the first row of each word", path.display(), word = senv_core::quoted(word))]
    Duplicate {
        /// The file.
        path: PathBuf,
        /// Position of the second one.
        at: Position,
        /// The word.
        word: String,
    },
    /// A value is NaN or infinite where that is not accepted.
    #[error("{}{at}: the row of {word} contains NaN or an infinite number; fix or remove it", path.display(), word = senv_core::quoted(word))]
    NonFinite {
        /// The file.
        path: PathBuf,
        /// Position of the row; when writing, its line if every row has one.
        at: Position,
        /// The word.
        word: String,
    },
    /// The file ends too early.
    #[error("{}: the file ends at byte {end} inside {what}; it is truncated", path.display())]
    Truncated {
        /// The file.
        path: PathBuf,
        /// The end of the file.
        end: u64,
        /// What should have followed.
        what: &'static str,
    },
    /// The header declares a wrong number of rows.
    #[error(
        "{}: the header declares {}, but the file has {}: it is truncated or its header is wrong; read it with {}",
        path.display(),
        plural(*declared, "row"),
        if found > declared { format!("more than {declared}") } else { found.to_string() },
        Remedy::AcceptRowCount
    )]
    WrongRowCount {
        /// The file.
        path: PathBuf,
        /// Rows declared.
        declared: u64,
        /// Rows found; counting stops at the first row too many.
        found: u64,
    },
    /// Bytes follow the end of the data.
    #[error("{}: bytes follow the end of the data at byte {end}; the file is damaged or its header is wrong", path.display())]
    TrailingBytes {
        /// The file.
        path: PathBuf,
        /// The end of the data.
        end: u64,
    },
    /// A word cannot be written in this format.
    #[error("{}: {word} cannot be written as {format}, which does not allow spaces, control characters or empty \
        words; write a senv model (.safetensors)", path.display(), word = senv_core::quoted(word))]
    UnwritableWord {
        /// The file.
        path: PathBuf,
        /// The word.
        word: String,
        /// The format.
        format: Format,
    },
    /// An `.npy` file that is not a matrix of a supported type.
    #[error("{}: {reason}", path.display())]
    BadNpy {
        /// The file.
        path: PathBuf,
        /// What was found and what was expected.
        reason: String,
    },
}

/// The advice for a row that has tabs.
fn tabs(word: &str) -> &'static str {
    if word.contains('\t') {
        "; the line contains tabs: replace them with spaces (tr '\\t' ' ' < FILE > NEW)"
    } else {
        ""
    }
}

impl Error {
    /// The core's error, if this is one.
    #[must_use]
    pub fn core(&self) -> Option<&senv_core::Error> {
        if let Self::Core(error) = self { Some(error) } else { None }
    }

    /// The settings that can help, if any.
    #[must_use]
    pub fn remedies(&self) -> &[Remedy] {
        match self {
            Self::Core(error) => error.remedies(),
            Self::InvalidUtf8 { .. } => &[Remedy::ReplaceInvalidUtf8],
            Self::WrongRowCount { .. } | Self::DeclaredTooMuch { .. } => &[Remedy::AcceptRowCount],
            _ => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_their_remedies() {
        let error = Error::InvalidUtf8 { path: "a.vec".into(), at: Position::Line(2), word: "a".into() };
        let message = "a.vec:2: \"a\" is not valid UTF-8; convert the file, or read it with invalid bytes replaced";
        assert_eq!(error.to_string(), message);
        assert_eq!(error.remedies(), [Remedy::ReplaceInvalidUtf8]);
        let core = senv_core::Error::EmptyVocabulary { min_count: 5, distinct: 3, highest: 2 };
        assert_eq!(Error::from(core).remedies(), [Remedy::LowerMinCount]);
        assert!(Error::ZeroDim { path: "a.vec".into() }.remedies().is_empty());
    }
}
