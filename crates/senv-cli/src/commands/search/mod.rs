//! `senv search`: the sentences of a collection most similar to a query.

mod answer;
mod prompt;
mod ranked;

use std::{
    io::{IsTerminal, Write},
    path::{Path, PathBuf},
};

use clap::{ArgGroup, builder::RangedU64ValueParser};
use senv::{
    SentenceCollection,
    collection::{Filter, SentenceSearch},
    jobs::QueryFile,
};
use senv_core::{KnownWords, SentenceEncoder, TextReader};

use self::{
    answer::{Answer, Query},
    ranked::{By, Hit, Ranked},
};
use crate::{
    commands::{
        answers::{EqualArg, check_min_score, few_near, only_equal},
        index,
        join::JoinArgs,
        known_words::{foreign_query, unknown_query, unknown_words, warn_of_few},
        rank::RankArgs,
    },
    failure::{Failure, Result},
    output,
    text::{LineArgs, QueriesText, TableArgs, check_queries, is_dash, stdin_is_given},
};

/// Search a collection made by senv index.
///
/// Without TEXT, --query and --queries, reads queries from standard input, one per line, and answers each immediately;
/// on a terminal, from a prompt with history. Queries are encoded by the model of the collection.
///
/// Each result has the cosine (-1 to 1, ~ before an estimate), the id, the file and line of the sentence, the sentence,
/// and further columns. Columns have the order in which senv index was given them. Equal sentences are shown once, with
/// their count. If --queries is an indexed file, a line does not find itself. If nothing is found, standard error says
/// why.
///
/// A search in a collection of documents (senv index --documents) ranks documents: by their words, by the whole text
/// and by their nearest sentence, which is shown. The first column is a score, comparable within one answer, the second
/// the document. --rank combines words and meaning for sentences too. Both use the words that senv index stores.
/// Without them (senv index --no-words), each search first reads all sentences.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, group = ArgGroup::new("collection").args(["folder", "index"]).required(true))]
pub(crate) struct Search {
    /// Collection to search.
    #[arg(value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Text to look for; the same as --query TEXT.
    #[arg(value_name = "TEXT", conflicts_with = "index")]
    wanted: Option<String>,
    /// The same as FOLDER.
    #[arg(long, short, value_name = "FOLDER")]
    index: Option<PathBuf>,
    /// Text to look for; can be repeated.
    #[arg(long = "query", value_name = "TEXT")]
    queries: Vec<String>,
    /// Texts to look for, one per line; - is standard input.
    ///
    /// Many queries together are faster than one at a time.
    #[arg(long = "queries", value_name = "FILE")]
    query_file: Option<PathBuf>,
    /// Number of results, at least 1.
    #[arg(long, short, value_name = "K", default_value_t = 10,
          value_parser = RangedU64ValueParser::<usize>::new().range(1..))]
    k: usize,
    /// What to rank [default: document if the collection has documents, else sentence]
    #[arg(long, value_name = "WHAT")]
    by: Option<By>,
    #[command(flatten)]
    rank: RankArgs,
    #[command(flatten)]
    join: JoinArgs,
    /// Show N sentences before and after each result.
    ///
    /// They are from the same file and document. Results are marked with > and parted by lines of --.
    #[arg(long, value_name = "N", default_value_t = 0,
          value_parser = RangedU64ValueParser::<usize>::new().range(..=1000))]
    context: usize,
    /// Leave out results with a lower cosine.
    #[arg(long, value_name = "COSINE", allow_negative_numbers = true)]
    min_score: Option<f32>,
    /// Search only rows that meet a condition, as in "year >= 1987"; can be repeated.
    ///
    /// The signs are =, !=, <, <=, >, >=, in (A, B), starts with, is null; and, or, not and parentheses join them. A
    /// column is one given to senv index, or id, file (the path given to senv index, or only the name), line or text.
    /// Numbers, ISO 8601 dates, and true and false are compared as such if all values of the column are. Quote a value
    /// that has parentheses, and, or, and in a list one that has a comma. All conditions must be met.
    #[arg(long = "where", value_name = "CONDITION")]
    conditions: Vec<String>,
    #[command(flatten)]
    equal: EqualArg,
    /// Share of the true nearest sentences to find; 1 finds all of them [default: the value given to senv index]
    #[arg(long, value_name = "SHARE")]
    recall: Option<f32>,
    /// New location of the collection's model, if it was moved. A different model is refused.
    #[arg(long, short, value_name = "FILE")]
    model: Option<PathBuf>,
    /// Print JSON, one object per query.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    text: LineArgs,
    #[command(flatten)]
    table: TableArgs,
    #[command(flatten)]
    queries_text: QueriesText,
}

const EXAMPLES: &str = "\
Examples:
  senv search text.index \"a cat sat on the mat\"
  senv search news.index --query \"rising prices\" --where \"year = 1987\"
  senv search text.index
  senv search news.index --queries questions.txt --k 3 --min-score 0.6 --json
  senv search articles.index --query \"why do cats purr\" --context 2
  senv search text.index --query \"error 4711\" --hybrid";

/// The number of queries that are searched at a time.
const BLOCK: usize = 1024;

/// A collection that is searched.
struct Searched<'a> {
    args: &'a Search,
    collection: SentenceCollection,
    /// All conditions.
    filter: Option<Filter>,
    /// The positions that meet it.
    kept: Option<Vec<bool>>,
    /// The ranking, if it uses more than the cosines of sentences.
    ranked: Option<Ranked>,
    /// The file of queries.
    own_lines: Option<QueryFile>,
    /// The number of answered queries.
    n: usize,
    /// Whether there is more than one query.
    many: bool,
    /// The number of queries in a file that had no result, if the reason was not reported.
    n_without: u64,
    /// Known words in the first queries of a file.
    known: KnownWords,
}

impl Search {
    pub(crate) fn run(self) -> Result {
        let Some(folder) = self.index.as_ref().or(self.folder.as_ref()) else { return Ok(()) };
        check_min_score(self.min_score)?;
        if let Some(recall) = self.recall.filter(|recall| !(*recall > 0.0 && *recall <= 1.0)) {
            return Err(Failure::Usage(format!("--recall must be above 0 and at most 1, got {recall}")));
        }
        let conditions = self.conditions.iter().map(|text| text.parse());
        let conditions = conditions.collect::<senv::Result<Vec<Filter>>>().map_err(bad_condition("--where"))?;
        let filter = conditions.into_iter().reduce(Filter::and);
        let collection = index::open(folder, self.model.as_deref())?;
        let own_lines = self.query_file.as_deref().filter(|path| !is_dash(path)).map(QueryFile::new);
        let mut searched = Searched {
            args: &self,
            collection,
            filter,
            kept: None,
            ranked: None,
            own_lines,
            n: 0,
            many: true,
            n_without: 0,
            known: KnownWords::default(),
        };
        if searched.collection.is_empty() {
            output::warn(&format!("{} has no sentences", folder.display()));
        }
        searched.filter()?;
        if searched.ranked.as_ref().is_some_and(Ranked::is_in_memory) {
            let shown = folder.display();
            output::note(&format!("{shown} has no words, so all sentences were read; make it again with senv index"));
        }
        if self.wanted.is_some() || !self.queries.is_empty() || self.query_file.is_some() {
            return searched.given();
        }
        if std::io::stdin().is_terminal() {
            searched.many = false;
            return prompt::run(|line| {
                searched.refresh()?;
                searched.answer(&[Query { text: self.checked(line, "-", 1)?.to_owned(), line: None }])
            });
        }
        if !stdin_is_given() {
            return Err(Failure::Usage("no query; give a text, --query, --queries, or lines on standard input".into()));
        }
        let mut reader = TextReader::open(&["-"], &self.text.options())?;
        while let Some(line) = reader.next_line()? {
            if !line.is_blank() {
                let query = Query { text: line.text.to_owned(), line: None };
                searched.refresh()?;
                searched.answer(&[query])?;
            }
        }
        if searched.n == 0 {
            return Err(senv_core::Error::EmptyInput { path: "-".into() }.into());
        }
        Ok(())
    }

    /// A query, unless it is longer than a line may be.
    fn checked<'q>(&self, query: &'q str, path: &str, line: u64) -> Result<&'q str> {
        let limit = self.text.options().max_line_bytes;
        if query.len() > limit {
            return Err(senv_core::Error::LineTooLong { path: path.into(), line, limit }.into());
        }
        Ok(query)
    }
}

/// The failure of a condition given to an option.
pub(super) fn bad_condition(option: &str) -> impl Fn(senv::Error) -> Failure {
    move |error| match error {
        senv::Error::BadCondition { .. } => Failure::Usage(format!("{option} {error}")),
        error => error.into(),
    }
}

impl Searched<'_> {
    /// Answers the queries of the arguments.
    fn given(&mut self) -> Result {
        let args = self.args;
        let mut queries = Vec::new();
        for (i, text) in (1..).zip(args.wanted.iter().chain(&args.queries)) {
            queries.push(Query { text: args.checked(text, "--query", i)?.to_owned(), line: None });
        }
        let mut reader = match &args.query_file {
            Some(path) => {
                let options = check_queries(path, &args.text, &args.table, &args.queries_text.other())?;
                Some(TextReader::open(&[path], &options)?)
            }
            None => None,
        };
        self.many = queries.len() > 1 || reader.is_some();
        loop {
            let mut is_end = reader.is_none();
            while let Some(reader) = reader.as_mut().filter(|_| queries.len() < BLOCK) {
                let Some(line) = reader.next_line()? else {
                    is_end = true;
                    break;
                };
                if !line.is_blank() {
                    queries.push(Query { text: line.text.to_owned(), line: Some(line.number) });
                }
            }
            if !queries.is_empty() {
                self.answer(&queries)?;
                queries.clear();
            }
            if is_end {
                break;
            }
        }
        if let Some(path) = SentenceCollection::model_path(self.collection.rows()) {
            warn_of_few(path, self.known);
        }
        if self.n_without > 0 {
            let [without, n] = [self.n_without, self.n as u64].map(output::grouped);
            output::warn(&format!(
                "nothing was found for {without} of {n} {}",
                if self.n == 1 { "query" } else { "queries" }
            ));
        }
        match &args.query_file {
            Some(path) if self.n == 0 => Err(senv_core::Error::EmptyInput { path: path.clone() }.into()),
            _ => Ok(()),
        }
    }

    /// Picks up changes that others made to the collection.
    fn refresh(&mut self) -> Result {
        if self.collection.refresh()? {
            self.filter()?;
        }
        Ok(())
    }

    /// Finds the sentences that meet the conditions; warns if there are none.
    fn filter(&mut self) -> Result {
        let meeting = self.filter.as_ref().map(|filter| filter.positions(self.collection.rows()));
        self.kept = meeting.transpose().map_err(bad_condition("--where"))?;
        if let Some(filter) = self.filter.as_ref().filter(|_| self.meets_none() && !self.collection.is_empty()) {
            output::warn(&format!("no sentence meets --where {filter}"));
        }
        let rank = self.args.rank.given();
        self.ranked = Ranked::new(&self.collection, self.args.by, rank, self.args.join, self.kept.as_ref())?;
        Ok(())
    }

    fn meets_none(&self) -> bool {
        self.kept.as_ref().is_some_and(|kept| !kept.contains(&true))
    }

    /// Why nothing was found for a query that has a vector, if that was not reported yet.
    fn reason(&self, query: &Query) -> Option<String> {
        if self.collection.is_empty() || self.meets_none() {
            return None;
        }
        let text = &query.text;
        let is_by_words = self.ranked.as_ref().is_some_and(Ranked::is_by_words);
        Some(match self.args.min_score {
            None if is_by_words => format!("nothing has a word of {text}", text = senv_core::quoted(text)),
            Some(least) => few_near(text, least),
            None if self.args.equal.no_equal => only_equal(text),
            None => format!("nothing was found for {text}", text = senv_core::quoted(text)),
        })
    }

    /// Whether a ranking that counts words finds one that the model does not know, or only words count.
    fn finds_unknown(&self, model: &senv::Model, query: &str) -> Result<bool> {
        let Some(ranked) = &self.ranked else { return Ok(false) };
        if ranked.is_by_words() {
            return Ok(true);
        }
        for word in unknown_words(model, query) {
            if ranked.has_word_of(&self.collection, word)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Answers queries and writes the answers.
    fn answer(&mut self, queries: &[Query]) -> Result {
        let Search { k, equal, json, min_score, recall, context, .. } = *self.args;
        let (collection, model) = (&self.collection, self.collection.model());
        let texts: Vec<&str> = queries.iter().map(|query| query.text.as_str()).collect();
        let (vectors, coverage) = model.encode_batch(&texts)?;
        let rows: Vec<&[f32]> = vectors.rows().into_iter().filter_map(|row| row.to_slice()).collect();
        let path = SentenceCollection::model_path(collection.rows()).unwrap_or(Path::new("-"));
        for (text, row) in texts.iter().zip(&rows) {
            model.check_finite(path, text, row)?;
        }
        let keep = |_: usize, position: usize| self.kept.as_ref().is_none_or(|kept| kept.get(position) == Some(&true));
        // One more, because the query itself may be among them.
        let leaves_out = equal.no_equal || self.own_lines.is_some();
        let mut search = SentenceSearch::new(k.saturating_add(usize::from(leaves_out)));
        (search.recall, search.min_cosine) = (recall, min_score.unwrap_or(f32::NEG_INFINITY));
        if self.kept.is_some() {
            search.keep = Some(&keep);
        }
        let found: Vec<Vec<Hit>> = match &self.ranked {
            Some(ranked) => {
                let of_query = |text: &&str| ranked.search(collection, text, search.k, search.min_cosine);
                texts.iter().map(of_query).collect::<Result<_>>()?
            }
            None => {
                let found = collection.search_vectors(&rows, &search)?;
                found.into_iter().map(|hits| hits.into_iter().map(Hit::from).collect()).collect()
            }
        };
        let mut out = output::stdout();
        for (((query, coverage), mut hits), row) in queries.iter().zip(coverage).zip(found).zip(&rows) {
            for hit in hits.iter_mut().filter(|hit| hit.document.is_none()).map(|hit| &mut hit.sentence) {
                if equal.leaves_out(&query.text, &hit.text) {
                    hit.positions.clear();
                } else if let Some((own_lines, line)) = self.own_lines.as_ref().zip(query.line) {
                    collection.leave_out(own_lines, &query.text, line, hit)?;
                }
            }
            hits.retain(|hit| !hit.sentence.positions.is_empty());
            hits.truncate(k);
            let known = model.known_words([&query.text]);
            let answer = Answer::new(collection, query, coverage, known, hits, context)?;
            let write = |out: &mut std::io::BufWriter<output::Stdout>| {
                if json {
                    return output::write_json_line(out, &answer);
                }
                if self.many {
                    writeln!(out, "{}> {}", if self.n > 0 { "\n" } else { "" }, output::cell(&query.text))?;
                }
                answer.write_text(out)
            };
            write(&mut out).map_err(Failure::stdout)?;
            self.n += 1;
            // A ranking by words finds words that the model does not know.
            let finds_words = match &self.ranked {
                Some(ranked) => ranked.is_by_words() || ranked.has_word_of(collection, &query.text)?,
                None => false,
            };
            let unknown = unknown_query(&query.text, row.iter().all(|&x| x == 0.0), known).filter(|_| !finds_words);
            let mut reason = self.reason(query).filter(|_| answer.is_empty() && unknown.is_none());
            // Queries of a file, which may have many, are counted.
            if query.line.is_some() && reason.take().is_some() {
                self.n_without += 1;
            }
            let foreign = match query.line {
                // Queries of a file are reported together.
                Some(_) if self.known.sentences < KnownWords::SAMPLE as u64 => {
                    self.known += known;
                    None
                }
                Some(_) => None,
                // A ranking by words finds words that the model does not know.
                None if !answer.is_empty() && self.finds_unknown(model, &query.text)? => None,
                None => foreign_query(path, model, &query.text, known),
            };
            if let Some(warning) = unknown.or(reason).or(foreign) {
                out.flush().map_err(Failure::stdout)?;
                output::warn(&warning);
            }
        }
        out.flush().map_err(Failure::stdout)
    }
}
