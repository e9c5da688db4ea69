//! Reader of sentence pairs that are or are not paraphrases: the Microsoft Research Paraphrase Corpus (MSRP).
//!
//! PAWS, whose pairs have nearly the same words, has the same form.
//!
//! Dolan, Quirk and Brockett, "Unsupervised Construction of Large Paraphrase Corpora", COLING 2004.

use std::path::{Path, PathBuf};

use crate::{
    Error, Result,
    lines::for_each_line,
    objects::{self, LabeledPair},
    sts::{Blank, wrong_columns},
};

const EXPECTED: &str = "3 (0 or 1, sentence, sentence), or the columns of MSRP (quality, two numbers, two sentences) \
    or PAWS (id, two sentences, label) with its header";

/// Two sentences and the gold label: paraphrases or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParaphrasePair {
    /// Whether they have the same meaning.
    pub is_paraphrase: bool,
    /// First sentence.
    pub first: String,
    /// Second sentence.
    pub second: String,
}

/// The header of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Header {
    None,
    Msrp,
    Paws,
}

impl Header {
    /// Detects the header from the first line.
    fn of(cells: &[&str]) -> Self {
        match cells {
            [first, _, _, _, _] if first.trim() == "Quality" => Self::Msrp,
            ["id", "sentence1", "sentence2", label] if label.trim() == "label" => Self::Paws,
            _ => Self::None,
        }
    }
}

/// A part of a paraphrase corpus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParaphraseSet {
    /// The file.
    pub path: PathBuf,
    /// Its pairs, in file order.
    pub pairs: Vec<ParaphrasePair>,
}

impl ParaphraseSet {
    /// Reads a part in any layout, detected from the first line:
    ///
    /// * Lines of `0|1<TAB>sentence<TAB>sentence`, without a header.
    /// * The published `msr_paraphrase_*.txt`: a header that starts with `Quality`, then lines of quality, the two
    ///   sentence numbers, and the sentences.
    /// * The published files of PAWS: a header of `id`, `sentence1`, `sentence2` and `label`, then lines in this order.
    /// * MTEB: one object per line with `label`, `sentence1` and `sentence2`.
    ///
    /// Quotes are ordinary characters. A byte-order mark, any line ends and empty lines at the end are skipped.
    ///
    /// # Errors
    /// [`Error::WrongColumns`], [`Error::NotZeroOrOne`], [`Error::EmptyCell`], [`Error::InvalidUtf8`] and
    /// [`Error::LineTooLong`] give the line; [`Error::NoPairs`]; [`Error::Core`] if the file cannot be read.
    ///
    /// # Examples
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("msr_paraphrase_test.txt");
    /// std::fs::write(&path, "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\r\n1\t7\t8\t\"A dog\" runs\tA dog ran\r\n")?;
    /// let test = senv_data::ParaphraseSet::read(&path)?;
    /// assert!(test.pairs[0].is_paraphrase && test.pairs[0].first == "\"A dog\" runs");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let mut pairs = Vec::new();
        let (mut blank, mut header, mut has_objects) = (Blank::default(), Header::None, false);
        for_each_line(path, |line, text| {
            has_objects |= objects::is_object(line, text);
            if blank.skips(path, line, text, EXPECTED)? {
                return Ok(());
            }
            let cells: Vec<&str> = text.split('\t').collect();
            if line == 1 {
                header = Header::of(&cells);
                if header != Header::None {
                    return Ok(());
                }
            }
            let (object, label_of);
            let (label, first, second) = match (header, &cells[..]) {
                _ if has_objects => {
                    object = objects::parse::<LabeledPair<'_>>(path, line, text, "sentence1, sentence2 and label")?;
                    label_of = objects::cell(&object.label);
                    (&label_of[..], &object.sentence1[..], &object.sentence2[..])
                }
                (Header::None, &[label, first, second])
                | (Header::Msrp, &[label, _, _, first, second])
                | (Header::Paws, &[_, first, second, label]) => (label, first, second),
                _ => return Err(wrong_columns(path, line, text, EXPECTED)),
            };
            let is_paraphrase = match label.trim() {
                "0" => false,
                "1" => true,
                other => {
                    let got = other.chars().take(40).collect();
                    return Err(Error::NotZeroOrOne { path: path.to_owned(), line, got });
                }
            };
            if first.trim().is_empty() || second.trim().is_empty() {
                return Err(Error::EmptyCell { path: path.to_owned(), line, what: "sentence" });
            }
            pairs.push(ParaphrasePair { is_paraphrase, first: first.to_owned(), second: second.to_owned() });
            Ok(())
        })?;
        if pairs.is_empty() {
            let expected = "lines of 0 or 1 and two sentences, separated by tabs";
            return Err(Error::NoPairs { path: path.to_owned(), expected });
        }
        Ok(Self { path: path.to_owned(), pairs })
    }

    /// Removes and returns the last quarter of the pairs, rounded down: a test set for a classifier trained on the
    /// rest, if there is no other.
    ///
    /// # Examples
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("train.tsv");
    /// std::fs::write(&path, "1\ta\tb\n0\tc\td\n1\te\tf\n0\tg\th\n1\ti\tj\n")?;
    /// let mut train = senv_data::ParaphraseSet::read(&path)?;
    /// let held_out = train.split_off_last_quarter();
    /// assert_eq!((train.pairs.len(), held_out.pairs.len()), (4, 1));
    /// assert_eq!(held_out.pairs[0].second, "j");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn split_off_last_quarter(&mut self) -> Self {
        let n = self.pairs.len();
        Self { path: self.path.clone(), pairs: self.pairs.split_off(n - n / 4) }
    }

    /// The number of pairs labeled as paraphrases.
    #[must_use]
    pub fn n_paraphrases(&self) -> usize {
        self.pairs.iter().filter(|pair| pair.is_paraphrase).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<ParaphraseSet> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("train.tsv");
        std::fs::write(&path, text).unwrap();
        ParaphraseSet::read(&path)
    }

    #[test]
    fn all_layouts_give_the_same_pairs() {
        let short = read("1\tA \"b\tc\n0\td\te \"f\n").unwrap();
        assert_eq!((short.pairs.len(), short.n_paraphrases()), (2, 1));
        assert_eq!(short.pairs[1].second, "e \"f");
        let long =
            "\u{feff}Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\r\n1\t5\t6\tA \"b\tc\r\n0\t7\t8\td\te \"f\r\n\r\n";
        assert_eq!(read(long).unwrap().pairs, short.pairs);
        let paws = "id\tsentence1\tsentence2\tlabel\r\n1\tA \"b\tc\t1\r\n2\td\te \"f\t0\r\n";
        assert_eq!(read(paws).unwrap().pairs, short.pairs);
    }

    #[test]
    fn the_objects_of_mteb_are_read() {
        let object = |label: &str| format!("{{\"sentence1\": \"a\", \"sentence2\": \"b\", \"{label}}}\n");
        let set = read(&[object("label\": 1"), object("labels\": \"0\"")].concat()).unwrap();
        assert_eq!((set.pairs.len(), set.n_paraphrases(), &set.pairs[1].second[..]), (2, 1, "b"));
        let message = read(&object("label\": 0.5")).unwrap_err().to_string();
        assert!(message.contains("the label \"0.5\" is neither 0 nor 1"), "{message}");
    }

    #[test]
    fn every_bad_line_is_named() {
        let fails = |text: &str, says: &str| {
            let message = read(text).unwrap_err().to_string();
            assert!(message.contains(says), "{says:?} is missing in: {message}");
        };
        fails("1\ta\tb\n2\ta\tb\n", "train.tsv:2: the label \"2\" is neither 0 nor 1");
        fails("yes\ta\tb\n", "train.tsv:1: the label \"yes\"");
        fails("1\ta\n", "train.tsv:1: found 2 tab-separated columns, expected 3");
        fails("1\t5\t6\ta\tb\n", "train.tsv:1: found 5");
        fails("Quality\ta\tb\tc\td\n1\ta\tb\n", "train.tsv:2: found 3");
        fails("id\tsentence1\tsentence2\tlabel\n1\ta\tb\n", "train.tsv:2: found 3");
        fails("1\ta\tb\n1\t\tb\n", "train.tsv:2: the sentence is empty");
        fails("Quality\ta\tb\tc\td\n", "contains no pair");
        fails("", "contains no pair; give lines of 0 or 1 and two sentences");
    }
}
