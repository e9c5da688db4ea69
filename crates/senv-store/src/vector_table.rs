//! Writes tables with a column of vectors as Parquet and Arrow IPC.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use arrow_array::{ArrayRef, FixedSizeListArray, Float16Array, Float32Array, RecordBatch, cast::AsArray};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Schema, SchemaRef};
use arrow_select::take::take;
use half::f16;
use ndarray::ArrayView2;
use parquet::{
    arrow::ArrowWriter,
    basic::{Compression, ZstdLevel},
    file::properties::{EnabledStatistics, WriterProperties},
    schema::types::ColumnPath,
};
use senv_core::{files::AtomicFile, text::ArrowFormat};

use crate::{Error, Result};

/// Bytes of vectors per row group, which is kept in memory until it is written.
const ROW_GROUP: usize = 64 << 20;
/// Arrow's name for the values within a list.
const ITEM: &str = "item";

/// The type of vector values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum VectorPrecision {
    /// Four bytes per value.
    #[default]
    F32,
    /// Two bytes per value: cosines are exact to about 0.0001.
    F16,
}

/// Writes the columns of a table and a further column of vectors, a fixed-size list of f32 or f16, in bounded memory.
/// The file appears only when it is finished.
///
/// Parquet: columns compressed with Zstandard, vectors uncompressed, row groups of 64 MiB of vectors. Arrow: a file
/// with a footer, uncompressed so it can be memory-mapped.
///
/// ```
/// # use std::sync::Arc;
/// # use arrow_array::{ArrayRef, RecordBatch, StringArray};
/// use ndarray::array;
/// use senv_core::text::{ArrowBatches, ArrowFormat};
/// use senv_store::{VectorPrecision, VectorTableWriter};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("pets.parquet");
/// let text: ArrayRef = Arc::new(StringArray::from(vec!["A cat.", "A dog."]));
/// let batch = RecordBatch::try_from_iter([("text", text)])?;
/// let schema = batch.schema();
/// let mut writer =
///     VectorTableWriter::create(&path, ArrowFormat::Parquet, &schema, "vector", 2, VectorPrecision::F32)?;
/// writer.write(&batch, array![[1.0, 0.0], [0.0, 1.0]].view())?;
/// writer.finish()?;
/// let fields = ArrowBatches::open(&path, None)?.schema().fields().clone();
/// assert_eq!(fields.iter().map(|field| field.name().as_str()).collect::<Vec<_>>(), ["text", "vector"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct VectorTableWriter {
    path: PathBuf,
    sink: Sink,
    schema: SchemaRef,
    dim: usize,
    precision: VectorPrecision,
}

enum Sink {
    Parquet(Box<ArrowWriter<AtomicFile>>),
    Arrow(Box<FileWriter<AtomicFile>>),
}

impl std::fmt::Debug for VectorTableWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("VectorTableWriter").field("path", &self.path).field("dim", &self.dim).finish_non_exhaustive()
    }
}

impl VectorTableWriter {
    /// The key of the name of the vector column in the schema's metadata.
    pub const KEY: &'static str = "senv.vector";

    /// Starts a file with these columns, then vectors of `dim` values in `column`. The format [`ArrowFormat::Stream`]
    /// is written like [`ArrowFormat::File`].
    ///
    /// # Errors
    /// [`senv_core::Error::BadFile`] if a column already has that name; [`senv_core::Error::Io`] if the file cannot be
    /// written.
    pub fn create(
        path: impl AsRef<Path>,
        format: ArrowFormat,
        columns: &Schema,
        column: &str,
        dim: usize,
        precision: VectorPrecision,
    ) -> Result<Self> {
        let path = path.as_ref();
        let bad = |reason: String| Error::from(senv_core::Error::BadFile { path: path.to_owned(), reason });
        if columns.column_with_name(column).is_some() {
            return Err(bad(format!(
                "the table already has a column {column}; choose another name for the vector column",
                column = senv_core::quoted(column)
            )));
        }
        let value = if precision == VectorPrecision::F16 { DataType::Float16 } else { DataType::Float32 };
        let size = i32::try_from(dim).map_err(|_| bad(format!("vectors of {dim} values are too long")))?;
        let list = DataType::FixedSizeList(Arc::new(Field::new(ITEM, value, false)), size);
        let is_parquet = format == ArrowFormat::Parquet;
        let mut fields = columns.fields().to_vec();
        for field in fields.iter_mut().filter(|_| is_parquet) {
            if let Some(values) = view_dictionary(field.data_type()) {
                *field = Arc::new(field.as_ref().clone().with_data_type(values.clone()));
            } else if holds_view_dictionary(field.data_type()) {
                let reason = format!(
                    "column {:?} has type {}, which cannot be written to Parquet; write .arrow",
                    field.name(),
                    field.data_type()
                );
                return Err(bad(reason));
            }
        }
        fields.push(Arc::new(Field::new(column, list, false)));
        let mut metadata = columns.metadata().clone();
        // The metadata of pandas describes only the original columns.
        metadata.retain(|key, _| key != "pandas");
        metadata.insert(Self::KEY.into(), column.into());
        let schema = Arc::new(Schema::new_with_metadata(fields, metadata));
        let file = AtomicFile::create(path)?;
        let failed = |error: &dyn std::fmt::Display| bad(format!("cannot write it: {error}"));
        let sink = if is_parquet {
            let path = ColumnPath::from(vec![column.to_owned(), "list".into(), ITEM.into()]);
            let bytes_a_row = dim.max(1) * if precision == VectorPrecision::F16 { 2 } else { 4 };
            let properties = WriterProperties::builder()
                .set_compression(Compression::ZSTD(ZstdLevel::default()))
                .set_max_row_group_row_count(Some((ROW_GROUP / bytes_a_row).max(1024)))
                .set_column_compression(path.clone(), Compression::UNCOMPRESSED)
                .set_column_dictionary_enabled(path.clone(), false)
                .set_column_statistics_enabled(path, EnabledStatistics::None)
                .build();
            let writer = ArrowWriter::try_new(file, schema.clone(), Some(properties)).map_err(|e| failed(&e))?;
            Sink::Parquet(Box::new(writer))
        } else {
            Sink::Arrow(Box::new(FileWriter::try_new(file, &schema).map_err(|e| failed(&e))?))
        };
        Ok(Self { path: path.to_owned(), sink, schema, dim, precision })
    }

    /// Appends rows with their vectors, shape `(rows, dim)`.
    ///
    /// # Errors
    /// [`senv_core::Error::BadFile`] if rows or columns do not match the file, or it cannot be written.
    pub fn write(&mut self, rows: &RecordBatch, vectors: ArrayView2<'_, f32>) -> Result<()> {
        if vectors.dim() != (rows.num_rows(), self.dim) {
            let reason =
                format!("vectors of shape {:?} for {} rows of {} values", vectors.dim(), rows.num_rows(), self.dim);
            return Err(self.bad(reason));
        }
        let values: ArrayRef = match self.precision {
            VectorPrecision::F32 => Arc::new(Float32Array::from_iter_values(vectors.iter().copied())),
            VectorPrecision::F16 => Arc::new(Float16Array::from_iter_values(vectors.iter().map(|&x| f16::from_f32(x)))),
        };
        let batch = self.batch(rows, values).map_err(|error| {
            self.bad(format!(
                "the rows do not match the table: \
            {error}"
            ))
        })?;
        let written = match &mut self.sink {
            Sink::Parquet(writer) => writer.write(&batch).map_err(|error| error.to_string()),
            Sink::Arrow(writer) => writer.write(&batch).map_err(|error| error.to_string()),
        };
        written.map_err(|error| self.bad(format!("cannot write it: {error}")))
    }

    /// Rows and their vector values as a batch of the file.
    fn batch(&self, rows: &RecordBatch, values: ArrayRef) -> std::result::Result<RecordBatch, ArrowError> {
        let mut columns = rows.columns().to_vec();
        for column in columns.iter_mut().filter(|_| matches!(self.sink, Sink::Parquet(_))) {
            if view_dictionary(column.data_type()).is_some()
                && let Some(dictionary) = column.as_any_dictionary_opt()
            {
                *column = take(dictionary.values(), dictionary.keys(), None)?;
            }
        }
        if let Some(DataType::FixedSizeList(item, size)) = self.schema.fields().last().map(|field| field.data_type()) {
            columns.push(Arc::new(FixedSizeListArray::try_new(item.clone(), *size, values, None)?));
        }
        RecordBatch::try_new(self.schema.clone(), columns)
    }

    /// Finishes the file and moves it into place.
    ///
    /// # Errors
    /// [`senv_core::Error::BadFile`] or [`senv_core::Error::Io`] if it cannot be written.
    pub fn finish(self) -> Result<()> {
        let Self { path, sink, .. } = self;
        let file = match sink {
            Sink::Parquet(writer) => writer.into_inner().map_err(|error| error.to_string()),
            Sink::Arrow(writer) => writer.into_inner().map_err(|error| error.to_string()),
        };
        let bad = |error| senv_core::Error::BadFile { path, reason: format!("cannot write it: {error}") };
        Ok(file.map_err(bad)?.commit()?)
    }

    fn bad(&self, reason: String) -> Error {
        senv_core::Error::BadFile { path: self.path.clone(), reason }.into()
    }
}

/// The value type of a dictionary whose values are views. The Parquet writer does not support such dictionaries and
/// panics; Polars uses them for categories.
fn view_dictionary(data_type: &DataType) -> Option<&DataType> {
    match data_type {
        DataType::Dictionary(_, values) if matches!(**values, DataType::Utf8View | DataType::BinaryView) => {
            Some(values)
        }
        _ => None,
    }
}

/// Whether a type contains such a dictionary.
fn holds_view_dictionary(data_type: &DataType) -> bool {
    let of = |field: &FieldRef| holds_view_dictionary(field.data_type());
    match data_type {
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::ListView(item)
        | DataType::LargeListView(item)
        | DataType::FixedSizeList(item, _)
        | DataType::Map(item, _) => of(item),
        DataType::Struct(fields) => fields.iter().any(of),
        DataType::RunEndEncoded(_, values) => of(values),
        _ => view_dictionary(data_type).is_some(),
    }
}
