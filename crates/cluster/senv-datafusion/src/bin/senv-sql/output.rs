//! Rows and errors as text.

use std::io::{self, Write};

use clap::ValueEnum;
use datafusion::{
    arrow::{array::RecordBatch, csv, json, util::pretty::pretty_format_batches},
    error::{DataFusionError, Result},
};

/// How rows are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Format {
    /// An aligned table.
    #[default]
    Table,
    /// Comma-separated values; lists are not supported.
    Csv,
    /// JSON lines.
    Json,
}

/// Prints rows to standard output.
pub(crate) fn print(rows: &[RecordBatch], format: Format) -> Result<()> {
    let mut out = io::stdout().lock();
    match format {
        Format::Table => writeln!(out, "{}", pretty_format_batches(rows)?)?,
        Format::Csv => {
            let mut writer = csv::Writer::new(&mut out);
            rows.iter().try_for_each(|rows| writer.write(rows))?;
        }
        Format::Json => {
            let mut writer = json::LineDelimitedWriter::new(&mut out);
            rows.iter().try_for_each(|rows| writer.write(rows))?;
            writer.finish()?;
        }
    }
    Ok(out.flush()?)
}

/// The message of an error, without the path it took through the engine.
pub(crate) fn message(error: &DataFusionError) -> String {
    error.find_root().strip_backtrace().trim().to_owned()
}
