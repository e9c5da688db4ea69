//! The published tables: data in `tables/`, a file for each table as its paper prints it, and what they give.

pub(crate) mod classification;
pub(crate) mod cse;
pub(crate) mod relatedness;
pub(crate) mod rows;
pub(crate) mod similarity;
pub(crate) mod skip_thoughts;
pub(crate) mod sts;
mod table;
