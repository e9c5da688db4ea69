//! The functions, one per file.

pub(crate) mod cell;
pub(crate) mod cosine;
pub(crate) mod embed;
pub(crate) mod model;
pub(crate) mod near_pairs;
pub(crate) mod nearest;
pub(crate) mod similarity;
pub(crate) mod text;
pub(crate) mod tokens;
pub(crate) mod vectors;
