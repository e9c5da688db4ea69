//! Writes Parquet files with vectors, and reads the metadata that records their origin.

use std::{collections::HashMap, fmt, fs::File, path::Path};

use datafusion::{
    common::config::{ParquetColumnOptions, TableParquetOptions},
    error::Result,
    parquet::file::reader::{FileReader, SerializedFileReader},
};
use senv::jobs::FileState;

use crate::cluster::failed;

/// Bytes of vectors per row group. They stay in memory until the group is written.
const ROW_GROUP: usize = 64 << 20;
/// Keys of the metadata of a file: the model as a query names it, the columns of text and of vectors, and the state of
/// the input file as JSON.
const MODEL: &str = "senv.model";
const COLUMN: &str = "senv.column";
const VECTORS: &str = "senv.vectors";
const INPUT: &str = "senv.input";

/// The origin of the vectors in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Origin {
    /// Name and digest of the model.
    pub(crate) model: String,
    /// The column of text.
    pub(crate) column: String,
    /// The column of vectors.
    pub(crate) vectors: String,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { model, column, vectors } = self;
        write!(f, "{model} of column {column} in column {vectors}")
    }
}

/// Number of rows and origin of a file.
#[derive(Debug)]
pub(crate) struct Description {
    pub(crate) n_rows: i64,
    /// The origin of its vectors and the state of its input, if recorded.
    pub(crate) origin: Option<Origin>,
    pub(crate) input: Option<FileState>,
}

/// Writer options: vectors are stored as they are, and all other columns are compressed.
pub(crate) fn options(origin: &Origin, input: &FileState, dim: usize) -> Result<TableParquetOptions> {
    let mut options = TableParquetOptions::default();
    options.global.compression = Some("zstd(1)".into());
    options.global.max_row_group_size = (ROW_GROUP / (4 * dim.max(1))).max(1024);
    let plain = ParquetColumnOptions {
        compression: Some("uncompressed".into()),
        dictionary_enabled: Some(false),
        statistics_enabled: Some("none".into()),
        ..ParquetColumnOptions::default()
    };
    options.column_specific_options = HashMap::from([(format!("{}.list.item", origin.vectors), plain)]);
    let entries = [
        (MODEL, origin.model.clone()),
        (COLUMN, origin.column.clone()),
        (VECTORS, origin.vectors.clone()),
        (INPUT, serde_json::to_string(input).map_err(failed)?),
    ];
    options.key_value_metadata = entries.map(|(key, value)| (key.to_owned(), Some(value))).into();
    Ok(options)
}

/// Reads the description of a file.
pub(crate) fn describe(path: &Path) -> Result<Description> {
    let reader =
        SerializedFileReader::new(File::open(path)?).map_err(|e| failed(format!("{}: {e}", path.display())))?;
    let metadata = reader.metadata().file_metadata();
    let get = |key: &str| {
        let mut entries = metadata.key_value_metadata()?.iter();
        entries.find(|entry| entry.key == key)?.value.clone()
    };
    let parts = get(MODEL).zip(get(COLUMN)).zip(get(VECTORS));
    let origin = parts.map(|((model, column), vectors)| Origin { model, column, vectors });
    let input = get(INPUT).and_then(|text| serde_json::from_str(&text).ok());
    Ok(Description { n_rows: metadata.num_rows(), origin, input })
}
