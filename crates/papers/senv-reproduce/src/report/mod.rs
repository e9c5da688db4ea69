//! What a run has found, and how it is written down.

mod grid;
pub(crate) mod list;
mod markdown;
mod page;
mod reading;
pub(crate) mod results;
