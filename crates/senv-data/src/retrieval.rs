//! Documents, queries, and human relevance judgments: the files of BEIR.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

use senv_core::{Error as CoreError, quoted};
use serde::Deserialize;

use crate::{Error, Result, lines::for_each_line};

/// A document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Its id.
    pub id: String,
    /// Its title, which can be empty.
    pub title: String,
    /// Its text.
    pub text: String,
}

/// A query with its judged documents.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedQuery {
    /// Its id.
    pub id: String,
    /// Its text.
    pub text: String,
    /// Document positions and their grades; a document with a grade above 0 is relevant.
    pub judgements: Vec<(usize, f64)>,
    /// The grades of judged documents that are not in the corpus, so that no ranking finds them.
    pub missing: Vec<f64>,
    /// The document that is the query itself and is not ranked for it ([`RetrievalSet::leave_out_queries`]).
    pub own_document: Option<usize>,
}

impl JudgedQuery {
    /// The grades of all its judged documents, including the missing ones.
    pub fn grades(&self) -> impl Iterator<Item = f64> {
        self.judgements.iter().map(|&(_, grade)| grade).chain(self.missing.iter().copied())
    }

    fn has_relevant_document(&self) -> bool {
        self.grades().any(|grade| grade > 0.0)
    }
}

/// Judgments of documents or queries that do not exist.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownJudgements {
    /// The number of such judgments.
    pub count: u64,
    /// The first one, with file and line.
    pub first: String,
}

impl UnknownJudgements {
    fn add(&mut self, error: &Error) {
        self.count += 1;
        if self.first.is_empty() {
            self.first = error.to_string();
        }
    }
}

/// Documents, and queries with judgments.
#[derive(Debug, Clone, PartialEq)]
pub struct RetrievalSet {
    /// The folder.
    pub path: PathBuf,
    /// All documents.
    pub documents: Vec<Document>,
    /// The queries with a relevant document, in file order.
    pub queries: Vec<JudgedQuery>,
    /// The number of queries with judgments, but without a relevant document. They are left out.
    pub n_without_relevant: usize,
    /// The judgments of missing documents, which count as documents that no ranking finds ([`JudgedQuery::missing`]).
    pub missing_documents: UnknownJudgements,
    /// The judgments of missing queries, which are skipped.
    pub missing_queries: UnknownJudgements,
    /// The number of judgments that repeat an earlier one with the same grade; each counts once.
    pub n_repeated_judgements: u64,
}

#[derive(Deserialize)]
struct Record {
    #[serde(rename = "_id")]
    id: Name,
    #[serde(default)]
    title: Option<String>,
    text: String,
}

/// An id: text or a number.
#[derive(Deserialize)]
#[serde(untagged)]
enum Name {
    Text(String),
    Number(u64),
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        match name {
            Name::Text(text) => text,
            Name::Number(number) => number.to_string(),
        }
    }
}

impl RetrievalSet {
    /// Reads a folder of BEIR: `corpus.jsonl` with `_id`, `title` and `text`, and `queries.jsonl` with `_id` and
    /// `text`. `qrels/test.tsv` (or else `dev.tsv`, `train.tsv`, or the first `.tsv` by name) has a header and
    /// tab-separated query, document and grade. Files can end in `.gz` or `.zst`.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path();
    /// # std::fs::create_dir(path.join("qrels"))?;
    /// std::fs::write(path.join("corpus.jsonl"), "{\"_id\":\"d1\",\"title\":\"\",\"text\":\"Rain falls.\"}\n")?;
    /// std::fs::write(path.join("queries.jsonl"), "{\"_id\":\"q1\",\"text\":\"weather\"}\n")?;
    /// std::fs::write(path.join("qrels/test.tsv"), "query-id\tcorpus-id\tscore\nq1\td1\t1\n")?;
    /// let set = senv_data::RetrievalSet::read(path)?;
    /// assert_eq!(set.queries[0].judgements, [(0, 1.0)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// * [`CoreError::BadTable`], with file and line, if a record is invalid or repeated, or if all judgments are of
    ///   missing queries or documents.
    /// * [`CoreError::EmptyInput`] if there is no document.
    /// * [`Error::NoJudgements`] if no query has a relevant one, and [`Error::NotAFolder`] for a file.
    /// * [`CoreError::Io`] if a file cannot be read.
    pub fn read(folder: impl AsRef<Path>) -> Result<Self> {
        let folder = folder.as_ref();
        if folder.is_file() {
            return Err(Error::NotAFolder { path: folder.to_owned() });
        }
        let [corpus, queries, judgements] = Self::files(folder);
        let mut documents: Vec<Document> = Vec::new();
        let mut positions: HashMap<String, usize> = HashMap::new();
        records(&corpus, |id, record, bad| {
            if positions.insert(id.clone(), documents.len()).is_some() {
                return Err(bad(format!("duplicate document {id}", id = quoted(id))));
            }
            documents.push(Document { id, title: record.title.unwrap_or_default(), text: record.text });
            Ok(())
        })?;
        let mut all: Vec<JudgedQuery> = Vec::new();
        let mut numbers: HashMap<String, usize> = HashMap::new();
        records(&queries, |id, record, bad| {
            if numbers.insert(id.clone(), all.len()).is_some() {
                return Err(bad(format!("duplicate query {id}", id = quoted(id))));
            }
            all.push(JudgedQuery {
                id,
                text: record.text,
                judgements: Vec::new(),
                missing: Vec::new(),
                own_document: None,
            });
            Ok(())
        })?;
        let (mut missing_documents, mut missing_queries) = (UnknownJudgements::default(), UnknownJudgements::default());
        let mut first_unknown = None;
        // Grades by query and document, to find repeated judgments.
        let mut grades: HashMap<(usize, String), f64> = HashMap::new();
        let (mut n_judgements, mut n_repeated_judgements) = (0, 0);
        for_each_line(&judgements, |line, text| {
            let bad = |reason: String| bad_record(&judgements, line, reason);
            let cells: Vec<&str> = text.split('\t').map(str::trim).collect();
            if is_trec(text) {
                return Err(bad(
                    "this is a line of TREC's qrels; expected a header, then query, document and grade separated by \
                    tabs; convert it with awk 'BEGIN { print \"query-id\\tcorpus-id\\tscore\" } { print $1 \"\\t\" $3 \
                    \"\\t\" $4 }' QRELS > test.tsv"
                        .into(),
                ));
            }
            let is_header =
                line == 1 && cells.len() == 3 && cells.last().is_some_and(|grade| grade.parse::<f64>().is_err());
            if text.trim().is_empty() || is_header {
                return Ok(());
            }
            let [query, document, grade] = cells[..] else {
                return Err(bad(format!(
                    "{} columns, expected query, document and grade, separated by tabs",
                    cells.len()
                )));
            };
            let grade = grade.parse::<f64>().ok().filter(|grade| grade.is_finite());
            let grade = grade.ok_or_else(|| bad(format!("the grade {} is not a number", quoted(cells[2]))))?;
            let Some(&number) = numbers.get(query) else {
                let error = bad(format!("no query {query} in {}", queries.display(), query = quoted(query)));
                missing_queries.add(&error);
                first_unknown.get_or_insert(error);
                return Ok(());
            };
            match grades.insert((number, document.to_owned()), grade) {
                None => {}
                Some(earlier) if earlier == grade => {
                    n_repeated_judgements += 1;
                    return Ok(());
                }
                Some(earlier) => {
                    let (document, query) = (quoted(document), quoted(query));
                    return Err(bad(format!(
                        "document {document} has the grades {earlier} and {grade} for query {query}"
                    )));
                }
            }
            match positions.get(document) {
                Some(&document) => {
                    all[number].judgements.push((document, grade));
                    n_judgements += 1;
                }
                None => {
                    all[number].missing.push(grade);
                    let error = bad(format!("no document {} in {}", quoted(document), corpus.display()));
                    missing_documents.add(&error);
                    first_unknown.get_or_insert(error);
                }
            }
            Ok(())
        })?;
        if documents.is_empty() {
            return Err(CoreError::EmptyInput { path: corpus }.into());
        }
        // If no id matches, the ids are wrong.
        if let (0, Some(error)) = (n_judgements, first_unknown) {
            return Err(error);
        }
        let n_judged = all.iter().filter(|query| query.grades().next().is_some()).count();
        let queries: Vec<JudgedQuery> = all.into_iter().filter(JudgedQuery::has_relevant_document).collect();
        if queries.is_empty() {
            return Err(Error::NoJudgements { path: judgements, n_judgements });
        }
        let n_without_relevant = n_judged - queries.len();
        Ok(Self {
            path: folder.to_owned(),
            documents,
            queries,
            n_without_relevant,
            missing_documents,
            missing_queries,
            n_repeated_judgements,
        })
    }

    /// Returns the files that [`RetrievalSet::read`] reads: documents, queries and judgments. Of several files of
    /// judgments, these are `test.tsv`, or else `dev.tsv`, `train.tsv`, or the first `.tsv` by name.
    ///
    /// ```
    /// let [_, _, judgments] = senv_data::RetrievalSet::files("scifact");
    /// assert_eq!(judgments, std::path::Path::new("scifact/qrels/test.tsv"));
    /// ```
    #[must_use]
    pub fn files(folder: impl AsRef<Path>) -> [PathBuf; 3] {
        let (folder, qrels) = (folder.as_ref(), folder.as_ref().join("qrels"));
        let usual = ["test.tsv", "dev.tsv", "train.tsv"].map(|name| table(&qrels, name));
        let judgements = usual.iter().find(|path| path.exists()).cloned();
        let judgements = judgements.or_else(|| {
            let files = std::fs::read_dir(&qrels).ok()?.flatten().map(|file| file.path());
            let is_table = |path: &PathBuf| {
                let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
                [".tsv", ".tsv.gz", ".tsv.zst"].iter().any(|end| name.ends_with(end)) && !name.starts_with('.')
            };
            files.filter(is_table).min()
        });
        let [test, ..] = usual;
        [table(folder, "corpus.jsonl"), table(folder, "queries.jsonl"), judgements.unwrap_or(test)]
    }

    /// Treats a document with the id of a query as the query itself, which is not ranked for it. This is so in ArguAna,
    /// whose queries are documents. Queries without another relevant document are left out.
    #[must_use]
    pub fn leave_out_queries(mut self) -> Self {
        let positions: HashMap<&str, usize> =
            self.documents.iter().enumerate().map(|(i, document)| (document.id.as_str(), i)).collect();
        for query in &mut self.queries {
            query.own_document = positions.get(query.id.as_str()).copied();
            query.judgements.retain(|&(document, _)| Some(document) != query.own_document);
        }
        self.queries.retain(JudgedQuery::has_relevant_document);
        self
    }

    /// The number of queries for which a document has the same id and text.
    #[must_use]
    pub fn n_own_documents(&self) -> usize {
        let documents: HashMap<&str, &Document> =
            self.documents.iter().map(|document| (document.id.as_str(), document)).collect();
        let is_own = |query: &&JudgedQuery| {
            documents.get(query.id.as_str()).is_some_and(|document| document.text.trim() == query.text.trim())
        };
        self.queries.iter().filter(is_own).count()
    }
}

/// Whether a line is in TREC's format: query, an unused column, document and grade, separated by spaces.
fn is_trec(text: &str) -> bool {
    let cells: Vec<&str> = text.split_whitespace().collect();
    let [_, unused, _, grade] = cells[..] else { return false };
    matches!(unused, "0" | "Q0") && grade.parse::<f64>().is_ok()
}

/// The file of this name, or of this name with a compression extension.
fn table(folder: &Path, name: &str) -> PathBuf {
    let packed = [".gz", ".zst"].map(|ending| folder.join(format!("{name}{ending}")));
    let plain = folder.join(name);
    if plain.exists() { plain } else { packed.into_iter().find(|path| path.exists()).unwrap_or(plain) }
}

fn bad_record(path: &Path, line: u64, reason: String) -> Error {
    CoreError::BadTable { path: path.to_owned(), line, reason }.into()
}

/// Calls `each` with every record, and with a function that creates errors for its line.
fn records(path: &Path, mut each: impl FnMut(String, Record, &dyn Fn(String) -> Error) -> Result<()>) -> Result<()> {
    for_each_line(path, |line, text| {
        let bad = |reason: String| bad_record(path, line, reason);
        if text.trim().is_empty() {
            return Ok(());
        }
        let mut record: Record = serde_json::from_str(text).map_err(|error| bad(format!("not a record: {error}")))?;
        let id = String::from(std::mem::replace(&mut record.id, Name::Number(0)));
        each(id, record, &bad)
    })
}
