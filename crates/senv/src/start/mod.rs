//! Where word vectors start: drawn, or from a file.

pub(crate) mod encoder_weights;
pub(crate) mod initial;
