//! Word vectors as a NumPy matrix with a separate file of words.

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use senv_core::{TextOptions, TextReader, Vocabulary, counts::plural, files::AtomicFile, text::Lines};

use crate::{Embeddings, NpyWriter, Result, license_file, read_npy_marked};

impl Embeddings {
    /// The path of the word file of a matrix: `cats.words.txt` for `cats.npy`, in the same folder.
    #[must_use]
    pub fn words_of_matrix(matrix: &Path) -> PathBuf {
        matrix.with_extension("words.txt")
    }

    /// Writes the rows as a matrix with a checksum of the words, and the words to a file next to it: both, or neither.
    /// Terms of use are in a third file, as for [`Embeddings::write`].
    ///
    /// # Errors
    /// [`senv_core::Error::BadFile`] if a word cannot be written on one line; [`senv_core::Error::Io`].
    pub fn write_matrix(&self, path: &Path) -> Result<()> {
        let words = Self::words_of_matrix(path);
        let is_no_line = |word: &str| word.trim().is_empty() || word.contains(['\n', '\r']);
        if let Some((word, _)) = self.iter().find(|(word, _)| is_no_line(word)) {
            let reason = format!(
                "the word {word} cannot be written on its own line; write another format",
                word = senv_core::quoted(word)
            );
            return Err(senv_core::Error::BadFile { path: words, reason }.into());
        }
        let mark = checksum(self.iter().map(|(word, _)| word));
        let matrix = AtomicFile::create(path)?;
        let mut matrix = NpyWriter::marked(matrix, path, self.len(), self.dim(), mark)?;
        self.iter().try_for_each(|(_, row)| matrix.write_row(row))?;
        let mut list = AtomicFile::create(&words)?;
        self.iter().try_for_each(|(word, _)| writeln!(list, "{word}")).map_err(|error| list.error(error))?;
        license_file::commit([matrix.finish()?, list], path, self.vocabulary().terms())
    }

    /// Reads a matrix, from NumPy or from [`Embeddings::write_matrix`], its words, and its terms of use if there is a
    /// file of them.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("pets.npy");
    /// use senv_core::{Table, Vocabulary};
    /// use senv_store::Embeddings;
    /// let vocabulary = Vocabulary::from_counts([("cat", 0), ("dog", 0)], 0)?;
    /// let pets = Embeddings::new(vocabulary, Table::from_vec(2, 1, vec![1.0, 2.0])?)?;
    /// pets.write_matrix(&path)?;
    /// assert_eq!(Embeddings::read_matrix(&path)?.word(1), "dog");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Errors of reading; [`senv_core::Error::BadFile`] if the words do not belong to the matrix.
    pub fn read_matrix(path: &Path) -> Result<Self> {
        let names = Self::words_of_matrix(path);
        let words = Lines::read_sentences(&mut TextReader::open(&[&names], &TextOptions::default())?)?;
        let (table, mark) = read_npy_marked(path)?;
        let differs = mark.is_some_and(|mark| mark != checksum(words.iter().map(|(_, word)| word)));
        if differs || words.len() != senv_core::Rows::n_rows(&table) {
            let (n_words, n_rows) = (words.len() as u64, senv_core::Rows::n_rows(&table) as u64);
            let reason = format!(
                "these words do not belong to the matrix ({}, {} of {}): one of the two files was replaced or \
                changed; write both again (a matrix saved by NumPy works with any word list of the same length)",
                plural(n_words, "word"),
                plural(n_rows, "row"),
                path.display()
            );
            return Err(senv_core::Error::BadFile { path: names, reason }.into());
        }
        let vocabulary = Vocabulary::from_counts(words.iter().map(|(_, word)| (word, 0)), 0)?;
        Ok(Self::new(vocabulary, table)?.with_terms(license_file::terms_of(path).as_deref()))
    }
}

/// The checksum of words, one per line.
fn checksum<'w>(words: impl Iterator<Item = &'w str>) -> u32 {
    let mut sum = crc32fast::Hasher::new();
    for word in words {
        sum.update(word.as_bytes());
        sum.update(b"\n");
    }
    sum.finalize()
}
