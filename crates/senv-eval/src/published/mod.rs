//! The published tables, as data.

pub(crate) mod classification;
pub(crate) mod cse;
pub(crate) mod relatedness;
pub(crate) mod similarity;
pub(crate) mod skip_thoughts;
pub(crate) mod sts;
