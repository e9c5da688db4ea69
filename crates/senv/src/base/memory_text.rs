//! Sentences in memory as a text that training can read.

use std::{
    borrow::Cow,
    io::{BufWriter, Write},
    path::Path,
};

use senv_core::Error as CoreError;
use tempfile::NamedTempFile;

use crate::error::{Error, Result};

/// Sentences from memory, as a text file that lives as long as this value.
///
/// Training reads a text more than once, in blocks and from several threads. The sentences are therefore written to the
/// folder for temporary files. Every call that takes the path of a text takes a `MemoryText`, and trains to the same
/// bits as on a file with these lines.
///
/// Each sentence is a line. An empty sentence ends a document, as a blank line does; a line end inside of a sentence
/// becomes a space.
///
/// ```
/// use senv::{BowAutoencoderParams, MemoryText, TrainOptions};
///
/// let text = MemoryText::new(["the train is late", "the bus waits for it", "", "the rain falls"].repeat(20))?;
/// let params = BowAutoencoderParams { dim: 8, ..Default::default() };
/// let trained = params.fit_files(&[&text], &TrainOptions::default())?;
/// assert_eq!(trained.model.encode_one("the train").len(), 8);
/// # Ok::<(), senv::Error>(())
/// ```
#[derive(Debug)]
pub struct MemoryText(NamedTempFile);

impl MemoryText {
    /// Writes the sentences to a temporary file.
    ///
    /// # Errors
    /// [`senv_core::Error::Io`] if the file cannot be made or written.
    pub fn new<S: AsRef<str>>(sentences: impl IntoIterator<Item = S>) -> Result<Self> {
        let folder = std::env::temp_dir();
        let file = tempfile::Builder::new().prefix("senv-text-").suffix(".txt").tempfile();
        let file = file.map_err(|error| CoreError::io("create a file in", &folder, error))?;
        let mut out = BufWriter::new(file);
        let write = || {
            for sentence in sentences {
                writeln!(out, "{}", line(sentence.as_ref()))?;
            }
            out.flush()
        };
        let written = write();
        match (written, out.into_inner()) {
            (Ok(()), Ok(file)) => Ok(Self(file)),
            (Err(error), _) => Err(CoreError::io("write", &folder, error).into()),
            (Ok(()), Err(error)) => Err(CoreError::io("write", &folder, error.into_error()).into()),
        }
    }
}

impl MemoryText {
    /// What `train` makes of sentences; errors do not name the temporary file, of which the caller knows nothing.
    pub(crate) fn lend<S: AsRef<str>, T>(
        sentences: impl IntoIterator<Item = S>,
        train: impl FnOnce(&Self) -> Result<T>,
    ) -> Result<T> {
        let text = Self::new(sentences)?;
        train(&text).map_err(|error| match error {
            Error::Core(CoreError::EmptyInput { path }) if path == text.as_ref() => Error::EmptySentences,
            Error::NoExamplesIn { paths } if paths == [text.as_ref()] => Error::NoExamplesIn { paths: Vec::new() },
            error => error,
        })
    }
}

impl AsRef<Path> for MemoryText {
    fn as_ref(&self) -> &Path {
        self.0.path()
    }
}

/// A sentence as one line.
pub(crate) fn line(sentence: &str) -> Cow<'_, str> {
    if sentence.contains(['\n', '\r']) { sentence.replace(['\n', '\r'], " ").into() } else { sentence.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sentence_is_a_line_and_an_empty_one_ends_a_document() {
        let text = MemoryText::new(["one two", "", "three\r\nfour", "five\n"]).unwrap();
        assert_eq!(std::fs::read_to_string(&text).unwrap(), "one two\n\nthree  four\nfive \n");
        let path = text.as_ref().to_owned();
        drop(text);
        assert!(!path.exists());
        assert_eq!(std::fs::read_to_string(MemoryText::new([] as [&str; 0]).unwrap()).unwrap(), "");
    }
}
