//! What is scored, and how scores are summed up: vectors of many sentences, scores of pairs, correlations,
//! intervals.

pub(crate) mod correlations;
pub(crate) mod pairs;
pub(crate) mod scoring_method;
pub(crate) mod sentence_vectors;
pub(crate) mod with_interval;
