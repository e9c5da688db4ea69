//! Sentences to be added to a collection.

use senv_core::{KnownWords, Rows, SentenceEncoder, Table, kernels, memory::check_memory, text::is_blank};
use senv_index::{Id, NewRows, documents::Stemming};
use sha2::{Digest, Sha256};

use super::SentenceCollection;
use crate::{
    error::{Error, Result},
    model::handle::Model,
};

/// Vector values encoded per batch: 16 MiB.
const CHUNK_VALUES: usize = 4 << 20;
/// The number of given vectors compared with new ones of their sentences.
const COMPARED: usize = 16;
/// The cosine below which a given vector does not belong to its sentence: vectors rounded to 8 bits are above 0.999.
const LEAST_COSINE: f32 = 0.99;

/// The column of the sentences in a collection.
pub(super) const TEXT: &str = "text";

/// Names of counters in a collection.
pub(super) const ZERO_VECTORS: &str = "zero_vectors";
pub(super) const NO_DIRECTION: &str = "no_direction";
pub(super) const SAMPLE: [&str; 4] = ["sample_sentences", "sample_words", "sample_known_words", "sample_hashed_words"];
/// The counts of the marks of their language.
pub(super) const SAMPLE_MARKS: [&str; 4] =
    ["sample_tokens", "sample_english_words", "sample_other_words", "sample_code_tokens"];

/// Sentences for a [`SentenceCollection`](crate::SentenceCollection), with their ids, columns and vectors. None may be
/// blank ([`senv_core::text::is_blank`]); `senv index` skips blank lines.
///
/// They need a value for each column of the collection, except [`SentenceCollection::FILE`] and
/// [`SentenceCollection::LINE`]: sentences that were not read from a file are empty there.
///
/// ```
/// use senv::collection::NewSentences;
/// let sentences = NewSentences::new(vec!["The train is late.".into(), "Rain falls.".into()])
///     .ids(vec!["T-1234", "T-1235"]) // or numbers: vec![17, 4]
///     .column("author", vec!["Ada".into(), "Bob".into()]);
/// assert_eq!(sentences.len(), 2);
/// ```
#[derive(Debug, Clone, Default)]
pub struct NewSentences {
    texts: Vec<String>,
    ids: Option<Vec<Id>>,
    first_id: Option<u64>,
    columns: Vec<(String, Vec<String>)>,
    /// Whether their file and line are left out if the collection has no columns for them.
    leaves_out_place: bool,
    vectors: Option<Table>,
    stemming: Stemming,
}

/// The columns of the place where a sentence was read.
fn is_place(column: &str) -> bool {
    [SentenceCollection::FILE, SentenceCollection::LINE].contains(&column)
}

impl NewSentences {
    /// Sentences that get the next free ids.
    #[must_use]
    pub fn new(texts: Vec<String>) -> Self {
        Self { texts, ..Self::default() }
    }

    /// Sets their ids: numbers, texts, or [`Id`]s. A collection has one kind of ids, which the first ones decide.
    #[must_use]
    pub fn ids<I: Into<Id>>(mut self, ids: Vec<I>) -> Self {
        self.ids = Some(ids.into_iter().map(Into::into).collect());
        self
    }

    /// Sets the id of the first sentence; the others follow ([`NewRows::first_id`]).
    #[must_use]
    pub fn first_id(mut self, id: u64) -> Self {
        self.first_id = Some(id);
        self
    }

    /// Sets their values in a column of the collection.
    #[must_use]
    pub fn column(mut self, name: &str, values: Vec<String>) -> Self {
        self.columns.push((name.to_owned(), values));
        self
    }

    /// Sets their files and lines, for collections that have these columns.
    pub(super) fn read_from(mut self, files: Vec<String>, lines: Vec<String>) -> Self {
        self.leaves_out_place = true;
        self.column(SentenceCollection::FILE, files).column(SentenceCollection::LINE, lines)
    }

    /// Sets their vectors, which the model of the collection has made: they are not encoded again. Some are compared
    /// with new vectors of their sentences.
    #[must_use]
    pub fn vectors(mut self, vectors: Table) -> Self {
        self.vectors = Some(vectors);
        self
    }

    /// Decides whether words are reduced to stems, if these are the first sentences ([`NewRows::stemming`]).
    pub(super) fn stemming(mut self, stemming: Stemming) -> Self {
        self.stemming = stemming;
        self
    }

    /// What was decided, or what these sentences decide.
    pub(super) fn stemming_after(&self, decided: Stemming) -> Stemming {
        decided.for_texts(&self.texts)
    }

    /// Number of sentences.
    #[must_use]
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Adds texts, ids and columns to a digest, but not the paths of files, which can differ on other machines. The
    /// length of each text comes before it.
    pub(super) fn digest(&self, sum: &mut Sha256) {
        let Self { texts, ids, columns, first_id: _, leaves_out_place: _, vectors: _, stemming: _ } = self;
        let mut add_texts = |texts: &[String]| {
            sum.update((texts.len() as u64).to_le_bytes());
            for text in texts {
                sum.update((text.len() as u64).to_le_bytes());
                sum.update(text);
            }
        };
        add_texts(texts);
        for (name, values) in columns.iter().filter(|(name, _)| name != SentenceCollection::FILE) {
            add_texts(std::slice::from_ref(name));
            add_texts(values);
        }
        let Some(ids) = ids else { return sum.update([0]) };
        match ids.iter().map(Id::number).collect::<Option<Vec<u64>>>() {
            Some(ids) => {
                sum.update([1]);
                ids.iter().for_each(|id| sum.update(id.to_le_bytes()));
            }
            None => {
                add_texts(&ids.iter().map(Id::to_string).collect::<Vec<_>>());
                sum.update([2]);
            }
        }
    }

    /// Converts the sentences to rows of a collection with these columns; the first column is the sentence.
    pub(super) fn into_rows(self, model: &Model, columns: &[String]) -> Result<NewRows> {
        let Self { texts, ids, first_id, columns: mut given, leaves_out_place, vectors, stemming } = self;
        if let Some(number) = texts.iter().position(|text| is_blank(text)) {
            return Err(Error::BlankSentence { number });
        }
        let further = columns.get(1..).unwrap_or_default();
        given.retain(|(name, _)| !leaves_out_place || !is_place(name) || further.contains(name));
        let wrong = wrong_columns(further, &given, leaves_out_place);
        let mut ordered = Vec::with_capacity(columns.len());
        for column in further {
            ordered.push(match given.iter().position(|(name, _)| name == column) {
                Some(place) => given.swap_remove(place).1,
                None if is_place(column) => vec![String::new(); texts.len()],
                None => return Err(wrong.into()),
            });
        }
        if !given.is_empty() {
            return Err(wrong.into());
        }
        let vectors = match vectors {
            Some(vectors) => {
                compare(model, &texts, &vectors)?;
                vectors
            }
            None => encode(model, &texts)?,
        };
        let is_zero = |row: &&[f32]| row.iter().all(|&x| x == 0.0);
        let zero = vectors.iter().filter(is_zero).count() as u64;
        let no_direction = vectors.iter().filter(|row| has_no_direction(row)).count() as u64 - zero;
        let known = model.known_words(texts.iter().take(KnownWords::SAMPLE));
        ordered.insert(0, texts);
        let mut rows = NewRows::new(vectors).texts(ordered).count(ZERO_VECTORS, zero).stemming(stemming);
        if no_direction > 0 {
            rows = rows.count(NO_DIRECTION, no_direction);
        }
        for (name, n) in SAMPLE.into_iter().zip([known.sentences, known.words, known.known, known.hashed]) {
            rows = rows.count(name, n);
        }
        let marks = known.marks;
        for (name, n) in SAMPLE_MARKS.into_iter().zip([marks.tokens, marks.english, marks.others, marks.code]) {
            if n > 0 {
                rows = rows.count(name, n);
            }
        }
        Ok(match (ids, first_id) {
            (Some(ids), _) => rows.ids(ids),
            (None, Some(id)) => rows.first_id(id),
            (None, None) => rows,
        })
    }
}

/// The error if these are not the columns of a collection. File and line are expected only if they are given, and not
/// named if the caller has not chosen them.
fn wrong_columns(further: &[String], given: &[(String, Vec<String>)], leaves_out_place: bool) -> senv_index::Error {
    let is_chosen = |name: &&str| !leaves_out_place || !is_place(name);
    let found: Vec<&str> = given.iter().map(|(name, _)| name.as_str()).filter(is_chosen).collect();
    let is_expected = |name: &&str| !is_place(name) || found.contains(name);
    let expected: Vec<&str> = further.iter().map(String::as_str).filter(is_expected).collect();
    senv_index::Error::WrongColumns { expected: expected.join(", "), found: found.join(", ") }
}

/// Whether a search can never find this vector. A vector that is too short has a cosine of 0, even with itself; one
/// that is too long has an infinite norm.
fn has_no_direction(vector: &[f32]) -> bool {
    kernels::cosine(vector, vector) == 0.0 || !kernels::norm(vector).is_finite()
}

/// Encodes sentences.
pub(crate) fn encode(model: &dyn SentenceEncoder, texts: &[String]) -> Result<Table> {
    let (rows, dim) = (texts.len(), model.dim());
    let mut values: Vec<f32> = Vec::new();
    let too_large = |_| senv_core::Error::TooLarge { rows, dim };
    values.try_reserve_exact(check_memory::<f32>(rows, dim)?).map_err(too_large)?;
    for texts in texts.chunks((CHUNK_VALUES / dim.max(1)).max(1)) {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let (vectors, _) = model.encode_batch(&texts)?;
        for (text, row) in texts.iter().zip(vectors.rows()) {
            if row.iter().fold(false, |bad, x| bad | !x.is_finite()) {
                return Err(Error::NonFiniteVector { text: (*text).to_owned() });
            }
        }
        values.extend_from_slice(&vectors.into_raw_vec_and_offset().0);
    }
    Ok(Table::from_vec(rows, dim, values)?)
}

/// Refuses vectors of another model or of other sentences: recomputes some vectors at regular distances.
pub(crate) fn compare(model: &dyn SentenceEncoder, texts: &[String], vectors: &Table) -> Result<()> {
    if vectors.dim() != model.dim() || vectors.n_rows() != texts.len() {
        // The collection reports this error.
        return Ok(());
    }
    let rows: Vec<usize> = (0..texts.len()).step_by((texts.len() / COMPARED).max(1)).collect();
    let texts: Vec<&str> = rows.iter().map(|&row| texts[row].as_str()).collect();
    let (made, _) = model.encode_batch(&texts)?;
    for ((&row, text), made) in rows.iter().zip(&texts).zip(made.rows()) {
        let (given, made) = (vectors.row(row), made.to_slice().unwrap_or_default());
        let is_zero = |vector: &[f32]| vector.iter().all(|&x| x == 0.0);
        let cosine = kernels::cosine(given, made);
        // The collection reports NaN, with the row.
        if cosine < LEAST_COSINE && !(is_zero(given) && is_zero(made)) {
            return Err(Error::ForeignVector { text: (*text).to_owned(), cosine });
        }
    }
    Ok(())
}
