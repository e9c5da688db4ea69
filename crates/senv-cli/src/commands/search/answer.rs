//! Writes the answer to a query.

use std::io::{self, Write};

use senv::{
    SentenceCollection,
    index::{Collection, Id},
};
use senv_core::{Coverage, KnownWords};
use serde::{Serialize, Serializer};

use super::ranked::Hit;
use crate::{commands::answers::write_times, failure::Result, output::cell};

/// A query: its text, and its line in the file of queries.
#[derive(Debug, Clone)]
pub(super) struct Query {
    pub(super) text: String,
    pub(super) line: Option<u64>,
}

/// The most copies of a sentence that a line names.
const N_SHOWN: usize = 3;

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
    /// Whether the sentences around each are shown.
    #[serde(skip)]
    has_context: bool,
}

#[derive(Debug, Serialize)]
struct Neighbour {
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    document: Option<String>,
    cosine: f32,
    #[serde(flatten)]
    row: Row,
    text: String,
    /// The sentences around it, if requested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    before: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    behind: Vec<String>,
    /// How often the text occurs.
    count: usize,
    /// The other rows with this text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    copies: Vec<Row>,
}

/// A row of the collection, apart from its text.
#[derive(Debug, Serialize)]
struct Row {
    id: Id,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    /// Names and values, in the order of the collection.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "as_map")]
    columns: Vec<(String, String)>,
}

impl Row {
    fn new(id: Id) -> Self {
        Self { id, file: None, line: None, columns: Vec::new() }
    }

    fn read(rows: &Collection, position: usize, is_document: bool) -> Result<Self> {
        let mut row = Self::new(rows.id(position)?.unwrap_or(Id::Number(0)));
        // The first column is the sentence.
        for name in rows.columns().iter().skip(1) {
            let value = rows.text(position, name)?;
            match name.as_str() {
                // Sentences that a library has added do not come from a file.
                SentenceCollection::FILE => row.file = Some(value).filter(|file| !file.is_empty()),
                SentenceCollection::LINE => row.line = value.parse().ok(),
                SentenceCollection::DOCUMENT | SentenceCollection::PLACE if is_document => {}
                _ => row.columns.push((name.clone(), value)),
            }
        }
        Ok(row)
    }

    /// The file and line, if it has both.
    fn place(&self) -> Option<String> {
        Some(format!("{}:{}", self.file.as_ref()?, self.line?))
    }
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
        let (known_word_share, has_context) = (known.share(), n_context > 0);
        Ok(Self { query: &query.text, tokens, known_tokens, known_word_share, estimated, neighbours, has_context })
    }

    /// Whether nothing was found.
    pub(super) fn is_empty(&self) -> bool {
        self.neighbours.is_empty()
    }

    /// Writes one line per neighbor: cosine, id, place, sentence, further columns, and count. A ranking by more than
    /// cosines has the score instead of the cosine, and documents have their names instead of ids. With context,
    /// neighbors are parted by `--` and marked with `>`, and the sentences around them have separate lines.
    pub(super) fn write_text(&self, out: &mut impl Write) -> io::Result<()> {
        let mark = if self.estimated { "~" } else { "" };
        for (i, neighbour) in self.neighbours.iter().enumerate() {
            let Neighbour { score, document, cosine, row, text, before, behind, count, copies } = neighbour;
            // A document without another name is named by its place.
            let place = row.place().filter(|place| document.as_ref() != Some(place));
            let indent = if place.is_some() { "\t\t\t" } else { "\t\t" };
            if self.has_context && i > 0 {
                writeln!(out, "--")?;
            }
            for text in before {
                writeln!(out, "{indent}{}", cell(text))?;
            }
            if self.has_context {
                write!(out, "> ")?;
            }
            match score {
                Some(score) => write!(out, "{score:.4}\t")?,
                None => write!(out, "{mark}{cosine:.4}\t")?,
            }
            match document {
                Some(document) => write!(out, "{}\t", cell(document))?,
                None => write!(out, "{}\t", id_cell(&row.id))?,
            }
            if let Some(place) = place {
                write!(out, "{}\t", cell(&place))?;
            }
            write!(out, "{}", cell(text))?;
            for (name, value) in &row.columns {
                write!(out, "\t{name}={}", cell(value))?;
            }
            write_times(out, *count)?;
            if !copies.is_empty() {
                let named = |copy: &Row| match copy.place() {
                    Some(place) => cell(&place).into_owned(),
                    None => format!("id {}", id_cell(&copy.id)),
                };
                let shown: Vec<String> = copies.iter().take(N_SHOWN).map(named).collect();
                let more = copies.len().saturating_sub(N_SHOWN);
                write!(out, "\talso {}", shown.join(", "))?;
                if more > 0 {
                    write!(out, " and {more} more")?;
                }
            }
            writeln!(out)?;
            for text in behind {
                writeln!(out, "{indent}{}", cell(text))?;
            }
        }
        Ok(())
    }
}

fn as_map<S: Serializer>(columns: &[(String, String)], serializer: S) -> std::result::Result<S::Ok, S::Error> {
    serializer.collect_map(columns.iter().map(|(name, value)| (name, value)))
}

/// An id as a cell. Its control characters are escaped rather than replaced, because they tell it from others.
fn id_cell(id: &Id) -> String {
    let mut cell = String::new();
    for c in id.to_string().chars() {
        if c.is_control() { cell.extend(c.escape_debug()) } else { cell.push(c) }
    }
    cell
}

fn neighbour(collection: &SentenceCollection, hit: Hit, n_context: usize) -> Result<Neighbour> {
    let Hit { sentence: hit, score, document } = hit;
    let (cosine, text, count) = (hit.cosine, hit.text, hit.positions.len());
    let Some((&position, others)) = hit.positions.split_first() else {
        let row = Row::new(hit.id);
        let (before, behind, copies) = (Vec::new(), Vec::new(), Vec::new());
        return Ok(Neighbour { score, document, cosine, row, text, before, behind, count, copies });
    };
    let read = |position| Row::read(collection.rows(), position, document.is_some());
    let row = read(position)?;
    let copies = others.iter().map(|&position| read(position)).collect::<Result<_>>()?;
    let [before, behind] = collection.context(position, n_context)?;
    Ok(Neighbour { score, document, cosine, row, text, before, behind, count, copies })
}
