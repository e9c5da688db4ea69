//! What is scored, and how scores are summed up: vectors of many sentences, correlations.

pub(crate) mod correlations;
pub(crate) mod embeddings;
