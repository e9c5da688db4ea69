//! Reports of dropped sentences.

use std::io::{self, Write};

use senv::index::Duplicate;
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

/// Writes one line per dropped sentence, in the order of the text. `of_lines` finds a sentence of the text, and
/// `place_of` a kept one, which may be of another text.
pub(super) fn pairs<'a>(
    out: &mut impl Write,
    of_line: &[Option<Duplicate>],
    (of_lines, place_of): (impl Fn(usize) -> LocatedSentence<'a>, impl Fn(usize) -> LocatedSentence<'a>),
    json: bool,
) -> io::Result<()> {
    for (i, duplicate) in of_line.iter().enumerate() {
        let Some(Duplicate { of, cosine }) = *duplicate else { continue };
        let (dropped, kept) = (of_lines(i), place_of(of));
        if json {
            write_json_line(out, &Dropped { dropped, cosine, kept: Some(kept) })?;
        } else {
            let (line, of) = (dropped.shown(), kept.shown());
            write!(out, "{cosine:.4}\t{line}\t{of}\t{}\t{}", dropped.column(), kept.column())?;
            dropped.columns.write(out)?;
            kept.columns.write(out)?;
            writeln!(out)?;
        }
    }
    Ok(())
}

#[derive(Serialize)]
struct Group<'a> {
    #[serde(flatten)]
    kept: LocatedSentence<'a>,
    dropped: Vec<Dropped<'a>>,
}

/// Writes a block for each sentence that replaces others: itself, then the dropped ones, most similar first. Larger
/// groups come first, equally large ones in the order of the text.
pub(super) fn groups<'a>(
    out: &mut impl Write,
    of_line: &[Option<Duplicate>],
    (of_lines, place_of): (impl Fn(usize) -> LocatedSentence<'a>, impl Fn(usize) -> LocatedSentence<'a>),
    json: bool,
) -> io::Result<()> {
    let mut dropped: Vec<(usize, f32, usize)> = of_line
        .iter()
        .enumerate()
        .filter_map(|(i, duplicate)| duplicate.map(|Duplicate { of, cosine }| (of, cosine, i)))
        .collect();
    dropped.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)).then(a.2.cmp(&b.2)));
    let mut groups: Vec<&[(usize, f32, usize)]> = dropped.chunk_by(|a, b| a.0 == b.0).collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.len()));
    for group in groups {
        let kept = place_of(group[0].0);
        if json {
            let of_group = group.iter();
            let of_group = of_group.map(|&(_, cosine, i)| Dropped { dropped: of_lines(i), cosine, kept: None });
            write_json_line(out, &Group { kept, dropped: of_group.collect() })?;
            continue;
        }
        write!(out, "{}\t{}\t{}", group.len() + 1, kept.shown(), kept.column())?;
        kept.columns.write(out)?;
        writeln!(out)?;
        for &(_, cosine, i) in group {
            let dropped = of_lines(i);
            write!(out, "  {cosine:.4}\t{}\t{}", dropped.shown(), dropped.column())?;
            dropped.columns.write(out)?;
            writeln!(out)?;
        }
    }
    Ok(())
}
