//! Where word vectors start: drawn, from a file, from a model.

pub(crate) mod initial;
pub(crate) mod new_words;
