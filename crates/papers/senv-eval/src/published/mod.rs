//! Published tables. `tables/` has one file per table as printed, and the modules read them.

pub(crate) mod classification;
pub(crate) mod cse;
pub(crate) mod relatedness;
pub(crate) mod rows;
pub(crate) mod similarity;
pub(crate) mod skip_thoughts;
pub(crate) mod sts;
mod table;
