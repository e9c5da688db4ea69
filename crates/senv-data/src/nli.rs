//! Reader of natural language inference data: premise, hypothesis and label.
//!
//! Bowman et al., "A large annotated corpus for learning natural language inference" (SNLI), EMNLP 2015.

use std::{
    borrow::Cow,
    path::{Path, PathBuf},
};

use senv_core::{NoObserver, Observer, TextOptions};
use serde::{Deserialize, Serialize};

use crate::{
    Entailment, Error, Result, SickSet,
    lines::{Room, for_each_line_kept_nowhere},
    objects,
    sick::{SickLines, is_sick},
    sts::{Blank, wrong_columns},
};

/// A pair of sentences with its label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NliPair {
    /// The gold label.
    pub label: Entailment,
    /// The premise.
    pub premise: String,
    /// The hypothesis.
    pub hypothesis: String,
}

/// The layout of a file.
///
/// Exhaustive on purpose: features depend on the layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NliLayout {
    /// Label, premise, hypothesis.
    Snli,
    /// Relatedness, label, first and second sentence.
    Sick,
}

/// A training, development or test set of an NLI corpus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NliSet {
    /// The file.
    pub path: PathBuf,
    /// Its layout.
    pub layout: NliLayout,
    /// Its labeled pairs, in file order.
    pub pairs: Vec<NliPair>,
    /// The number of pairs without a majority label (`-`), which are left out.
    pub n_unlabeled: usize,
}

impl NliSet {
    /// Reads a set in any layout, detected from the first line:
    ///
    /// * Lines of `label<TAB>premise<TAB>hypothesis`, without a header; more columns can follow.
    /// * The published `snli_1.0_*.txt`: a header with `gold_label`, `sentence1`, `sentence2` and others.
    /// * The published `snli_1.0_*.jsonl`: one object per line, with these names.
    /// * SICK, as in [`SickSet::read`].
    ///
    /// The case of labels does not matter; pairs with the label `-` are counted and left out. Files can be compressed
    /// with gzip or Zstandard; `-` is standard input.
    ///
    /// # Errors
    /// [`Error::WrongColumns`], [`Error::BadObject`], [`Error::UnknownLabel`], [`Error::EmptyCell`],
    /// [`Error::InvalidUtf8`] and [`Error::LineTooLong`] give the line; [`Error::MissingColumn`]; [`Error::NoPairs`];
    /// the errors of [`SickSet::read`]; [`Error::Core`] if the file cannot be read.
    ///
    /// # Examples
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("dev.tsv");
    /// std::fs::write(&path, "entailment\tA dog runs\tAn animal moves\n-\tA dog\tA cat\n")?;
    /// let dev = senv_data::NliSet::read(&path)?;
    /// assert_eq!((dev.pairs.len(), dev.n_unlabeled), (1, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let (mut pairs, mut room) = (Vec::new(), Room::default());
        let (layout, n_unlabeled) = Self::read_each(path, &NoObserver, |label, [premise, hypothesis]| {
            room.take(premise.len() + hypothesis.len())?;
            pairs.push(NliPair { label, premise: premise.to_owned(), hypothesis: hypothesis.to_owned() });
            Ok(())
        })?;
        Ok(Self { path: path.to_owned(), layout, pairs, n_unlabeled })
    }

    /// Passes every labeled pair to `each` (label, premise, hypothesis) without keeping it, for sets larger than
    /// memory. Returns the layout and the number of pairs without a label. `observer` receives the reading progress.
    ///
    /// # Errors
    /// The errors of [`NliSet::read`] and of `each`.
    pub fn read_each(
        path: impl AsRef<Path>,
        observer: &dyn Observer,
        each: impl FnMut(Entailment, [&str; 2]) -> Result<()>,
    ) -> Result<(NliLayout, usize)> {
        Self::read_each_of(path, &TextOptions::default(), observer, each)
    }

    /// Like [`NliSet::read_each`], for text whose cells can be quoted ([`TextOptions::quoted_pairs`]); other options
    /// are ignored.
    ///
    /// # Errors
    /// The errors of [`NliSet::read_each`].
    pub fn read_each_of(
        path: impl AsRef<Path>,
        text: &TextOptions,
        observer: &dyn Observer,
        mut each: impl FnMut(Entailment, [&str; 2]) -> Result<()>,
    ) -> Result<(NliLayout, usize)> {
        let (path, quoted) = (path.as_ref(), text.quoted_pairs);
        let (mut lines, mut blank) = (Lines::Plain, Blank::default());
        let (mut n_pairs, mut n_unlabeled) = (0, 0);
        for_each_line_kept_nowhere(path, quoted, observer, |line, text| {
            if line == 1 {
                lines = Lines::of_first(path, text)?;
                if let Lines::Published { .. } = lines {
                    return Ok(());
                }
            }
            if let Lines::Sick(sick) = &mut lines {
                return sick.add(path, line, text);
            }
            if blank.skips(path, line, text, lines.expected())? {
                return Ok(());
            }
            match lines.pair(path, line, text)? {
                Some((label, premise, hypothesis)) => {
                    n_pairs += 1;
                    each(label, [&premise, &hypothesis])?;
                }
                None => n_unlabeled += 1,
            }
            Ok(())
        })?;
        if let Lines::Sick(sick) = lines {
            let set = Self::from_sick(&sick.finish()?);
            set.pairs.iter().try_for_each(|pair| each(pair.label, [&pair.premise, &pair.hypothesis]))?;
            return Ok((set.layout, set.n_unlabeled));
        }
        if n_pairs == 0 {
            let expected =
                "lines of label (entailment, neutral or contradiction), premise and hypothesis, separated by tabs";
            return Err(Error::NoPairs { path: path.to_owned(), expected });
        }
        Ok((NliLayout::Snli, n_unlabeled))
    }

    /// Creates a set from the labels of SICK.
    #[must_use]
    pub fn from_sick(sick: &SickSet) -> Self {
        let pairs = sick.task.pairs.iter().zip(&sick.labels).map(|(pair, &label)| NliPair {
            label,
            premise: pair.first.clone(),
            hypothesis: pair.second.clone(),
        });
        Self { path: sick.task.path.clone(), layout: NliLayout::Sick, pairs: pairs.collect(), n_unlabeled: 0 }
    }
}

/// The layout of the lines of a file.
enum Lines {
    /// Label, premise, hypothesis.
    Plain,
    /// Below a header of `n` columns.
    Published { columns: [usize; 3], n: usize },
    /// One object per line.
    Objects,
    /// The layout of SICK.
    Sick(Box<SickLines>),
}

/// A label, a premise and a hypothesis.
type LabelledLine<'t> = (Entailment, Cow<'t, str>, Cow<'t, str>);

/// A line of the published objects.
#[derive(Deserialize)]
struct Object<'a> {
    #[serde(borrow)]
    gold_label: Cow<'a, str>,
    #[serde(borrow)]
    sentence1: Cow<'a, str>,
    #[serde(borrow)]
    sentence2: Cow<'a, str>,
}

impl Lines {
    /// Detects the layout from the first line.
    fn of_first(path: &Path, text: &str) -> Result<Self> {
        if text.starts_with('{') {
            return Ok(Self::Objects);
        }
        if is_sick(text) {
            return Ok(Self::Sick(Box::new(SickLines::new(path))));
        }
        let cells: Vec<&str> = text.split('\t').map(str::trim).collect();
        if cells.contains(&"sentence1") || cells.contains(&"gold_label") {
            return Ok(Self::Published { columns: columns(path, &cells)?, n: cells.len() });
        }
        Ok(Self::Plain)
    }

    /// The label, the premise and the hypothesis of a line of SNLI; `None` if it has no label.
    fn pair<'t>(&self, path: &Path, line: u64, text: &'t str) -> Result<Option<LabelledLine<'t>>> {
        let [label, premise, hypothesis] = if let Self::Objects = self {
            let object: Object<'_> = objects::parse(path, line, text, "gold_label, sentence1 and sentence2")?;
            [object.gold_label, object.sentence1, object.sentence2]
        } else {
            let cells: Vec<&str> = text.split('\t').collect();
            let (columns, fits) = match self {
                Self::Published { columns, n } => (*columns, cells.len() == *n),
                _ => ([0, 1, 2], cells.len() >= 3),
            };
            if !fits {
                return Err(wrong_columns(path, line, text, self.expected()));
            }
            columns.map(|column| Cow::Borrowed(cells[column]))
        };
        for (what, cell) in [("premise", &premise), ("hypothesis", &hypothesis)] {
            if cell.trim().is_empty() {
                return Err(Error::EmptyCell { path: path.to_owned(), line, what });
            }
        }
        if label.trim() == "-" {
            return Ok(None);
        }
        Ok(Some((Entailment::of_cell(path, line, &label)?, premise, hypothesis)))
    }

    /// The expected columns of a line, for error messages.
    fn expected(&self) -> &'static str {
        match self {
            Self::Published { .. } => "as many as the header",
            _ => "3 (label, premise, hypothesis)",
        }
    }
}

/// The columns of label, premise and hypothesis.
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
        assert_eq!((short.pairs.len(), short.n_unlabeled), (2, 1));
        assert_eq!(short.pairs[0].premise, "A \"b");
        let published = "\u{feff}gold_label\tparse\tsentence1\tsentence2\tid\r\nneutral\t(p)\tA \"b\tc\t7\r\n\
            -\t\tx\ty\t8\r\ncontradiction\t\td\te\t9\r\n";
        let long = read(published).unwrap();
        assert_eq!((&long.pairs, long.n_unlabeled), (&short.pairs, 1));

        let object = |label: &str, first: &str, second: &str| {
            let first = serde_json::to_string(first).unwrap();
            let tree = "\"annotator_labels\": [\"neutral\"], \"sentence1_parse\": \"(p)\"";
            format!("{{{tree}, \"gold_label\": \"{label}\", \"sentence1\": {first}, \"sentence2\": \"{second}\"}}\n")
        };
        let objects = [("neutral", "A \"b", "c"), ("-", "x", "y"), ("contradiction", "d", "e")];
        let objects = read(&objects.map(|(label, first, second)| object(label, first, second)).concat()).unwrap();
        assert_eq!((&objects.pairs, objects.n_unlabeled), (&short.pairs, 1));
        assert_eq!(read("neutral\tA \"b\tc\tmore\n").unwrap().pairs, short.pairs[..1]);

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
        fails("neutral\ta\tb\nmaybe\ta\tb\n", "dev.tsv:2: unknown label \"maybe\", expected ENTAILMENT, NEUTRAL");
        fails("neutral\ta\n", "dev.tsv:1: found 2 tab-separated columns, expected 3 (label, premise, hypothesis)");
        fails("neutral\ta\t \n", "dev.tsv:1: the hypothesis is empty");
        fails("neutral\t\tb\n", "dev.tsv:1: the premise is empty");
        fails("sentence1\tsentence2\nneutral\ta\tb\n", "no column \"gold_label\"");
        fails(
            "gold_label\tsentence1\tsentence2\tid\nneutral\ta\tb\n",
            "dev.tsv:2: found 3 tab-separated columns, expected as",
        );
        fails(
            "{\"gold_label\": \"neutral\", \"sentence1\": \"a\"}\n",
            "dev.tsv:1: missing field `sentence2` at column 43; give an object with gold_label, sentence1",
        );
        let object = "{\"gold_label\": \"maybe\", \"sentence1\": \"a\", \"sentence2\": \"b\"}\n";
        fails(object, "dev.tsv:1: unknown label \"maybe\"");
        fails(&object.replace("\"a\"", "\"\""), "dev.tsv:1: the premise is empty");
        fails("-\ta\tb\n", "contains no pair; give lines of label");
    }
}
