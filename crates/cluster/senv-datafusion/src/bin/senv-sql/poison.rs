//! Finds rows of a Parquet file that no text function accepts: invalid UTF-8, or text above the maximum length.

use std::{
    fmt,
    fs::File,
    path::{Path, PathBuf},
};

use datafusion::{
    error::{DataFusionError, Result},
    parquet::{
        basic::{ConvertedType, LogicalType},
        column::reader::ColumnReader,
        file::reader::{FileReader, SerializedFileReader},
        schema::types::ColumnDescriptor,
    },
};
use senv_datafusion::MAX_SENTENCE_BYTES;

use crate::cluster::failed;

/// Values per read.
const VALUES: usize = 1024;

/// A row that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Poison {
    path: PathBuf,
    column: String,
    /// Row number, from 1.
    row: usize,
    reason: String,
}

impl fmt::Display for Poison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, column, row, reason } = self;
        write!(f, "{}: row {row}, column {column}: {reason}", path.display())
    }
}

/// Whether such a row may have caused an error.
pub(crate) fn may_be_the_cause(error: &DataFusionError) -> bool {
    let message = error.to_string().to_ascii_lowercase();
    ["utf-8", "utf8", "a sentence of"].iter().any(|part| message.contains(part))
}

/// The first such row in a column. Without a column, all columns of text outside lists are searched.
pub(crate) fn find(path: &Path, column: Option<&str>) -> Result<Option<Poison>> {
    let reader =
        SerializedFileReader::new(File::open(path)?).map_err(|e| failed(format!("{}: {e}", path.display())))?;
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
    for (number, description) in schema.columns().iter().enumerate() {
        let name = description.path().string();
        if !is_text(description) || column.is_some_and(|column| column != name) {
            continue;
        }
        let mut row = 0;
        for group in 0..reader.num_row_groups() {
            let found = find_in(reader.get_row_group(group)?.get_column_reader(number)?, description, &mut row)?;
            if let Some(reason) = found {
                return Ok(Some(Poison { path: path.to_owned(), column: name, row, reason }));
            }
        }
    }
    Ok(None)
}

fn is_text(column: &ColumnDescriptor) -> bool {
    let is_text =
        column.converted_type() == ConvertedType::UTF8 || column.logical_type_ref() == Some(&LogicalType::String);
    is_text && column.max_rep_level() == 0
}

/// Describes the first such value. `row` counts the rows up to it.
fn find_in(column: ColumnReader, description: &ColumnDescriptor, row: &mut usize) -> Result<Option<String>> {
    let ColumnReader::ByteArrayColumnReader(mut column) = column else { return Ok(None) };
    let has_levels = description.max_def_level() > 0;
    loop {
        let (mut values, mut levels) = (Vec::new(), Vec::new());
        let wanted = has_levels.then_some(&mut levels);
        let (n_rows, n_values, _) = column.read_records(VALUES, wanted, None, &mut values)?;
        if n_rows == 0 {
            return Ok(None);
        }
        let mut values = values.iter().take(n_values);
        // A required column has no levels.
        levels.resize(n_rows, description.max_def_level());
        for level in levels {
            *row += 1;
            if level < description.max_def_level() {
                continue;
            }
            let Some(bytes) = values.next().map(|value| value.data()) else { break };
            if bytes.len() > MAX_SENTENCE_BYTES {
                let n = bytes.len();
                return Ok(Some(format!(
                    "a sentence of {n} bytes, longer than {MAX_SENTENCE_BYTES}; line breaks may be missing"
                )));
            }
            if let Err(e) = std::str::from_utf8(bytes) {
                return Ok(Some(format!("not UTF-8, starting at byte {} of {}", e.valid_up_to(), bytes.len())));
            }
        }
    }
}
