//! The crates that this one is made of, so that a program which brings something of its own depends on one crate and
//! has all of the same release.
//!
//! | to bring | implement | it goes to |
//! | --- | --- | --- |
//! | a tokenizer | [`core::text::Tokenize`] | [`Tokenizer::custom`](crate::Tokenizer::custom) |
//! | negatives | [`negative_sampling::NoiseSource`] | [`negative_sampling::fit`] |
//! | an update rule | [`core::optim::CustomUpdate`] | [`core::optim::UpdateRule::custom`] |
//! | an encoder | [`encoders::Encoder`] | [`gradient::PairObjective`](crate::gradient::PairObjective) |
//! | a loss of pairs | [`gradient::BatchLoss`](crate::gradient::BatchLoss) | the same |
//! | anything that learns by gradient | [`gradient::Objective`](crate::gradient::Objective) | [`gradient::fit`](crate::gradient::fit()) |
//! | a kind of model | [`model::OpenModel`](crate::model::OpenModel) | [`register`](crate::register) |
//! | any encoder of sentences | [`SentenceEncoder`](crate::SentenceEncoder) | indices, searches, evaluations |
//! | rows | [`core::Rows`] | [`index::VectorIndex::build_from`](crate::index::VectorIndex::build_from), [`store::NearestIndex`] |

/// Text, tokens, vocabularies, tables, model files, optimizers, streams of random numbers.
pub use senv_core as core;
/// Encoders over word vectors, and decoders.
pub use senv_encoders as encoders;
/// Losses and heads, with their gradients.
pub use senv_losses as losses;
/// The trainer by negative sampling.
pub use senv_negative_sampling as negative_sampling;
/// N-grams of words and of characters as rows.
pub use senv_ngram as ngram;
/// Files of word vectors, nearest rows, weighting by frequency.
pub use senv_store as store;

/// Matrices, as encoders and losses take and return them.
pub use ndarray;
