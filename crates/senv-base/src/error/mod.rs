//! Errors with fields that callers can match and messages that say what to do.
//!
//! A message is complete and includes what the operating system said. That text is not repeated in [`source`], so a
//! program that prints an error with its sources prints nothing twice. To find the cause, use [`Error::io_kind`],
//! [`Error::is_interrupted`], the fields of a variant, or `core()` on errors of the crates above.
//!
//! [`source`]: std::error::Error::source

use std::{
    fs::Metadata,
    path::{Path, PathBuf},
};

mod remedy;

pub use remedy::Remedy;

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
    /// A text that is not a value of the hyperparameter, or a hyperparameter that belongs to another variant.
    #[error("{name} cannot be {value:?}: {reason}")]
    BadHyperparameter {
        /// Which hyperparameter.
        name: String,
        /// The text.
        value: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A name for a program's own tokenizer or update rule that files and commands cannot store.
    #[error("bad {what} name {name:?}: expected 1 to 64 ASCII letters, digits, hyphens, underscores and dots")]
    BadName {
        /// What the name is for: `tokenizer`, `update rule`.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A name that is already in use.
    #[error("the {what} name {name:?} is already in use; choose another")]
    NameTaken {
        /// What the name is for: `tokenizer`, `update rule`.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A model with a custom tokenizer that this program does not have.
    #[error(
        "{}: the model needs the tokenizer {name:?}, which this program does not have; call Tokenizer::custom with \
        this name before opening the model",
        path.display()
    )]
    MissingTokenizer {
        /// The file.
        path: PathBuf,
        /// The name of the tokenizer.
        name: String,
    },
    /// A named update rule that the program does not have.
    #[error("this program has no update rule {name:?}; call UpdateRule::custom with this name before training")]
    MissingUpdateRule {
        /// The name of the rule.
        name: String,
    },
    /// Two sizes that must agree do not.
    #[error("{what}: size {got}, expected {expected}")]
    ShapeMismatch {
        /// Which size.
        what: &'static str,
        /// The size expected.
        expected: usize,
        /// The size given.
        got: usize,
    },
    /// The operating system refused a file operation.
    #[error("cannot {action} {}: {}", path.display(), reason(error))]
    Io {
        /// What was attempted: `open`, `read`, `write`, `rename`, ...
        action: &'static str,
        /// The file; `-` is standard input or output.
        path: PathBuf,
        /// The error of the system.
        error: std::io::Error,
    },
    /// A file was written, but the system cannot guarantee that it survives a power failure. The work is
    /// done: trying again would repeat it.
    #[error(
        "{}: the file was written, but a power failure may still lose it: the system could not flush the folder to \
        disk ({error}); do not run this again; check the disk and keep a copy",
        path.display()
    )]
    NotDurable {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        error: std::io::Error,
    },
    /// An error of the program's own encoder, scorer, objective or text source.
    #[error(transparent)]
    Other(Box<dyn std::error::Error + Send + Sync>),
    /// A line of text, or a cell of a table, is not UTF-8.
    #[error(
        "{}:{line}: byte {byte} of {} is not valid UTF-8; convert the file, read it {}, or read it with {}",
        path.display(),
        line_or_cell(column),
        Remedy::ReadWindows1252,
        Remedy::ReplaceInvalidUtf8
    )]
    InvalidUtf8 {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1; for a cell, that on which its record starts.
        line: u64,
        /// The first bad byte of that line or cell, counted from 1.
        byte: usize,
        /// The column of a cell: its title, or its number from 1. `None` if bytes are counted in the line.
        column: Option<String>,
    },
    /// A line of text, or a cell of a table, contains NUL: the file is not text or has another encoding.
    #[error(
        "{}:{line}: byte {byte} of {} is NUL, which text does not contain; convert the file, or read it with {}",
        path.display(),
        line_or_cell(column),
        Remedy::ReplaceInvalidUtf8
    )]
    NulByte {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1; for a cell, that on which its record starts.
        line: u64,
        /// The first NUL of that line or cell, counted from 1.
        byte: usize,
        /// The column of a cell: its title, or its number from 1. `None` if bytes are counted in the line.
        column: Option<String>,
    },
    /// A file that should be text is something else, recognized by its first bytes.
    #[error("{} is {found}, not text; {remedy}", path.display())]
    NotText {
        /// The file.
        path: PathBuf,
        /// What it is: `in UTF-16`, `a PDF document`, ...
        found: &'static str,
        /// What to do.
        remedy: &'static str,
    },
    /// A file that should be text is a table with columns.
    #[error("{} is {found}, not text; {}", path.display(), Remedy::NameColumn)]
    NoColumnNamed {
        /// The file.
        path: PathBuf,
        /// What it is: `a Parquet file`, `an Arrow stream`, ...
        found: &'static str,
    },
    /// A record of a CSV, TSV or JSON-lines file does not have the text.
    #[error("{}:{line}: {reason}", path.display())]
    BadTable {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// What is wrong.
        reason: String,
    },
    /// A line of text is longer than the limit.
    #[error(
        "{}:{line}: the line is longer than {limit} bytes; put one sentence on each line, or {}",
        path.display(),
        Remedy::RaiseLineLimit
    )]
    LineTooLong {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// The limit in bytes.
        limit: usize,
    },
    /// A sentence spans lines until it is longer than the limit.
    #[error(
        "{}:{line}: the sentence that starts here spans several lines and is longer than {limit} bytes; {}, or {}",
        path.display(),
        Remedy::SplitLines,
        Remedy::RaiseLineLimit
    )]
    SentenceTooLong {
        /// The file.
        path: PathBuf,
        /// The line on which it starts, counted from 1.
        line: u64,
        /// The limit in bytes.
        limit: usize,
    },
    /// A compressed file, or one of record batches, that expands to implausibly much text.
    #[error(
        "{}: {compressed} bytes expand to more than {text} bytes in {lines} lines, which is not plausible for text; \
        if the file is correct, {}",
        path.display(),
        Remedy::AcceptExpansion
    )]
    Expansion {
        /// The file.
        path: PathBuf,
        /// Compressed bytes that were read.
        compressed: u64,
        /// Bytes of text that they expand to.
        text: u64,
        /// Lines of that text.
        lines: u64,
    },
    /// The input contains no text.
    #[error("{} contains no text; give a file with one sentence per line, or a table with rows", path.display())]
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
    /// Another rank of a run on several machines ended or is out of step.
    #[error("rank {rank} cannot continue: {reason}; see its own error message")]
    Rank {
        /// Its number, from 0.
        rank: usize,
        /// What this rank observed.
        reason: String,
    },
    /// No token is frequent enough.
    #[error(
        "the vocabulary is empty: the most frequent of {distinct} tokens occurs {highest} times, and the minimum \
        count is {min_count}; {} or give more text",
        Remedy::LowerMinCount
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
    /// A folder, or a pipe or device where a file has to be memory-mapped.
    #[error("{} is {found}; expected a senv model or a file of word vectors{remedy}", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
        /// What it is.
        found: &'static str,
        /// What to do, if that is known.
        remedy: &'static str,
    },
    /// A safetensors file that breaks the rules of its format.
    #[error("{}: bad safetensors file: {reason}", path.display())]
    BadTensors {
        /// The file.
        path: PathBuf,
        /// The broken rule.
        reason: String,
    },
    /// A safetensors file that no senv program wrote.
    #[error("{}: not a senv model: the metadata has no key {key:?}", path.display())]
    NotAModel {
        /// The file.
        path: PathBuf,
        /// The key that is missing.
        key: String,
    },
    /// A model of a later release.
    #[error("{}: the file has format version {found}, and this version of senv reads up to {supported}; update senv", path.display())]
    NewerVersion {
        /// The file.
        path: PathBuf,
        /// Its version, as written.
        found: String,
        /// The highest version that can be read.
        supported: u32,
    },
    /// A model of a different kind.
    #[error("{}: the model is of kind {found:?}, expected {expected:?}", path.display())]
    WrongKind {
        /// The file.
        path: PathBuf,
        /// The kind of the file.
        found: String,
        /// The kind expected.
        expected: String,
    },
    /// A model of a kind that the core does not open.
    #[error(
        "{}: the model is of kind {kind}, and senv-core opens only kind static; open it with senv::open of the \
        package senv-lib, or, if it averages word vectors, convert it with `senv compress --model FILE --output SMALL`",
        path.display()
    )]
    NotStatic {
        /// The file.
        path: PathBuf,
        /// Its kind.
        kind: String,
    },
    /// A model without a required tensor.
    #[error("{}: the model has no tensor {name:?}", path.display())]
    MissingTensor {
        /// The file.
        path: PathBuf,
        /// The tensor.
        name: String,
    },
    /// A tensor with the wrong type or shape.
    #[error("{}: tensor {name:?} is {found}, expected {expected}", path.display())]
    WrongTensor {
        /// The file.
        path: PathBuf,
        /// The tensor.
        name: String,
        /// Its type and shape.
        found: String,
        /// The required type and shape.
        expected: String,
    },
    /// A checksum does not match the data.
    #[error("{}: {what} is damaged (checksum {found:08x}, expected {recorded:08x}); copy the model again or retrain \
        it", path.display())]
    Checksum {
        /// The file.
        path: PathBuf,
        /// Which part: `the header`, or a tensor.
        what: String,
        /// The checksum of the data.
        found: u32,
        /// The checksum in the header.
        recorded: u32,
    },
    /// A value of a model is NaN or infinite.
    #[error(
        "{}: row {row}{} of tensor {name:?} contains {found}; copy the model again or retrain it",
        path.display(), word.as_ref().map(|word| format!(", of the word {word},", word = crate::quoted(word))).unwrap_or_default()
    )]
    NonFinite {
        /// The file.
        path: PathBuf,
        /// The tensor.
        name: String,
        /// The row of a matrix or the value of a vector, counted from 0.
        row: usize,
        /// The word that the row belongs to, if there is one.
        word: Option<String>,
        /// What the value is.
        found: &'static str,
    },
    /// Out of memory.
    #[error("out of memory: cannot allocate {bytes} bytes for {what}")]
    OutOfMemory {
        /// What the memory was for.
        what: &'static str,
        /// The bytes that could not be allocated.
        bytes: u64,
    },
    /// Another process is writing the same file.
    #[error(
        "{}: another process{} is writing this file; wait for it to finish, or choose another name",
        path.display(), holder.map(|holder| format!(" ({holder})")).unwrap_or_default()
    )]
    InUse {
        /// The file.
        path: PathBuf,
        /// The id of the process, if it is known.
        holder: Option<u32>,
    },
    /// The arguments of a writer do not fit together.
    #[error("{}: cannot write {what}: {reason}", path.display())]
    BadWrite {
        /// The file.
        path: PathBuf,
        /// What was to be written.
        what: String,
        /// Why that is not possible.
        reason: String,
    },
    /// More memory was requested than can be addressed or allocated.
    #[error("a table of {rows} rows of {dim} values does not fit in memory")]
    TooLarge {
        /// Rows requested.
        rows: usize,
        /// Values in a row.
        dim: usize,
    },
}

impl Error {
    /// Wraps an error of the operating system with the file and the attempted action.
    #[must_use]
    pub fn io(action: &'static str, path: impl Into<PathBuf>, error: std::io::Error) -> Self {
        Self::Io { action, path: path.into(), error }
    }

    /// Wraps an error of the program's own encoder, scorer, objective or text source, like `io::Error::other`.
    ///
    /// ```
    /// use senv_core::Error;
    /// assert_eq!(Error::other("the service does not answer").to_string(), "the service does not answer");
    /// ```
    #[must_use]
    pub fn other(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Other(error.into())
    }

    /// Whether an observer or a [`CancelToken`](crate::CancelToken) stopped the work.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        matches!(self, Self::Interrupted { .. })
    }

    /// The kind of the operating system's error, if this is one.
    ///
    /// ```
    /// use std::io::ErrorKind;
    /// let error = senv_core::ModelFile::open("there/is/none.senv").unwrap_err();
    /// assert_eq!(error.io_kind(), Some(ErrorKind::NotFound));
    /// ```
    #[must_use]
    pub fn io_kind(&self) -> Option<std::io::ErrorKind> {
        match self {
            Self::Io { error, .. } | Self::NotDurable { error, .. } => Some(error.kind()),
            _ => None,
        }
    }

    /// Whether the requested work is done despite the error ([`Error::NotDurable`]).
    #[must_use]
    pub fn is_done(&self) -> bool {
        matches!(self, Self::NotDurable { .. })
    }

    /// Turns the error of one step into the error of the whole, which is not done: never [`Error::NotDurable`].
    ///
    /// ```
    /// use senv_core::Error;
    /// let step = Error::NotDurable { path: "first of two".into(), error: std::io::ErrorKind::Other.into() };
    /// assert!(step.is_done() && !step.of_step().is_done());
    /// ```
    #[must_use]
    pub fn of_step(self) -> Self {
        match self {
            Self::NotDurable { path, error } => Self::io("flush the folder of", path, error),
            error => error,
        }
    }

    /// The error for a path that exists but cannot be memory-mapped.
    #[must_use]
    pub fn not_a_file(path: &Path, metadata: &Metadata) -> Self {
        let (found, remedy) = if metadata.is_dir() {
            ("a folder", "")
        } else {
            ("a pipe or device", "; models are memory-mapped, so save it to a file first")
        };
        Self::NotAFile { path: path.to_owned(), found, remedy }
    }

    /// The settings that help against this error, if any.
    #[must_use]
    pub fn remedies(&self) -> &[Remedy] {
        match self {
            Self::InvalidUtf8 { .. } => &[Remedy::ReadWindows1252, Remedy::ReplaceInvalidUtf8],
            Self::NulByte { .. } => &[Remedy::ReplaceInvalidUtf8],
            Self::LineTooLong { .. } => &[Remedy::RaiseLineLimit],
            Self::EmptyVocabulary { .. } => &[Remedy::LowerMinCount],
            Self::NoColumnNamed { .. } => &[Remedy::NameColumn],
            _ => &[],
        }
    }
}

/// In what the bytes of a message are counted: the line, or the cell in a column of a table.
#[doc(hidden)]
#[must_use]
pub fn line_or_cell(column: &Option<String>) -> String {
    match column {
        Some(column) => format!("the cell in column {}", crate::quoted(column)),
        None => "the line".to_owned(),
    }
}

/// Says what the system refused, in words for the case that users meet.
fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::IsADirectory => "it is a folder; give a file".to_owned(),
        std::io::ErrorKind::NotADirectory => "a file is where a folder must be; give a folder".to_owned(),
        std::io::ErrorKind::AlreadyExists => "there is one of this name; give another name".to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_their_remedies() {
        let path = || PathBuf::from("a.txt");
        for (error, remedies, message) in [
            (
                Error::InvalidUtf8 { path: path(), line: 2, byte: 3, column: None },
                &[Remedy::ReadWindows1252, Remedy::ReplaceInvalidUtf8][..],
                "a.txt:2: byte 3 of the line is not valid UTF-8; convert the file, read it as windows-1252, or read it with \
                 invalid bytes replaced",
            ),
            (
                Error::NulByte { path: path(), line: 2, byte: 3, column: Some("body".into()) },
                &[Remedy::ReplaceInvalidUtf8],
                "a.txt:2: byte 3 of the cell in column \"body\" is NUL, which text does not contain; convert the file, or \
                 read it with invalid bytes replaced",
            ),
            (
                Error::LineTooLong { path: path(), line: 2, limit: 9 },
                &[Remedy::RaiseLineLimit],
                "a.txt:2: the line is longer than 9 bytes; put one sentence on each line, or raise the line length limit",
            ),
            (
                Error::EmptyVocabulary { min_count: 5, distinct: 3, highest: 2 },
                &[Remedy::LowerMinCount],
                "the vocabulary is empty: the most frequent of 3 tokens occurs 2 times, and the minimum count is 5; lower the \
                 minimum count or give more text",
            ),
        ] {
            assert_eq!(error.to_string(), message);
            assert_eq!(error.remedies(), remedies);
        }
        assert!(Error::EmptyInput { path: path() }.remedies().is_empty());
    }

    #[test]
    fn a_file_in_the_place_of_a_folder_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.csv");
        std::fs::write(&file, "a\n").unwrap();
        let read = Error::io("open", &file, std::fs::read_dir(&file).unwrap_err()).to_string();
        assert!(read.ends_with("a.csv: a file is where a folder must be; give a folder"), "{read}");
        let made = Error::io("create", &file, std::fs::create_dir_all(&file).unwrap_err()).to_string();
        assert!(made.ends_with("a.csv: there is one of this name; give another name"), "{made}");
    }

    #[test]
    fn a_folder_is_no_file_whatever_it_holds() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("dictionary.txt"), "the\n").unwrap();
        let error = Error::not_a_file(folder.path(), &folder.path().metadata().unwrap()).to_string();
        assert!(error.ends_with("is a folder; expected a senv model or a file of word vectors"), "{error}");
    }
}
