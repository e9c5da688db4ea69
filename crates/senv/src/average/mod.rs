//! Means of rows: the encoder of all averages, weights and common components, unknown words, random vectors.

pub(crate) mod component_search;
pub(crate) mod encoder;
pub(crate) mod file;
pub(crate) mod ngram_buckets;
pub(crate) mod per_side;
pub(crate) mod random_vectors;
pub(crate) mod unknown_words;
pub(crate) mod weight_scheme;
pub(crate) mod weighting;

pub use {
    component_search::WEIGHTING_SENTENCES, encoder::AverageEncoder, unknown_words::UnknownWords,
    weight_scheme::WeightScheme, weighting::Weighting,
};
