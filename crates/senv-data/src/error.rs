//! Errors of the readers. They give file and line, what was expected, and what to do.

use std::path::PathBuf;

use crate::Scale;

/// The result of a fallible operation of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of a reader.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An error of the core: a file that cannot be read.
    #[error(transparent)]
    Core(#[from] senv_core::Error),
    /// A line, or a quoted cell, is not UTF-8.
    #[error(
        "{}:{line}: byte {byte} of {} is not valid UTF-8; convert the file first (iconv -f WINDOWS-1252 -t UTF-8)",
        path.display(),
        senv_core::error::line_or_cell(column)
    )]
    InvalidUtf8 {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// The first bad byte of that line or cell, counted from 1.
        byte: usize,
        /// The number of the column of a cell, from 1. `None` if bytes are counted in the line.
        column: Option<String>,
    },
    /// A line is longer than any pair of sentences.
    #[error("{}:{line}: the line is longer than {limit} bytes; expected a file with one sentence pair per line", path.display())]
    LineTooLong {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// The limit in bytes.
        limit: usize,
    },
    /// A line has the wrong number of columns.
    #[error("{}:{line}: found {got} tab-separated columns, expected {expected}; separate columns with a single tab", path.display())]
    WrongColumns {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// The columns that were found.
        got: usize,
        /// The columns expected.
        expected: &'static str,
    },
    /// A gold score is not a number.
    #[error(
        "{}:{line}: the gold score {got} is not a number; give a number from {scale}, or leave the cell empty for a pair without a score",
        path.display(), got = senv_core::quoted(got)
    )]
    GoldNotANumber {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// The cell as found.
        got: String,
        /// The scale of the data set.
        scale: Scale,
    },
    /// A gold score is outside the scale of its data set.
    #[error("{}:{line}: the gold score {got} is outside the scale {scale}; rescale the scores", path.display())]
    GoldOutOfRange {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// The score as found.
        got: f64,
        /// The scale of the data set.
        scale: Scale,
    },
    /// An entailment label is not one of the three.
    #[error(
        "{}:{line}: unknown label {got}, expected ENTAILMENT, NEUTRAL or CONTRADICTION; check that the label is in \
        the right column",
        path.display(), got = senv_core::quoted(got)
    )]
    UnknownLabel {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// The cell as found.
        got: String,
    },
    /// A line is not the JSON object that it should be.
    #[error("{}:{line}: {reason}; give an object with {expected} on each line", path.display())]
    BadObject {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// What is wrong with it.
        reason: String,
        /// The keys that it should have.
        expected: &'static str,
    },
    /// The header of a file lacks a column.
    #[error("{}: the header has no column {column}; give the published file, or lines of relatedness<TAB>label<TAB>sentence<TAB>sentence", path.display(), column = senv_core::quoted(column))]
    MissingColumn {
        /// The file.
        path: PathBuf,
        /// The column.
        column: &'static str,
    },
    /// A file of sentence pairs and its file of gold scores have different lengths.
    #[error(
        "{} has {n_scores} lines, but {} has {n_pairs} pairs; the gold file needs one line per pair, empty for pairs \
        without a score",
        gold.display(), input.display()
    )]
    GoldLineCount {
        /// The file of sentence pairs.
        input: PathBuf,
        /// The file of gold scores.
        gold: PathBuf,
        /// Lines of the first.
        n_pairs: u64,
        /// Lines of the second.
        n_scores: u64,
    },
    /// A task file contains no pair with a gold score.
    #[error(
        "{} contains no scored pair ({unscored} without a score); give lines with a gold score and two sentences, \
        separated by tabs",
        path.display()
    )]
    NoScoredPairs {
        /// The file.
        path: PathBuf,
        /// Pairs whose gold cell is empty.
        unscored: usize,
    },
    /// A line of scored pairs has too few columns.
    #[error(
        "{}:{line}: found {got} {}, expected three, separated by tabs: score, first sentence, second sentence",
        path.display(), if *got == 1 { "column" } else { "columns" }
    )]
    TooFewColumns {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// The columns that were found.
        got: usize,
    },
    /// A score without a fixed scale is not a number.
    #[error("{}:{line}: the score {got} is not a finite number; give one in the first column", path.display(), got = senv_core::quoted(got))]
    ScoreNotANumber {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// The cell as found.
        got: String,
    },
    /// A set of scored pairs is too small for a correlation.
    #[error("{}: {n} scored pairs; a correlation needs at least two", path.display())]
    TooFewPairs {
        /// The file.
        path: PathBuf,
        /// Pairs in it.
        n: usize,
    },
    /// A required cell is empty.
    #[error("{}:{line}: the {what} is empty; fill it in or delete the line", path.display())]
    EmptyCell {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// What the cell should contain.
        what: &'static str,
    },
    /// A label of a pair is not 0 or 1.
    #[error(
        "{}:{line}: the label {got} is neither 0 nor 1; give 1 for paraphrases and 0 for other pairs, in the first column",
        path.display(), got = senv_core::quoted(got)
    )]
    NotZeroOrOne {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// The cell as found.
        got: String,
    },
    /// The brackets do not form a tree.
    #[error(
        "{}:{line}:{column}: {reason}; give trees in Penn Treebank format, such as (S (NP (NN rain)) (VP (VBZ \
        falls)))",
        path.display()
    )]
    BadTree {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// The character of that line, counted from 1.
        column: usize,
        /// What is wrong there.
        reason: &'static str,
    },
    /// A file contains no tree with a word.
    #[error(
        "{} contains no tree with a word; give trees in Penn Treebank format, such as (S (NP (NN rain)) (VP (VBZ \
        falls)))",
        path.display()
    )]
    NoTrees {
        /// The file, or the first of several.
        path: PathBuf,
    },
    /// A file contains no pair of sentences.
    #[error("{} contains no pair; give {expected}", path.display())]
    NoPairs {
        /// The file.
        path: PathBuf,
        /// What its lines should be.
        expected: &'static str,
    },
    /// A file of judgments has none with a grade above 0.
    #[error(
        "{} contains no relevant document{}; give a header, then lines of query, document and grade, separated by \
        tabs, with a grade above 0 for documents that answer the query",
        path.display(),
        if *n_judgements == 0 { "" } else { ": no grade is above 0" }
    )]
    NoJudgements {
        /// The file.
        path: PathBuf,
        /// Judgments with other grades.
        n_judgements: u64,
    },
    /// A file stands for the folder of a retrieval set.
    #[error("{} is a file; give the folder that has corpus.jsonl, queries.jsonl and qrels/test.tsv", path.display())]
    NotAFolder {
        /// The file.
        path: PathBuf,
    },
    /// A file contains no definition.
    #[error("{} contains no definition; give lines of a word and its definition, separated by a tab", path.display())]
    NoDefinitions {
        /// The file.
        path: PathBuf,
    },
    /// A file contains no labeled sentence.
    #[error("{} contains no sentence; give {expected}", path.display())]
    NoSentences {
        /// The file.
        path: PathBuf,
        /// What its lines should be.
        expected: &'static str,
    },
    /// A JSON file of captions is not in COCO's format.
    #[error(
        "{}: {reason}; give COCO's captions_*.json (an object whose \"annotations\" have image_id and caption), or \
        lines of image and caption, separated by a tab",
        path.display()
    )]
    BadCaptions {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, and where.
        reason: String,
    },
    /// No group has two sentences.
    #[error(
        "{}: none of the {n_groups} groups has two sentences; give lines of group and sentence, separated by a tab, \
        with the same group name for sentences that belong together",
        path.display()
    )]
    TooFewSentences {
        /// The file.
        path: PathBuf,
        /// Its groups.
        n_groups: usize,
    },
}

impl Error {
    /// The core's error, if this is one.
    #[must_use]
    pub fn core(&self) -> Option<&senv_core::Error> {
        if let Self::Core(error) = self { Some(error) } else { None }
    }

    /// The settings that can help, if any: those of the core, because the readers have no settings.
    #[must_use]
    pub fn remedies(&self) -> &[senv_core::Remedy] {
        if let Self::Core(error) = self { error.remedies() } else { &[] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remedies_are_those_of_the_core() {
        let core = senv_core::Error::LineTooLong { path: "a.txt".into(), line: 1, limit: 9 };
        assert_eq!(Error::from(core).remedies(), [senv_core::Remedy::RaiseLineLimit]);
        // This limit is fixed.
        assert!(Error::LineTooLong { path: "a.txt".into(), line: 1, limit: 9 }.remedies().is_empty());
    }
}
