//! The words of the rows of a segment: the rows that have each word, and the number of words of each row.

mod build;
mod list;

use std::{cmp::Ordering, path::Path};

use senv_core::ModelFile;

pub(super) use self::build::Postings;
use super::texts::{Names, Texts};
use crate::{
    Result,
    checks::Checked,
    file::{Tensors, checked, damaged, shaped},
    values::{Values, tensor},
};

const WORDS: Names = ["words.text", "words.offsets"];
const LISTS: Names = ["words.lists", "words.lists.offsets"];
const LENGTHS: &str = "words.lengths";

/// The words of the rows of a mapped segment.
#[derive(Debug)]
pub(super) struct SegmentWords {
    n_words: usize,
    words: Texts,
    lists: Texts,
    lengths: Values<u32>,
    length_checks: Box<Checked>,
}

impl Postings {
    /// Adds the words of rows to a file.
    pub(super) fn write(&self, to: &mut Tensors) {
        let Self { text, ends, lists, list_ends, lengths } = self;
        Texts::write_bytes(WORDS, text.clone(), ends, to);
        Texts::write_bytes(LISTS, lists.clone(), list_ends, to);
        to.add_checked(LENGTHS, tensor("U32", lengths));
    }
}

impl SegmentWords {
    /// Reads the words of so many rows.
    pub(super) fn open(file: &ModelFile, path: &Path, rows: usize) -> Result<Self> {
        let n_offsets = file.raw(WORDS[1])?.shape.first().copied().unwrap_or(0);
        let no_words = || damaged(path, WORDS[1], "it is empty".into());
        let n_words = n_offsets.checked_sub(1).ok_or_else(no_words)?;
        let words = Texts::open(file, path, WORDS, n_words)?;
        let lists = Texts::open(file, path, LISTS, n_words)?;
        let lengths = shaped(file, path, LENGTHS, "U32", &[rows])?;
        let length_checks = Box::new(checked(file, path, LENGTHS, &lengths)?);
        let lengths = Values::from_file(path, LENGTHS, lengths.bytes)?;
        Ok(Self { n_words, words, lists, lengths, length_checks })
    }

    /// Calls `f` with each row that has a word, below `rows`, and how often; in ascending order.
    pub(super) fn for_each_row(&self, path: &Path, word: &str, rows: usize, f: impl FnMut(usize, u32)) -> Result<()> {
        let (mut low, mut high) = (0, self.n_words);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.words.bytes(path, middle)?.cmp(word.as_bytes()) {
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
                Ordering::Equal => return self.read(path, middle, rows, f),
            }
        }
        Ok(())
    }

    /// Calls `f` with each row of an existing word.
    fn read(&self, path: &Path, word: usize, rows: usize, f: impl FnMut(usize, u32)) -> Result<()> {
        list::read(self.lists.bytes(path, word)?, rows, f).map_err(|reason| damaged(path, LISTS[0], reason))
    }

    /// The number of words of each row.
    pub(super) fn lengths(&self) -> Result<&[u32]> {
        self.length_checks.all()?;
        Ok(self.lengths.as_slice())
    }

    /// The bytes that words take in the file.
    pub(super) fn n_bytes(&self) -> u64 {
        self.words.n_bytes() + self.lists.n_bytes() + 4 * self.lengths.as_slice().len() as u64
    }

    /// Compares everything with its checksums, and the words of so many rows with each other.
    pub(super) fn verify(&self, path: &Path, rows: usize) -> Result<()> {
        self.words.verify(path, self.n_words)?;
        self.lists.verify_blocks()?;
        let mut lengths = self.lengths()?.to_vec();
        let mut last: &[u8] = &[];
        for word in 0..self.n_words {
            let text = self.words.bytes(path, word)?;
            if text <= last {
                return Err(damaged(path, WORDS[0], format!("word {word} is not in order")));
            }
            last = text;
            let mut fits = !self.lists.bytes(path, word)?.is_empty();
            self.read(path, word, rows, |row, n| match lengths[row].checked_sub(n) {
                Some(left) => lengths[row] = left,
                None => fits = false,
            })?;
            if !fits {
                return Err(damaged(path, LISTS[0], format!("the rows of word {word} do not fit their lengths")));
            }
        }
        match lengths.iter().position(|&left| left > 0) {
            Some(row) => Err(damaged(path, LENGTHS, format!("row {row} has fewer words"))),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use senv_core::{ModelWriter, Table};

    use super::*;
    use crate::{Error, IndexParams, VectorIndex, documents::Stemming, file::KIND};

    /// Opens a file with these postings, all of whose checksums fit.
    fn opened(postings: &Postings, rows: usize) -> Result<SegmentWords> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("words");
        let vectors = Table::from_vec(rows, 1, vec![1.0; rows]).unwrap();
        let mut tensors = Tensors::default();
        postings.write(&mut tensors);
        VectorIndex::build(vectors, &IndexParams::default())
            .unwrap()
            .save_with(&path, tensors, ModelWriter::new(KIND))
            .unwrap();
        SegmentWords::open(&ModelFile::open(&path).unwrap(), &path, rows)
    }

    fn example() -> Postings {
        let texts = ["the train is late", "a late, late train", "", "rain"].map(String::from);
        Postings::of(&texts, Stemming::English)
    }

    #[test]
    fn words_are_found_in_a_file_with_their_rows_and_counts() {
        let words = opened(&example(), 4).unwrap();
        let path = Path::new("words");
        let rows = |word: &str| {
            let mut rows = Vec::new();
            words.for_each_row(path, word, 4, |row, n| rows.push((row, n))).unwrap();
            rows
        };
        assert_eq!(
            (rows("late"), rows("train"), rows("rain")),
            (vec![(0, 1), (1, 2)], vec![(0, 1), (1, 1)], vec![(3, 1)])
        );
        for absent in ["", "a b", "zebra", "lat", "\u{10ffff}"] {
            assert_eq!(rows(absent), []);
        }
        assert_eq!(words.lengths().unwrap(), [4, 4, 0, 1]);
        words.verify(path, 4).unwrap();
        let none = opened(&Postings::of(&[String::new()], Stemming::None), 1).unwrap();
        none.verify(path, 1).unwrap();
        assert_eq!(none.lengths().unwrap(), [0]);
    }

    #[test]
    fn hostile_words_with_fitting_checksums_are_refused_and_never_panic() {
        let path = Path::new("words");
        // Whether a search fails, and what verifying says.
        let says = |change: &dyn Fn(&mut Postings)| {
            let mut postings = example();
            change(&mut postings);
            let words = opened(&postings, 4).unwrap();
            for word in ["", "a", "is", "late", "rain", "the", "train", "zebra"] {
                let found = words.for_each_row(path, word, 4, |row, n| assert!(row < 4 && n > 0));
                assert!(found.is_ok() || matches!(found, Err(Error::Damaged { .. })));
            }
            let error = words.verify(path, 4).unwrap_err();
            assert!(matches!(error, Error::Damaged { .. }), "{error}");
            error.to_string()
        };
        assert!(says(&|postings| postings.ends[1] = u64::MAX).contains("out of range"));
        assert!(says(&|postings| postings.list_ends[2] = 99).contains("out of range"));
        assert!(says(&|postings| postings.text[0] = b'z').contains("not in order"));
        assert!(says(&|postings| postings.text[0] = 0xff).contains("not UTF-8"));
        assert!(says(&|postings| postings.lists[0] = 8).contains("row 4 of 4"));
        assert!(says(&|postings| postings.lists[0] = 0x80).contains("ends within"));
        assert!(says(&|postings| postings.lengths[3] = 2).contains("row 3 has fewer words"));
        assert!(says(&|postings| postings.lengths[0] = 0).contains("do not fit their lengths"));
        for at in 0..example().lists.len() {
            for byte in (0..=u8::MAX).filter(|&byte| byte != example().lists[at]) {
                says(&|postings| postings.lists[at] = byte);
            }
        }
        // Another number of rows, or of lists.
        let mut postings = example();
        postings.lengths.pop();
        assert!(opened(&postings, 4).is_err());
        let mut postings = example();
        postings.list_ends.pop();
        assert!(opened(&postings, 4).is_err());
    }
}
