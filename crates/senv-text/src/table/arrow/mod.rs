//! Reads record batches from Parquet and Arrow IPC, and text columns as lines.

mod cells;
mod ipc;
mod lines;
#[cfg(test)]
mod tests;

use std::{
    fmt::Display,
    fs::File,
    io::Read,
    panic::{self, AssertUnwindSafe},
    path::{Path, PathBuf},
};

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, SchemaRef};
use parquet::arrow::{ProjectionMask, arrow_reader::ParquetRecordBatchReaderBuilder};

use super::{TableColumn, TableText};
use senv_base::{Error, Result};

pub use cells::Cells;
use ipc::{FileBatches, StreamBatches};
pub(crate) use lines::ArrowLines;

/// The error for Parquet and Arrow files that are read line by line.
pub(crate) fn not_text(path: PathBuf, found: &'static str, has_column: bool) -> Error {
    if has_column {
        Error::NotText { path, found, remedy: "give it as an uncompressed file, not through a pipe" }
    } else {
        Error::NoColumnNamed { path, found }
    }
}

/// The number of rows read at a time.
const BATCH: usize = 1024;

/// The formats of files of record batches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ArrowFormat {
    /// Apache Parquet.
    Parquet,
    /// Arrow IPC with a footer, also known as Feather version 2.
    File,
    /// Arrow IPC stream.
    Stream,
}

impl ArrowFormat {
    /// Detects the format of a file by its first bytes; `None` for other files and files that cannot be read.
    #[must_use]
    pub fn of_file(path: &Path) -> Option<Self> {
        // A named pipe can be read only once.
        if !path.is_file() {
            return None;
        }
        let mut head = Vec::new();
        File::open(path).and_then(|file| file.take(8).read_to_end(&mut head)).ok()?;
        Self::of_bytes(&head)
    }

    /// Detects the format from the first bytes.
    pub(crate) fn of_bytes(head: &[u8]) -> Option<Self> {
        if head.starts_with(b"PAR1\x15") {
            Some(Self::Parquet)
        } else if head.starts_with(b"ARROW1\0\0") {
            Some(Self::File)
        } else if matches!(head, [0xFF, 0xFF, 0xFF, 0xFF, _, _, 0, 0, ..]) {
            Some(Self::Stream)
        } else {
            None
        }
    }
}

/// Whether a file consists of record batches.
pub(crate) fn is_arrow(path: &Path) -> bool {
    ArrowFormat::of_file(path).is_some()
}

/// The names of the columns of such a file; `None` for any other.
pub(crate) fn titles(path: &Path) -> Result<Option<Vec<String>>> {
    if !is_arrow(path) {
        return Ok(None);
    }
    let batches = ArrowBatches::open(path, None)?;
    Ok(Some(batches.schema().fields().iter().map(|field| field.name().clone()).collect()))
}

/// The number of rows that a Parquet file declares; `None` for any other file.
pub(crate) fn n_parquet_rows(path: &Path, table: &TableText) -> Result<Option<u64>> {
    match ArrowFormat::of_file(path) {
        Some(ArrowFormat::Parquet) => Ok(ArrowBatches::open(path, Some(&table.columns))?.n_rows()),
        _ => Ok(None),
    }
}

/// The record batches of a Parquet or Arrow IPC file, read in bounded memory: about a thousand Parquet rows at a time,
/// and Arrow batches as they were written.
///
/// ```
/// # use std::sync::Arc;
/// # use arrow_array::{ArrayRef, RecordBatch, StringArray};
/// # use senv_core::text::{ArrowBatches, Cells, TableColumn};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("pets.parquet");
/// # let text: ArrayRef = Arc::new(StringArray::from(vec![Some("A cat."), None]));
/// # let batch = RecordBatch::try_from_iter([("text", text)])?;
/// # let mut writer = parquet::arrow::ArrowWriter::try_new(std::fs::File::create(&path)?, batch.schema(), None)?;
/// # writer.write(&batch)?;
/// # writer.close()?;
/// let mut batches = ArrowBatches::open(&path, None)?;
/// assert_eq!(batches.n_rows(), Some(2));
/// let text = batches.place(&TableColumn::Name("text".into()))?;
/// while let Some(batch) = batches.next_batch()? {
///     let cells = Cells::of_text(&text.of(&batch)).expect("text");
///     assert_eq!([cells.get(0), cells.get(1)], [Some(&b"A cat."[..]), None]);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ArrowBatches {
    path: PathBuf,
    format: ArrowFormat,
    schema: SchemaRef,
    batches: Box<dyn Iterator<Item = std::result::Result<RecordBatch, ArrowError>> + Send>,
    n_rows: Option<u64>,
    /// The columns of the file that are read, in its order; `None` reads all.
    roots: Option<Vec<usize>>,
    is_done: bool,
}

impl std::fmt::Debug for ArrowBatches {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ArrowBatches").field("path", &self.path).field("format", &self.format).finish_non_exhaustive()
    }
}

/// The position of a column: the column of the file and, for structures, the nested field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnPlace {
    root: usize,
    fields: Vec<usize>,
}

impl ColumnPlace {
    /// Returns the column from a batch of all columns. Null structures have null fields.
    ///
    /// # Panics
    /// If the batch has a different schema.
    #[must_use]
    pub fn of(&self, batch: &RecordBatch) -> ArrayRef {
        cells::field(batch.column(self.root), &self.fields)
    }
}

impl ArrowBatches {
    /// Opens a file and reads its schema. Batches contain only `columns`, or all columns.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be opened; [`Error::BadFile`] if it is damaged, has a different format, or
    /// lacks a column.
    pub fn open(path: impl AsRef<Path>, columns: Option<&[TableColumn]>) -> Result<Self> {
        let path = path.as_ref();
        let Some(format) = ArrowFormat::of_file(path) else {
            // Report an error of the system first.
            File::open(path).map_err(|e| Error::io("open", path, e))?;
            let reason = "it does not start like a Parquet or Arrow file".into();
            return Err(Error::BadFile { path: path.to_owned(), reason });
        };
        let file = File::open(path).map_err(|e| Error::io("open", path, e))?;
        let open = || Self::open_as(format, file, path, columns);
        caught(open).unwrap_or_else(|reason| Err(bad(path, format, &reason)))
    }

    fn open_as(format: ArrowFormat, file: File, path: &Path, columns: Option<&[TableColumn]>) -> Result<Self> {
        let damaged = |error: &dyn Display| bad(path, format, error);
        let places = |schema: &SchemaRef| match columns {
            None => Ok(None),
            Some(columns) => {
                let places = columns.iter().map(|column| place(schema, column, path));
                let mut roots = places.map(|place| place.map(|place| place.root)).collect::<Result<Vec<usize>>>()?;
                roots.sort_unstable();
                roots.dedup();
                Ok(Some(roots))
            }
        };
        let (schema, batches, n_rows, roots): (_, Box<dyn Iterator<Item = _> + Send>, _, _) = match format {
            ArrowFormat::Parquet => {
                let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|e| damaged(&e))?;
                let schema = builder.schema().clone();
                let roots = places(&schema)?;
                let n_rows = u64::try_from(builder.metadata().file_metadata().num_rows()).ok();
                let builder = match &roots {
                    None => builder,
                    Some(roots) => {
                        let mask = ProjectionMask::roots(builder.parquet_schema(), roots.iter().copied());
                        builder.with_projection(mask)
                    }
                };
                let reader = builder.with_batch_size(BATCH).build().map_err(|e| damaged(&e))?;
                (schema, Box::new(reader), n_rows, roots)
            }
            ArrowFormat::File => {
                let (reader, schema) = FileBatches::open(file).map_err(|e| damaged(&e))?;
                let roots = places(&schema)?;
                let reader = match &roots {
                    None => reader,
                    Some(roots) => reader.with_columns(roots.clone()),
                };
                (schema, Box::new(reader), None, roots)
            }
            ArrowFormat::Stream => {
                let (mut reader, schema) = StreamBatches::open(file).map_err(|e| damaged(&e))?;
                let roots = places(&schema)?;
                reader.roots.clone_from(&roots);
                (schema, Box::new(reader), None, roots)
            }
        };
        Ok(Self { path: path.to_owned(), format, schema, batches, n_rows, roots, is_done: false })
    }

    /// The schema of the file with all columns.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The number of rows, if the file declares it before they are read, as Parquet does.
    #[must_use]
    pub fn n_rows(&self) -> Option<u64> {
        self.n_rows
    }

    /// The position of a column in the batches, by its name or number. If no column has a name with dots, finds the
    /// nested field.
    ///
    /// # Errors
    /// [`Error::BadFile`] if the column does not exist or is not read.
    pub fn place(&self, column: &TableColumn) -> Result<ColumnPlace> {
        let mut place = place(&self.schema, column, &self.path)?;
        if let Some(roots) = &self.roots {
            let Ok(at) = roots.binary_search(&place.root) else {
                return Err(Error::BadFile {
                    path: self.path.clone(),
                    reason: format!("column {column:?} was not read"),
                });
            };
            place.root = at;
        }
        Ok(place)
    }

    /// The name of a column, with dots before nested fields.
    pub(super) fn name(&self, place: &ColumnPlace) -> String {
        let root = self.roots.as_ref().map_or(place.root, |roots| roots[place.root]);
        cells::name(self.schema.field(root), &place.fields)
    }

    /// Returns the next batch; `None` at the end of the file.
    ///
    /// # Errors
    /// [`Error::BadFile`] if the file is damaged; then no further batch follows.
    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        if self.is_done {
            return Ok(None);
        }
        let next = caught(|| self.batches.next().transpose());
        self.is_done = !matches!(next, Ok(Ok(Some(_))));
        match next {
            Ok(next) => next.map_err(|error| bad(&self.path, self.format, &error)),
            Err(reason) => Err(bad(&self.path, self.format, &reason)),
        }
    }
}

/// Runs a reader and converts its panics to messages, because the Parquet reader panics on some damaged bytes. By then
/// the panic hook has run.
fn caught<T>(read: impl FnOnce() -> T) -> std::result::Result<T, String> {
    panic::catch_unwind(AssertUnwindSafe(read)).map_err(|payload| {
        let message = payload.downcast_ref::<String>().cloned();
        message.or_else(|| payload.downcast_ref::<&str>().map(|&text| text.into())).unwrap_or_default()
    })
}

fn bad(path: &Path, format: ArrowFormat, error: &dyn Display) -> Error {
    let what = if format == ArrowFormat::Parquet { "Parquet" } else { "Arrow" };
    let text = error.to_string();
    // The crates start their messages with the kind of error; a Parquet batch has two of them.
    let cause = text.rsplit("error: ").next().unwrap_or_default();
    Error::BadFile { path: path.to_owned(), reason: format!("it is damaged or not a supported {what}: {cause}") }
}

/// The position of a column in the file.
fn place(schema: &SchemaRef, column: &TableColumn, path: &Path) -> Result<ColumnPlace> {
    let fields = schema.fields();
    let by_number = || column.index().filter(|&root| root < fields.len()).map(|root| (root, Vec::new()));
    let found = match column {
        TableColumn::All => None,
        _ => cells::find(fields, &column.title()).or_else(by_number),
    };
    found.map(|(root, fields)| ColumnPlace { root, fields }).ok_or_else(|| {
        let names = fields.iter().take(20).map(|field| field.name().as_str()).collect::<Vec<_>>().join(", ");
        let reason = match column {
            TableColumn::Number(number) => format!("no column {number}; the {} columns are {names}", fields.len()),
            TableColumn::All => format!("name the text column; the columns are {names}"),
            TableColumn::Name(name) => {
                format!("no column {name}; the columns are {names}", name = senv_base::quoted(name))
            }
        };
        Error::BadFile { path: path.to_owned(), reason }
    })
}
