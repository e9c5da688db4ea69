//! Converts CSV, TSV and JSON to lines of text.

#[cfg_attr(not(feature = "arrow"), path = "../built_without/arrow.rs")]
pub(crate) mod arrow;
mod bad_records;
mod blank_records;
mod csv;
mod delimiter;
mod json;
mod output;
mod quotes;
mod reader;
mod selection;

pub(super) use arrow::ArrowLines;
pub use bad_records::{BadRecord, BadRecords};
pub use blank_records::BlankRecords;
pub use delimiter::{recognized_delimiter, unread_delimiter};
pub(crate) use json::Names;
pub(crate) use output::{LineBuffers, Lines, RawRecord};
pub(crate) use quotes::LineEnds;
pub(crate) use reader::TableReader;
pub use selection::{TableColumn, TableFormat, TableText};

/// How a line end within a field is kept ([`TableText::line_ends`]).
pub(crate) const LINE_END: char = '\u{b}';

#[cfg(test)]
mod tests;
