//! Reader of natural language inference: a premise, a hypothesis, and whether the one entails the other.
//!
//! Bowman et al., "A large annotated corpus for learning natural language inference" (SNLI), EMNLP 2015.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::{
    Entailment, Error, Result, SickSet,
    lines::for_each_line,
    sts::{Blank, wrong_columns},
};

const EXPECTED: &str = "3 (label, premise, hypothesis)";
const EXPECTED_PUBLISHED: &str = "as many as the header";

/// A pair of sentences with its label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NliPair {
    /// What people said.
    pub label: Entailment,
    /// First sentence.
    pub premise: String,
    /// Second sentence.
    pub hypothesis: String,
}

/// Which corpus a file is laid out as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NliLayout {
    /// Label, premise, hypothesis.
    Snli,
    /// Relatedness, label and two sentences.
    Sick,
}

/// A part of an inference corpus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NliSet {
    /// The file.
    pub path: PathBuf,
    /// How it is laid out.
    pub layout: NliLayout,
    /// Its labelled pairs, in its order.
    pub pairs: Vec<NliPair>,
    /// Pairs on which people did not agree (label `-`), left out.
    pub n_unlabelled: usize,
}

impl NliSet {
    /// Reads a part in any layout; the first line tells which it is.
    ///
    /// * Lines of `label<TAB>premise<TAB>hypothesis`, without a header.
    /// * The published `snli_1.0_*.txt`: a header that names `gold_label`, `sentence1` and `sentence2` among others.
    /// * SICK, as [`SickSet::read`] takes it.
    ///
    /// Letter case of labels does not matter; pairs with the label `-` are counted and left out.
    ///
    /// # Errors
    /// [`Error::WrongColumns`], [`Error::UnknownLabel`], [`Error::EmptyCell`], [`Error::InvalidUtf8`] and
    /// [`Error::LineTooLong`] name the line; [`Error::MissingColumn`]; [`Error::NoPairs`]; those of [`SickSet::read`];
    /// [`Error::Core`] if the file cannot be read.
    ///
    /// # Examples
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("dev.tsv");
    /// std::fs::write(&path, "entailment\tA dog runs\tAn animal moves\n-\tA dog\tA cat\n")?;
    /// let dev = senv_eval::NliSet::read(&path)?;
    /// assert_eq!((dev.pairs.len(), dev.n_unlabelled), (1, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        if is_sick(path)? {
            return Ok(Self::from_sick(&SickSet::read(path)?));
        }
        let mut set = Self { path: path.to_owned(), layout: NliLayout::Snli, pairs: Vec::new(), n_unlabelled: 0 };
        let (mut blank, mut published) = (Blank::default(), None);
        for_each_line(path, |line, text| {
            let expected = if published.is_some() { EXPECTED_PUBLISHED } else { EXPECTED };
            if blank.skips(path, line, text, expected)? {
                return Ok(());
            }
            let cells: Vec<&str> = text.split('\t').collect();
            if line == 1 && cells.iter().any(|cell| matches!(cell.trim(), "sentence1" | "gold_label")) {
                published = Some((columns(path, &cells)?, cells.len()));
                return Ok(());
            }
            let ([label, premise, hypothesis], n) = published.unwrap_or(([0, 1, 2], 3));
            if cells.len() != n {
                return Err(wrong_columns(path, line, text, expected));
            }
            for (what, cell) in [("premise", cells[premise]), ("hypothesis", cells[hypothesis])] {
                if cell.trim().is_empty() {
                    return Err(Error::EmptyCell { path: path.to_owned(), line, what });
                }
            }
            let label = cells[label].trim();
            if label == "-" {
                set.n_unlabelled += 1;
                return Ok(());
            }
            let label = Entailment::from_name(label).ok_or_else(|| Error::UnknownLabel {
                path: path.to_owned(),
                line,
                got: label.chars().take(40).collect(),
            })?;
            let (premise, hypothesis) = (cells[premise].to_owned(), cells[hypothesis].to_owned());
            set.pairs.push(NliPair { label, premise, hypothesis });
            Ok(())
        })?;
        if set.pairs.is_empty() {
            let expected =
                "lines of label (entailment, neutral or contradiction), premise and hypothesis, separated by tabs";
            return Err(Error::NoPairs { path: path.to_owned(), expected });
        }
        Ok(set)
    }

    /// The labels of SICK.
    #[must_use]
    pub fn from_sick(sick: &SickSet) -> Self {
        let pairs = sick.task.pairs.iter().zip(&sick.labels).map(|(pair, &label)| NliPair {
            label,
            premise: pair.first.clone(),
            hypothesis: pair.second.clone(),
        });
        Self { path: sick.task.path.clone(), layout: NliLayout::Sick, pairs: pairs.collect(), n_unlabelled: 0 }
    }
}

/// Whether the first line is of SICK: its header, or four columns of which the first is a number or empty.
fn is_sick(path: &Path) -> Result<bool> {
    let mut sick = false;
    for_each_line(path, |line, text| {
        if line == 1 {
            let cells: Vec<&str> = text.split('\t').map(str::trim).collect();
            let has_score = cells.len() == 4 && (cells[0].is_empty() || cells[0].parse::<f64>().is_ok());
            sick = has_score || cells.contains(&"sentence_A");
        }
        Ok(())
    })?;
    Ok(sick)
}

/// Where label, premise and hypothesis stand.
fn columns(path: &Path, header: &[&str]) -> Result<[usize; 3]> {
    let place = |column: &'static str| {
        let found = header.iter().position(|cell| cell.trim() == column);
        found.ok_or_else(|| Error::MissingColumn { path: path.to_owned(), column })
    };
    Ok([place("gold_label")?, place("sentence1")?, place("sentence2")?])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<NliSet> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("dev.tsv");
        std::fs::write(&path, text).unwrap();
        NliSet::read(&path)
    }

    #[test]
    fn all_layouts_give_the_same_pairs() {
        let short = read("neutral\tA \"b\tc\n-\tx\ty\nCONTRADICTION\td\te\n").unwrap();
        assert_eq!((short.pairs.len(), short.n_unlabelled), (2, 1));
        assert_eq!(short.pairs[0].premise, "A \"b");
        let published = "\u{feff}gold_label\tparse\tsentence1\tsentence2\tid\r\nneutral\t(p)\tA \"b\tc\t7\r\n\
            -\t\tx\ty\t8\r\ncontradiction\t\td\te\t9\r\n";
        let long = read(published).unwrap();
        assert_eq!((&long.pairs, long.n_unlabelled), (&short.pairs, 1));

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sick.tsv");
        std::fs::write(&path, "3\tNEUTRAL\tA \"b\tc\n1\tCONTRADICTION\td\te\n").unwrap();
        let sick = NliSet::from_sick(&SickSet::read(&path).unwrap());
        assert_eq!((&sick.pairs, sick.layout), (&short.pairs, NliLayout::Sick));
        assert_eq!(NliSet::read(&path).unwrap(), sick);
    }

    #[test]
    fn every_bad_line_is_named() {
        let fails = |text: &str, says: &str| {
            let message = read(text).unwrap_err().to_string();
            assert!(message.contains(says), "{says:?} is missing in: {message}");
        };
        fails(
            "neutral\ta\tb\nmaybe\ta\tb\n",
            "dev.tsv:2: the label \"maybe\" is unknown, expected ENTAILMENT, NEUTRAL",
        );
        fails("neutral\ta\n", "dev.tsv:1: found 2 tab-separated columns, expected 3 (label, premise, hypothesis)");
        fails("neutral\ta\t \n", "dev.tsv:1: the hypothesis is empty");
        fails("neutral\t\tb\n", "dev.tsv:1: the premise is empty");
        fails("sentence1\tsentence2\nneutral\ta\tb\n", "no column \"gold_label\"");
        fails(
            "gold_label\tsentence1\tsentence2\tid\nneutral\ta\tb\n",
            "dev.tsv:2: found 3 tab-separated columns, expected as",
        );
        fails("-\ta\tb\n", "holds no pair; give lines of label");
    }
}
