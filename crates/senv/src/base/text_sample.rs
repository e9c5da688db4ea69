//! The beginnings of a text, used to choose settings before all of it is read.

use std::path::{Path, PathBuf};

use senv_core::{Observer, TextOptions, Tokenizer, text::beginnings};

use super::text_size::TextSize;

/// The beginnings of text files ([`beginnings`]), read once, and what they tell about the text.
#[derive(Debug, Clone)]
pub struct TextSample {
    files: Vec<(PathBuf, Vec<String>)>,
    size: TextSize,
}

impl TextSample {
    /// Reads the beginnings of files: plain, `.gz`, `.zst`, or `-`. Skips what cannot be read, or not twice.
    ///
    /// ```
    /// let file = tempfile::NamedTempFile::new()?;
    /// std::fs::write(&file, "one two three\n".repeat(590))?;
    /// let sample = senv::data::TextSample::read(&[file.path()]);
    /// assert_eq!((sample.size().words, sample.lines().count()), (1400, 590));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn read<P: AsRef<Path>>(paths: &[P]) -> Self {
        Self::read_of(paths, &TextOptions::default())
    }

    /// Reads beginnings with these options, such as columns of tables or splitting into sentences.
    #[must_use]
    pub fn read_of<P: AsRef<Path>>(paths: &[P], options: &TextOptions) -> Self {
        let files = beginnings(paths, options);
        let first = files.first().map_or(&[][..], |(_, lines)| lines);
        let size = TextSize::of_beginning(paths, first);
        Self { files, size }
    }

    /// Returns the approximate size of the text.
    #[must_use]
    pub fn size(&self) -> TextSize {
        self.size
    }

    /// Returns the tokenizer that fits the text instead of [`Tokenizer::automatic`], and any other unchanged. The
    /// observer gets a note if `unicode` is chosen.
    #[must_use]
    pub fn tokenizer(&self, given: &Tokenizer, observer: &dyn Observer) -> Tokenizer {
        given.fitted_to_text(self.lines(), observer)
    }

    /// Returns the lines, including those without text.
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        self.files.iter().flat_map(|(_, lines)| lines).map(String::as_str)
    }

    /// Returns the files that were read, with their lines.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&Path, &[String])> {
        self.files.iter().map(|(path, lines)| (path.as_path(), &lines[..]))
    }
}

impl TextSize {
    /// Estimates the size from the length of the files and of the first sentences. A `.gz` or `.zst` file counts as the
    /// text that it probably contains. The estimate is [`TextSize::MEDIUM`] if a file has no length, such as standard
    /// input.
    ///
    /// ```
    /// let file = tempfile::NamedTempFile::new()?;
    /// std::fs::write(&file, "one two three\n".repeat(590))?;
    /// assert_eq!(senv::data::TextSize::of_files(&[file.path()]).words, 1400);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn of_files(paths: &[impl AsRef<Path>]) -> Self {
        TextSample::read(paths).size()
    }
}
