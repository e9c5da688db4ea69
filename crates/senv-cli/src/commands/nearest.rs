//! `senv nearest`: the sentences, or words, most like a query.

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use clap::{ArgGroup, builder::RangedU64ValueParser};
use ndarray::Array2;
use senv::{AverageEncoder, KnownWords, Model, StaticModel, UnknownWords};
use senv_core::{Coverage, SentenceEncoder, Table, TextReader};
use senv_store::{NearestIndex, NearestStream, Neighbour};
use serde::Serialize;

use crate::{
    commands::{
        ModelArg, finite,
        known_words::{MANY_QUERIES, WordSample, foreign_query, unknown_query, warn_of_few},
        min_score::{check_min_score, few_near},
        unread::Unread,
    },
    destination,
    failure::{Failure, Result, no_memory},
    output::{self, plural},
    text::{InputArgs, Lines, TextArgs, is_dash, read_sentences, stdin_is_given},
};

/// Find the sentences most like a query, or, without sentences, the words.
///
/// Sentences come from files, or from a pipe or file on standard input; --words leaves that unread.
///
/// Every sentence is compared (the search is exact); neighbours come with their cosine, -1 to 1, and their line, the nearest first.
/// Blank lines of the input are passed over. Memory grows with the queries and with K, not with the input. A query without a
/// known word is the zero vector, and has no neighbours, unless the model has vectors for unknown words: then it has some, which
/// say little. Either is warned of. Among words such a query is refused.
#[derive(Debug, clap::Args)]
#[command(
    after_help = EXAMPLES,
    mut_arg("input", |input| input.help(INPUT_HELP)),
    group = ArgGroup::new("wanted").args(["queries", "query_file"]).multiple(true).required(true)
)]
pub(crate) struct Nearest {
    #[command(flatten)]
    model: ModelArg,
    #[command(flatten)]
    input: InputArgs,
    /// Search the words of the model, whatever standard input holds.
    #[arg(long, conflicts_with_all = ["input", "files"])]
    words: bool,
    /// What to look for; may be given more than once.
    #[arg(long = "query", value_name = "TEXT")]
    queries: Vec<String>,
    /// What to look for, one a line; - is standard input.
    #[arg(long = "queries", value_name = "FILE")]
    query_file: Option<PathBuf>,
    /// Neighbours to show, at least 1.
    #[arg(long, short, value_name = "K", default_value_t = 10,
          value_parser = RangedU64ValueParser::<usize>::new().range(1..))]
    k: usize,
    /// Leave out neighbours of a lower cosine.
    #[arg(long, value_name = "COSINE", allow_negative_numbers = true)]
    min_score: Option<f32>,
    /// Write JSON: an object a query, one a line.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    text: TextArgs,
}

/// Values of the vectors, and about the bytes of the text, that are searched at a time: 64 MiB and 16 MiB.
const CHUNK_VALUES: usize = 16 << 20;
const CHUNK_BYTES: usize = 16 << 20;

const INPUT_HELP: &str = "Sentences to search, one a line; plain, .gz or .zst; - is standard input [default: what is piped in, or else the words \
                          of the model]";

const EXAMPLES: &str = "\
Examples:
  senv nearest text.txt --query \"a cat sat on the mat\"
  senv nearest --model model.senv --input text.txt --query \"a cat sat on the mat\" --k 5
  senv nearest --model model.senv --query cat";

#[derive(Debug, Serialize)]
struct Answer<'a> {
    query: &'a str,
    /// Words of the query, and those of them that the model knows.
    tokens: usize,
    known_tokens: usize,
    /// The share of its words that are known, marks and digits not counted; `null` without a word.
    known_word_share: Option<f64>,
    /// The same of the first sentences of the text that is searched.
    #[serde(skip_serializing_if = "Option::is_none")]
    text_known_word_share: Option<f64>,
    neighbours: Vec<FoundText<'a>>,
}

#[derive(Debug, Clone, Serialize)]
struct FoundText<'a> {
    cosine: f32,
    /// Where a sentence stands; the file where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    text: &'a str,
}

/// A sentence that is kept, and where it stands.
struct Sentence {
    file: Option<String>,
    line: u64,
    text: String,
}

impl Nearest {
    pub(crate) fn run(self) -> Result {
        check_min_score(self.min_score)?;
        let query_stdin = self.query_file.as_deref().is_some_and(is_dash);
        let piped = [PathBuf::from("-")];
        let is_piped = self.input.paths().is_empty() && !self.words && !query_stdin && stdin_is_given();
        let input = if is_piped { &piped } else { self.input.paths() };
        if input.iter().chain(&self.query_file).filter(|path| is_dash(path)).count() > 1 {
            return Err(Failure::Usage(
                "standard input can be read once: give the sentences or the queries as a file".into(),
            ));
        }
        destination::check_stdout(&input.iter().chain(&self.query_file).collect::<Vec<_>>())?;
        let model = self.model.open()?;
        let mut queries = self.queries.clone();
        if let Some(path) = &self.query_file {
            let lines = read_sentences(std::slice::from_ref(path), &self.text.options().of_lines())?;
            queries.extend(lines.iter().map(|(_, line)| line.to_owned()));
        }
        let queries: Vec<&str> = queries.iter().map(String::as_str).collect();
        if input.is_empty() {
            return self.words(&model, &queries);
        }
        if is_piped {
            output::note("searching the lines of standard input; --words searches the words of the model");
        }
        self.sentences(input, &model, &queries)
    }

    /// Searches the words of the model.
    fn words(&self, model: &Model, queries: &[&str]) -> Result {
        let words = model.to_embeddings()?;
        for (word, row) in words.iter() {
            finite::check(model, &self.model.model, word, row)?;
        }
        // A word is not shown as its own neighbour.
        let own: Vec<_> = queries.iter().map(|query| words.vocabulary().id(query).map(|id| id.index())).collect();
        let plain = known_unweighted(model)?;
        let encoder = plain.as_deref().unwrap_or(model);
        let queries = Queries::encode(encoder, model, &self.model.model, queries)?;
        queries.refuse_unknown()?;
        let is_other = |query: usize, row| own[query] != Some(row);
        let found = NearestIndex::new(&words).nearest_batch_where(&queries.rows(), self.k, is_other)?;
        let text =
            |near: &Neighbour| FoundText { cosine: near.cosine, file: None, line: None, text: words.word(near.row) };
        let found = found.iter().map(|found| found.iter().map(text).collect());
        self.answer(&queries, found, Unread::default(), None)
    }

    /// Searches the sentences of the input, some at a time: what is kept of them are the best so far.
    fn sentences(&self, input: &[PathBuf], model: &Model, queries: &[&str]) -> Result {
        model.prepare_for_many();
        let queries = Queries::encode(model, model, &self.model.model, queries)?;
        let rows = queries.rows();
        let mut search = NearestStream::new(&rows, self.k);
        self.text.note_tables(input);
        let mut reader = TextReader::open(input, &self.text.options())?;
        let (mut lines, mut n_lines, mut n_unknown) = (Lines::default(), 0_u64, 0_u64);
        let mut unread = Unread::default();
        let mut sample = WordSample::new(&self.model.model, model);
        loop {
            lines.fill_sentences(&mut reader, (CHUNK_VALUES / model.dim().max(1)).max(1), CHUNK_BYTES)?;
            if lines.len() == 0 {
                break;
            }
            let sentences: Vec<&str> = lines.iter().map(|(_, line)| line).collect();
            let (vectors, coverage) = model.encode_batch(&sentences)?;
            for (sentence, vector) in sentences.iter().zip(vectors.rows()) {
                finite::check(model, &self.model.model, sentence, vector.to_slice().unwrap_or_default())?;
            }
            n_lines += sentences.len() as u64;
            n_unknown += coverage.iter().filter(|coverage| coverage.is_empty()).count() as u64;
            coverage.iter().for_each(|coverage| unread.add(coverage));
            sample.add(sentences.iter().copied());
            let (rows, dim) = vectors.dim();
            let table = Table::from_vec(rows, dim, vectors.into_raw_vec_and_offset().0)?;
            search.add(table, |row| sentence(&lines, row, input.len() > 1))?;
        }
        if n_lines == 0 {
            return Err(senv_core::Error::EmptyInput { path: input[0].clone() }.into());
        }
        if n_unknown > 0 {
            let sentences = plural(n_unknown, "sentence");
            output::warn(&format!("{sentences} of the input without a known word: never neighbours"));
        }
        let (found, sentences) = search.finish();
        let text = |near: &Neighbour| {
            let Sentence { file, line, text } = &sentences[&near.row];
            FoundText { cosine: near.cosine, file: file.as_deref(), line: Some(*line), text }
        };
        let found = found.iter().map(|found| found.iter().map(text).collect());
        self.answer(&queries, found, unread, sample.finish())
    }

    fn answer<'a>(
        &self,
        queries: &Queries<'_>,
        found: impl Iterator<Item = Vec<FoundText<'a>>>,
        mut unread: Unread,
        text_known_word_share: Option<f64>,
    ) -> Result {
        let mut out = output::stdout();
        let n = queries.texts.len();
        for (i, (&query, mut neighbours)) in queries.texts.iter().zip(found).enumerate() {
            neighbours.retain(|near| self.min_score.is_none_or(|least| near.cosine >= least));
            let (coverage, words) = (queries.coverage[i], queries.words[i]);
            unread.add(&coverage);
            let Coverage { tokens, known, .. } = coverage;
            let known_word_share = words.share();
            let answer =
                Answer { query, tokens, known_tokens: known, known_word_share, text_known_word_share, neighbours };
            self.write(&mut out, i, n, &answer).map_err(Failure::stdout)?;
            let far = self.min_score.filter(|_| answer.neighbours.is_empty()).map(|least| few_near(query, least));
            if let Some(warning) = queries.warning(i).or(far) {
                out.flush().map_err(Failure::stdout)?;
                output::warn(&warning);
            }
        }
        out.flush().map_err(Failure::stdout)?;
        queries.warn();
        unread.warn();
        Ok(())
    }

    fn write(&self, out: &mut impl Write, i: usize, n: usize, answer: &Answer<'_>) -> std::io::Result<()> {
        if self.json {
            serde_json::to_writer(&mut *out, answer)?;
            return writeln!(out);
        }
        if n > 1 {
            writeln!(out, "{}> {}", if i > 0 { "\n" } else { "" }, answer.query)?;
        }
        answer.neighbours.iter().try_for_each(|FoundText { cosine, file, line, text }| match (file, line) {
            (Some(file), Some(line)) => writeln!(out, "{cosine:.4}\t{file}:{line}\t{text}"),
            (None, Some(line)) => writeln!(out, "{cosine:.4}\t{line}\t{text}"),
            (_, None) => writeln!(out, "{cosine:.4}\t{text}"),
        })
    }
}

/// The plain mean of the words that a model knows: word vectors carry no weights, and no neighbours are near an unknown
/// word, so queries among words must have neither.
fn known_unweighted(model: &Model) -> Result<Option<Box<dyn SentenceEncoder>>> {
    if let Some(table) = model.downcast_ref::<StaticModel>() {
        return Ok(Some(Box::new(table.encoder().clone().without_hashed_words())));
    }
    let plain = |average: &&AverageEncoder| {
        let for_unknown = average.unknown_words() != UnknownWords::Skip || average.unknown_row().is_some();
        average.weighting().is_some() || for_unknown
    };
    let average = model.average().filter(plain).cloned();
    let Some(average) = average else { return Ok(None) };
    Ok(Some(Box::new(average.with_unknown_words(UnknownWords::Skip).with_weighting(None)?)))
}

/// A sentence to be kept.
fn sentence(lines: &Lines, i: usize, with_file: bool) -> Result<Sentence> {
    let (file, line) = lines.place(i);
    let file = with_file.then(|| file.display().to_string());
    Ok(Sentence { file, line, text: copied(lines.get(i))? })
}

/// A copy of a sentence.
fn copied(sentence: &str) -> Result<String> {
    let mut text = String::new();
    text.try_reserve_exact(sentence.len()).map_err(|_| no_memory("the sentences found", sentence.len()))?;
    text.push_str(sentence);
    Ok(text)
}

/// What is looked for.
struct Queries<'a> {
    texts: &'a [&'a str],
    vectors: Array2<f32>,
    coverage: Vec<Coverage>,
    words: Vec<KnownWords>,
    model: &'a Model,
    /// The file of the model.
    path: &'a Path,
}

impl<'a> Queries<'a> {
    fn encode(encoder: &dyn SentenceEncoder, model: &'a Model, path: &'a Path, texts: &'a [&'a str]) -> Result<Self> {
        let (vectors, coverage) = encoder.encode_batch(texts)?;
        let words = texts.iter().map(|text| model.known_words([text])).collect();
        let queries = Self { texts, vectors, coverage, words, model, path };
        for (text, vector) in texts.iter().zip(queries.rows()) {
            finite::check(model, path, text, vector)?;
        }
        Ok(queries)
    }

    /// An error where no query has a neighbour, for want of a known word.
    fn refuse_unknown(&self) -> Result {
        let unknown = |i: &usize| self.vectors.row(*i).iter().all(|&x| x == 0.0);
        match self.texts {
            [first, rest @ ..] if (0..self.texts.len()).all(|i| unknown(&i)) => {
                let others =
                    if rest.is_empty() { String::new() } else { format!(", nor of {} other queries", rest.len()) };
                let message = format!(
                    "no word of {first:?} is known to the model{others}: without one a query has no neighbours among words; train \
                     a model on text that has it (senv train), or take another (--model)"
                );
                Err(std::io::Error::other(message).into())
            }
            _ => Ok(()),
        }
    }

    /// What to say of a query of which no word is known, or few are.
    fn warning(&self, i: usize) -> Option<String> {
        let (text, words) = (self.texts[i], self.words[i]);
        let unknown = unknown_query(text, self.vectors.row(i).iter().all(|&x| x == 0.0), words);
        let is_one_of_few = self.texts.len() < MANY_QUERIES;
        unknown.or_else(|| is_one_of_few.then(|| foreign_query(self.path, self.model, text, words)).flatten())
    }

    /// Warns of many queries together.
    fn warn(&self) {
        if self.texts.len() >= MANY_QUERIES {
            let mut known = KnownWords::default();
            self.words.iter().take(KnownWords::SAMPLE).for_each(|&words| known += words);
            warn_of_few(self.path, known);
        }
    }

    fn rows(&self) -> Vec<&[f32]> {
        self.vectors.rows().into_iter().filter_map(|row| row.to_slice()).collect()
    }
}
