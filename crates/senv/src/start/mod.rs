//! Where word vectors start: drawn, or from a file.

pub(crate) mod initial;
