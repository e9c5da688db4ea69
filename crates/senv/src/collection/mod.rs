//! Searchable sentences on disk: a collection of vectors and texts, together with the model of the vectors.

mod condition;
mod context;
mod model_place;
pub(crate) mod new_sentences;
mod ranked;
pub(crate) mod search;
mod sentences;
mod shard_parts;
mod text_columns;
mod text_ids;
mod text_parts;
#[cfg(feature = "english")]
mod web_export;

use std::{path::Path, sync::Arc};

use senv_core::{KnownWords, Table, text::Shard};
use senv_index::{Collection, CollectionParams, Id, IndexParams, NewRows, Rescoring};

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

/// Names of the metadata of a collection.
pub(crate) const MODEL_PATH: &str = "model.path";
const MODEL_KIND: &str = "model.kind";
const MODEL_ORDER: &str = "model.order";
const RECALL: &str = "recall";

/// Settings of a new [`SentenceCollection`].
#[derive(Debug, Clone, PartialEq)]
pub struct SentenceCollectionParams {
    /// Names of further columns for each sentence; `text` is the sentence itself.
    pub columns: Vec<String>,
    /// How vectors are stored and indexed. The default is f16: cosines are off by about 0.00002, and files are half as
    /// large as with f32.
    pub index: IndexParams,
    /// The default recall of a search; above 0, up to 1.
    pub recall: f32,
    /// Weight of the order part of the model, if it has one, for sentences and queries ([`Model::with_order_weight`]).
    /// The default 0 uses only the table: searches by topic find slightly more, and vectors are half as long.
    pub order_weight: f64,
    /// Whether ids are texts, even if the first ones are numbers ([`senv_index::IdKind`]). The default is false: the
    /// first ids decide.
    pub text_ids: bool,
    /// The part of the whole to make ([`SentenceCollection::build`]); all of it by default.
    pub shard: Option<CollectionShard>,
}

/// A collection that is one of several parts, which [`Collection::join`] joins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CollectionShard {
    /// The shard: it gets the parts from `next` of [`SentenceCollection::build`] for which [`Shard::deals`] is true.
    pub shard: Shard,
    /// Whether the sentences have ids. Without them, each gets its position in the whole as its id.
    pub has_ids: bool,
}

impl Default for SentenceCollectionParams {
    fn default() -> Self {
        let index = IndexParams { rescoring: Rescoring::F16, ..IndexParams::default() };
        Self {
            columns: Vec::new(),
            index,
            recall: senv_index::DEFAULT_RECALL,
            order_weight: 0.0,
            text_ids: false,
            shard: None,
        }
    }
}

/// Sentences in a folder on disk, with the model that encodes them. They are memory-mapped, searched by meaning, added,
/// replaced and deleted.
///
/// The collection records the path of its model, if it has one, and its digest, so queries are encoded by the model of
/// the vectors; another model is refused. The name `english` is the built-in English model (feature `english`).
/// [`Collection`] stores the vectors, writes the files, and locks them.
///
/// The order part of a model is left out by default: the collection then has the vectors of [`Model::without_order`],
/// and so has [`SentenceCollection::model`]. Encode your own query vectors with that model, or keep the order part with
/// [`SentenceCollectionParams::order_weight`].
///
/// Several threads can search one open collection, since searches take `&self`. Meanwhile another handle, in this
/// program or another, can change it: [`SentenceCollection::refresh`] loads its changes. One handle writes at a time.
/// The program `senv` is such another: it changes and searches collections made here, and collections that it makes are
/// opened and changed here.
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
    /// The model with its order part, of which `model` has what the collection keeps.
    whole: Model,
    rows: Collection,
}

impl SentenceCollection {
    /// The column of the sentences, the first one.
    pub const TEXT: &str = TEXT;
    /// The column of the file that a sentence comes from ([`CollectionText`]); empty if it comes from none.
    pub const FILE: &str = "file";
    /// The column of the line that a sentence comes from ([`CollectionText`]); empty if it comes from no file.
    pub const LINE: &str = "line";
    /// The column of the document of a sentence ([`TextDocuments`]).
    pub const DOCUMENT: &str = "document";
    /// The column of the position of a sentence in its document, from 1 ([`TextDocuments`]).
    pub const PLACE: &str = "place";

    /// Creates a folder with an empty collection, for a model at a path or in memory ([`ModelSource`]).
    ///
    /// # Errors
    /// The errors of [`Model::open`]; [`senv_index::Error::Exists`] if there is already a collection;
    /// [`senv_core::Error::Io`].
    pub fn create(folder: impl AsRef<Path>, model: impl Into<ModelSource>) -> Result<Self> {
        Self::create_with(folder, model, &SentenceCollectionParams::default())
    }

    /// Like [`SentenceCollection::create`], with columns and settings.
    ///
    /// # Errors
    /// The errors of [`SentenceCollection::create`]; [`senv_core::Error::InvalidParameter`] if a setting is out of
    /// range.
    pub fn create_with(
        folder: impl AsRef<Path>,
        model: impl Into<ModelSource>,
        params: &SentenceCollectionParams,
    ) -> Result<Self> {
        let place = ModelPlace::open(model.into(), params.order_weight)?;
        let rows = Collection::create(folder, &rows_params(&place, params)?)?;
        Ok(Self { model: place.model, whole: place.whole, rows })
    }

    /// Makes a collection from parts. `next` returns one part after another, and `None` after the last. Its argument is
    /// a good number of sentences for a part, 262,144 for vectors of 256 values. After an error there is no collection.
    /// Memory is that of one part. For a shard ([`SentenceCollectionParams::shard`]), `next` must also return all parts
    /// of the whole; those of other shards are dropped without encoding.
    ///
    /// # Errors
    /// The errors of [`SentenceCollection::create_with`], of [`SentenceCollection::add_sentences`], and of `next`.
    pub fn build<E: From<Error> + From<senv_index::Error>>(
        folder: impl AsRef<Path>,
        model: impl Into<ModelSource>,
        params: &SentenceCollectionParams,
        next: impl FnMut(usize) -> Result<Option<NewSentences>, E>,
    ) -> Result<Self, E> {
        Self::build_in(folder.as_ref(), model.into(), params, next, false)
    }

    /// Like [`SentenceCollection::build`], but replaces an existing collection, which is kept after an error.
    ///
    /// # Errors
    /// The errors of [`SentenceCollection::build`], except [`senv_index::Error::Exists`].
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
        Ok(Self { model: place.model, whole: place.whole, rows })
    }

    /// Opens the collection in a folder and its model. The model is at its original path (that of the file itself, if
    /// the path was a link), or next to the folder with the same name.
    ///
    /// # Errors
    /// The errors of [`Collection::open`] and [`Model::open`]; [`Error::ModelGone`]; [`Error::OtherModel`] if there is
    /// now another model at its path; [`Error::NoSentences`] if the collection does not contain sentences.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self> {
        Self::open_at(folder.as_ref(), None)
    }

    /// Like [`SentenceCollection::open`], with the model at another path or in memory; it must be the same model.
    ///
    /// # Errors
    /// The errors of [`SentenceCollection::open`].
    pub fn open_with_model(folder: impl AsRef<Path>, model: impl Into<ModelSource>) -> Result<Self> {
        Self::open_at(folder.as_ref(), Some(model.into()))
    }

    fn open_at(folder: &Path, model: Option<ModelSource>) -> Result<Self> {
        let rows = Collection::open(folder)?;
        let path = rows.metadata().get(MODEL_PATH).filter(|_| rows.columns().first().is_some_and(|name| name == TEXT));
        let path = path.ok_or_else(|| Error::NoSentences { collection: folder.to_owned() })?;
        let whole = model_place::open_again(folder, rows.model(), path, model)?;
        let model = weighted_for(&rows, &whole)?;
        if model.dim() != rows.dim() {
            let (expected, got) = (rows.dim(), model.dim());
            return Err(senv_core::Error::ShapeMismatch { what: "vectors of the model", expected, got }.into());
        }
        Ok(Self { model, whole, rows })
    }

    /// Records a new path of the model, after the model was moved.
    ///
    /// # Errors
    /// [`Error::OtherModel`]; [`Error::ModelPath`]; the errors of [`Collection::set_metadata`].
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

    /// The original path of the model of a collection; `None` if the collection does not contain sentences.
    #[must_use]
    pub fn model_path(rows: &Collection) -> Option<&Path> {
        rows.metadata().get(MODEL_PATH).map(Path::new)
    }

    /// The kind of the model of a collection.
    #[must_use]
    pub fn model_kind(rows: &Collection) -> Option<&str> {
        rows.metadata().get(MODEL_KIND).map(String::as_str)
    }

    /// The weight of the order part; `None` if the model has none.
    #[must_use]
    pub fn order_weight(rows: &Collection) -> Option<f64> {
        rows.metadata().get(MODEL_ORDER)?.parse().ok()
    }

    /// The default recall of searches in a collection.
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

    /// Whether there are no sentences.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Whether the sentences belong to documents.
    #[must_use]
    pub fn has_documents(&self) -> bool {
        [Self::DOCUMENT, Self::PLACE].iter().all(|name| has_column(&self.rows, name))
    }

    /// Whether cosines are estimates, because no vectors are stored to compute them with ([`Rescoring::None`]).
    #[must_use]
    pub fn estimates_cosines(&self) -> bool {
        self.rows.params().rescoring == Rescoring::None
    }

    /// How many words of the first sentences of each addition ([`KnownWords::SAMPLE`]) the model knows.
    #[must_use]
    pub fn known_words(rows: &Collection) -> KnownWords {
        let [sentences, words, known, hashed] = SAMPLE.map(|name| rows.count(name));
        KnownWords { sentences, words, known, hashed }
    }

    /// The number of sentences that were added without a vector, because the model knows none of their words; they are
    /// never found.
    #[must_use]
    pub fn zero_vectors(rows: &Collection) -> u64 {
        rows.count(ZERO_VECTORS)
    }

    /// The number of sentences that were added with a vector without a direction: too short (norms below 1e-12) or too
    /// long (norms that overflow). They are never found.
    #[must_use]
    pub fn directionless_vectors(rows: &Collection) -> u64 {
        rows.count(NO_DIRECTION)
    }

    /// Encodes sentences on all cores, adds them, and returns their ids. Each call makes a segment that is searched
    /// separately, and small segments are joined ([`Collection::add`]). After many calls,
    /// [`SentenceCollection::compact`] makes searches fast again.
    ///
    /// # Errors
    /// The errors of [`SentenceCollection::add_sentences`]. [`senv_index::Error::NoIds`] if the ids of the collection
    /// are texts: there is no next one.
    pub fn add(&mut self, sentences: &[impl AsRef<str>]) -> Result<Vec<u64>> {
        let ids = self.add_sentences(NewSentences::new(owned(sentences)))?;
        Ok(ids.iter().filter_map(Id::number).collect())
    }

    /// Adds sentences with their own ids, columns or vectors, and returns the ids. What others have changed since is
    /// loaded first ([`SentenceCollection::refresh`]).
    ///
    /// # Errors
    /// The errors of [`Collection::add`], such as [`senv_index::Error::WrongColumns`]; [`Error::BlankSentence`];
    /// [`Error::ForeignVector`]; [`Error::NonFiniteVector`]. The collection does not change then.
    pub fn add_sentences(&mut self, sentences: NewSentences) -> Result<Vec<Id>> {
        self.refresh()?;
        Ok(self.rows.add(sentences.into_rows(&self.model, self.rows.columns())?)?)
    }

    /// Adds sentences from parts, as in [`SentenceCollection::build`], and returns their number. After an error, none
    /// are added.
    ///
    /// # Errors
    /// The errors of [`SentenceCollection::add_sentences`] and of `next`.
    pub fn add_parts<E: From<Error> + From<senv_index::Error>>(
        &mut self,
        next: impl FnMut(usize) -> Result<Option<NewSentences>, E>,
    ) -> Result<usize, E> {
        self.refresh()?;
        self.model.prepare_for_many();
        let columns = self.rows.columns().to_vec();
        self.rows.add_parts(encoded(&self.model, columns, next))
    }

    /// Replaces the sentences with these ids, which are numbers or texts; new ids are added.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("my.index");
    /// use senv::SentenceCollection;
    /// let mut tickets = SentenceCollection::create(&path, "english")?;
    /// tickets.replace(&[("T-1234", "My refund has not come."), ("T-1235", "The app does not start.")])?;
    /// tickets.replace(&[("T-1235", "The app starts, and then it stops.")])?;
    /// assert_eq!(tickets.search("the app stops", 1)?[0].id, "T-1235");
    /// tickets.delete(&["T-1234"])?;
    /// assert_eq!(tickets.len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`Collection::replace`]; [`Error::BlankSentence`] (delete a sentence instead).
    pub fn replace<I: Clone + Into<Id>>(&mut self, sentences: &[(I, impl AsRef<str>)]) -> Result<()> {
        self.refresh()?;
        let texts = sentences.iter().map(|(_, text)| text.as_ref().to_owned()).collect();
        let sentences = NewSentences::new(texts).ids(sentences.iter().map(|(id, _)| id.clone()).collect());
        Ok(self.rows.replace(sentences.into_rows(&self.model, self.rows.columns())?)?)
    }

    /// Like [`SentenceCollection::replace`], for sentences with ids that come in parts, with their own columns or
    /// vectors. Returns their number.
    ///
    /// # Errors
    /// The errors of [`SentenceCollection::replace`] and of `next`.
    pub fn replace_parts<E: From<Error> + From<senv_index::Error>>(
        &mut self,
        next: impl FnMut(usize) -> Result<Option<NewSentences>, E>,
    ) -> Result<usize, E> {
        self.refresh()?;
        self.model.prepare_for_many();
        let columns = self.rows.columns().to_vec();
        self.rows.replace_parts(encoded(&self.model, columns, next))
    }

    /// Deletes the sentences with these ids.
    ///
    /// # Errors
    /// The errors of [`Collection::delete`]; nothing is deleted then.
    pub fn delete<I: Clone + Into<Id>>(&mut self, ids: &[I]) -> Result<()> {
        Ok(self.rows.delete(ids)?)
    }

    /// Joins small segments and frees the space of deleted sentences.
    ///
    /// # Errors
    /// The errors of [`Collection::compact`].
    pub fn compact(&mut self) -> Result<()> {
        Ok(self.rows.compact()?)
    }

    /// Loads changes that a writer has made since, such as `senv index`. Returns whether there were any; if not, it
    /// only reads a small file.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("my.index");
    /// use senv::SentenceCollection;
    /// let mut writer = SentenceCollection::create(&path, "english")?;
    /// let mut service = SentenceCollection::open(&path)?;
    /// writer.add(&["A storm brings rain."])?;
    /// assert!(service.search("rain", 1)?.is_empty());
    /// assert!(service.refresh()?);
    /// assert_eq!(service.search("rain", 1)?.len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`Collection::refresh`].
    pub fn refresh(&mut self) -> Result<bool> {
        let before = Self::order_weight(&self.rows);
        let is_changed = self.rows.refresh()?;
        if Self::order_weight(&self.rows) != before {
            self.model = weighted_for(&self.rows, &self.whole)?;
        }
        Ok(is_changed)
    }

    /// The `k` sentences nearest to the query, nearest first; equal ones are one hit. Empty for a query without a known
    /// word.
    ///
    /// # Errors
    /// The errors of [`Collection::search`].
    pub fn search(&self, query: &str, k: usize) -> Result<Vec<SentenceHit>> {
        Ok(self.search_batch(&[query], &SentenceSearch::new(k))?.pop().unwrap_or_default())
    }

    /// The sentences nearest to each query; faster than single searches.
    ///
    /// # Errors
    /// The errors of [`Collection::search_batch`].
    pub fn search_batch(
        &self,
        queries: &[impl AsRef<str>],
        search: &SentenceSearch<'_>,
    ) -> Result<Vec<Vec<SentenceHit>>> {
        let vectors = Table::from(self.model.encode(queries)?);
        self.search_vectors(&vectors.iter().collect::<Vec<_>>(), search)
    }

    /// Like [`SentenceCollection::search_batch`], for encoded queries.
    ///
    /// # Errors
    /// The errors of [`Collection::search_batch`].
    pub fn search_vectors(&self, queries: &[&[f32]], search: &SentenceSearch<'_>) -> Result<Vec<Vec<SentenceHit>>> {
        let recall = search.recall.unwrap_or_else(|| Self::recall(&self.rows));
        search::search(&self.rows, queries, search, recall)
    }
}

/// Whether a collection has this column.
fn has_column(rows: &Collection, name: &str) -> bool {
    rows.columns().iter().any(|column| column == name)
}

pub(crate) fn owned(sentences: &[impl AsRef<str>]) -> Vec<String> {
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
    let rows = if params.text_ids { rows.text_ids() } else { rows };
    Ok(params.columns.iter().fold(rows, |rows, column| rows.column(column)))
}

/// A model with its order part at this weight. A model without an order part is returned unchanged for the weights 0
/// (no part) and 1 (its own).
fn weighted(model: Model, order_weight: f64) -> Result<Model> {
    if [0.0, 1.0].contains(&order_weight) && !model.reads_order() {
        Ok(model)
    } else {
        model.with_order_weight(order_weight)
    }
}

/// The model of a collection with the weight of the order part that the collection has.
fn weighted_for(rows: &Collection, whole: &Model) -> Result<Model> {
    match SentenceCollection::order_weight(rows) {
        Some(weight) => weighted(whole.clone(), weight),
        None => Ok(whole.clone()),
    }
}

/// Encodes the rows of each part.
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
