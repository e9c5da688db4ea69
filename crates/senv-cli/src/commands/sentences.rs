//! Whole texts in memory, for commands that compare all sentences.

use std::{borrow::Cow, path::PathBuf};

use senv::{Model, collection::read_sentences};
use senv_core::text::Lines;
use serde::Serialize;

use super::{ModelArg, known_words::WordSample};
use crate::{failure::Result, output::cell, text::TextArgs};

/// A sentence and its place.
#[derive(Debug, Serialize)]
pub(crate) struct LocatedSentence<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    line: u64,
    pub(crate) text: &'a str,
}

impl LocatedSentence<'_> {
    /// Its line, with the file if there are several.
    pub(crate) fn shown(&self) -> String {
        match &self.file {
            Some(file) => format!("{}:{}", cell(file), self.line),
            None => self.line.to_string(),
        }
    }

    /// Its text for a column of pairs that other commands read: tabs and line ends become blanks.
    pub(crate) fn column(&self) -> Cow<'_, str> {
        let ends = ['\t', '\n', '\r'];
        if self.text.contains(ends) { self.text.replace(ends, " ").into() } else { self.text.into() }
    }
}

/// Whether lines are shown with their files: if there are several files, or a collection of several.
pub(crate) fn with_files(paths: &[PathBuf], lines: &Lines) -> bool {
    paths.len() > 1 || lines.has_files()
}

/// Sentence `i` and its place, with its file if there are several.
pub(crate) fn located(lines: &Lines, i: usize, with_file: bool) -> LocatedSentence<'_> {
    let (file, line) = lines.place(i);
    LocatedSentence { file: with_file.then(|| file.display().to_string()), line, text: lines.get(i) }
}

/// All sentences of some files, at least one; warns if the model knows few of their words.
pub(crate) fn read_for(arg: &ModelArg, model: &Model, paths: &[PathBuf], text: &TextArgs) -> Result<Lines> {
    text.note_tables(paths);
    let lines = read_sentences(paths, &text.options())?;
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
