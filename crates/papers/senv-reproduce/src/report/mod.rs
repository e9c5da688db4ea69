//! The results of a run, and the reports that show them.

mod claim_result;
mod claims;
pub(crate) mod judge;
#[cfg(test)]
mod kept_pages;
pub(crate) mod list;
mod markdown;
mod numbers;
mod page;
mod reading;
mod report_table;
pub(crate) mod results;
