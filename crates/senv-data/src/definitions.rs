//! Reader of dictionaries: words with definitions.

use std::path::{Path, PathBuf};

use crate::{
    Error, Result,
    lines::for_each_line,
    sts::{Blank, wrong_columns},
};

const EXPECTED: &str = "2 (word, definition)";

/// A word and one of its definitions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    /// The word, without surrounding spaces; it can contain spaces.
    pub word: String,
    /// The definition.
    pub text: String,
}

/// The definitions of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definitions {
    /// The file.
    pub path: PathBuf,
    /// Its entries, in file order; a word has one entry for each of its lines.
    pub entries: Vec<Definition>,
}

impl Definitions {
    /// Reads lines of `word<TAB>definition`. Quotes are ordinary characters. A byte-order mark, any line ends and empty
    /// lines at the end are skipped.
    ///
    /// # Errors
    /// [`Error::WrongColumns`] (a line without a tab, or with two), [`Error::EmptyCell`], [`Error::InvalidUtf8`] and
    /// [`Error::LineTooLong`] give the line; [`Error::NoDefinitions`]; [`Error::Core`] if the file cannot be read.
    ///
    /// # Examples
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("dictionary.tsv");
    /// std::fs::write(&path, "valve\tdevice that controls the flow of a fluid\n")?;
    /// let dictionary = senv_data::Definitions::read(&path)?;
    /// assert_eq!(dictionary.entries[0].word, "valve");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let (mut entries, mut blank) = (Vec::new(), Blank::default());
        for_each_line(path, |line, text| {
            if blank.skips(path, line, text, EXPECTED)? {
                return Ok(());
            }
            let mut cells = text.split('\t').map(str::trim);
            let (Some(word), Some(definition), None) = (cells.next(), cells.next(), cells.next()) else {
                return Err(wrong_columns(path, line, text, EXPECTED));
            };
            for (what, cell) in [("word", word), ("definition", definition)] {
                if cell.is_empty() {
                    return Err(Error::EmptyCell { path: path.to_owned(), line, what });
                }
            }
            entries.push(Definition { word: word.to_owned(), text: definition.to_owned() });
            Ok(())
        })?;
        if entries.is_empty() {
            return Err(Error::NoDefinitions { path: path.to_owned() });
        }
        Ok(Self { path: path.to_owned(), entries })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Definitions> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("dictionary.tsv");
        std::fs::write(&path, text).unwrap();
        Definitions::read(&path)
    }

    #[test]
    fn words_and_definitions_are_read_with_any_line_end() {
        let read = read("\u{feff}ice cream\t frozen \"dessert\" \r\nvalve\ta device\n\n\n").unwrap();
        let entries: Vec<_> = read.entries.iter().map(|entry| (&entry.word[..], &entry.text[..])).collect();
        assert_eq!(entries, [("ice cream", "frozen \"dessert\""), ("valve", "a device")]);
    }

    #[test]
    fn every_bad_line_is_named() {
        let fails = |text: &str, says: &str| {
            let message = read(text).unwrap_err().to_string();
            assert!(message.contains(says), "{says:?} is missing in: {message}");
        };
        fails("valve\ta device\nvalve a device\n", "dictionary.tsv:2: found 1 tab-separated columns, expected 2 (word");
        fails("valve\ta\tdevice\n", "dictionary.tsv:1: found 3");
        fails("valve\ta device\nvalve\t \n", "dictionary.tsv:2: the definition is empty; fill it in");
        fails("\ta device\n", "dictionary.tsv:1: the word is empty");
        fails("valve\ta device\n\nvalve\ta tap\n", "dictionary.tsv:2: found 0");
        fails("\n", "contains no definition; give lines of a word and its definition");
    }
}
