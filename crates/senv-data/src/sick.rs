//! Reader of SICK: sentence pairs with relatedness and an entailment label.
//!
//! Marelli et al., "A SICK cure for the evaluation of compositional distributional semantic models", LREC 2014.

use std::path::Path;

use serde::Serialize;

use crate::{
    Error, Result, Scale, StsTask,
    lines::for_each_line,
    sts::{Blank, parse_gold, wrong_columns},
};

/// The relation of the second sentence to the first. Programs number the labels in different orders: exchange them by
/// name, with [`Entailment::from_name`] and [`Entailment::name`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "UPPERCASE")]
#[non_exhaustive]
pub enum Entailment {
    /// Both cannot be true.
    Contradiction,
    /// Neither follows from the other.
    Neutral,
    /// The second follows from the first.
    Entailment,
}

impl Entailment {
    /// The three labels, in the order of tables.
    pub const ALL: [Self; 3] = [Self::Contradiction, Self::Neutral, Self::Entailment];

    /// The label with this name, in any case.
    ///
    /// ```
    /// use senv_data::Entailment;
    /// assert_eq!(Entailment::from_name("NEUTRAL"), Some(Entailment::Neutral));
    /// assert_eq!(Entailment::from_name("maybe"), None);
    /// ```
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|label| name.eq_ignore_ascii_case(label.name()))
    }

    /// `contradiction`, `neutral` or `entailment`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Contradiction => "contradiction",
            Self::Neutral => "neutral",
            Self::Entailment => "entailment",
        }
    }

    /// The label in a cell of a file.
    pub(crate) fn of_cell(path: &Path, line: u64, cell: &str) -> Result<Self> {
        let cell = cell.trim();
        Self::from_name(cell).ok_or_else(|| Error::UnknownLabel {
            path: path.to_owned(),
            line,
            got: cell.chars().take(40).collect(),
        })
    }

    /// Its index in [`Entailment::ALL`]; other programs number the labels in other orders.
    #[must_use]
    pub fn class(self) -> usize {
        self as usize
    }
}

/// A training, development or test set of SICK: its pairs as a task with scores from 1 to 5, and a label for each.
#[derive(Debug, Clone, PartialEq)]
pub struct SickSet {
    /// The scored pairs.
    pub task: StsTask,
    /// The label of each pair of the task, in the same order.
    pub labels: Vec<Entailment>,
}

/// The positions of the four cells of a line.
struct Columns {
    score: usize,
    label: usize,
    first: usize,
    second: usize,
    n: usize,
}

const SHORT: Columns = Columns { score: 0, label: 1, first: 2, second: 3, n: 4 };
const EXPECTED_SHORT: &str = "4 (relatedness, label, sentence, sentence)";
const EXPECTED_PUBLISHED: &str = "as many as the header";

impl SickSet {
    /// Reads a set of SICK in either layout, detected from the first line:
    ///
    /// * Lines of `relatedness<TAB>label<TAB>sentence<TAB>sentence`, without a header.
    /// * The published layout: a header with `sentence_A`, `sentence_B`, `relatedness_score` and `entailment_judgment`
    ///   (or `entailment_label`), in any order with other columns.
    ///
    /// UTF-8, line ends and empty scores as in [`StsTask::read`]. The case of labels does not matter.
    ///
    /// # Errors
    /// [`Error::WrongColumns`], [`Error::GoldNotANumber`], [`Error::GoldOutOfRange`] (outside 1 to 5),
    /// [`Error::UnknownLabel`], [`Error::InvalidUtf8`] and [`Error::LineTooLong`] give the line;
    /// [`Error::MissingColumn`]; [`Error::NoScoredPairs`]; [`Error::Core`] if the file cannot be read.
    ///
    /// # Examples
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("small.tsv");
    /// std::fs::write(&path, "4.5\tENTAILMENT\tA dog runs fast\tA dog is running\n")?;
    /// let set = senv_data::SickSet::read(&path)?;
    /// assert_eq!((set.task.pairs[0].relatedness, set.labels[0]), (4.5, senv_data::Entailment::Entailment));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let mut lines = SickLines::new(path);
        for_each_line(path, |line, text| lines.add(path, line, text))?;
        lines.finish()
    }
}

/// Whether the first line of a file is one of SICK: its header, or a score (possibly empty) and a label.
pub(crate) fn is_sick(first_line: &str) -> bool {
    let mut cells = first_line.split('\t').map(str::trim);
    if cells.clone().any(|cell| cell == "sentence_A") {
        return true;
    }
    let is_score = |cell: &str| cell.is_empty() || cell.parse::<f64>().is_ok();
    cells.next().is_some_and(is_score) && cells.next().is_some_and(|cell| Entailment::from_name(cell).is_some())
}

/// A set of SICK under construction.
pub(crate) struct SickLines {
    set: SickSet,
    columns: Columns,
    expected: &'static str,
    blank: Blank,
}

impl SickLines {
    pub(crate) fn new(path: &Path) -> Self {
        let set = SickSet { task: StsTask::empty(path, Scale::SICK), labels: Vec::new() };
        Self { set, columns: SHORT, expected: EXPECTED_SHORT, blank: Blank::default() }
    }

    /// Adds the next line.
    pub(crate) fn add(&mut self, path: &Path, line: u64, text: &str) -> Result<()> {
        if self.blank.skips(path, line, text, self.expected)? {
            return Ok(());
        }
        let cells: Vec<&str> = text.split('\t').collect();
        if line == 1 && cells.iter().any(|cell| cell.trim() == "sentence_A") {
            (self.columns, self.expected) = (published_columns(path, &cells)?, EXPECTED_PUBLISHED);
            return Ok(());
        }
        let columns = &self.columns;
        if cells.len() != columns.n {
            return Err(wrong_columns(path, line, text, self.expected));
        }
        let relatedness = parse_gold(path, line, cells[columns.score], Scale::SICK)?;
        let label = Entailment::of_cell(path, line, cells[columns.label])?;
        self.set.task.push(relatedness, cells[columns.first], cells[columns.second]);
        self.set.labels.extend(relatedness.map(|_| label));
        Ok(())
    }

    /// Returns the set after the last line.
    pub(crate) fn finish(self) -> Result<SickSet> {
        Ok(SickSet { task: self.set.task.checked()?, labels: self.set.labels })
    }
}

fn published_columns(path: &Path, header: &[&str]) -> Result<Columns> {
    let place = |names: &[&'static str]| {
        let found = names.iter().find_map(|name| header.iter().position(|cell| cell.trim() == *name));
        found.ok_or_else(|| Error::MissingColumn { path: path.to_owned(), column: names[0] })
    };
    Ok(Columns {
        score: place(&["relatedness_score"])?,
        label: place(&["entailment_judgment", "entailment_label"])?,
        first: place(&["sentence_A"])?,
        second: place(&["sentence_B"])?,
        n: header.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<SickSet> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trial.tsv");
        std::fs::write(&path, text).unwrap();
        SickSet::read(&path)
    }

    const SHORT_TEXT: &str =
        "4.5\tENTAILMENT\tA dog runs\tA dog is running\n1\tneutral\tA \"cat\tSnow falls\n\tCONTRADICTION\ta\tb\n";

    #[test]
    fn both_layouts_give_the_same_pairs() {
        let short = read(SHORT_TEXT).unwrap();
        assert_eq!((short.task.name.as_str(), short.task.scale), ("trial", Scale::SICK));
        assert_eq!((short.task.pairs.len(), short.task.n_unscored), (2, 1));
        assert_eq!(short.labels, [Entailment::Entailment, Entailment::Neutral]);
        assert_eq!(short.task.pairs[1].first, "A \"cat");
        let published = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n\
            7\tA dog runs\tA dog is running\t4.5\tENTAILMENT\n9\tA \"cat\tSnow falls\t1\tNEUTRAL\n3\ta\tb\t\tNEUTRAL\n";
        let whole = "pair_ID\tsentence_A\tsentence_B\tentailment_label\trelatedness_score\tSemEval_set\n\
            7\tA dog runs\tA dog is running\tENTAILMENT\t4.5\tTRAIN\n9\tA \"cat\tSnow falls\tNEUTRAL\t1\tTEST\n\
            3\ta\tb\tNEUTRAL\t\tTEST\n";
        for text in [published, whole, &format!("\u{feff}{}\n", published.replace('\n', "\r\n"))] {
            let set = read(text).unwrap();
            assert_eq!((set.task.pairs, set.labels), (short.task.pairs.clone(), short.labels.clone()), "{text:?}");
        }
    }

    #[test]
    fn every_bad_line_is_named() {
        let fails = |text: &str, says: &str| {
            let message = read(text).unwrap_err().to_string();
            assert!(message.contains(says), "{says:?} is missing in: {message}");
        };
        fails("3\tNEUTRAL\ta\tb\n0.9\tNEUTRAL\ta\tb\n", "trial.tsv:2: the gold score 0.9 is outside the scale 1 to 5");
        fails("5.1\tNEUTRAL\ta\tb\n", "trial.tsv:1: the gold score 5.1");
        fails("x\tNEUTRAL\ta\tb\n", "trial.tsv:1: the gold score \"x\" is not a number; give a number from 1 to 5");
        fails("nan\tNEUTRAL\ta\tb\n", "is not a number");
        fails("3\tMAYBE\ta\tb\n", "trial.tsv:1: unknown label \"MAYBE\"");
        fails("3\ta\tb\n", "trial.tsv:1: found 3 tab-separated columns, expected 4");
        fails("pair_ID\tsentence_A\tsentence_B\tentailment_judgment\n", "no column \"relatedness_score\"");
        fails("sentence_A\tsentence_B\trelatedness_score\n", "no column \"entailment_judgment\"");
        let header = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n";
        fails(&format!("{header}1\ta\tb\t3\n"), "trial.tsv:2: found 4 tab-separated columns, expected as many as");
        fails(&format!("{header}1\ta\tb\t6\tNEUTRAL\n"), "trial.tsv:2: the gold score 6");
        fails(header, "no scored pair");
        fails("", "no scored pair");
        assert!(read("1\tNEUTRAL\ta\tb\n5\tNEUTRAL\ta\tb\n").is_ok());
    }
}
