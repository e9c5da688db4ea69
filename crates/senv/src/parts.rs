//! The crates that senv is built from. A program that brings its own parts depends on this crate only, and all crates
//! are of the same release.
//!
//! | to bring | implement | pass it to |
//! | --- | --- | --- |
//! | a tokenizer | [`core::text::Tokenize`] | [`Tokenizer::custom`](crate::Tokenizer::custom) |
//! | features or examples of negative sampling | [`negative_sampling::MaskedFeatures`], [`negative_sampling::Examples`] | [`negative_sampling::fit`] |
//! | negatives | [`negative_sampling::NoiseSource`] | [`negative_sampling::fit`] |
//! | an update rule | [`core::optim::CustomUpdate`] | [`core::optim::UpdateRule::custom`] |
//! | an encoder | [`encoders::Encoder`] | [`gradient::PairObjective`](crate::gradient::PairObjective) |
//! | a loss of pairs | [`gradient::BatchLoss`](crate::gradient::BatchLoss) | [`gradient::PairObjective`](crate::gradient::PairObjective) |
//! | anything trained by gradient | [`gradient::Objective`](crate::gradient::Objective) | [`gradient::fit`](crate::gradient::fit()) |
//! | a kind of model | [`model::OpenModel`](crate::model::OpenModel) | [`register`](crate::register) |
//! | any sentence encoder | [`SentenceEncoder`](crate::SentenceEncoder) | indices, searches, evaluations |
//! | rows | [`core::Rows`] | [`index::VectorIndex::build_from`](crate::index::VectorIndex::build_from), [`store::NearestIndex`] |

/// Text, tokens, vocabularies, tables, model files, optimizers, random number streams.
pub use senv_core as core;
/// Encoders over word vectors, and decoders.
pub use senv_encoders as encoders;
/// Losses and heads, with their gradients.
pub use senv_losses as losses;
/// Metrics and tests of significance: correlations, ranks, retrieval, bootstrap.
pub use senv_metrics as metrics;
/// The negative-sampling trainer.
pub use senv_negative_sampling as negative_sampling;
/// Word and character n-grams as rows.
pub use senv_ngram as ngram;
/// Word vector files, nearest rows, weighting by frequency.
pub use senv_store as store;

/// Columns of tables, the arguments and results of functions on Parquet and Arrow.
#[cfg(feature = "arrow")]
pub use {arrow_array, arrow_schema};

/// Matrices, the arguments and results of encoders and losses.
pub use ndarray;
