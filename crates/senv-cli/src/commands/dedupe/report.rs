//! Reports of dropped sentences, and of near ones that the guard keeps.

use std::io::{self, Write};

use senv::{
    index::Duplicate,
    jobs::{Difference, Guard},
};
use senv_core::text::Lines;
use serde::Serialize;

use crate::{
    commands::sentences::{LocatedSentence, located},
    output::write_json_line,
};

#[derive(Serialize)]
struct Dropped<'a> {
    #[serde(flatten)]
    dropped: LocatedSentence<'a>,
    cosine: f32,
    #[serde(skip_serializing_if = "Option::is_none")]
    kept: Option<LocatedSentence<'a>>,
}

#[derive(Serialize)]
struct Group<'a> {
    #[serde(flatten)]
    kept: LocatedSentence<'a>,
    dropped: Vec<Dropped<'a>>,
}

/// A near sentence that is kept, and the words that keep both apart.
#[derive(Serialize)]
struct KeptApart<'a> {
    #[serde(flatten)]
    sentence: LocatedSentence<'a>,
    cosine: f32,
    near: LocatedSentence<'a>,
    words: Vec<String>,
    near_words: Vec<String>,
}

#[derive(Serialize)]
struct Counts {
    sentences: u64,
    kept: u64,
    kept_apart: u64,
    dropped: u64,
}

/// Writes a report.
pub(super) struct Report<'r, 'a, Out, Place> {
    pub(super) out: &'r mut Out,
    pub(super) lines: &'a Lines,
    /// The place of a sentence that others repeat.
    pub(super) place_of: Place,
    pub(super) with_file: bool,
    pub(super) json: bool,
}

impl<'a, Out: Write, Place: Fn(usize) -> LocatedSentence<'a>> Report<'_, 'a, Out, Place> {
    fn located(&self, i: usize) -> LocatedSentence<'a> {
        located(self.lines, i, self.with_file)
    }

    /// Writes one line per dropped sentence, in the order of the text.
    pub(super) fn pairs(&mut self, of_line: &[Option<Duplicate>]) -> io::Result<()> {
        for (i, duplicate) in of_line.iter().enumerate() {
            let Some(Duplicate { of, cosine }) = *duplicate else { continue };
            let (dropped, kept) = (self.located(i), (self.place_of)(of));
            if self.json {
                write_json_line(self.out, &Dropped { dropped, cosine, kept: Some(kept) })?;
            } else {
                let (line, of) = (dropped.shown(), kept.shown());
                writeln!(self.out, "{cosine:.4}\t{line}\t{of}\t{}\t{}", dropped.column(), kept.column())?;
            }
        }
        Ok(())
    }

    /// Writes a block for each sentence that replaces others: itself, then the dropped ones, most similar first. Larger
    /// groups come first, equally large ones in the order of the text.
    pub(super) fn groups(&mut self, of_line: &[Option<Duplicate>]) -> io::Result<()> {
        let mut dropped: Vec<(usize, f32, usize)> = of_line
            .iter()
            .enumerate()
            .filter_map(|(i, duplicate)| duplicate.map(|Duplicate { of, cosine }| (of, cosine, i)))
            .collect();
        dropped.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)).then(a.2.cmp(&b.2)));
        let mut groups: Vec<&[(usize, f32, usize)]> = dropped.chunk_by(|a, b| a.0 == b.0).collect();
        groups.sort_by_key(|group| std::cmp::Reverse(group.len()));
        for group in groups {
            let kept = (self.place_of)(group[0].0);
            if self.json {
                let of_group = group.iter();
                let of_group = of_group.map(|&(_, cosine, i)| Dropped { dropped: self.located(i), cosine, kept: None });
                let dropped = of_group.collect();
                write_json_line(self.out, &Group { kept, dropped })?;
                continue;
            }
            writeln!(self.out, "{}\t{}\t{}", group.len() + 1, kept.shown(), kept.column())?;
            for &(_, cosine, i) in group {
                let dropped = self.located(i);
                writeln!(self.out, "  {cosine:.4}\t{}\t{}", dropped.shown(), dropped.column())?;
            }
        }
        Ok(())
    }

    /// Writes one line per sentence that is kept although it is near another, in the order of the text.
    fn kept_apart(&mut self, apart: &[Option<Duplicate>], guard: &Guard<'_>) -> io::Result<()> {
        for (i, other) in apart.iter().enumerate() {
            let Some(Duplicate { of, cosine }) = *other else { continue };
            let (sentence, near) = (self.located(i), (self.place_of)(of));
            let Difference { first, second, .. } = guard.difference(sentence.text, near.text).unwrap_or_default();
            if self.json {
                let (words, near_words) = (first, second);
                write_json_line(self.out, &KeptApart { sentence, cosine, near, words, near_words })?;
            } else {
                let (line, of) = (sentence.shown(), near.shown());
                let words = |words: Vec<String>| if words.is_empty() { "-".to_owned() } else { words.join(" ") };
                let (first, second) = (words(first), words(second));
                let (text, other) = (sentence.column(), near.column());
                writeln!(self.out, "{cosine:.4}\t{line}\t{of}\t{text}\t{other}\tkept: {first} / {second}")?;
            }
        }
        Ok(())
    }

    /// Writes what follows the dropped sentences: those that the guard keeps apart from others, and counts as JSON.
    pub(super) fn end(&mut self, apart: &[Option<Duplicate>], guard: Option<&Guard<'_>>, kept: u64) -> io::Result<()> {
        if let Some(guard) = guard {
            self.kept_apart(apart, guard)?;
        }
        if !self.json {
            return Ok(());
        }
        let sentences = apart.len() as u64;
        let kept_apart = apart.iter().flatten().count() as u64;
        write_json_line(self.out, &Counts { sentences, kept, kept_apart, dropped: sentences - kept })
    }
}
