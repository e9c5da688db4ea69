//! What a new collection is for, and rows on their way into one.

use std::collections::{BTreeMap, HashSet};

use senv_core::Table;

use super::{manifest::Manifest, segment::MOST_COLUMNS};
use crate::{IndexParams, Result, index::check_size};

/// Values of the vectors of a segment, about: 256 MiB in f32, 262,144 rows of 256. Whoever adds much does it in parts of this
/// size ([`Collection::add_parts`](crate::Collection::add_parts)), so that memory is bounded.
pub const PART_VALUES: usize = 64 << 20;

/// What a new collection is for.
#[derive(Debug, Clone)]
pub struct CollectionParams {
    dim: usize,
    model: String,
    columns: Vec<String>,
    index: IndexParams,
    metadata: BTreeMap<String, String>,
}

impl CollectionParams {
    /// A collection of vectors of `dim` values without columns.
    #[must_use]
    pub fn new(dim: usize) -> Self {
        let (columns, index, metadata) = Default::default();
        Self { dim, model: String::new(), columns, index, metadata }
    }

    /// The digest of the model that encodes the texts: vectors of another are refused.
    #[must_use]
    pub fn model(mut self, digest: &str) -> Self {
        self.model = digest.to_owned();
        self
    }

    /// One more column, in which every row has a text.
    #[must_use]
    pub fn column(mut self, name: &str) -> Self {
        self.columns.push(name.to_owned());
        self
    }

    /// How segments are indexed.
    #[must_use]
    pub fn index(mut self, params: IndexParams) -> Self {
        self.index = params;
        self
    }

    /// Something that is kept with the collection under a name of the user's.
    #[must_use]
    pub fn metadata(mut self, name: &str, value: &str) -> Self {
        self.metadata.insert(name.to_owned(), value.to_owned());
        self
    }

    /// The manifest of an empty collection.
    pub(super) fn manifest(&self) -> Result<Manifest> {
        let Self { dim, model, columns, index, metadata } = self;
        check_size(0, *dim)?;
        index.blocks(*dim)?;
        let distinct: HashSet<&String> = columns.iter().collect();
        if columns.len() > MOST_COLUMNS || distinct.len() < columns.len() {
            let requirement = "at most 16 names, no two of them equal";
            let got = columns.join(", ");
            return Err(senv_core::Error::InvalidParameter { name: "columns", requirement, got }.into());
        }
        Ok(Manifest { metadata: metadata.clone(), ..Manifest::new(*dim, model, columns, index) })
    }
}

/// Rows that are added to a collection.
#[derive(Debug)]
pub struct NewRows {
    pub(super) vectors: Table,
    pub(super) ids: Option<Vec<u64>>,
    pub(super) texts: Vec<Vec<String>>,
    pub(super) counts: BTreeMap<String, u64>,
}

impl NewRows {
    /// Vectors without texts, with the next free ids.
    #[must_use]
    pub fn new(vectors: Table) -> Self {
        Self { vectors, ids: None, texts: Vec::new(), counts: BTreeMap::new() }
    }

    /// Their ids.
    #[must_use]
    pub fn ids(mut self, ids: Vec<u64>) -> Self {
        self.ids = Some(ids);
        self
    }

    /// Their texts: for each column of the collection, in its order, one a row.
    #[must_use]
    pub fn texts(mut self, texts: Vec<Vec<String>>) -> Self {
        self.texts = texts;
        self
    }

    /// Adds a number to what the collection counts under a name ([`Collection::count`](crate::Collection::count)).
    #[must_use]
    pub fn count(mut self, name: &str, n: u64) -> Self {
        let count = self.counts.entry(name.to_owned()).or_default();
        *count = count.saturating_add(n);
        self
    }
}
