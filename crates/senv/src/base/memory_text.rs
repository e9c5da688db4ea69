//! Sentences in memory as a text that training can read.

use std::{
    borrow::Cow,
    fs::File,
    io::{self, BufWriter, Seek, Write},
    path::{Path, PathBuf},
};

use senv_core::{Error as CoreError, files::Unfinished, text::is_blank};
use tempfile::TempPath;

use super::left_texts;
use crate::error::{Error, Result};

/// Bytes of a text that stay in memory; longer texts go to a file.
const IN_MEMORY: u64 = 16 << 20;

/// Sentences from memory as a text file, which exists as long as this value.
///
/// Training reads a text more than once, in blocks, from several threads, and by path. Every call that takes the path
/// of a text also takes a `MemoryText`. Training gives the same bits as on a file with these lines.
///
/// On Linux up to 16 MiB of text stay in memory. A longer text goes to an unnamed file in the folder for temporary
/// files, which the system removes whenever the process ends. On other systems every text goes to a file
/// `senv-text-*.txt` there. The next `MemoryText` removes files left by killed processes.
///
/// Errors name the text by its path, such as `/proc/self/fd/3`.
///
/// Each sentence is a line. An empty sentence ends a document, as a blank line does. A line end inside a sentence
/// becomes a space.
///
/// ```
/// use senv::{BowAutoencoderParams, TrainOptions, data::MemoryText};
///
/// let text = MemoryText::new(["the train is late", "the bus waits for it", "", "the rain falls"].repeat(20))?;
/// let params = BowAutoencoderParams { dim: 8, ..Default::default() };
/// let trained = params.fit_files(&text, &TrainOptions::default())?;
/// assert_eq!(trained.model.encode_one("the train").len(), 8);
/// # Ok::<(), senv::Error>(())
/// ```
#[derive(Debug)]
pub struct MemoryText {
    path: PathBuf,
    /// The file that the path refers to, kept open.
    _file: File,
    /// Removes a named file on drop, or when a signal ends the process.
    _name: Option<(TempPath, Unfinished)>,
}

impl MemoryText {
    /// Creates a text from sentences.
    ///
    /// # Errors
    /// [`senv_core::Error::Io`] if a temporary file is needed and cannot be created or written.
    pub fn new<S: AsRef<str>>(sentences: impl IntoIterator<Item = S>) -> Result<Self> {
        Self::within(sentences, IN_MEMORY)
    }

    /// Creates a text of paraphrase pairs, for [`PairKind::Pairs`](crate::data::PairKind::Pairs).
    ///
    /// ```
    /// use senv::{PpParams, Start, System, TrainOptions, data::{MemoryText, PairFiles, PairInput, PairKind}};
    ///
    /// let pairs = [("a cat sat", "a cat was sitting"), ("the dog ran", "the dog was running")].repeat(10);
    /// let text = MemoryText::pairs(pairs)?;
    /// let files = PairFiles::from([PairInput::new(&text, PairKind::Pairs)]);
    /// let trained = PpParams { dim: 8, ..PpParams::default() }.fit_input(&files, Start::Random, &TrainOptions::default())?;
    /// assert!(trained.model.similarity("a cat sat", "a cat was sitting") > 0.5);
    /// # Ok::<(), senv::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::BlankSentence`] for a pair with a blank sentence; the errors of [`MemoryText::new`].
    pub fn pairs<A: AsRef<str>, B: AsRef<str>>(pairs: impl IntoIterator<Item = (A, B)>) -> Result<Self> {
        let lines = pairs.into_iter().enumerate().map(|(number, (a, b))| {
            let (a, b) = (field(a.as_ref()), field(b.as_ref()));
            if is_blank(&a) || is_blank(&b) { Err(Error::BlankSentence { number }) } else { Ok(format!("{a}\t{b}")) }
        });
        Self::new(lines.collect::<Result<Vec<_>>>()?)
    }

    /// Creates a text of groups of sentences that mean the same thing, such as the captions of an image, for
    /// [`PairKind::Captions`](crate::data::PairKind::Captions).
    ///
    /// # Errors
    /// The errors of [`MemoryText::pairs`], with the number of the group.
    pub fn groups<S: AsRef<str>>(groups: impl IntoIterator<Item = impl IntoIterator<Item = S>>) -> Result<Self> {
        let mut lines = Vec::new();
        for (number, group) in groups.into_iter().enumerate() {
            for sentence in group {
                let sentence = field(sentence.as_ref());
                if is_blank(&sentence) {
                    return Err(Error::BlankSentence { number });
                }
                lines.push(format!("{number}\t{sentence}"));
            }
        }
        Self::new(lines)
    }

    /// Creates a text with at most `most` bytes in memory.
    fn within<S: AsRef<str>>(sentences: impl IntoIterator<Item = S>, most: u64) -> Result<Self> {
        let folder = std::env::temp_dir();
        left_texts::remove(&folder);
        let (mut text, mut is_memory) = match in_memory() {
            Some(text) => (text, true),
            None => (on_disk(&folder)?, false),
        };
        let failed = |error| CoreError::io("write a temporary file in", &folder, error);
        let mut out = BufWriter::new(text._file.try_clone().map_err(failed)?);
        let mut n_bytes = 0;
        for sentence in sentences {
            let line = line(sentence.as_ref());
            n_bytes += line.len() as u64 + 1;
            if is_memory && n_bytes > most {
                out.flush().map_err(failed)?;
                (text, is_memory) = (text.moved(&folder)?, false);
                out = BufWriter::new(text._file.try_clone().map_err(failed)?);
            }
            writeln!(out, "{line}").map_err(failed)?;
        }
        out.flush().map_err(failed)?;
        Ok(text)
    }

    /// Moves the text to a file on disk.
    fn moved(mut self, folder: &Path) -> Result<Self> {
        let mut text = on_disk(folder)?;
        let copied = self._file.rewind().and_then(|()| io::copy(&mut self._file, &mut text._file));
        copied.map_err(|error| CoreError::io("write a temporary file in", folder, error))?;
        Ok(text)
    }

    /// Uses a file without a name; `None` if it does not have a path either.
    fn unnamed(file: File) -> Option<Self> {
        #[cfg(target_os = "linux")]
        {
            use std::os::fd::AsRawFd;
            let path = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
            path.is_file().then_some(Self { path, _file: file, _name: None })
        }
        #[cfg(not(target_os = "linux"))]
        {
            drop(file);
            None
        }
    }
}

/// Creates a text in memory, if the system supports such files.
fn in_memory() -> Option<MemoryText> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{MemfdFlags, memfd_create};
        MemoryText::unnamed(memfd_create("senv-text", MemfdFlags::CLOEXEC).ok()?.into())
    }
    #[cfg(not(target_os = "linux"))]
    None
}

/// Creates a text in a folder, without a name if possible.
fn on_disk(folder: &Path) -> Result<MemoryText> {
    let failed = |error| CoreError::io("create a temporary file in", folder, error);
    if cfg!(target_os = "linux")
        && let Some(text) = MemoryText::unnamed(tempfile::tempfile_in(folder).map_err(failed)?)
    {
        return Ok(text);
    }
    let named = tempfile::Builder::new().prefix(left_texts::PREFIX).suffix(left_texts::SUFFIX).tempfile_in(folder);
    let (file, name) = named.map_err(failed)?.into_parts();
    // The lock keeps other processes from removing the file as a leftover.
    let _ = file.try_lock();
    let unfinished = Unfinished::new(&name);
    Ok(MemoryText { path: name.to_path_buf(), _file: file, _name: Some((name, unfinished)) })
}

impl MemoryText {
    /// Runs `train` on sentences. Errors do not name the temporary file, which the caller does not know.
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
        &self.path
    }
}

/// Returns a sentence as one line.
pub(crate) fn line(sentence: &str) -> Cow<'_, str> {
    if sentence.contains(['\n', '\r']) { sentence.replace(['\n', '\r'], " ").into() } else { sentence.into() }
}

/// Returns a sentence as a field of a line.
fn field(sentence: &str) -> Cow<'_, str> {
    if sentence.contains('\t') { sentence.replace('\t', " ").into() } else { sentence.into() }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn each_sentence_is_a_line_and_an_empty_one_ends_a_document() {
        let text = MemoryText::new(["one two", "", "three\r\nfour", "five\n"]).unwrap();
        // Reads it as often as training would.
        for _ in 0..2 {
            assert_eq!(fs::read_to_string(&text).unwrap(), "one two\n\nthree  four\nfive \n");
        }
        assert_eq!(fs::read_to_string(MemoryText::new([] as [&str; 0]).unwrap()).unwrap(), "");
    }

    #[test]
    fn pairs_and_groups_are_lines_of_fields() {
        let read = |text: Result<MemoryText>| fs::read_to_string(text.unwrap()).unwrap();
        assert_eq!(read(MemoryText::pairs([("a\tb", "c\nd"), ("e", "f")])), "a b\tc d\ne\tf\n");
        assert_eq!(read(MemoryText::groups([vec!["a", "b"], vec!["c"]])), "0\ta\n0\tb\n1\tc\n");
        assert!(matches!(MemoryText::pairs([("a", "b"), ("c", " \t")]), Err(Error::BlankSentence { number: 1 })));
        assert!(matches!(MemoryText::groups([["a", ""]]), Err(Error::BlankSentence { number: 0 })));
    }

    #[test]
    fn a_text_is_the_same_in_memory_and_in_a_file() {
        let lines: Vec<String> = (0..300).map(|i| "word ".repeat(i)).collect();
        let whole: String = lines.iter().map(|line| format!("{line}\n")).collect();
        for most in [0, 1, 7, 5000, whole.len() as u64 - 1, whole.len() as u64, u64::MAX] {
            let text = MemoryText::within(&lines, most).unwrap();
            assert_eq!(fs::read_to_string(&text).unwrap(), whole, "{most}");
            assert_eq!(fs::metadata(&text).unwrap().len(), whole.len() as u64);
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn no_text_has_a_name_that_would_be_left_behind() {
        for most in [0, u64::MAX] {
            let text = MemoryText::within(["a secret"], most).unwrap();
            assert!(text._name.is_none());
            let real = fs::read_link(&text).unwrap();
            let real = real.to_str().unwrap();
            assert!(real.ends_with(" (deleted)") && real.starts_with("/memfd:senv-text") == (most > 0), "{real}");
        }
    }
}
