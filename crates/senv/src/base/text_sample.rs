//! The beginnings of a text, by which settings are chosen before it is read as a whole.

use std::path::{Path, PathBuf};

use senv_core::{Observer, TextOptions, Tokenizer, text::beginnings};

use super::text_size::TextSize;

/// The beginnings of text files ([`beginnings`]), read once, and what follows from them.
#[derive(Debug, Clone)]
pub struct TextSample {
    files: Vec<(PathBuf, Vec<String>)>,
    size: TextSize,
}

impl TextSample {
    /// Reads them: plain, `.gz`, `.zst`, or `-`. What cannot be read, or not twice, is left out.
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

    /// The same of text that is read so: of fields of tables, or cut into sentences.
    #[must_use]
    pub fn read_of<P: AsRef<Path>>(paths: &[P], options: &TextOptions) -> Self {
        let files = beginnings(paths, options);
        let first = files.first().map_or(&[][..], |(_, lines)| lines);
        let size = TextSize::of_beginning(paths, first);
        Self { files, size }
    }

    /// About how long the text is.
    #[must_use]
    pub fn size(&self) -> TextSize {
        self.size
    }

    /// The tokenizer that fits the text in the place of [`Tokenizer::automatic`]; any other as it is. The observer gets
    /// a note where `unicode` is chosen.
    #[must_use]
    pub fn tokenizer(&self, given: &Tokenizer, observer: &dyn Observer) -> Tokenizer {
        given.fitted_to_text(self.lines(), observer)
    }

    /// The lines, those without text as well.
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        self.files.iter().flat_map(|(_, lines)| lines).map(String::as_str)
    }

    /// The files that were looked at, and their lines.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&Path, &[String])> {
        self.files.iter().map(|(path, lines)| (path.as_path(), &lines[..]))
    }
}

impl TextSize {
    /// Estimates the size from the length of the files and of the first sentences. A `.gz` or `.zst` file counts as the
    /// text that it may hold. The estimate is [`TextSize::MEDIUM`] if a file has no length, such as standard input.
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
