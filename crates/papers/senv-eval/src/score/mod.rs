//! Sentence vectors, scores of pairs, correlations and their intervals.

pub(crate) mod correlations;
pub(crate) mod p_values;
pub(crate) mod pairs;
pub(crate) mod scoring_method;
pub(crate) mod sentence_vectors;
pub(crate) mod with_interval;
