//! Errors with fields that a caller can match and a message that says what to do.

use std::path::PathBuf;

/// The result of a fallible operation of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of the core: parameters, shapes, text input, files.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A parameter is outside its range, or is NaN.
    #[error("{name} must be {requirement}, got {got}")]
    InvalidParameter {
        /// Which parameter.
        name: &'static str,
        /// The range it must lie in.
        requirement: &'static str,
        /// The value as given.
        got: String,
    },
    /// Two sizes that must agree do not.
    #[error("{what} has size {got}, expected {expected}")]
    ShapeMismatch {
        /// Which size.
        what: &'static str,
        /// The size expected.
        expected: usize,
        /// The size given.
        got: usize,
    },
    /// The operating system refused a file operation.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was attempted: `open`, `read`, `write`, `rename`, ...
        action: &'static str,
        /// The file; `-` is standard input or output.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// A line of text is not UTF-8.
    #[error(
        "{}:{line}: byte {byte} of the line is not valid UTF-8; convert the file, or read it with invalid bytes replaced (--invalid-utf8 replace)",
        path.display()
    )]
    InvalidUtf8 {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// The first bad byte of that line, counted from 1.
        byte: usize,
    },
    /// A line of text is longer than the limit.
    #[error("{}:{line}: the line is longer than {limit} bytes; put one sentence on a line, or raise the limit (--max-line-bytes)", path.display())]
    LineTooLong {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// The limit in bytes.
        limit: usize,
    },
    /// The input holds no text at all.
    #[error("{} holds no text; give a file with one sentence a line", path.display())]
    EmptyInput {
        /// The file, or the first of several.
        path: PathBuf,
    },
    /// The observer asked to stop before there was a result.
    #[error("stopped on request while {action}")]
    Interrupted {
        /// What was being done.
        action: &'static str,
    },
    /// No token is frequent enough.
    #[error(
        "the vocabulary is empty: the most frequent of {distinct} tokens occurs {highest} times, the minimum count is {min_count}; lower --min-count or give more text"
    )]
    EmptyVocabulary {
        /// The `min_count` of the vocabulary.
        min_count: u64,
        /// Distinct tokens seen.
        distinct: usize,
        /// The count of the most frequent one.
        highest: u64,
    },
    /// The parts of a vocabulary do not fit together.
    #[error("bad vocabulary: {reason}")]
    BadVocabulary {
        /// What does not fit.
        reason: String,
    },
    /// A file does not have the layout that it should have.
    #[error("{}: {reason}", path.display())]
    BadFile {
        /// The file.
        path: PathBuf,
        /// What was found, what was expected, and what to do.
        reason: String,
    },
    /// More memory was requested than can be addressed or allocated.
    #[error("a table of {rows} rows of {dim} values does not fit into memory")]
    TooLarge {
        /// Rows requested.
        rows: usize,
        /// Values in a row.
        dim: usize,
    },
}

impl Error {
    /// Wraps an error of the operating system with the file and what was attempted.
    #[must_use]
    pub fn io(action: &'static str, path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        Self::Io { action, path: path.into(), source }
    }
}
