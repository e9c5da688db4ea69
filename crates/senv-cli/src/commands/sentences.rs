//! Whole texts in memory, for commands that compare all sentences.

use std::{borrow::Cow, path::PathBuf};

use senv::{Model, collection::read_sentences};
use senv_core::{TextOptions, text::Lines};
use serde::Serialize;

use super::{ModelArg, known_words::WordSample};
use crate::{
    commands::table_rows::{Cells, Joined},
    failure::Result,
    output::cell,
    text::{OtherText, TextArgs},
};

/// A sentence and its place.
#[derive(Debug, Serialize)]
pub(crate) struct LocatedSentence<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    line: u64,
    /// The number of its record, if it is from a table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) record: Option<u64>,
    pub(crate) text: &'a str,
    /// The columns of the record that are shown.
    #[serde(skip_serializing_if = "Cells::is_empty")]
    pub(crate) columns: Cells<'a>,
}

impl<'a> LocatedSentence<'a> {
    /// The number of its record or line, with the file if there are several.
    pub(crate) fn shown(&self) -> String {
        shown_place(self.file.as_deref(), self.record.unwrap_or(self.line))
    }

    /// The same sentence with columns of its record.
    pub(crate) fn with_columns(self, joined: &'a Joined, lines: &Lines, i: usize) -> Self {
        Self { columns: joined.cells(lines.place(i).0, self.record), ..self }
    }

    /// Its text for a column of pairs that other commands read: tabs and line ends become blanks.
    pub(crate) fn column(&self) -> Cow<'_, str> {
        let ends = ['\t', '\n', '\r'];
        if self.text.contains(ends) { self.text.replace(ends, " ").into() } else { self.text.into() }
    }
}

/// The number of a record or line, with its file if there are several.
pub(crate) fn shown_place(file: Option<&str>, number: u64) -> String {
    match file {
        Some(file) => format!("{}:{number}", cell(file)),
        None => number.to_string(),
    }
}

/// Whether lines are shown with their files: if there are several files, or a collection of several.
pub(crate) fn with_files(paths: &[PathBuf], lines: &Lines) -> bool {
    paths.len() > 1 || lines.has_files()
}

/// Sentence `i` and its place, with its file if there are several.
pub(crate) fn located(lines: &Lines, i: usize, with_file: bool) -> LocatedSentence<'_> {
    let (file, line) = lines.place(i);
    let (record, columns) = (lines.record(i), Cells::default());
    LocatedSentence { file: with_file.then(|| file.display().to_string()), line, record, text: lines.get(i), columns }
}

/// All sentences of some files, at least one; warns if the model knows few of their words.
pub(crate) fn read_for(arg: &ModelArg, model: &Model, paths: &[PathBuf], text: &TextArgs) -> Result<Lines> {
    text.check_tables(paths)?;
    read_checked(arg, model, paths, &text.options())
}

/// The same for a text that has arguments of its own.
pub(crate) fn read_other(
    arg: &ModelArg,
    model: &Model,
    paths: &[PathBuf],
    text: &TextArgs,
    other: &OtherText<'_>,
) -> Result<Lines> {
    let options = text.check_other(paths, other)?;
    read_checked(arg, model, paths, &options)
}

fn read_checked(arg: &ModelArg, model: &Model, paths: &[PathBuf], options: &TextOptions) -> Result<Lines> {
    let lines = read_sentences(paths, options)?;
    not_empty(&lines, paths)?;
    check_words(arg, model, &lines);
    Ok(lines)
}

/// Fails for a text without sentences, naming its first file.
pub(crate) fn not_empty(lines: &Lines, paths: &[PathBuf]) -> Result {
    match paths.first() {
        Some(path) if lines.is_empty() => Err(senv_core::Error::EmptyInput { path: path.clone() }.into()),
        _ => Ok(()),
    }
}

/// Warns if the model knows few words of a text.
pub(crate) fn check_words(arg: &ModelArg, model: &Model, lines: &Lines) {
    let mut sample = WordSample::new(&arg.model, model);
    sample.add(lines.iter().map(|(_, line)| line));
    sample.finish();
}

/// Parses a cosine.
pub(crate) fn cosine(text: &str) -> std::result::Result<f32, String> {
    number_within(text, -1.0, "a cosine must be from -1 to 1")
}

/// Parses a share.
pub(crate) fn share(text: &str) -> std::result::Result<f32, String> {
    number_within(text, 0.0, "must be from 0 to 1")
}

fn number_within(text: &str, lowest: f32, range: &str) -> std::result::Result<f32, String> {
    let value: f32 = text.parse().map_err(|_| format!("{text} is not a number", text = senv_core::quoted(text)))?;
    if (lowest..=1.0).contains(&value) { Ok(value) } else { Err(range.into()) }
}
