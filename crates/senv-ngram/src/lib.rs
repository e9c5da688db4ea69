//! ngram
