//! What `senv info` shows about a collection of sentences.

use std::path::Path;

use senv::SentenceCollection;
use senv_index::{Collection, Rescoring};
use serde_json::{Value, json};

use crate::failure::Result;

/// The facts of the collection in a folder; `verify` checks all of its files first.
pub(super) fn of(folder: &Path, verify: bool) -> Result<Value> {
    let collection = Collection::open(folder)?;
    if verify {
        collection.verify()?;
    }
    let recall = SentenceCollection::recall(&collection);
    let (rows, bytes) = (collection.len(), collection.n_bytes());
    let rounded = |x: f64| (1e4 * x).round() / 1e4;
    let deleted = collection.n_positions() - rows;
    let columns: Vec<&str> = collection.columns().iter().map(String::as_str).collect();
    let (own, further): (Vec<&str>, Vec<&str>) =
        columns.into_iter().partition(|name| [SentenceCollection::FILE, SentenceCollection::LINE].contains(name));
    let cells: usize = collection.segments().map(|segment| segment.n_cells()).sum();
    let mut facts = json!({
        "kind": "collection",
        "rows": rows,
        "deleted": deleted,
        "dim": collection.dim(),
        "columns": further,
        // None before the first row.
        "ids": collection.id_kind(),
        "origin_of_sentences": own,
        "model": SentenceCollection::model_path(&collection).map(|path| path.display().to_string()),
        "model_kind": SentenceCollection::model_kind(&collection),
        "model_digest": collection.model(),
        "terms": SentenceCollection::model_terms(&collection),
        "order_weight": SentenceCollection::order_weight(&collection),
        "precision": precision(collection.params().rescoring),
        "cosines": if collection.params().rescoring == Rescoring::None { "estimates" } else { "computed" },
        "recall": { "wanted": recall, "measured": measured(&collection, recall) },
        "words": match collection.stemming() {
            Some(stemming) => json!({ "stemming": stemming, "bytes": collection.n_word_bytes() }),
            None => json!(false),
        },
        "segments": collection.n_segments(),
        "cells": cells,
        "known_words": SentenceCollection::known_words(&collection).share().map(rounded),
        "without_vector": SentenceCollection::zero_vectors(&collection)
            + SentenceCollection::directionless_vectors(&collection),
        "bytes_per_row": (rows > 0).then(|| (bytes as f64 / rows as f64).round() as u64),
        "file": folder.display().to_string(),
        "file_bytes": bytes,
    });
    if verify {
        facts["verified"] = json!("all files, by their checksums");
    }
    Ok(facts)
}

fn precision(rescoring: Rescoring) -> &'static str {
    match rescoring {
        Rescoring::F32 => "f32",
        Rescoring::F16 => "f16",
        Rescoring::Int8 => "int8",
        Rescoring::None => "none",
    }
}

/// The measured recall of a search, averaged over the rows of all segments; none if it was not measured.
fn measured(collection: &Collection, wanted: f32) -> Option<f64> {
    let (mut sum, mut rows) = (0.0, 0);
    for segment in collection.segments() {
        sum += f64::from(segment.expected_recall(wanted)?) * segment.len() as f64;
        rows += segment.len();
    }
    (rows > 0).then(|| (1e4 * sum / rows as f64).round() / 1e4)
}
