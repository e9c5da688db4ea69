//! Reads grouped sentences: the captions of an image, or sentences with the same meaning.

use std::path::{Path, PathBuf};

use senv_core::TextReader;

use crate::{
    Error, Result,
    captions::Captions,
    lines::{self, for_each_line_of},
    sentence_groups::SentenceGroups,
    sts::{Blank, wrong_columns},
};

const EXPECTED: &str = "2 (group, sentence)";

/// The six sentences printed in the paper of the SNLI-finetuned Skip-thoughts: a hot soup, then a cold one.
const SOUP: [(&str, &str); 6] = [
    ("1", "There is steam coming out of my soup"),
    ("1", "My tongue got burned when I tasted my soup"),
    ("1", "I just heated up my soup"),
    ("2", "My soup is very cold"),
    ("2", "My tongue did not get burned when I tasted my soup"),
    ("2", "My soup is not hot anymore"),
];

impl SentenceGroups {
    /// Reads lines of `group<TAB>sentence`; the lines of a group do not have to be adjacent. The caption number in
    /// names like those of Flickr's captions (`1000092795.jpg#3`) is removed, starting at the last `#`. A file that
    /// starts with `{` is read as COCO's captions (`captions_val2014.json`, see [`Captions`]).
    ///
    /// UTF-8 with any line ends; empty lines at the end are skipped.
    ///
    /// # Errors
    /// [`Error::WrongColumns`], [`Error::EmptyCell`] (no name, or no sentence), [`Error::InvalidUtf8`] and
    /// [`Error::LineTooLong`] give the line. [`Error::BadCaptions`] says what is wrong with JSON captions.
    /// [`Error::TooFewSentences`] if no group has two; [`Error::Core`] if the file cannot be read.
    ///
    /// # Examples
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("captions.tsv");
    /// std::fs::write(&path, "73\tA dog runs\n74\tA train\n73\tA running dog\n")?;
    /// let captions = senv_data::SentenceGroups::read(&path)?;
    /// assert_eq!(captions.groups[0].sentences, ["A dog runs", "A running dog"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let groups = match Captions::open(path, &lines::options())? {
            Captions::Json(groups) => groups,
            Captions::Lines(mut reader) => Self::of_lines(path, &mut reader)?,
        };
        if groups.groups.iter().all(|group| group.sentences.len() < 2) {
            return Err(Error::TooFewSentences { path: groups.path, n_groups: groups.groups.len() });
        }
        Ok(groups)
    }

    fn of_lines(path: &Path, reader: &mut TextReader) -> Result<Self> {
        let mut lines = Vec::new();
        let mut blank = Blank::default();
        for_each_line_of(reader, |line, text| {
            if blank.skips(path, line, text, EXPECTED)? {
                return Ok(());
            }
            let mut cells = text.split('\t');
            let (Some(name), Some(sentence), None) = (cells.next(), cells.next(), cells.next()) else {
                return Err(wrong_columns(path, line, text, EXPECTED));
            };
            let name = without_caption_number(name.trim());
            for (what, cell) in [("group", name), ("sentence", sentence.trim())] {
                if cell.is_empty() {
                    return Err(Error::EmptyCell { path: path.to_owned(), line, what });
                }
            }
            lines.push((name.to_owned(), sentence.to_owned()));
            Ok(())
        })?;
        Ok(Self::of(path.to_owned(), lines))
    }

    /// The two groups of three sentences about soup from the paper of the SNLI-finetuned Skip-thoughts.
    ///
    /// ```
    /// let soup = senv_data::SentenceGroups::soup();
    /// assert_eq!(soup.groups[1].sentences[2], "My soup is not hot anymore");
    /// ```
    #[must_use]
    pub fn soup() -> Self {
        let lines = SOUP.iter().map(|&(name, sentence)| (name.to_owned(), sentence.to_owned()));
        Self::of(PathBuf::from("<soup>"), lines)
    }
}

/// Returns `1000092795.jpg` for `1000092795.jpg#3`.
fn without_caption_number(name: &str) -> &str {
    match name.rsplit_once('#') {
        Some((image, number))
            if image.ends_with(".jpg") && !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) =>
        {
            image
        }
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<SentenceGroups> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("captions.tsv");
        std::fs::write(&path, bytes).unwrap();
        SentenceGroups::read(&path)
    }

    fn parts(groups: &SentenceGroups) -> Vec<(&str, Vec<&str>)> {
        groups.groups.iter().map(|g| (&g.name[..], g.sentences.iter().map(|s| &s[..]).collect())).collect()
    }

    #[test]
    fn lines_of_a_group_come_together_whatever_the_line_ends() {
        let plain = "b\tone \"two\na\t three\nb\tone \"two\n";
        for text in [plain.to_owned(), plain.replace('\n', "\r\n"), format!("\u{feff}{plain}\n\n")] {
            let groups = read(text.as_bytes()).unwrap();
            assert_eq!(parts(&groups), [("b", vec!["one \"two", "one \"two"]), ("a", vec![" three"])]);
            assert_eq!((groups.n_sentences(), groups.sentences().count()), (3, 3));
        }
        let flickr = read(b"7.jpg#0\ta b\n7.jpg#11\tc d\nx#1\te\nx#\tf\n7.jpg#x\tg\n").unwrap();
        assert_eq!(
            parts(&flickr),
            [("7.jpg", vec!["a b", "c d"]), ("x#1", vec!["e"]), ("x#", vec!["f"]), ("7.jpg#x", vec!["g"])]
        );
    }

    #[test]
    fn every_bad_line_is_named() {
        let fails = |text: &[u8], says: &str| {
            let message = read(text).unwrap_err().to_string();
            assert!(message.contains(says), "{says:?} is missing in: {message}");
        };
        fails(b"1\ta\n1 b\n", "captions.tsv:2: found 1 tab-separated columns, expected 2 (group, sentence)");
        fails(b"1\ta\tb\n", "captions.tsv:1: found 3");
        fails(b"1\ta\n\n1\tb\n", "captions.tsv:2: found 0");
        fails(b"1\ta\n\tb\n", "captions.tsv:2: the group is empty");
        fails(b"1\ta\n1\t \n", "captions.tsv:2: the sentence is empty");
        fails(b"1\ta\n1\t\xFF\n", "captions.tsv:2: byte 3");
        fails(b"1\ta\n2\tb\n", "none of the 2 groups has two sentences");
        fails(b"", "none of the 0 groups has two sentences");
        assert!(SentenceGroups::read("no/such.tsv").unwrap_err().to_string().starts_with("cannot open no/such.tsv"));
    }
}
