//! Reports of dropped sentences, and of near ones that the guard keeps.

use std::io::{self, Write};

use senv::{
    index::Duplicate,
    jobs::{Difference, Guard},
};
use serde::Serialize;

use crate::{commands::sentences::LocatedSentence, output::write_json_line};

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
pub(super) struct Report<'r, Out, OfLines, Place> {
    pub(super) out: &'r mut Out,
    /// A sentence of the text.
    pub(super) of_lines: OfLines,
    /// A sentence that others repeat, which may be of another text.
    pub(super) place_of: Place,
    pub(super) json: bool,
}

impl<'a, Out, OfLines, Place> Report<'_, Out, OfLines, Place>
where
    Out: Write,
    OfLines: Fn(usize) -> LocatedSentence<'a>,
    Place: Fn(usize) -> LocatedSentence<'a>,
{
    /// Ends a line with the columns that these sentences show.
    fn end_line(&mut self, sentences: &[&LocatedSentence<'_>]) -> io::Result<()> {
        for sentence in sentences {
            sentence.columns.write(self.out)?;
        }
        writeln!(self.out)
    }

    /// Writes one line per dropped sentence, in the order of the text.
    pub(super) fn pairs(&mut self, of_line: &[Option<Duplicate>]) -> io::Result<()> {
        for (i, duplicate) in of_line.iter().enumerate() {
            let Some(Duplicate { of, cosine }) = *duplicate else { continue };
            let (dropped, kept) = ((self.of_lines)(i), (self.place_of)(of));
            if self.json {
                write_json_line(self.out, &Dropped { dropped, cosine, kept: Some(kept) })?;
            } else {
                let (line, of) = (dropped.shown(), kept.shown());
                write!(self.out, "{cosine:.4}\t{line}\t{of}\t{}\t{}", dropped.column(), kept.column())?;
                self.end_line(&[&dropped, &kept])?;
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
                let of_group =
                    of_group.map(|&(_, cosine, i)| Dropped { dropped: (self.of_lines)(i), cosine, kept: None });
                let dropped = of_group.collect();
                write_json_line(self.out, &Group { kept, dropped })?;
                continue;
            }
            write!(self.out, "{}\t{}\t{}", group.len() + 1, kept.shown(), kept.column())?;
            self.end_line(&[&kept])?;
            for &(_, cosine, i) in group {
                let dropped = (self.of_lines)(i);
                write!(self.out, "  {cosine:.4}\t{}\t{}", dropped.shown(), dropped.column())?;
                self.end_line(&[&dropped])?;
            }
        }
        Ok(())
    }

    /// Writes one line per sentence that is kept although it is near another, in the order of the text.
    fn kept_apart(&mut self, apart: &[Option<Duplicate>], guard: &Guard<'_>) -> io::Result<()> {
        for (i, other) in apart.iter().enumerate() {
            let Some(Duplicate { of, cosine }) = *other else { continue };
            let (sentence, near) = ((self.of_lines)(i), (self.place_of)(of));
            let Difference { first, second, .. } = guard.difference(sentence.text, near.text).unwrap_or_default();
            if self.json {
                let (words, near_words) = (first, second);
                write_json_line(self.out, &KeptApart { sentence, cosine, near, words, near_words })?;
            } else {
                let (line, of) = (sentence.shown(), near.shown());
                let words = |words: Vec<String>| if words.is_empty() { "-".to_owned() } else { words.join(" ") };
                let (first, second) = (words(first), words(second));
                let (text, other) = (sentence.column(), near.column());
                write!(self.out, "{cosine:.4}\t{line}\t{of}\t{text}\t{other}\tkept: {first} / {second}")?;
                self.end_line(&[&sentence, &near])?;
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
