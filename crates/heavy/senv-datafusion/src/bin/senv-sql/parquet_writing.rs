//! How Parquet files with vectors are written, and what they say about themselves.

use std::{collections::HashMap, fs::File, path::Path};

use datafusion::{
    common::config::{ParquetColumnOptions, TableParquetOptions},
    error::Result,
    parquet::file::reader::{FileReader, SerializedFileReader},
};

use crate::cluster::failed;

/// Bytes of vectors of a row group: what is kept in memory until it is written.
const ROW_GROUP: usize = 64 << 20;
/// Keys of the metadata of a file: the model, as a query names it, and the column of text.
const MODEL: &str = "senv.model";
const COLUMN: &str = "senv.column";

/// What vectors of a file were made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Origin {
    /// Name and digest of the model.
    pub(crate) model: String,
    /// The column of text.
    pub(crate) column: String,
}

/// As senv writes its own: vectors as they are, everything else compressed.
pub(crate) fn options(origin: &Origin, vectors: &str, dim: usize) -> TableParquetOptions {
    let mut options = TableParquetOptions::default();
    options.global.compression = Some("zstd(1)".into());
    options.global.max_row_group_size = (ROW_GROUP / (4 * dim.max(1))).max(1024);
    let plain = ParquetColumnOptions {
        compression: Some("uncompressed".into()),
        dictionary_enabled: Some(false),
        statistics_enabled: Some("none".into()),
        ..ParquetColumnOptions::default()
    };
    options.column_specific_options = HashMap::from([(format!("{vectors}.list.item"), plain)]);
    let entries = [(MODEL, &origin.model), (COLUMN, &origin.column)];
    options.key_value_metadata = entries.map(|(key, value)| (key.to_owned(), Some(value.clone()))).into();
    options
}

/// Rows of a file, and where its vectors come from, if it says.
pub(crate) fn describe(path: &Path) -> Result<(i64, Option<Origin>)> {
    let reader =
        SerializedFileReader::new(File::open(path)?).map_err(|e| failed(format!("{}: {e}", path.display())))?;
    let metadata = reader.metadata().file_metadata();
    let get = |key: &str| {
        let mut entries = metadata.key_value_metadata()?.iter();
        entries.find(|entry| entry.key == key)?.value.clone()
    };
    let origin = get(MODEL).zip(get(COLUMN)).map(|(model, column)| Origin { model, column });
    Ok((metadata.num_rows(), origin))
}
