//! Sessions, tables and files for tests.

use std::{fs::File, path::Path, sync::Arc};

use datafusion::{
    arrow::{
        array::{Array, ArrayRef, AsArray, Int64Array, RecordBatch, StringArray},
        datatypes::{DataType, Field, Float32Type, Schema},
    },
    datasource::MemTable,
    error::Result,
    parquet::{arrow::ArrowWriter, file::properties::WriterProperties},
    prelude::SessionContext,
};
use senv_datafusion::{Models, register};

/// A session with the English model.
pub(crate) fn session() -> SessionContext {
    let context = SessionContext::new();
    register(&context, &Models::english().unwrap()).unwrap();
    context
}

/// A session with a table `t` of these columns.
pub(crate) fn session_with(columns: Vec<(&str, ArrayRef)>) -> SessionContext {
    let context = session();
    let rows =
        RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true))).unwrap();
    let table = MemTable::try_new(rows.schema(), vec![vec![rows]]).unwrap();
    context.register_table("t", Arc::new(table)).unwrap();
    context
}

/// All rows of a query in a single batch.
pub(crate) async fn rows(context: &SessionContext, query: &str) -> Result<RecordBatch> {
    let frame = context.sql(query).await?;
    let schema = frame.schema().inner().clone();
    let batches = frame.collect().await?;
    let schema = batches.first().map_or(schema, RecordBatch::schema);
    Ok(datafusion::arrow::compute::concat_batches(&schema, &batches)?)
}

/// The first column of a query.
pub(crate) async fn column(context: &SessionContext, query: &str) -> Result<ArrayRef> {
    Ok(rows(context, query).await?.column(0).clone())
}

/// The message of the error of a query that must fail.
pub(crate) async fn error(context: &SessionContext, query: &str) -> String {
    match rows(context, query).await {
        Ok(rows) => panic!("{query}: no error, but {rows:?}"),
        Err(e) => e.to_string(),
    }
}

/// Vectors of a fixed-size list, `None` for null.
pub(crate) fn vectors(array: &ArrayRef) -> Vec<Option<Vec<f32>>> {
    let lists = array.as_fixed_size_list();
    let vector = |row| lists.value(row).as_primitive::<Float32Type>().values().to_vec();
    (0..lists.len()).map(|row| lists.is_valid(row).then(|| vector(row))).collect()
}

/// Distinct sentences of words that the English model knows.
pub(crate) fn sentences(n: usize) -> Vec<String> {
    let words = ["train", "rain", "bank", "dog", "storm", "garden", "music", "winter", "doctor", "river", "letter"];
    let verbs = ["meets", "follows", "sees", "leaves", "finds", "needs", "hears"];
    let word = |i: usize| words[i % words.len()];
    (0..n)
        .map(|i| format!("The {} {} the {} near {} {}.", word(i), verbs[i % 7], word(i / 11), word(i / 3), i))
        .collect()
}

/// Writes a Parquet file of `id` and `text`.
pub(crate) fn write_parquet(path: &Path, first_id: i64, texts: &[Option<&str>], rows_of_group: usize) {
    let ids: Int64Array = (first_id..first_id + texts.len() as i64).collect();
    let fields = vec![Field::new("id", DataType::Int64, false), Field::new("text", DataType::Utf8, true)];
    let texts: StringArray = texts.iter().copied().collect();
    let rows = RecordBatch::try_new(Arc::new(Schema::new(fields)), vec![Arc::new(ids), Arc::new(texts)]).unwrap();
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(rows_of_group)).build();
    let mut writer = ArrowWriter::try_new(File::create(path).unwrap(), rows.schema(), Some(properties)).unwrap();
    writer.write(&rows).unwrap();
    writer.close().unwrap();
}
