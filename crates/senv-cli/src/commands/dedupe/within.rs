//! The text to clean, the text to compare it with, and which sentences of both are compared.

use std::{collections::HashMap, path::PathBuf};

use senv::{Model, collection::read_sentences};
use senv_core::{
    TextOptions,
    text::{Line, Lines},
};

use crate::{
    commands::{
        ModelArg,
        sentences::{check_words, not_empty},
    },
    failure::Result,
    text::{OtherText, TextArgs, with_column},
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
    pub(super) fn read(
        input: &[PathBuf],
        against: &[PathBuf],
        by: Option<&str>,
        (text, other): (&TextArgs, &OtherText<'_>),
    ) -> Result<Self> {
        text.check_tables(input)?;
        let (options, of_against) = (text.options(), text.check_other(against, other)?);
        let Some(by) = by else {
            let (fixed, lines) = (read_sentences(against, &of_against)?, read_sentences(input, &options)?);
            return Ok(Self { fixed, lines, groups: None });
        };
        let (mut groups, mut known) = (Vec::new(), HashMap::new());
        let mut read = |paths: &[PathBuf], options: TextOptions| -> Result<Lines> {
            let mut lines = Lines::default();
            if paths.is_empty() {
                return Ok(lines);
            }
            let both = read_sentences(paths, &with_column(options, by)?)?;
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
                lines.push_line(&Line { text: sentence, ..both.line(i) })?;
            }
            Ok(lines)
        };
        let (fixed, lines) = (read(against, of_against)?, read(input, options)?);
        Ok(Self { fixed, lines, groups: Some(groups) })
    }

    /// Fails if there is nothing to clean; warns if the model knows few words.
    pub(super) fn check_words(&self, arg: &ModelArg, model: &Model, input: &[PathBuf]) -> Result {
        not_empty(&self.lines, input)?;
        check_words(arg, model, &self.lines);
        Ok(())
    }
}
