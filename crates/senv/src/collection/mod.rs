//! Searchable sentences on disk: a collection of vectors and texts, together with the model of the vectors.

mod changes;
mod context;
mod facts;
mod filter;
mod model_place;
pub(crate) mod new_sentences;
mod params;
mod ranked;
pub(crate) mod search;
mod sentences;
mod shard_parts;
mod text_columns;
mod text_ids;
mod text_parts;
mod text_places;
mod text_vectors;
#[cfg(feature = "english")]
mod web_export;

use std::{path::Path, sync::Arc};

use senv_index::Collection;

use self::{
    changes::encoded,
    model_place::{ModelPlace, weighted_for},
    new_sentences::TEXT,
    params::rows_params,
    shard_parts::of_shard,
};
use crate::{
    error::{Error, Result},
    model::handle::Model,
};

#[cfg(feature = "english")]
pub use self::web_export::WebExport;
pub use self::{
    filter::{Comparison, Filter},
    model_place::ModelSource,
    new_sentences::NewSentences,
    params::{CollectionShard, SentenceCollectionParams},
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
const MODEL_TERMS: &str = "model.terms";
const RECALL: &str = "recall";

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
    /// now another model at its path; [`Error::OtherEnglish`] if it was made with the built-in model of another
    /// release; [`Error::NoSentences`] if the collection does not contain sentences.
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
    /// [`Error::OtherModel`]; [`Error::OtherEnglish`]; [`Error::ModelPath`]; the errors of
    /// [`Collection::set_metadata`].
    pub fn move_model(&mut self, model: impl AsRef<Path>) -> Result<()> {
        let before = self.rows.metadata().get(MODEL_PATH).map_or("", String::as_str);
        let kept = model_place::moved(self.rows.folder(), self.rows.model(), before, model.as_ref())?;
        if before != kept {
            self.rows.set_metadata(MODEL_PATH, &kept)?;
        }
        Ok(())
    }
}

/// Whether a collection has this column.
fn has_column(rows: &Collection, name: &str) -> bool {
    rows.columns().iter().any(|column| column == name)
}

pub(crate) fn owned(sentences: &[impl AsRef<str>]) -> Vec<String> {
    sentences.iter().map(|sentence| sentence.as_ref().to_owned()).collect()
}

#[cfg(test)]
mod tests;
