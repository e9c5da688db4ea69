//! Settings of a new collection.

use senv_core::text::Shard;
use senv_index::{CollectionParams, IndexParams, Rescoring};

use super::{
    MODEL_KIND, MODEL_ORDER, MODEL_PATH, MODEL_TERMS, RECALL, SentenceCollection, model_place::ModelPlace,
    new_sentences::TEXT,
};
use crate::error::Result;

/// Settings of a new [`SentenceCollection`](crate::SentenceCollection).
#[derive(Debug, Clone, PartialEq)]
pub struct SentenceCollectionParams {
    /// Names of further columns for each sentence; `text` is the sentence itself.
    pub columns: Vec<String>,
    /// How vectors are stored and indexed. The default is f16: cosines are off by about 0.00002, and files are half as
    /// large as with f32.
    pub index: IndexParams,
    /// The default recall of a search; above 0, up to 1.
    pub recall: f32,
    /// Weight of the order part of the model, if it has one, for sentences and queries
    /// ([`Model::with_order_weight`](crate::Model::with_order_weight)). The default 0 uses only the table: searches by
    /// topic find slightly more, and vectors are half as long.
    pub order_weight: f64,
    /// Whether ids are texts, even if the first ones are numbers ([`senv_index::IdKind`]). The default is false: the
    /// first ids decide.
    pub text_ids: bool,
    /// Whether the words of sentences are stored, in some 40 % of the space of a large text. A ranking by words or of
    /// documents ([`SentenceCollection::ranked`](crate::SentenceCollection::ranked)) then reads only the texts of the
    /// best. The default is true.
    pub words: bool,
    /// The part of the whole to make ([`SentenceCollection::build`](crate::SentenceCollection::build)); all of it by
    /// default.
    pub shard: Option<CollectionShard>,
}

/// A collection that is one of several parts, which [`Collection::join`](senv_index::Collection::join) joins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CollectionShard {
    /// The shard: it gets the parts from `next` of [`SentenceCollection::build`](crate::SentenceCollection::build) for
    /// which [`Shard::deals`] is true.
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
            words: true,
            shard: None,
        }
    }
}

/// The settings of the rows of a collection of this model.
///
/// # Errors
/// [`senv_core::Error::InvalidParameter`] for a recall out of range.
pub(super) fn rows_params(place: &ModelPlace, params: &SentenceCollectionParams) -> Result<CollectionParams> {
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
    let rows = match place.whole.terms() {
        Some(terms) => rows.metadata(MODEL_TERMS, terms),
        None => rows,
    };
    let rows = match params.shard {
        Some(CollectionShard { shard, has_ids }) => rows.shard(shard.number(), shard.count(), has_ids),
        None => rows,
    };
    let rows = if place.reads_order { rows.metadata(MODEL_ORDER, &params.order_weight.to_string()) } else { rows };
    let rows = if params.text_ids { rows.text_ids() } else { rows };
    let rows = if params.words { rows.words(TEXT) } else { rows };
    let has_documents = params.columns.iter().any(|column| column == SentenceCollection::DOCUMENT);
    let rows = if params.words && has_documents { rows.documents(SentenceCollection::DOCUMENT) } else { rows };
    Ok(params.columns.iter().fold(rows, |rows, column| rows.column(column)))
}
