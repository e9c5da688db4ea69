//! Pairs of sentences with one of three labels.

use std::path::Path;

use senv_core::{Error as CoreError, TextOptions, TextReader};
use senv_losses::NLI_LABELS;

use crate::{Error, Result};

/// Pairs of one file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NliPairs {
    /// The file, as a name.
    pub name: String,
    /// Label (0 entailment, 1 neutral, 2 contradiction), premise, hypothesis.
    pub pairs: Vec<(u32, String, String)>,
    /// Lines left out because people did not agree on a label, which the files mark by `-`.
    pub without_label: usize,
}

impl NliPairs {
    /// Reads `label, premise, hypothesis`, separated by tabs; more columns may follow.
    ///
    /// # Errors
    /// [`Error::BadLine`] for another layout or another label; [`Error::NoExamplesIn`] if no pair has a label.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let mut reader = TextReader::open(&[path], &TextOptions::default())?;
        let mut read = Self { name: path.display().to_string(), ..Self::default() };
        while let Some(line) = reader.next_line()? {
            let bad = |reason: String| Error::BadLine { path: path.to_owned(), line: line.number, reason };
            let mut cells = line.text.split('\t');
            let (Some(label), Some(premise), Some(hypothesis)) = (cells.next(), cells.next(), cells.next()) else {
                let n = line.text.split('\t').count();
                return Err(bad(format!("{n} columns; expected three, separated by tabs: label, premise, hypothesis")));
            };
            if label == "-" {
                read.without_label += 1;
                continue;
            }
            let number = NLI_LABELS.iter().position(|&name| name == label).ok_or_else(|| {
                bad(format!("the label {label:?}; expected entailment, neutral, contradiction, or - for none"))
            })?;
            read.pairs.push((number as u32, premise.to_owned(), hypothesis.to_owned()));
        }
        if read.pairs.is_empty() { Err(Error::NoExamplesIn { paths: vec![path.to_owned()] }) } else { Ok(read) }
    }

    /// Pairs that were read elsewhere: label, by its name in [`NLI_LABELS`] in any letter case, premise, hypothesis.
    ///
    /// # Errors
    /// [`CoreError::InvalidParameter`] for another label; [`Error::NoExamples`] without a pair.
    pub fn new<'a>(
        name: impl Into<String>,
        pairs: impl IntoIterator<Item = (&'a str, &'a str, &'a str)>,
    ) -> Result<Self> {
        let mut new = Self { name: name.into(), ..Self::default() };
        for (label, premise, hypothesis) in pairs {
            let number = NLI_LABELS.iter().position(|name| name.eq_ignore_ascii_case(label)).ok_or_else(|| {
                let (name, requirement) = ("label", "entailment, neutral or contradiction");
                CoreError::InvalidParameter { name, requirement, got: format!("{label:?}") }
            })?;
            new.pairs.push((number as u32, premise.to_owned(), hypothesis.to_owned()));
        }
        if new.pairs.is_empty() { Err(Error::NoExamples { kind: "snli" }) } else { Ok(new) }
    }

    /// Premises, then hypotheses.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        let premises = self.pairs.iter().map(|pair| &pair.1[..]);
        premises.chain(self.pairs.iter().map(|pair| &pair.2[..]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        file
    }

    #[test]
    fn pairs_without_a_label_are_counted_and_bad_lines_named() {
        let read = NliPairs::read(file("neutral\ta\tb\n-\tc\td\nentailment\te\tf\tmore\n").path()).unwrap();
        assert_eq!((read.pairs.len(), read.without_label), (2, 1));
        assert_eq!(read.pairs[1], (0, "e".into(), "f".into()));
        let same = NliPairs::new("x", [("NEUTRAL", "a", "b"), ("entailment", "e", "f")]).unwrap();
        assert_eq!(same.pairs, read.pairs);
        assert!(NliPairs::new("x", [("maybe", "a", "b")]).unwrap_err().to_string().contains("\"maybe\""));
        assert!(NliPairs::new("x", []).is_err());
        for (text, expected) in [
            ("neutral\ta\tb\nmaybe\ta\tb\n", ":2: the label \"maybe\""),
            ("neutral\ta\n", "2 columns"),
            ("-\ta\tb\n", "no example"),
        ] {
            let error = NliPairs::read(file(text).path()).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
