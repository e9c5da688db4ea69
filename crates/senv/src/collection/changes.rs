//! Adds, replaces and deletes sentences, and loads the changes of others.

use senv_index::{Id, NewRows};

use super::{SentenceCollection, model_place::weighted_for, new_sentences::NewSentences, owned};
use crate::{
    error::{Error, Result},
    model::handle::Model,
};

impl SentenceCollection {
    /// Encodes sentences on all cores, adds them, and returns their ids. Each call makes a segment that is searched
    /// separately, and small segments are joined ([`Collection::add`](senv_index::Collection::add)). After many calls,
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
    /// The errors of [`Collection::add`](senv_index::Collection::add), such as [`senv_index::Error::WrongColumns`];
    /// [`Error::BlankSentence`]; [`Error::ForeignVector`]; [`Error::NonFiniteVector`]. The collection does not change
    /// then.
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
    /// The errors of [`Collection::replace`](senv_index::Collection::replace); [`Error::BlankSentence`] (delete a
    /// sentence instead).
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
    /// The errors of [`Collection::delete`](senv_index::Collection::delete); nothing is deleted then.
    pub fn delete<I: Clone + Into<Id>>(&mut self, ids: &[I]) -> Result<()> {
        Ok(self.rows.delete(ids)?)
    }

    /// Joins small segments and frees the space of deleted sentences.
    ///
    /// # Errors
    /// The errors of [`Collection::compact`](senv_index::Collection::compact).
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
    /// The errors of [`Collection::refresh`](senv_index::Collection::refresh).
    pub fn refresh(&mut self) -> Result<bool> {
        let before = Self::order_weight(&self.rows);
        let is_changed = self.rows.refresh()?;
        if Self::order_weight(&self.rows) != before {
            self.model = weighted_for(&self.rows, &self.whole)?;
        }
        Ok(is_changed)
    }
}

/// Encodes the rows of each part.
pub(super) fn encoded<'a, E: From<Error>>(
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
