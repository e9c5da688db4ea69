//! Searchable sentences: an encoder, and the embeddings of the sentences.

mod memory_ids;
mod memory_rows;

use std::path::Path;

use senv_core::{SentenceEncoder, SentenceEncoderExt, Table};
use senv_index::{Collection, CollectionParams, Id, IdKind, NewRows};

use self::{memory_ids::MemoryIds, memory_rows::MemoryRows};
use crate::{
    collection::{
        MODEL_PATH, SentenceCollection, SentenceHit, SentenceSearch,
        new_sentences::{compare, encode},
        owned,
        search::search,
    },
    error::{Error, Result},
};

/// Sentences with their embeddings, in memory: a [`SentenceCollection`] without a folder, for any encoder. Up to
/// 100,000 are searched exactly, on all cores. For more, 4-bit codes are compared first and the best candidates exactly
/// ([`VectorIndex`](senv_index::VectorIndex)), which finds 99 % of the nearest. Cosines are exact in both cases. Equal
/// sentences are one hit.
///
/// Vectors are those of the encoder as it is. A model with an order part keeps it, so cosines are those of
/// [`similarity`](SentenceEncoder::similarity). A [`SentenceCollection`] leaves that part out unless its parameters
/// say otherwise. For the same vectors and cosines here, index
/// [`model.without_order()`](crate::Model::without_order): searches by topic find slightly more with it.
///
/// Searches take `&self` and can run on several threads at once. Changes take `&mut self`.
///
/// Ids are numbers or texts ([`Id`]), such as a UUID or `T-1234`; the first ones decide. [`Index::new`] and
/// [`Index::add`] give numbers, [`Index::with_ids`] and [`Index::add_with_ids`] take yours. Where ids are texts, a
/// number stands for its decimal digits; where they are numbers, a text that is a whole number stands for it.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path().join("my.index");
/// use senv::Index;
/// let english = senv::english()?;
/// let mut index = Index::new(&english, &["The train is late.", "A storm brings rain."])?;
/// let ids = index.add(&["The bus was cancelled."])?;
/// assert_eq!(index.search("no buses today", 1)?[0].text, "The bus was cancelled.");
/// index.delete(&ids)?;
///
/// index.save(&folder)?;
/// let index = Index::open(&folder, &english)?; // or SentenceCollection::open_with_model, which leaves it on disk
/// assert_eq!(index.len(), 2);
///
/// // Your own ids:
/// let rain = "550e8400-e29b-41d4-a716-446655440000";
/// let mut index = Index::with_ids(&english, &[("T-1234", "The train is late."), (rain, "A storm brings rain.")])?;
/// assert_eq!(index.search("Will it rain?", 1)?[0].id, rain);
/// index.add_with_ids(&[("T-1235", "The bus was cancelled.")])?; // an id that exists is an error
/// index.replace(&[("T-1234", "The train has left.")])?;
/// index.delete(&[rain])?;
/// assert_eq!((index.len(), index.sentence("T-1234")), (2, Some("The train has left.")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Index<E> {
    encoder: E,
    rows: MemoryRows,
}

impl<E: SentenceEncoder> Index<E> {
    /// Encodes the sentences on all cores; their ids are their positions, from 0. Memory is `4 dim` bytes per sentence
    /// plus the sentences themselves, or `4.5 dim` for more than 100,000.
    ///
    /// # Errors
    /// [`senv_core::Error::TooLarge`] if the embeddings do not fit in memory; [`Error::NonFiniteVector`].
    pub fn new(encoder: E, sentences: &[impl AsRef<str>]) -> Result<Self> {
        let mut index = Self::empty(encoder);
        index.add(sentences)?;
        Ok(index)
    }

    /// Like [`Index::new`], with an id for each sentence, a number or a text.
    ///
    /// # Errors
    /// The errors of [`Index::add_with_ids`].
    pub fn with_ids<I: Clone + Into<Id>>(encoder: E, sentences: &[(I, impl AsRef<str>)]) -> Result<Self> {
        let mut index = Self::empty(encoder);
        index.add_with_ids(sentences)?;
        Ok(index)
    }

    fn empty(encoder: E) -> Self {
        let rows = MemoryRows::new(encoder.dim(), MemoryIds::new(None));
        Self { encoder, rows }
    }

    /// The encoder.
    pub fn encoder(&self) -> &E {
        &self.encoder
    }

    /// Number of sentences.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no sentences.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.len() == 0
    }

    /// The sentence with an id.
    #[must_use]
    pub fn sentence(&self, id: impl Into<Id>) -> Option<&str> {
        self.position(id).map(|position| self.rows.text(position))
    }

    /// The ids and sentences, in the order of their positions.
    pub fn iter(&self) -> impl Iterator<Item = (Id, &str)> {
        self.rows.iter()
    }

    /// The id of the sentence at a position, as passed to a filter ([`SentenceSearch::keep`]); `None` if it was
    /// deleted.
    #[must_use]
    pub fn id(&self, position: usize) -> Option<Id> {
        self.rows.id(position)
    }

    /// The position of an id; `None` if no sentence has it. Positions count from 0 in the order of adding, and change
    /// in [`Index::compact`].
    #[must_use]
    pub fn position(&self, id: impl Into<Id>) -> Option<usize> {
        self.rows.ids.position(id.into())
    }

    /// Adds sentences and returns their ids, which are the next free numbers. A blank sentence gets the zero vector and
    /// is never found; a [`SentenceCollection`] refuses it.
    ///
    /// # Errors
    /// The errors of [`Index::new`]; [`Error::NoNextId`] if the ids of the index are texts.
    pub fn add(&mut self, sentences: &[impl AsRef<str>]) -> Result<Vec<u64>> {
        let texts = owned(sentences);
        let ids = self.rows.ids.free(texts.len())?.ok_or(Error::NoNextId)?;
        let vectors = encode(&self.encoder, &texts)?;
        self.rows.put(texts, ids.iter().copied().map(Id::Number).collect(), vectors)?;
        Ok(ids)
    }

    /// Adds sentences with their own ids, numbers or texts.
    ///
    /// # Errors
    /// The errors of [`Index::replace`]; [`senv_index::Error::RepeatedId`] if a sentence has one of the ids. Nothing
    /// changes then.
    pub fn add_with_ids<I: Clone + Into<Id>>(&mut self, sentences: &[(I, impl AsRef<str>)]) -> Result<()> {
        let ids = self.given(sentences)?;
        if let Some(row) = ids.iter().position(|id| self.position(id).is_some()) {
            return Err(senv_index::Error::RepeatedId { id: ids[row].clone(), row }.into());
        }
        self.put(ids, sentences)
    }

    /// Replaces the sentences with these ids; new ids are added.
    ///
    /// # Errors
    /// The errors of [`Index::new`]; [`senv_index::Error::GivenTwice`]; [`senv_index::Error::BadId`] if an id is empty
    /// or too long; [`senv_index::Error::NotANumber`] if the ids of the index are numbers. Nothing changes then.
    pub fn replace<I: Clone + Into<Id>>(&mut self, sentences: &[(I, impl AsRef<str>)]) -> Result<()> {
        self.put(self.given(sentences)?, sentences)
    }

    /// The ids of new sentences, as those of the index.
    fn given<I: Clone + Into<Id>, T>(&self, sentences: &[(I, T)]) -> Result<Vec<Id>> {
        Ok(self.rows.ids.given(sentences.iter().map(|(id, _)| id.clone().into()).collect())?)
    }

    fn put<I>(&mut self, ids: Vec<Id>, sentences: &[(I, impl AsRef<str>)]) -> Result<()> {
        let texts: Vec<String> = sentences.iter().map(|(_, text)| text.as_ref().to_owned()).collect();
        let vectors = encode(&self.encoder, &texts)?;
        self.rows.put(texts, ids, vectors)
    }

    /// Deletes the sentences with these ids.
    ///
    /// # Errors
    /// [`senv_index::Error::UnknownId`] if no sentence has an id, or an id is given twice; nothing is deleted then.
    pub fn delete<I: Clone + Into<Id>>(&mut self, ids: &[I]) -> Result<()> {
        Ok(self.rows.ids.delete(ids.iter().cloned().map(Into::into).collect())?)
    }

    /// Frees the memory of deleted sentences. Positions change, but ids do not.
    ///
    /// # Errors
    /// [`senv_core::Error::TooLarge`] if a copy does not fit in memory.
    pub fn compact(&mut self) -> Result<()> {
        self.rows.compact()
    }

    /// The `k` sentences most similar to the query, most similar first; equal ones are one hit. Fewer if the index has
    /// fewer; none if the encoder has no vector for any word of the query. Sentences with only such words are never
    /// found.
    ///
    /// # Errors
    /// If the encoder gives a vector that is not finite.
    pub fn search(&self, query: &str, k: usize) -> Result<Vec<SentenceHit>> {
        Ok(self.search_batch(&[query], &SentenceSearch::new(k))?.pop().unwrap_or_default())
    }

    /// The sentences nearest to each query; faster than single searches.
    ///
    /// ```
    /// use senv::{Index, collection::SentenceSearch};
    /// let sentences = ["The train is late.", "A storm brings rain.", "The bus was cancelled."];
    /// let index = Index::new(senv::english()?, &sentences)?;
    /// // All but the one with the id 0, and only what is similar at all.
    /// let first = index.position(0);
    /// let others = |_query: usize, position: usize| Some(position) != first;
    /// let search = SentenceSearch { keep: Some(&others), min_cosine: 0.2, ..SentenceSearch::new(2) };
    /// let hits = index.search_batch(&["When does the train come?", "Will it rain?"], &search)?;
    /// assert_eq!(hits[1][0].text, "A storm brings rain.");
    /// # Ok::<(), senv::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`Index::search`]; [`senv_core::Error::InvalidParameter`] if the recall is out of range.
    pub fn search_batch(
        &self,
        queries: &[impl AsRef<str>],
        search: &SentenceSearch<'_>,
    ) -> Result<Vec<Vec<SentenceHit>>> {
        let vectors = Table::from(self.encoder.encode(queries)?);
        self.search_vectors(&vectors.iter().collect::<Vec<_>>(), search)
    }

    /// Like [`Index::search_batch`], for encoded queries.
    ///
    /// # Errors
    /// The errors of [`Index::search_batch`]; [`senv_core::Error::ShapeMismatch`] if a vector has a different length.
    pub fn search_vectors(&self, queries: &[&[f32]], wanted: &SentenceSearch<'_>) -> Result<Vec<Vec<SentenceHit>>> {
        search(&self.rows, queries, wanted, wanted.recall.unwrap_or(senv_index::DEFAULT_RECALL))
    }

    /// Writes sentences, ids and vectors as a collection in a folder, replacing an existing collection. [`Index::open`]
    /// reads it into memory; [`SentenceCollection::open_with_model`] searches it in place.
    ///
    /// # Errors
    /// The errors of [`Collection::rebuild`].
    pub fn save(&self, folder: impl AsRef<Path>) -> Result<()> {
        let (texts, ids, vectors) = self.rows.kept()?;
        let params = CollectionParams::new(self.encoder.dim())
            .metadata(MODEL_PATH, "")
            .column(SentenceCollection::TEXT)
            .words(SentenceCollection::TEXT);
        let params = if self.rows.ids.kind() == Some(IdKind::Texts) { params.text_ids() } else { params };
        let mut rows = (!ids.is_empty()).then(|| NewRows::new(vectors).ids(ids).texts(vec![texts]));
        Collection::rebuild::<Error>(folder, &params, || Ok(rows.take()))?;
        Ok(())
    }

    /// Reads a collection of sentences into memory. `encoder` must be the one that made its vectors; some of them are
    /// compared with new vectors of their sentences. For a collection that was made with a model with an order part,
    /// pass [`model.without_order()`](crate::Model::without_order), unless the collection has kept that part.
    ///
    /// # Errors
    /// The errors of [`Collection::open`]; [`Error::NoSentences`]; [`Error::ForeignVector`];
    /// [`senv_core::Error::ShapeMismatch`] if the vectors have a different length.
    pub fn open(folder: impl AsRef<Path>, encoder: E) -> Result<Self> {
        let rows = Collection::open(folder)?;
        if rows.columns().first().is_none_or(|name| name != SentenceCollection::TEXT) {
            return Err(Error::NoSentences { collection: rows.folder().to_owned() });
        }
        let (expected, got) = (rows.dim(), encoder.dim());
        if got != expected {
            return Err(senv_core::Error::ShapeMismatch { what: "vectors of the encoder", expected, got }.into());
        }
        let (mut texts, mut ids) = (Vec::with_capacity(rows.len()), Vec::with_capacity(rows.len()));
        let mut values = Vec::new();
        for position in 0..rows.n_positions() {
            let Some(id) = rows.id(position)? else { continue };
            let text = rows.text(position, SentenceCollection::TEXT)?;
            match rows.vector(position)? {
                Some(vector) => values.extend(vector),
                None => values.extend(encoder.encode(&[&text])?),
            }
            texts.push(text);
            ids.push(id);
        }
        let vectors = Table::from_vec(ids.len(), expected, values)?;
        compare(&encoder, &texts, &vectors)?;
        let mut memory = MemoryRows::new(expected, MemoryIds::new(rows.id_kind()));
        memory.put(texts, ids, vectors)?;
        Ok(Self { encoder, rows: memory })
    }
}

#[cfg(test)]
mod tests;
