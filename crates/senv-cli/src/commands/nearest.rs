//! `senv nearest`: the sentences, or words, most like a query.

use std::{io::Write, path::PathBuf};

use clap::builder::RangedU64ValueParser;
use senv_core::{Coverage, Rows, SentenceEncoder, Table};
use senv_models::{AverageEncoder, Model, UnknownWords};
use senv_store::{NearestIndex, Neighbour};
use serde::Serialize;

use crate::{
    commands::ModelArg,
    destination,
    failure::{Failure, Result},
    output::{self, plural},
    text::{Lines, TextArgs, is_dash, read_sentences},
};

/// Find the sentences most like a query, or, without --input, the words.
///
/// Every sentence is compared (the search is exact); neighbours come with their cosine, -1 to 1, the nearest first.
/// Blank lines of the input are passed over. A query without a known word is the zero vector, unless the model has vectors
/// for unknown words: it has no neighbours, and that is said.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Nearest {
    #[command(flatten)]
    model: ModelArg,
    /// Sentences to search, one a line [default: the words of the model]
    #[arg(long, short, value_name = "FILE", num_args = 1..)]
    input: Vec<PathBuf>,
    /// What to look for; may be given more than once.
    #[arg(long = "query", value_name = "TEXT", required_unless_present = "query_file")]
    queries: Vec<String>,
    /// What to look for, one a line; - is standard input.
    #[arg(long = "queries", value_name = "FILE")]
    query_file: Option<PathBuf>,
    /// Neighbours to show, at least 1.
    #[arg(long, short, value_name = "K", default_value_t = 10,
          value_parser = RangedU64ValueParser::<usize>::new().range(1..))]
    k: usize,
    /// Write JSON: an object a query, one a line.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    text: TextArgs,
}

const EXAMPLES: &str = "\
Examples:
  senv nearest --model model.senv --input text.txt --query \"a cat sat on the mat\" --k 5
  senv nearest --model model.senv --query cat";

#[derive(Debug, Serialize)]
struct Answer<'a> {
    query: &'a str,
    /// Words of the query, and those of them that the model knows.
    tokens: usize,
    known_tokens: usize,
    neighbours: Vec<FoundText<'a>>,
}

#[derive(Debug, Serialize)]
struct FoundText<'a> {
    cosine: f32,
    text: &'a str,
}

impl Nearest {
    pub(crate) fn run(self) -> Result {
        if self.input.iter().chain(&self.query_file).filter(|path| is_dash(path)).count() > 1 {
            return Err(Failure::Usage(
                "standard input can be read once: give the sentences or the queries as a file".into(),
            ));
        }
        destination::check_stdout(&self.input.iter().chain(&self.query_file).collect::<Vec<_>>())?;
        let model = self.model.open()?;
        let mut queries = self.queries.clone();
        if let Some(path) = &self.query_file {
            let lines = read_sentences(std::slice::from_ref(path), &self.text.options())?;
            queries.extend(lines.iter().map(|(_, line)| line.to_owned()));
        }
        let queries: Vec<&str> = queries.iter().map(String::as_str).collect();
        if self.input.is_empty() {
            let words = model.to_embeddings()?;
            // A word is not shown as its own neighbour.
            let own: Vec<_> = queries.iter().map(|query| words.vocabulary().id(query).map(|id| id.index())).collect();
            let plain = known_unweighted(&model)?;
            let encoder = plain.as_ref().map_or(&model as &dyn SentenceEncoder, |plain| plain);
            self.search(encoder, &words, &queries, |row| words.word(row), |query, row| own[query] != Some(row))
        } else {
            let lines = read_sentences(&self.input, &self.text.options())?;
            if lines.len() == 0 {
                return Err(senv_core::Error::EmptyInput { path: self.input[0].clone() }.into());
            }
            model.prepare_for_many();
            let table = encode(&model, &lines)?;
            self.search(&model, &table, &queries, |row| lines.get(row), |_, _| true)
        }
    }

    fn search<'a, R: Rows>(
        &self,
        encoder: &dyn SentenceEncoder,
        rows: &R,
        queries: &'a [&'a str],
        text: impl Fn(usize) -> &'a str,
        keep: impl Fn(usize, usize) -> bool + Sync,
    ) -> Result {
        let (vectors, coverage) = encoder.encode_batch(queries)?;
        let vectors: Vec<&[f32]> = vectors.rows().into_iter().filter_map(|row| row.to_slice()).collect();
        let found = NearestIndex::new(rows).nearest_batch_where(&vectors, self.k, keep)?;
        let mut out = output::stdout();
        for (i, ((query, coverage), neighbours)) in queries.iter().zip(coverage).zip(found).enumerate() {
            let found = |n: Neighbour| FoundText { cosine: n.cosine, text: text(n.row) };
            let Coverage { tokens, known, .. } = coverage;
            let neighbours: Vec<FoundText<'_>> = neighbours.into_iter().map(found).collect();
            let answer = Answer { query, tokens, known_tokens: known, neighbours };
            self.write(&mut out, i, queries.len(), &answer).map_err(Failure::stdout)?;
            if coverage.is_empty() {
                out.flush().map_err(Failure::stdout)?;
                output::warn(&format!("no word of {query:?} is known: zero vector, no neighbours"));
            }
        }
        out.flush().map_err(Failure::stdout)
    }

    fn write(&self, out: &mut impl Write, i: usize, n: usize, answer: &Answer<'_>) -> std::io::Result<()> {
        if self.json {
            serde_json::to_writer(&mut *out, answer)?;
            return writeln!(out);
        }
        if n > 1 {
            writeln!(out, "{}> {}", if i > 0 { "\n" } else { "" }, answer.query)?;
        }
        answer.neighbours.iter().try_for_each(|found| writeln!(out, "{:.4}\t{}", found.cosine, found.text))
    }
}

/// The plain mean of the words that a model knows: word vectors carry no weights, and no neighbours are near an unknown
/// word, so queries among words must have neither.
fn known_unweighted(model: &Model) -> Result<Option<AverageEncoder>> {
    let plain =
        |average: &&AverageEncoder| average.weighting().is_some() || average.unknown_words() != UnknownWords::Skip;
    let average = model.average().filter(plain).cloned();
    Ok(average.map(|average| average.with_unknown_words(UnknownWords::Skip).with_weighting(None)).transpose()?)
}

/// The vectors of the sentences.
fn encode(model: &Model, lines: &Lines) -> Result<Table> {
    let sentences: Vec<&str> = lines.iter().map(|(_, line)| line).collect();
    let (vectors, coverage) = model.encode_batch(&sentences)?;
    let unknown = coverage.iter().filter(|coverage| coverage.is_empty()).count() as u64;
    if unknown > 0 {
        output::warn(&format!("{} of the input without a known word: never neighbours", plural(unknown, "sentence")));
    }
    let (rows, dim) = vectors.dim();
    Ok(Table::from_vec(rows, dim, vectors.into_raw_vec_and_offset().0)?)
}
