//! Sentence embeddings in SQL: functions of senv for DataFusion, on one machine or, with Ballista, on a cluster.
//!
#![doc = include_str!("../README.md")]
//!
//! | function | returns |
//! | --- | --- |
//! | [`embed(text [, model])`](Embed) | the embedding, a fixed-size list of `Float32` |
//! | [`similarity(a, b [, model])`](Similarity) | the cosine of two sentences |
//! | [`cosine(v, w)`](Cosine) | the cosine of two vectors |
//! | [`tokens(text [, model])`](Tokens) | the tokens, a list of text |
//! | [`coverage(text [, model])`](Coverage) | the share of tokens that the model knows |
//! | [`nearest(index, text, k)`](Nearest) | the nearest sentences of a collection on disk, as a table |
//! | [`cell(vector, centroids)`, `cells(vector, centroids, n)`](Cell) | the cells of a vector among shared centroids |
//! | [`near_pairs(id, vector, threshold)`](NearPairs) | the pairs of similar vectors in a group (aggregate) |
//!
//! Text is `Utf8`, `LargeUtf8`, `Utf8View` or a dictionary of one of them; its bytes are not copied. Errors are
//! DataFusion's own and name the function and the argument.

#![forbid(unsafe_code)]

mod cells;
mod error;
mod functions;
mod models;
mod object_stores;
mod register;
#[cfg(feature = "s3")]
mod s3;

pub use cells::Centroids;
pub use functions::{
    cell::Cell,
    cosine::Cosine,
    embed::Embed,
    near_pairs::NearPairs,
    nearest::Nearest,
    similarity::Similarity,
    text::MAX_SENTENCE_BYTES,
    tokens::{Coverage, Tokens},
};
pub use models::{ENGLISH, Models, NamedModel};
pub use object_stores::ObjectStores;
pub use register::{SessionBuilder, function_registry, register, session_builder};
