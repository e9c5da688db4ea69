//! Sentences on disk that can be searched: a collection of vectors and texts, joined with the model that makes the
//! vectors.

mod condition;
mod context;
mod model_place;
pub(crate) mod new_sentences;
mod ranked;
pub(crate) mod search;
mod sentences;
mod shard_parts;
mod text_columns;
mod text_parts;
#[cfg(feature = "english")]
mod web_export;

use std::{path::Path, sync::Arc};

use senv_core::{KnownWords, Table, text::Shard};
use senv_index::{Collection, CollectionParams, IndexParams, NewRows, Rescoring};

use self::{
    model_place::ModelPlace,
    new_sentences::{NO_DIRECTION, SAMPLE, TEXT, ZERO_VECTORS},
    shard_parts::of_shard,
};
use crate::{
    error::{Error, Result},
    model::handle::Model,
};

#[cfg(feature = "english")]
pub use self::web_export::WebExport;
pub use self::{
    condition::Condition,
    model_place::ModelSource,
    new_sentences::NewSentences,
    ranked::{DocumentHit, RankedCollection},
    search::{SentenceHit, SentenceSearch},
    sentences::read_sentences,
    text_columns::TextColumns,
    text_parts::{CollectionText, TextDocuments},
};

/// Names of what is kept with a collection.
pub(crate) const MODEL_PATH: &str = "model.path";
const MODEL_KIND: &str = "model.kind";
const MODEL_ORDER: &str = "model.order";
const RECALL: &str = "recall";

/// How a [`SentenceCollection`] is made.
#[derive(Debug, Clone, PartialEq)]
pub struct SentenceCollectionParams {
    /// Names of what is kept of each sentence beside it; `text` is the sentence itself.
    pub columns: Vec<String>,
    /// How vectors are stored and indexed. By default in f16: the cosines are off by some .00002, and files are half as
    /// large as with f32.
    pub index: IndexParams,
    /// Recall of a search that does not ask for another; above 0, up to 1.
    pub recall: f32,
    /// Weight of the part of the model that reads word order, if it has one, for the sentences and for whatever is
    /// searched for ([`Model::with_order_weight`]). By default 0, the table alone: a search by topic finds a little
    /// more so, and vectors are half as long.
    pub order_weight: f64,
    /// Which part of the whole is made ([`SentenceCollection::build`]); by default all of it.
    pub shard: Option<CollectionShard>,
}

/// A collection that is one of several parts of a whole, which [`Collection::join`] puts together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CollectionShard {
    /// Which part: of the parts that `next` gives to [`SentenceCollection::build`], those that are dealt to it
    /// ([`Shard::deals`]).
    pub shard: Shard,
    /// Whether the sentences have ids of their own. Without, each gets its place in the whole.
    pub has_ids: bool,
}

impl Default for SentenceCollectionParams {
    fn default() -> Self {
        let index = IndexParams { rescoring: Rescoring::F16, ..IndexParams::default() };
        Self { columns: Vec::new(), index, recall: senv_index::DEFAULT_RECALL, order_weight: 0.0, shard: None }
    }
}

/// Sentences in a folder on disk, with the model that encodes them: opened by memory maps, searched by meaning, added
/// to, replaced and deleted.
///
/// The collection keeps the path of its model, if it has one, and its digest, so that queries are encoded by the model
/// that made the vectors; another one is refused. The name `english` stands for the English model that is part of the
/// library (feature `english`). [`Collection`] holds the vectors, writes the files, and locks them.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let (path, model) = (folder.path().join("my.index"), folder.path().join("my.senv"));
/// # let text = folder.path().join("text.txt");
/// # std::fs::write(&text, "the train is late\nthe bus is late too\n\nrain falls\na storm brings rain\n".repeat(20))?;
/// # senv::Sent2Vec::train(&text)?.save(&model)?;
/// use senv::SentenceCollection;
/// let mut collection = SentenceCollection::create(&path, &model)?;
/// let ids = collection.add(&["the train is late", "a storm brings rain"])?;
/// collection.replace(&[(ids[0], "the bus is late")])?;
///
/// let collection = SentenceCollection::open(&path)?;
/// for hit in collection.search("rain", 5)? {
///     println!("{} {:.4} {}", hit.id, hit.cosine, hit.text);
/// }
/// assert_eq!(collection.search("rain", 1)?[0].text, "a storm brings rain");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct SentenceCollection {
    model: Model,
    rows: Collection,
}

impl SentenceCollection {
    /// The column of the sentences: the first.
    pub const TEXT: &str = TEXT;
    /// The columns of the file and of the line that a sentence comes from ([`CollectionText`]).
    pub const FILE: &str = "file";
    /// See [`SentenceCollection::FILE`].
    pub const LINE: &str = "line";
    /// The columns of the document that a sentence is of, and of its place there, from 1 ([`TextDocuments`]).
    pub const DOCUMENT: &str = "document";
    /// See [`SentenceCollection::DOCUMENT`].
    pub const PLACE: &str = "place";

    /// Makes an empty collection in a folder, which is created, for the model at a path, or for a model in hand
    /// ([`ModelSource`]).
    ///
    /// # Errors
    /// As [`Model::open`]; [`senv_index::Error::Exists`] if there is a collection; [`senv_core::Error::Io`].
    pub fn create(folder: impl AsRef<Path>, model: impl Into<ModelSource>) -> Result<Self> {
        Self::create_with(folder, model, &SentenceCollectionParams::default())
    }

    /// The same with columns and settings.
    ///
    /// # Errors
    /// As [`SentenceCollection::create`]; [`senv_core::Error::InvalidParameter`] for settings outside their range.
    pub fn create_with(
        folder: impl AsRef<Path>,
        model: impl Into<ModelSource>,
        params: &SentenceCollectionParams,
    ) -> Result<Self> {
        let place = ModelPlace::open(model.into(), params.order_weight)?;
        let rows = Collection::create(folder, &rows_params(&place, params)?)?;
        Ok(Self { model: place.model, rows })
    }

    /// Makes a collection of sentences that come in parts; `next` gives one part after another, and `None` behind the
    /// last; it hears how many sentences make a good part, 262,144 for vectors of 256 values. The collection is there
    /// as a whole, or, after an error, not at all. Memory holds one part at a time. For a shard
    /// ([`SentenceCollectionParams::shard`]) `next` gives all parts of the whole, too, and those of other shards are
    /// dropped without being encoded.
    ///
    /// # Errors
    /// As [`SentenceCollection::create_with`] and [`SentenceCollection::add_sentences`]; those of `next`.
    pub fn build<E: From<Error> + From<senv_index::Error>>(
        folder: impl AsRef<Path>,
        model: impl Into<ModelSource>,
        params: &SentenceCollectionParams,
        next: impl FnMut(usize) -> Result<Option<NewSentences>, E>,
    ) -> Result<Self, E> {
        Self::build_in(folder.as_ref(), model.into(), params, next, false)
    }

    /// The same in place of the collection that is there, if there is one, which stays after an error.
    ///
    /// # Errors
    /// As [`SentenceCollection::build`], but for [`senv_index::Error::Exists`].
    pub fn rebuild<E: From<Error> + From<senv_index::Error>>(
        folder: impl AsRef<Path>,
        model: impl Into<ModelSource>,
        params: &SentenceCollectionParams,
        next: impl FnMut(usize) -> Result<Option<NewSentences>, E>,
    ) -> Result<Self, E> {
        Self::build_in(folder.as_ref(), model.into(), params, next, true)
    }

    fn build_in<E: From<Error> + From<senv_index::Error>>(
        folder: &Path,
        model: ModelSource,
        params: &SentenceCollectionParams,
        next: impl FnMut(usize) -> Result<Option<NewSentences>, E>,
        replace: bool,
    ) -> Result<Self, E> {
        let place = ModelPlace::open(model, params.order_weight)?;
        let input = Arc::default();
        let rows_params = rows_params(&place, params)?.shard_input(Arc::clone(&input));
        let columns: Vec<String> = [TEXT.to_owned()].into_iter().chain(params.columns.iter().cloned()).collect();
        place.model.prepare_for_many();
        let next = encoded(&place.model, columns, of_shard(params.shard, input, next));
        let rows = match replace {
            false => Collection::build(folder, &rows_params, next),
            true => Collection::rebuild(folder, &rows_params, next),
        }?;
        Ok(Self { model: place.model, rows })
    }

    /// Opens the collection in a folder and its model: at the path where it lay when the collection was made (that of
    /// the file itself, if the path given then was a link), or else beside the folder, under the same name.
    ///
    /// # Errors
    /// As [`Collection::open`] and [`Model::open`]; [`Error::ModelGone`]; [`Error::OtherModel`] if the model at its
    /// path is another one now; [`Error::NoSentences`] if the collection holds no sentences.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self> {
        Self::open_at(folder.as_ref(), None)
    }

    /// The same with the model at another path than it lay, or with the model in hand; it must be the same model.
    ///
    /// # Errors
    /// As [`SentenceCollection::open`].
    pub fn open_with_model(folder: impl AsRef<Path>, model: impl Into<ModelSource>) -> Result<Self> {
        Self::open_at(folder.as_ref(), Some(model.into()))
    }

    fn open_at(folder: &Path, model: Option<ModelSource>) -> Result<Self> {
        let rows = Collection::open(folder)?;
        let path = rows.metadata().get(MODEL_PATH).filter(|_| rows.columns().first().is_some_and(|name| name == TEXT));
        let path = path.ok_or_else(|| Error::NoSentences { collection: folder.to_owned() })?;
        let model = model_place::open_again(folder, rows.model(), path, model)?;
        let model = match Self::order_weight(&rows) {
            Some(weight) => weighted(model, weight)?,
            None => model,
        };
        if model.dim() != rows.dim() {
            let (expected, got) = (rows.dim(), model.dim());
            return Err(senv_core::Error::ShapeMismatch { what: "vectors of the model", expected, got }.into());
        }
        Ok(Self { model, rows })
    }

    /// Keeps another path of the model, which was moved: it is looked for there from now on.
    ///
    /// # Errors
    /// [`Error::OtherModel`]; [`Error::ModelPath`]; as [`Collection::set_metadata`].
    pub fn move_model(&mut self, model: impl AsRef<Path>) -> Result<()> {
        let kept = model_place::moved(self.rows.folder(), self.rows.model(), model.as_ref())?;
        if self.rows.metadata().get(MODEL_PATH) != Some(&kept) {
            self.rows.set_metadata(MODEL_PATH, &kept)?;
        }
        Ok(())
    }

    /// The vectors, ids and texts.
    #[must_use]
    pub fn rows(&self) -> &Collection {
        &self.rows
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Where the model of a collection lay when the collection was made; `None` if it holds no sentences.
    #[must_use]
    pub fn model_path(rows: &Collection) -> Option<&Path> {
        rows.metadata().get(MODEL_PATH).map(Path::new)
    }

    /// The kind of the model of a collection.
    #[must_use]
    pub fn model_kind(rows: &Collection) -> Option<&str> {
        rows.metadata().get(MODEL_KIND).map(String::as_str)
    }

    /// The weight of the part that reads word order; `None` where the model has none.
    #[must_use]
    pub fn order_weight(rows: &Collection) -> Option<f64> {
        rows.metadata().get(MODEL_ORDER)?.parse().ok()
    }

    /// The recall of a search in a collection that does not ask for another.
    #[must_use]
    pub fn recall(rows: &Collection) -> f32 {
        let kept = rows.metadata().get(RECALL).and_then(|recall| recall.parse().ok());
        kept.unwrap_or(senv_index::DEFAULT_RECALL)
    }

    /// Number of sentences.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is no sentence.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Whether the sentences are of documents.
    #[must_use]
    pub fn has_documents(&self) -> bool {
        [Self::DOCUMENT, Self::PLACE].iter().all(|name| has_column(&self.rows, name))
    }

    /// Whether cosines are estimates, because no vectors are kept to compute them with ([`Rescoring::None`]).
    #[must_use]
    pub fn estimates_cosines(&self) -> bool {
        self.rows.params().rescoring == Rescoring::None
    }

    /// How many words of the first sentences that were added each time ([`KnownWords::SAMPLE`]) the model knows.
    #[must_use]
    pub fn known_words(rows: &Collection) -> KnownWords {
        let [sentences, words, known, hashed] = SAMPLE.map(|name| rows.count(name));
        KnownWords { sentences, words, known, hashed }
    }

    /// Sentences that were added without a vector, because the model knows none of their words: they are never found.
    #[must_use]
    pub fn zero_vectors(rows: &Collection) -> u64 {
        rows.count(ZERO_VECTORS)
    }

    /// Sentences that were added with a vector so short (norms below 1e-12) or so long (norms that overflow) that it
    /// has no direction: they are never found.
    #[must_use]
    pub fn directionless_vectors(rows: &Collection) -> u64 {
        rows.count(NO_DIRECTION)
    }

    /// Encodes sentences on all cores and adds them; their ids are returned. Each call makes a segment that is searched
    /// by itself, and small ones are joined as they come ([`Collection::add`]): after many of them
    /// [`SentenceCollection::compact`] makes searches fast again.
    ///
    /// # Errors
    /// As [`SentenceCollection::add_sentences`].
    pub fn add(&mut self, sentences: &[impl AsRef<str>]) -> Result<Vec<u64>> {
        self.add_sentences(NewSentences::new(owned(sentences)))
    }

    /// Adds sentences with ids, columns or vectors of their own; the ids are returned.
    ///
    /// # Errors
    /// As [`Collection::add`]; [`Error::BlankSentence`]; [`Error::ForeignVector`]; [`Error::NonFiniteVector`]. The
    /// collection is as before then.
    pub fn add_sentences(&mut self, sentences: NewSentences) -> Result<Vec<u64>> {
        Ok(self.rows.add(sentences.into_rows(&self.model, self.rows.columns())?)?)
    }

    /// Adds sentences that come in parts, as in [`SentenceCollection::build`]: all of them, or, after an error, none.
    /// Their number is returned.
    ///
    /// # Errors
    /// As [`SentenceCollection::add_sentences`]; those of `next`.
    pub fn add_parts<E: From<Error> + From<senv_index::Error>>(
        &mut self,
        next: impl FnMut(usize) -> Result<Option<NewSentences>, E>,
    ) -> Result<usize, E> {
        self.model.prepare_for_many();
        let columns = self.rows.columns().to_vec();
        self.rows.add_parts(encoded(&self.model, columns, next))
    }

    /// Puts sentences in the place of those that have these ids; ids that are not there yet are added.
    ///
    /// # Errors
    /// As [`Collection::replace`]; [`Error::BlankSentence`]: what is to go is deleted.
    pub fn replace(&mut self, sentences: &[(u64, impl AsRef<str>)]) -> Result<()> {
        let texts = sentences.iter().map(|(_, text)| text.as_ref().to_owned()).collect();
        let sentences = NewSentences::new(texts).ids(sentences.iter().map(|(id, _)| *id).collect());
        Ok(self.rows.replace(sentences.into_rows(&self.model, self.rows.columns())?)?)
    }

    /// The same of sentences with ids that come in parts, with columns or vectors of their own. Their number is
    /// returned.
    ///
    /// # Errors
    /// As [`SentenceCollection::replace`]; those of `next`.
    pub fn replace_parts<E: From<Error> + From<senv_index::Error>>(
        &mut self,
        next: impl FnMut(usize) -> Result<Option<NewSentences>, E>,
    ) -> Result<usize, E> {
        self.model.prepare_for_many();
        let columns = self.rows.columns().to_vec();
        self.rows.replace_parts(encoded(&self.model, columns, next))
    }

    /// Deletes the sentences with these ids.
    ///
    /// # Errors
    /// As [`Collection::delete`]; nothing is deleted then.
    pub fn delete(&mut self, ids: &[u64]) -> Result<()> {
        Ok(self.rows.delete(ids)?)
    }

    /// Joins small segments and frees the space of deleted sentences.
    ///
    /// # Errors
    /// As [`Collection::compact`].
    pub fn compact(&mut self) -> Result<()> {
        Ok(self.rows.compact()?)
    }

    /// Takes over what a writer has changed since; whether there was anything.
    ///
    /// # Errors
    /// As [`Collection::refresh`].
    pub fn refresh(&mut self) -> Result<bool> {
        Ok(self.rows.refresh()?)
    }

    /// The `k` sentences nearest to the query, the nearest first; equal ones are one hit. None for a query without a
    /// known word.
    ///
    /// # Errors
    /// As [`Collection::search`].
    pub fn search(&self, query: &str, k: usize) -> Result<Vec<SentenceHit>> {
        Ok(self.search_batch(&[query], &SentenceSearch::new(k))?.pop().unwrap_or_default())
    }

    /// The sentences nearest to each of the queries; faster than one by one.
    ///
    /// # Errors
    /// As [`Collection::search_batch`].
    pub fn search_batch(
        &self,
        queries: &[impl AsRef<str>],
        search: &SentenceSearch<'_>,
    ) -> Result<Vec<Vec<SentenceHit>>> {
        let vectors = Table::from(self.model.encode(queries)?);
        self.search_vectors(&vectors.iter().collect::<Vec<_>>(), search)
    }

    /// The same of queries that were encoded already.
    ///
    /// # Errors
    /// As [`Collection::search_batch`].
    pub fn search_vectors(&self, queries: &[&[f32]], search: &SentenceSearch<'_>) -> Result<Vec<Vec<SentenceHit>>> {
        let recall = search.recall.unwrap_or_else(|| Self::recall(&self.rows));
        search::search(&self.rows, queries, search, recall)
    }
}

/// Whether a collection has this column.
fn has_column(rows: &Collection, name: &str) -> bool {
    rows.columns().iter().any(|column| column == name)
}

fn owned(sentences: &[impl AsRef<str>]) -> Vec<String> {
    sentences.iter().map(|sentence| sentence.as_ref().to_owned()).collect()
}

fn rows_params(place: &ModelPlace, params: &SentenceCollectionParams) -> Result<CollectionParams> {
    let recall = params.recall;
    if !(recall > 0.0 && recall <= 1.0) {
        let (name, requirement, got) = ("recall", "above 0 and at most 1", recall.to_string());
        return Err(senv_core::Error::InvalidParameter { name, requirement, got }.into());
    }
    let rows = CollectionParams::new(place.model.dim())
        .model(&place.digest)
        .index(params.index.clone())
        .metadata(MODEL_PATH, &place.path)
        .metadata(MODEL_KIND, place.model.kind())
        .metadata(RECALL, &recall.to_string())
        .column(TEXT);
    let rows = match params.shard {
        Some(CollectionShard { shard, has_ids }) => rows.shard(shard.number(), shard.count(), has_ids),
        None => rows,
    };
    let rows = if place.reads_order { rows.metadata(MODEL_ORDER, &params.order_weight.to_string()) } else { rows };
    Ok(params.columns.iter().fold(rows, |rows, column| rows.column(column)))
}

/// A model with its order part of this weight; one without such a part as it is, for nothing (0) and for the weight
/// that it has (1).
fn weighted(model: Model, order_weight: f64) -> Result<Model> {
    if [0.0, 1.0].contains(&order_weight) && !model.reads_order() {
        Ok(model)
    } else {
        model.with_order_weight(order_weight)
    }
}

/// The rows of each part.
fn encoded<'a, E: From<Error>>(
    model: &'a Model,
    columns: Vec<String>,
    mut next: impl FnMut(usize) -> Result<Option<NewSentences>, E> + 'a,
) -> impl FnMut() -> Result<Option<NewRows>, E> + 'a {
    let len = (senv_index::PART_VALUES / model.dim().max(1)).max(1);
    move || match next(len)? {
        Some(sentences) => Ok(Some(sentences.into_rows(model, &columns)?)),
        None => Ok(None),
    }
}

#[cfg(test)]
mod tests;
