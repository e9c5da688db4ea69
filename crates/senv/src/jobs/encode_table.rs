//! Adds a column of vectors to tables of text.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Fields, Schema, SchemaRef};
use senv_core::{
    SentenceEncoder, TextOptions, TextReader,
    text::{ArrowBatches, ArrowFormat, LineNumbers, Lines, Shard},
};
use senv_store::{VectorPrecision, VectorTableWriter};

use super::encoded_rows::EncodedRows;
use crate::{Error, Result};

/// Rows encoded at a time, and bytes of text after which a batch ends.
const ROWS: usize = 1 << 13;
const BYTES: usize = 16 << 20;

/// How [`encode_table`] reads and writes.
#[derive(Debug, Clone, PartialEq)]
pub struct EncodeTableParams {
    /// How text is read: the column of a table ([`TextOptions::table`]), the treatment of invalid bytes.
    pub text: TextOptions,
    /// The name of the column of vectors; `vector` by default.
    pub vector_column: String,
    /// The type of the vector values; f32 by default.
    pub precision: VectorPrecision,
    /// The part of the input to encode; all of it by default.
    pub shard: Option<Shard>,
}

impl Default for EncodeTableParams {
    fn default() -> Self {
        let (text, precision) = Default::default();
        Self { text, vector_column: "vector".into(), precision, shard: None }
    }
}

/// Encodes a column of text and writes it with its vectors, as Parquet or, if the output name ends in `.arrow`,
/// `.feather` or `.ipc`, as Arrow IPC. Memory is a few thousand rows plus a row group of 64 MiB, for inputs of any
/// length.
///
/// For Parquet and Arrow files with the same columns, every column is kept. For other files, files of several formats,
/// and with [`TextOptions::split`], each line of text becomes a row of `file` (if there are several), `line` and
/// `text`. `on_rows` sees the encoded rows before they are written; an error from it stops the work and leaves no
/// output.
///
/// ```
/// use senv::{english, jobs::{EncodeTableParams, encode_table}};
/// use senv_core::text::ArrowBatches;
/// # let folder = tempfile::tempdir()?;
/// # let (input, output) = (folder.path().join("pets.txt"), folder.path().join("pets.parquet"));
/// std::fs::write(&input, "A cat sleeps.\nA dog barks.\n")?;
/// encode_table(&english()?, &[input], &output, &EncodeTableParams::default(), |_| Ok::<_, senv::Error>(()))?;
/// assert_eq!(ArrowBatches::open(&output, None)?.n_rows(), Some(2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Errors of reading and writing, and of `on_rows`.
pub fn encode_table<E: From<Error>>(
    encoder: &dyn SentenceEncoder,
    inputs: &[PathBuf],
    output: impl AsRef<Path>,
    params: &EncodeTableParams,
    on_rows: impl FnMut(&EncodedRows<'_>) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let output = output.as_ref();
    let ending = output.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
    let is_arrow = matches!(ending.as_deref(), Some("arrow" | "feather" | "ipc"));
    let format = if is_arrow { ArrowFormat::File } else { ArrowFormat::Parquet };
    let mut job = TableJob { encoder, output, format, params, on_rows, writer: None, columns: Fields::empty() };
    let keeps_columns = params.text.table.is_some() && params.text.split.is_none();
    if keeps_columns && inputs.iter().all(|path| ArrowFormat::of_file(path).is_some()) {
        job.tables(inputs)?;
    } else {
        job.lines(inputs)?;
    }
    let Some(writer) = job.writer else { return Ok(()) };
    Ok(writer.finish().map_err(Error::from)?)
}

/// An encoding in progress; [`FolderJob`](crate::jobs::FolderJob) handles many files.
struct TableJob<'a, F> {
    encoder: &'a dyn SentenceEncoder,
    output: &'a Path,
    format: ArrowFormat,
    params: &'a EncodeTableParams,
    on_rows: F,
    /// Set at the first file, whose columns it has.
    writer: Option<VectorTableWriter>,
    columns: Fields,
}

impl<E: From<Error>, F: FnMut(&EncodedRows<'_>) -> std::result::Result<(), E>> TableJob<'_, F> {
    /// Starts the output.
    fn start(&mut self, columns: &Schema) -> Result<()> {
        let EncodeTableParams { vector_column, precision, .. } = self.params;
        let writer = VectorTableWriter::create(
            self.output,
            self.format,
            columns,
            vector_column,
            self.encoder.dim(),
            *precision,
        )?;
        self.writer = Some(writer);
        self.columns = columns.fields().clone();
        Ok(())
    }

    /// Encodes rows and writes them.
    fn push(&mut self, rows: &RecordBatch, sentences: &[&str]) -> std::result::Result<(), E> {
        let (vectors, coverage) = self.encoder.encode_batch(sentences).map_err(Error::from)?;
        (self.on_rows)(&EncodedRows { sentences, coverage: &coverage, vectors: vectors.view() })?;
        if let Some(writer) = &mut self.writer {
            writer.write(rows, vectors.view()).map_err(Error::from)?;
        }
        Ok(())
    }

    /// A reader of the lines of the inputs, or of a shard of them.
    fn reader(&self, inputs: &[PathBuf]) -> Result<TextReader> {
        let text = &self.params.text;
        Ok(match self.params.shard {
            Some(shard) => TextReader::open_shard(inputs, text, shard, LineNumbers::Counted)?,
            None => TextReader::open(inputs, text)?,
        })
    }

    /// Encodes the rows of tables and writes all of their columns.
    fn tables(&mut self, inputs: &[PathBuf]) -> std::result::Result<(), E> {
        for path in inputs {
            let batches = ArrowBatches::open(path, None).map_err(Error::from)?;
            if self.writer.is_none() {
                self.start(batches.schema())?;
            } else if batches.schema().fields() != &self.columns {
                let reason =
                    "its columns differ from those of the previous file; write the vectors of each to a separate file";
                return Err(bad(path, reason).into());
            }
        }
        // The text is read again, with the usual limits.
        let mut lines = self.reader(inputs)?;
        let (mut text, mut rows) = (Lines::default(), None);
        while let Some(line) = lines.next_line().map_err(Error::from)? {
            text.clear();
            text.push_line(&line).map_err(Error::from)?;
            let (batch, start) = TableRows::find(&mut rows, line.path, line.number - 1)?;
            while text.has_room(ROWS, BYTES)
                && start + text.len() < batch.num_rows()
                && !lines.begins_block().map_err(Error::from)?
                && let Some(line) = lines.next_line().map_err(Error::from)?
            {
                text.push_line(&line).map_err(Error::from)?;
            }
            let batch = batch.slice(start, text.len());
            self.push(&batch, &text.texts())?;
        }
        Ok(())
    }

    /// Encodes lines and writes their positions and texts.
    fn lines(&mut self, inputs: &[PathBuf]) -> std::result::Result<(), E> {
        let has_files = inputs.len() > 1;
        let field = |name: &str, data_type| Field::new(name, data_type, false);
        let mut fields = vec![field("line", DataType::Int64), field("text", DataType::Utf8)];
        if has_files {
            fields.insert(0, field("file", DataType::Utf8));
        }
        let schema: SchemaRef = Arc::new(Schema::new(fields));
        self.start(&schema)?;
        let mut reader = self.reader(inputs)?;
        let mut text = Lines::default();
        loop {
            text.fill(&mut reader, ROWS, BYTES).map_err(Error::from)?;
            if text.is_empty() {
                return Ok(());
            }
            let sentences = text.texts();
            let places = || (0..text.len()).map(|i| text.place(i));
            let mut columns: Vec<ArrayRef> = Vec::new();
            if has_files {
                columns.push(Arc::new(StringArray::from_iter_values(
                    places().map(|(file, _)| file.display().to_string()),
                )));
            }
            columns.push(Arc::new(Int64Array::from_iter_values(places().map(|(_, line)| line as i64))));
            columns.push(Arc::new(StringArray::from_iter_values(&sentences)));
            let rows = RecordBatch::try_new(schema.clone(), columns).map_err(|error| {
                let reason = format!("cannot combine rows: {error}");
                Error::from(senv_core::Error::BadFile { path: self.output.to_owned(), reason })
            })?;
            self.push(&rows, &sentences)?;
        }
    }
}

/// The rows of a table, looked up in ascending order.
struct TableRows {
    path: PathBuf,
    batches: ArrowBatches,
    batch: RecordBatch,
    /// The row of the file at which the batch starts.
    start: u64,
}

impl TableRows {
    /// The batch of a row, and the position of the row in it.
    fn find<'a>(rows: &'a mut Option<Self>, path: &Path, row: u64) -> Result<(&'a RecordBatch, usize)> {
        // If a file is given twice, its rows start again.
        if rows.as_ref().is_none_or(|rows| rows.path != path || row < rows.start) {
            let batches = ArrowBatches::open(path, None)?;
            let batch = RecordBatch::new_empty(batches.schema().clone());
            *rows = Some(Self { path: path.to_owned(), batches, batch, start: 0 });
        }
        let changed = || bad(path, "it changed while it was read");
        let Some(Self { batches, batch, start, .. }) = rows else { return Err(changed()) };
        while row >= *start + batch.num_rows() as u64 {
            *start += batch.num_rows() as u64;
            *batch = batches.next_batch()?.ok_or_else(changed)?;
        }
        Ok((batch, (row - *start) as usize))
    }
}

fn bad(path: &Path, reason: &str) -> Error {
    senv_core::Error::BadFile { path: path.to_owned(), reason: reason.into() }.into()
}
