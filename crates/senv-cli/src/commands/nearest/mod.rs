//! `senv nearest`: the sentences or words most similar to a query.

mod queries;

use std::{io::Write, path::PathBuf};

use clap::{ArgGroup, builder::RangedU64ValueParser};
use senv::{
    Model,
    average::{AverageEncoder, UnknownWords},
    collection::read_sentences,
    documents::RankBy,
    jobs::{
        CoverageCounts, EncodedRows, NearSentence, NearestSentences, QueryFile, SentencePlace, nearest_sentences,
        ranked_sentences,
    },
};
use senv_core::{Coverage, SentenceEncoder, TextOptions, TextReader, text::Lines};
use senv_store::{Embeddings, NearestIndex, Neighbour};
use serde::Serialize;

use self::queries::Queries;
use crate::{
    commands::{
        ModelArg,
        answers::{EqualArg, check_min_score, few_near, only_equal, write_times},
        known_words::WordSample,
        rank::{Rank, RankArgs},
        sentences::shown_place,
        table_rows::{Cells, Figure, Joined, RecordArgs},
        unread::warn_of_unread,
    },
    destination,
    failure::{Failure, Result},
    folders::Collections,
    output::{self, plural},
    text::{InputArgs, QueriesText, TextArgs, is_dash, stdin_is_given},
};

/// Find the sentences, or words, most similar to a query.
///
/// Searches the sentences of files or of a pipe on standard input; without them, or with --words, the words of the
/// model.
///
/// The search is exact: it compares the query with every sentence. Each result has its cosine, -1 to 1, and its line
/// (in a table, its record), best match first; with --rank or --hybrid, its score instead of its cosine. Equal
/// sentences are shown once, with their count. If --queries is one of the searched files, a line does not find
/// itself. Blank lines are skipped. Memory grows with the number of queries and with K, not with the input, unless
/// --rank or --hybrid counts words.
///
/// A query without a known word has no neighbors. If the model has vectors for unknown words, the query has some, but
/// they are unreliable. senv warns about both, and refuses such a query among words.
#[derive(Debug, clap::Args)]
#[command(
    after_help = EXAMPLES,
    mut_arg("files", |files| files.help(INPUT_HELP)),
    group = ArgGroup::new("wanted").args(["queries", "query_file"]).multiple(true).required(true)
)]
pub(crate) struct Nearest {
    #[command(flatten)]
    input: InputArgs,
    /// Search the words of the model and ignore standard input.
    #[arg(long, conflicts_with_all = ["input", "files", "rank", "hybrid"])]
    words: bool,
    /// Text to look for; can be repeated.
    #[arg(long = "query", value_name = "TEXT")]
    queries: Vec<String>,
    /// Texts to look for, one per line; - is standard input.
    #[arg(long = "queries", value_name = "FILE")]
    query_file: Option<PathBuf>,
    /// Number of results, at least 1.
    #[arg(long, short, value_name = "K", default_value_t = 10,
          value_parser = RangedU64ValueParser::<usize>::new().range(1..))]
    k: usize,
    /// Leave out results with a lower cosine.
    #[arg(long, value_name = "COSINE", allow_negative_numbers = true)]
    min_score: Option<f32>,
    #[command(flatten)]
    rank: RankArgs,
    #[command(flatten)]
    equal: EqualArg,
    /// Print JSON, one object per query.
    #[arg(long, conflicts_with = "records")]
    json: bool,
    #[command(flatten)]
    record: RecordArgs,
    #[command(flatten)]
    text: TextArgs,
    #[command(flatten)]
    queries_text: QueriesText,
    #[command(flatten)]
    model: ModelArg,
}

const INPUT_HELP: &str = "Sentences to search, one per line; plain, .gz or .zst; a folder of .txt and .md \
                          files; - is standard input \
                          [default: piped input, or the words of the model]";

const EXAMPLES: &str = "\
Examples:
  senv nearest text.txt --query \"a cat sat on the mat\"
  senv nearest --words --query cat --k 5
  senv nearest tickets.csv --column body --query \"refund not received\" --show id --show author
  senv nearest --model model.senv --queries questions.txt answers.txt --json";

#[derive(Debug, Serialize)]
struct Answer<'a> {
    query: &'a str,
    /// The number of words of the query.
    tokens: usize,
    /// The number of them that the model knows.
    known_tokens: usize,
    /// The share of known words, without punctuation and digits; `null` without words.
    known_word_share: Option<f64>,
    /// The same for the first sentences of the searched text.
    #[serde(skip_serializing_if = "Option::is_none")]
    text_known_word_share: Option<f64>,
    neighbours: Vec<FoundText<'a>>,
}

#[derive(Debug, Clone, Serialize)]
struct FoundText<'a> {
    /// The score of a ranking that counts words.
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
    cosine: f32,
    /// The file of a sentence, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    /// The number of its record, if it is from a table.
    #[serde(skip_serializing_if = "Option::is_none")]
    record: Option<u64>,
    text: String,
    /// The columns of the record that are shown.
    #[serde(skip_serializing_if = "Cells::is_empty")]
    columns: Cells<'a>,
    /// How often a sentence occurs.
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<usize>,
    #[serde(skip)]
    path: PathBuf,
}

impl<'a> FoundText<'a> {
    fn of(cosine: f32, score: Option<f64>, sentence: NearSentence, has_files: bool) -> Self {
        let NearSentence { place: SentencePlace { file, line, record, .. }, text, count, .. } = sentence;
        let (path, columns) = (PathBuf::from(&file), Cells::default());
        let (file, line, count) = (has_files.then_some(file), Some(line), Some(count));
        Self { score, cosine, file, line, record, text, columns, count, path }
    }

    fn with_columns(self, joined: &'a Joined) -> Self {
        Self { columns: joined.cells(&self.path, self.record), ..self }
    }
}

impl Nearest {
    pub(crate) fn run(mut self) -> Result {
        self.input.open_folders(self.text.content(), Collections::Refused)?;
        check_min_score(self.min_score)?;
        let query_stdin = self.query_file.as_deref().is_some_and(is_dash);
        let piped = [PathBuf::from("-")];
        let is_piped = self.input.paths().is_empty() && !self.words && !query_stdin && stdin_is_given();
        let input = if is_piped { &piped } else { self.input.paths() };
        if input.iter().chain(&self.query_file).filter(|path| is_dash(path)).count() > 1 {
            return Err(Failure::Usage(
                "standard input can be read only once; give the sentences or the queries as a file".into(),
            ));
        }
        destination::check_stdout(&input.iter().chain(&self.query_file).collect::<Vec<_>>())?;
        self.record.check(input, &self.text.options())?;
        let model = self.model.open()?;
        let mut queries = self.queries.clone();
        let mut query_lines = vec![None; queries.len()];
        if let Some(path) = &self.query_file {
            let path = std::slice::from_ref(path);
            let options = self.text.check_other(path, &self.queries_text.other())?;
            let lines = read_sentences(path, &TextOptions { split: None, ..options })?;
            queries.extend(lines.iter().map(|(_, line)| line.to_owned()));
            query_lines.extend((0..lines.len()).map(|i| Some(lines.record(i).unwrap_or(lines.place(i).1))));
        }
        let queries: Vec<&str> = queries.iter().map(String::as_str).collect();
        if input.is_empty() {
            if !self.words {
                output::note("no text given, searching the words of the model (--words silences this note)");
            }
            return self.words(&model, &queries);
        }
        if is_piped {
            output::note("searching the lines of standard input (--words searches the words of the model)");
        }
        self.sentences(input, &model, &queries, &query_lines)
    }

    /// Searches the words of the model.
    fn words(&self, model: &Model, queries: &[&str]) -> Result {
        let words = model.to_embeddings()?;
        for (word, row) in words.iter() {
            model.check_finite(&self.model.model, word, row)?;
        }
        // A word is not its own neighbor.
        let own: Vec<_> = queries.iter().map(|query| words.vocabulary().id(query).map(|id| id.index())).collect();
        let plain = known_unweighted(model, &words)?;
        let encoder = plain.as_deref().unwrap_or(model);
        let queries = Queries::encode(encoder, model, &self.model.model, queries)?;
        queries.refuse_unknown()?;
        let is_other = |query: usize, row| own[query] != Some(row);
        let found = NearestIndex::new(&words).nearest_batch_where(&queries.rows(), self.k, is_other)?;
        let text = |near: &Neighbour| {
            let text = words.word(near.row).to_owned();
            let (columns, path) = (Cells::default(), PathBuf::new());
            let (score, cosine) = (None, near.cosine);
            FoundText { score, cosine, file: None, line: None, record: None, text, columns, count: None, path }
        };
        let found = found.iter().map(|found| found.iter().map(text).collect());
        self.answer(&queries, found, &Joined::default(), (CoverageCounts::default(), &[]), None)
    }

    /// Searches the sentences of the input.
    fn sentences(&self, input: &[PathBuf], model: &Model, queries: &[&str], query_lines: &[Option<u64>]) -> Result {
        model.prepare_for_many();
        let queries = Queries::encode(model, model, &self.model.model, queries)?;
        self.text.check_tables(input)?;
        let own_lines = self.own_lines(input);
        // One more, because the query itself may be among them.
        let k = self.k.saturating_add(usize::from(self.equal.no_equal || own_lines.is_some()));
        let path = &*self.model.model;
        let options = self.text.options();
        let mut reader = TextReader::open(input, &options)?;
        let mut sample = WordSample::new(path, model);
        let on_part = |lines: &Lines, rows: &EncodedRows<'_>| -> Result {
            sample.add(lines.iter().map(|(_, line)| line));
            let mut vectors = rows.sentences.iter().zip(rows.vectors.rows());
            Ok(vectors
                .try_for_each(|(text, row)| model.check_finite(path, text, row.to_slice().unwrap_or_default()))?)
        };
        let rank_by = self.rank_by();
        let found = match rank_by {
            None => nearest_sentences(model, &mut reader, &queries.rows(), k, on_part)?,
            Some(by) => {
                let queries: Vec<(&str, &[f32])> = queries.texts.iter().copied().zip(queries.rows()).collect();
                ranked_sentences(model, &mut reader, &queries, k, by, self.min_score.unwrap_or(-1.0), on_part)?
            }
        };
        let NearestSentences { found, scores, sentences, counts, has_word_of, .. } = found;
        if counts.lines == 0 {
            return Err(senv_core::Error::EmptyInput { path: input[0].clone() }.into());
        }
        if counts.unknown > 0 && rank_by.is_none() {
            let unknown = plural(counts.unknown, "sentence");
            output::warn(&format!("{unknown} of the input without a known word cannot be found"));
        }
        let known_word_share = sample.finish();
        let has_files = input.len() > 1;
        let score = |query: usize, i: usize| scores.get(query).and_then(|scores| scores.get(i)).copied();
        let shown = |query: usize, i: usize, near: &Neighbour| {
            let mut sentence = sentences[&near.row].clone();
            if self.equal.leaves_out(queries.texts[query], &sentence.text) {
                return None;
            }
            if let Some((own_lines, line)) = own_lines.as_ref().zip(query_lines[query])
                && sentence.text == queries.texts[query]
            {
                own_lines.leave_out(line, &mut sentence);
            }
            (sentence.count > 0).then(|| FoundText::of(near.cosine, score(query, i), sentence, has_files))
        };
        let is_near = |near: &FoundText<'_>| self.min_score.is_none_or(|least| near.cosine >= least);
        let of_query = |(query, found): (usize, &Vec<Neighbour>)| {
            let found = found.iter().enumerate().filter_map(|(i, near)| shown(query, i, near));
            found.take(self.k).filter(is_near).collect::<Vec<_>>()
        };
        let found: Vec<Vec<FoundText<'_>>> = found.iter().enumerate().map(of_query).collect();
        let places: Vec<_> = found.iter().flatten().map(|near| (near.path.clone(), near.record)).collect();
        let joined =
            self.record.read(input, &options, places.iter().map(|(path, record)| (path.as_path(), *record)))?;
        let found = found.into_iter().map(|found| found.into_iter().map(|near| near.with_columns(&joined)).collect());
        self.answer(&queries, found, &joined, (counts, &has_word_of), known_word_share)
    }

    /// The ranking, if it counts words.
    fn rank_by(&self) -> Option<RankBy> {
        match self.rank.given() {
            None | Some(Rank::Meaning) => None,
            Some(Rank::Words) => Some(RankBy::Words),
            Some(Rank::Hybrid) => Some(RankBy::Hybrid),
        }
    }

    /// The file of queries, if it is one of the searched files.
    fn own_lines(&self, input: &[PathBuf]) -> Option<QueryFile> {
        let own_lines = self.query_file.as_deref().filter(|path| !is_dash(path)).map(QueryFile::new)?;
        let options = self.text.options();
        let are_same =
            options.split.is_none() && self.text.options_of(&self.queries_text.other()).table == options.table;
        (are_same && input.iter().any(|path| own_lines.is_named(&path.display().to_string()))).then_some(own_lines)
    }

    fn answer<'a>(
        &self,
        queries: &Queries<'_>,
        found: impl Iterator<Item = Vec<FoundText<'a>>>,
        joined: &Joined,
        (mut counts, has_word_of): (CoverageCounts, &[bool]),
        text_known_word_share: Option<f64>,
    ) -> Result {
        let mut out = output::stdout();
        let n = queries.texts.len();
        let mut of_records = Vec::new();
        for (i, (&query, mut neighbours)) in queries.texts.iter().zip(found).enumerate() {
            neighbours.retain(|near| self.min_score.is_none_or(|least| near.cosine >= least));
            let (coverage, words) = (queries.coverage[i], queries.words[i]);
            counts.add(query, &coverage);
            let Coverage { tokens, known, .. } = coverage;
            let known_word_share = words.share();
            let answer =
                Answer { query, tokens, known_tokens: known, known_word_share, text_known_word_share, neighbours };
            if joined.has_records() {
                of_records.extend(answer.neighbours.iter().map(|near| (i, near.clone())));
            } else {
                self.write(&mut out, i, n, &answer).map_err(Failure::stdout)?;
            }
            let is_without = answer.neighbours.is_empty();
            let far = self.min_score.filter(|_| is_without).map(|least| few_near(query, least));
            let far = far.or_else(|| (is_without && self.equal.no_equal).then(|| only_equal(query)));
            // Words that the model does not know are found all the same.
            let has_word = has_word_of.get(i).is_some_and(|&has_word| has_word);
            if let Some(warning) = queries.warning(i).filter(|_| !has_word).or(far) {
                out.flush().map_err(Failure::stdout)?;
                output::warn(&warning);
            }
        }
        let figures = |i: usize, near: &FoundText<'_>| {
            let score = near.score.map(|score| Figure::Number(format!("{score:.4}")));
            let rest = [Figure::Number(format!("{:.4}", near.cosine)), Figure::Text(queries.texts[i])];
            score.into_iter().chain(rest).collect()
        };
        let records = of_records.iter().map(|(i, near)| (near.path.as_path(), near.record, figures(*i, near)));
        let names: &[&str] =
            if self.rank_by().is_some() { &["score", "cosine", "query"] } else { &["cosine", "query"] };
        joined.write_records(&mut out, names, records).map_err(Failure::stdout)?;
        out.flush().map_err(Failure::stdout)?;
        queries.warn();
        warn_of_unread(&counts);
        Ok(())
    }

    fn write(&self, out: &mut impl Write, i: usize, n: usize, answer: &Answer<'_>) -> std::io::Result<()> {
        if self.json {
            return output::write_json_line(out, answer);
        }
        if n > 1 {
            writeln!(out, "{}> {}", if i > 0 { "\n" } else { "" }, output::cell(answer.query))?;
        }
        for FoundText { score, cosine, file, line, record, text, columns, count, .. } in &answer.neighbours {
            write!(out, "{:.4}\t", score.unwrap_or(f64::from(*cosine)))?;
            if let Some(number) = record.or(*line) {
                write!(out, "{}\t", shown_place(file.as_deref(), number))?;
            }
            write!(out, "{}", output::cell(text))?;
            columns.write(out)?;
            write_times(out, count.unwrap_or(1))?;
            writeln!(out)?;
        }
        Ok(())
    }
}

/// The plain mean of the known words of a query. Word vectors have no weights, and unknown words have no neighbors, so
/// a query among words must use neither. The sentence vectors of other encoders are not in the space of their words.
fn known_unweighted(model: &Model, words: &Embeddings) -> Result<Option<Box<dyn SentenceEncoder>>> {
    if let Some(table) = model.abilities().static_table {
        return Ok(Some(Box::new(table.clone().without_order().without_hashed_words())));
    }
    if model.abilities().average.is_none() {
        return Ok(Some(Box::new(Model::from_embeddings(words.clone())?)));
    }
    let plain = |average: &&AverageEncoder| {
        let for_unknown = average.unknown_words() != UnknownWords::Skip || average.unknown_row().is_some();
        average.weighting().is_some() || for_unknown
    };
    let average = model.abilities().average.filter(plain).cloned();
    let Some(average) = average else { return Ok(None) };
    Ok(Some(Box::new(average.with_unknown_words(UnknownWords::Skip).with_weighting(None)?)))
}
