//! The bench runs every protocol on every system, from data in a folder to tables with intervals.
//!
//! | file | contents |
//! | --- | --- |
//! | `folder.rs` | the files of a folder |
//! | `task_data.rs`, `find.rs`, `find_order.rs` | the data of a task; how it is found in the layouts of the data sets |
//! | `published_sizes.rs` | which data with the names of a published set are that set |
//! | `figure.rs`, `outcome.rs` | the outcome of a task |
//! | `run.rs` | runs a task with a system, with the functions that single commands call |
//! | `protocol_group.rs`, `protocols.rs`, `task.rs` | the tables; the list of protocols; a protocol with its data |
//! | `own/` | a user's own data of any name |
//! | `gaps.rs` | missing parts of data sets |
//! | `record.rs`, `data.rs` | the record of a run, as JSON; all tasks of a folder, and a run of a system on them |
//! | `summary.rs`, `published_rows.rs` | tables with intervals, marks and published rows |
//! | `compare.rs` | comparison of two systems by task |
//! | `tables.rs`, `page.rs`, `drawing.rs`, `histograms.rs`, `figures.rs`, `html.rs` | reports |
//!
//! Each file uses only files above it in this table.

mod compare;
mod data;
mod data_note;
mod drawing;
mod figure;
mod figures;
mod find;
mod find_mteb;
mod find_order;
mod folder;
mod gaps;
mod histograms;
mod html;
mod outcome;
mod own;
mod page;
mod protocol_group;
mod protocols;
mod published_rows;
mod published_sizes;
mod record;
#[cfg(test)]
mod report_tests;
mod run;
mod summary;
mod tables;
mod task;
mod task_data;

pub use compare::{BenchComparison, DEFAULT_COMPARISON_RESAMPLES, TaskDifference, compare_systems};
pub use data::{BenchData, BenchPart, choose_protocols};
pub use data_note::DataNote;
pub use drawing::Drawing;
pub use figure::{Figure, FigureSeries};
pub(crate) use find::year_of;
pub(crate) use find_mteb::mteb_sts_files;
pub use folder::{DataFile, DataFolder, sha256_of_bytes, sha256_of_file};
pub use html::REPORT_START;
pub use outcome::Detail;
pub use page::{escape_html, html_page};
pub use protocol_group::ProtocolGroup;
pub use protocols::{Protocol, protocols};
pub use record::{BenchRecord, MIN_ITEMS, Missing, SystemKind, SystemRecord, TaskRecord, TaskResult};
pub use run::BenchOptions;
pub use summary::{Cell, Column, Mark, Row, Summary, summarize};
pub use task::Task;
