//! Where word vectors start: random, or from a file.

pub(crate) mod encoder_weights;
pub(crate) mod initial;
