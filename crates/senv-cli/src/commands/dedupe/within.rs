//! The text to clean, the text to compare it with, and which sentences of both are compared.

use std::{collections::HashMap, path::PathBuf};

use senv::{Model, collection::read_sentences};
use senv_core::text::Lines;

use crate::{
    commands::{
        ModelArg,
        sentences::{check_words, not_empty},
    },
    failure::Result,
    text::TextArgs,
};

/// Both texts in memory.
pub(super) struct Within {
    /// The text to compare with.
    pub(super) fixed: Lines,
    pub(super) lines: Lines,
    /// The number of the group of each sentence of both, if there are groups.
    pub(super) groups: Option<Vec<u32>>,
}

impl Within {
    pub(super) fn read(input: &[PathBuf], against: &[PathBuf], by: Option<&str>, text: &TextArgs) -> Result<Self> {
        text.note_tables(input);
        text.note_tables(against);
        let Some(by) = by else {
            let read = |paths: &[PathBuf]| read_sentences(paths, &text.options());
            return Ok(Self { fixed: read(against)?, lines: read(input)?, groups: None });
        };
        let options = text.options_with(by)?;
        let (mut groups, mut known) = (Vec::new(), HashMap::new());
        let mut read = |paths: &[PathBuf]| -> Result<Lines> {
            let mut lines = Lines::default();
            if paths.is_empty() {
                return Ok(lines);
            }
            let both = read_sentences(paths, &options)?;
            for i in 0..both.len() {
                // The first tab separates both columns: tabs inside them have become spaces.
                let (sentence, group) = both.get(i).split_once('\t').unwrap_or_default();
                if sentence.trim().is_empty() {
                    continue;
                }
                let new = known.len() as u32;
                groups.push(match known.get(group) {
                    Some(&number) => number,
                    None => *known.entry(group.to_owned()).or_insert(new),
                });
                let (path, number) = both.place(i);
                lines.push(sentence, path, number)?;
            }
            Ok(lines)
        };
        let (fixed, lines) = (read(against)?, read(input)?);
        Ok(Self { fixed, lines, groups: Some(groups) })
    }

    /// Fails if there is nothing to clean; warns if the model knows few words.
    pub(super) fn check_words(&self, arg: &ModelArg, model: &Model, input: &[PathBuf]) -> Result {
        not_empty(&self.lines, input)?;
        check_words(arg, model, &self.lines);
        Ok(())
    }
}
