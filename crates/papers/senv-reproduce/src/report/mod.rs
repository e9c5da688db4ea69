//! What a run has found, and how it is written down.

mod claims;
pub(crate) mod list;
mod markdown;
mod page;
mod reading;
mod report_table;
pub(crate) mod results;
