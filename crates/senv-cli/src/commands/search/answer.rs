//! Writes the answer to a query.

use std::io::{self, Write};

use senv::SentenceCollection;
use senv_core::{Coverage, KnownWords};
use serde::Serialize;

use super::ranked::Hit;
use crate::{commands::answers::write_times, failure::Result, output::cell};

/// A query: its text, and its line in the file of queries.
#[derive(Debug, Clone)]
pub(super) struct Query {
    pub(super) text: String,
    pub(super) line: Option<u64>,
}

/// What was found for a query.
#[derive(Debug, Serialize)]
pub(super) struct Answer<'a> {
    query: &'a str,
    tokens: usize,
    known_tokens: usize,
    /// The share of known words, without punctuation and digits; `null` without words.
    known_word_share: Option<f64>,
    /// Whether cosines are estimates.
    estimated: bool,
    neighbours: Vec<Neighbour>,
}

#[derive(Debug, Serialize)]
struct Neighbour {
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    document: Option<String>,
    cosine: f32,
    id: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    text: String,
    /// The sentences around it, if requested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    before: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    behind: Vec<String>,
    /// How often the text occurs.
    count: usize,
    #[serde(skip_serializing_if = "serde_json::Map::is_empty")]
    columns: serde_json::Map<String, serde_json::Value>,
}

impl<'a> Answer<'a> {
    /// The answer of these hits.
    pub(super) fn new(
        collection: &SentenceCollection,
        query: &'a Query,
        coverage: Coverage,
        known: KnownWords,
        hits: Vec<Hit>,
        n_context: usize,
    ) -> Result<Self> {
        let neighbours = hits.into_iter().map(|hit| neighbour(collection, hit, n_context)).collect::<Result<_>>()?;
        let Coverage { tokens, known: known_tokens, .. } = coverage;
        let estimated = collection.estimates_cosines();
        let known_word_share = known.share();
        Ok(Self { query: &query.text, tokens, known_tokens, known_word_share, estimated, neighbours })
    }

    /// Whether nothing was found.
    pub(super) fn is_empty(&self) -> bool {
        self.neighbours.is_empty()
    }

    /// Writes one line per neighbor: cosine, id, place, sentence, further columns, and count. A ranking by more than
    /// cosines has the score instead of the cosine, and documents have their names instead of ids. Sentences around it
    /// have separate lines.
    pub(super) fn write_text(&self, out: &mut impl Write) -> io::Result<()> {
        let mark = if self.estimated { "~" } else { "" };
        for neighbour in &self.neighbours {
            let Neighbour { score, document, cosine, id, file, line, text, before, behind, count, columns } = neighbour;
            for text in before {
                writeln!(out, "\t\t\t{}", cell(text))?;
            }
            match score {
                Some(score) => write!(out, "{score:.4}\t")?,
                None => write!(out, "{mark}{cosine:.4}\t")?,
            }
            match document {
                Some(document) => write!(out, "{}\t", cell(document))?,
                None => write!(out, "{id}\t")?,
            }
            if let (Some(file), Some(line)) = (file, line) {
                let place = format!("{file}:{line}");
                // This is the name of a document without another name.
                if document.as_ref() != Some(&place) {
                    write!(out, "{}\t", cell(&place))?;
                }
            }
            write!(out, "{}", cell(text))?;
            for (name, value) in columns {
                write!(out, "\t{name}={}", cell(value.as_str().unwrap_or_default()))?;
            }
            write_times(out, *count)?;
            writeln!(out)?;
            for text in behind {
                writeln!(out, "\t\t\t{}", cell(text))?;
            }
        }
        Ok(())
    }
}

fn neighbour(collection: &SentenceCollection, hit: Hit, n_context: usize) -> Result<Neighbour> {
    let rows = collection.rows();
    let Hit { sentence: hit, score, document } = hit;
    let (mut file, mut line) = (None, None);
    let mut columns = serde_json::Map::new();
    let Some(&position) = hit.positions.first() else {
        let (cosine, id, text) = (hit.cosine, hit.id, hit.text);
        let (before, behind) = (Vec::new(), Vec::new());
        return Ok(Neighbour { score, document, cosine, id, file, line, text, before, behind, count: 0, columns });
    };
    // The first column is the sentence.
    for name in rows.columns().iter().skip(1) {
        let value = rows.text(position, name)?;
        match name.as_str() {
            SentenceCollection::FILE => file = Some(value),
            SentenceCollection::LINE => line = value.parse().ok(),
            SentenceCollection::DOCUMENT | SentenceCollection::PLACE if document.is_some() => {}
            _ => _ = columns.insert(name.clone(), value.into()),
        }
    }
    let (id, count) = (rows.id(position)?.unwrap_or(hit.id), hit.positions.len());
    let [before, behind] = collection.context(position, n_context)?;
    let (cosine, text) = (hit.cosine, hit.text);
    Ok(Neighbour { score, document, cosine, id, file, line, text, before, behind, count, columns })
}
