//! The settings of a new collection, and rows to add to one.

use std::{
    collections::{BTreeMap, HashSet},
    sync::{Arc, OnceLock},
};

use senv_core::Table;

use super::{
    manifest::{Manifest, Shard, WordSettings},
    segment::MOST_COLUMNS,
};
use crate::{Id, IdKind, IndexParams, Result, documents::Stemming, index::check_size};

/// The approximate number of vector values in a segment: 256 MiB in f32, 262,144 rows of 256. To bound memory, add
/// large amounts in parts of this size ([`Collection::add_parts`](crate::Collection::add_parts)).
pub const PART_VALUES: usize = 64 << 20;

/// The settings of a new collection.
#[derive(Debug, Clone)]
pub struct CollectionParams {
    dim: usize,
    model: String,
    columns: Vec<String>,
    index: IndexParams,
    metadata: BTreeMap<String, String>,
    shard: Option<Shard>,
    shard_input: Option<Arc<OnceLock<String>>>,
    has_text_ids: bool,
    words: Option<String>,
    stemming: Stemming,
    documents: Option<String>,
}

impl CollectionParams {
    /// Creates settings for vectors of `dim` values, without columns.
    #[must_use]
    pub fn new(dim: usize) -> Self {
        let (columns, index, metadata) = Default::default();
        Self {
            dim,
            model: String::new(),
            columns,
            index,
            metadata,
            shard: None,
            shard_input: None,
            has_text_ids: false,
            words: None,
            stemming: Stemming::Automatic,
            documents: None,
        }
    }

    /// Sets the digest of the model that encodes the texts; vectors of other models are rejected.
    #[must_use]
    pub fn model(mut self, digest: &str) -> Self {
        self.model = digest.to_owned();
        self
    }

    /// Adds a column, in which every row has a text.
    #[must_use]
    pub fn column(mut self, name: &str) -> Self {
        self.columns.push(name.to_owned());
        self
    }

    /// Stores the words of a column's texts with the rows, so a ranking by words reads no text
    /// ([`Collection::ranker`](crate::Collection::ranker)). Words take 38 % of the space of the text of
    /// 120,000 sentences, and 81 % for 2,000.
    #[must_use]
    pub fn words(mut self, column: &str) -> Self {
        self.words = Some(column.to_owned());
        self
    }

    /// Sets whether words are reduced to English stems. By default the texts of the first rows added decide, once and
    /// for all. To make shards decide alike, set it here or with
    /// [`NewRows::stemming`].
    #[must_use]
    pub fn stemming(mut self, stemming: Stemming) -> Self {
        self.stemming = stemming;
        self
    }

    /// Makes rows with the same text in a column one document
    /// ([`Collection::document_ranker`](crate::Collection::document_ranker)). Needs [`CollectionParams::words`].
    #[must_use]
    pub fn documents(mut self, column: &str) -> Self {
        self.documents = Some(column.to_owned());
        self
    }

    /// Sets how segments are indexed.
    #[must_use]
    pub fn index(mut self, params: IndexParams) -> Self {
        self.index = params;
        self
    }

    /// Makes ids texts, even if the first ones look like numbers. Otherwise the first rows decide ([`Id`]).
    #[must_use]
    pub fn text_ids(mut self) -> Self {
        self.has_text_ids = true;
        self
    }

    /// Stores a value with the collection, under a name you choose.
    #[must_use]
    pub fn metadata(mut self, name: &str, value: &str) -> Self {
        self.metadata.insert(name.to_owned(), value.to_owned());
        self
    }

    /// Makes the collection shard `number` of `count`, from 1. It gets every `count`-th part of a whole, starting with
    /// part `number - 1`, counted from 0. [`Collection::join`](crate::Collection::join) combines all shards into the
    /// whole. With `has_ids` the rows bring their own ids. Without, [`NewRows::first_id`] gives the place of each part
    /// in the whole.
    #[must_use]
    pub fn shard(mut self, number: u32, count: u32, has_ids: bool) -> Self {
        self.shard = Some(Shard { number, count, has_ids, generation: 0, input: None });
        self
    }

    /// Sets the digest of the whole input, of which a shard has a part; shards of different inputs do not join. It can
    /// be set until `next` of [`Collection::build`](crate::Collection::build) returns the last part.
    #[must_use]
    pub fn shard_input(mut self, digest: Arc<OnceLock<String>>) -> Self {
        self.shard_input = Some(digest);
        self
    }

    /// That digest, once known.
    pub(super) fn shard_input_digest(&self) -> Option<String> {
        self.shard_input.as_ref().and_then(|digest| digest.get()).cloned()
    }

    /// The manifest of an empty collection.
    pub(super) fn manifest(&self) -> Result<Manifest> {
        let Self { dim, model, columns, index, metadata, shard, shard_input: _, has_text_ids, .. } = self;
        let Self { words, stemming, documents, .. } = self;
        check_size(0, *dim)?;
        index.blocks(*dim)?;
        let distinct: HashSet<&String> = columns.iter().collect();
        if columns.len() > MOST_COLUMNS || distinct.len() < columns.len() {
            let requirement = "at most 16 distinct names";
            let got = columns.join(", ");
            return Err(senv_core::Error::InvalidParameter { name: "columns", requirement, got }.into());
        }
        if let Some(Shard { number, count, .. }) =
            shard.as_ref().filter(|shard| !(1..=shard.count).contains(&shard.number))
        {
            let got = format!("{number}/{count}");
            let requirement = "I/N with I from 1 to N";
            return Err(senv_core::Error::InvalidParameter { name: "shard", requirement, got }.into());
        }
        for (name, column) in [("words", words), ("documents", documents)] {
            if let Some(column) = column.as_ref().filter(|column| !columns.contains(column)) {
                let (requirement, got) = ("a column of the collection", column.clone());
                return Err(senv_core::Error::InvalidParameter { name, requirement, got }.into());
            }
        }
        if let Some(documents) = documents.as_ref().filter(|_| words.is_none()) {
            let (name, requirement, got) = ("documents", "given with words", documents.clone());
            return Err(senv_core::Error::InvalidParameter { name, requirement, got }.into());
        }
        let mut manifest = Manifest::new(*dim, model, columns, index);
        (manifest.metadata, manifest.shard) = (metadata.clone(), shard.clone());
        manifest.set_id_kind(if *has_text_ids { IdKind::Texts } else { IdKind::Numbers });
        if let Some(words) = words {
            manifest.set_words(WordSettings::new(words, *stemming, documents.as_deref()));
        }
        Ok(manifest)
    }
}

/// Rows to add to a collection.
#[derive(Debug)]
pub struct NewRows {
    pub(super) vectors: Table,
    pub(super) ids: Option<Vec<Id>>,
    /// The id of the first row, if the rows have no ids.
    pub(super) first_id: Option<u64>,
    pub(super) texts: Vec<Vec<String>>,
    pub(super) counts: BTreeMap<String, u64>,
    pub(super) stemming: Stemming,
}

impl NewRows {
    /// Vectors without texts, which get the next free ids.
    #[must_use]
    pub fn new(vectors: Table) -> Self {
        let (texts, counts, stemming) = Default::default();
        Self { vectors, ids: None, first_id: None, texts, counts, stemming }
    }

    /// Sets the ids: numbers, texts, or [`Id`]s.
    #[must_use]
    pub fn ids<I: Into<Id>>(mut self, ids: Vec<I>) -> Self {
        self.ids = Some(ids.into_iter().map(Into::into).collect());
        self
    }

    /// Sets the id of the first row, for rows without ids; the others follow consecutively. A shard needs it, as rows
    /// of other shards are missing in between. It must not be below the next free id.
    #[must_use]
    pub fn first_id(mut self, id: u64) -> Self {
        self.first_id = Some(id);
        self
    }

    /// Sets the texts: for each column of the collection, in order, one per row.
    #[must_use]
    pub fn texts(mut self, texts: Vec<Vec<String>>) -> Self {
        self.texts = texts;
        self
    }

    /// Decides whether words are reduced to English stems, if these are the first rows and the collection leaves it
    /// open. By default their texts decide. A shard whose first rows are not those of the whole needs it.
    #[must_use]
    pub fn stemming(mut self, stemming: Stemming) -> Self {
        self.stemming = stemming;
        self
    }

    /// Adds a number to the collection's count under a name ([`Collection::count`](crate::Collection::count)).
    #[must_use]
    pub fn count(mut self, name: &str, n: u64) -> Self {
        let count = self.counts.entry(name.to_owned()).or_default();
        *count = count.saturating_add(n);
        self
    }
}
